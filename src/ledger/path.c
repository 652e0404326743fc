/* SPDX-License-Identifier: MIT */
/* path.c - where the ledger of this user is when nobody says. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/inner.h"
#include "ledger/ledger.h"
#include "util/text.h"

static const char *variable(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

/* The folder is this user's own, and nobody else can put anything into it. */
static int make_folder(const char *path, struct fly_error *err)
{
    struct stat st;

    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return fb_ledger_fail(err, errno, path, "cannot be made");
    if (lstat(path, &st) < 0)
        return fb_ledger_fail(err, errno, path, "cannot be looked at");
    if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022))
        return fb_ledger_fail(err, EPERM, path,
                              "is not a folder of this user's that only this user can write to");
    return 0;
}

static int fits(const struct text *t, const char *path, struct fly_error *err)
{
    return t->left > 0 ? 0 : fb_ledger_fail(err, ENAMETOOLONG, path, "the name is too long");
}

/* `ret_folder`: so much of it is the folder; 0: it is for whoever has said it to make one. */
static int name_ledger(char *path, size_t size, size_t *ret_folder, struct fly_error *err)
{
    const char *said = variable("FLYBALL_LEDGER");
    const char *run = variable("XDG_RUNTIME_DIR");
    const char *temporary = variable("TMPDIR");
    struct text t;

    fb_text_init(&t, path, size);
    *ret_folder = 0;
    if (said) {
        fb_text_add(&t, said);
        return fits(&t, path, err);
    }
    fb_text_add(&t, run ? run : temporary ? temporary : "/tmp");
    fb_text_add(&t, "/flyball");
    if (!run) {
        fb_text_add(&t, "-");
        fb_text_add_int(&t, (int64_t)geteuid());
    }
    *ret_folder = strlen(path);
    fb_text_add(&t, "/ledger");
    return fits(&t, path, err);
}

int fb_ledger_name(char *path, size_t size, struct fly_error *err)
{
    size_t folder;

    return name_ledger(path, size, &folder, err);
}

int fb_ledger_path(char *path, size_t size, struct fly_error *err)
{
    size_t folder;
    int rc = name_ledger(path, size, &folder, err);

    if (rc < 0 || folder == 0)
        return rc;
    char slash = path[folder];
    path[folder] = '\0';
    rc = make_folder(path, err);
    path[folder] = slash;
    return rc;
}
