/* SPDX-License-Identifier: MIT */
/* db_file.c - the file itself: what it is, setting it aside, space kept back. */
#include "store/db_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ASIDE_MAX    1000
#define PATH_MOST    4096
#define RESERVE_SIZE (64 * 1024) /* a commit needs a few pages of 4096 bytes */

static int not_a_file(mode_t mode, struct fly_error *err)
{
    static const struct {
        mode_t kind;
        int error;
        const char *text;
    } KINDS[] = {
        {S_IFDIR, -EISDIR, "it is a directory"},
        {S_IFLNK, -ELOOP, "it is a symbolic link, which is not followed"},
        {0, -EINVAL, "it is not a file"},
    };
    size_t i = 0;

    while (KINDS[i].kind != 0 && KINDS[i].kind != (mode & S_IFMT))
        i++;
    (void)snprintf(err->text, sizeof err->text, "%s", KINDS[i].text);
    return KINDS[i].error;
}

int fb_db_look_at(const char *path, struct fly_error *err)
{
    struct stat there;

    if (lstat(path, &there) < 0)
        return errno == ENOENT ? 0 : -errno;
    return S_ISREG(there.st_mode) ? 0 : not_a_file(there.st_mode, err);
}

/* Rename path+tail to name+tail, where there is such a file. */
static void move_along(const char *path, const char *name, const char *tail)
{
    char from[PATH_MOST];
    char to[PATH_MOST];

    (void)snprintf(from, sizeof from, "%s%s", path, tail);
    (void)snprintf(to, sizeof to, "%s%s", name, tail);
    (void)rename(from, to);
}

int fb_db_put_aside(const char *path, char *ret_name, size_t size)
{
    struct stat there;
    int number = 1;

    for (; number <= ASIDE_MAX; number++) {
        int length = snprintf(ret_name, size, "%s.aside-%d", path, number);
        if (length < 0 || (size_t)length >= size)
            return -ENAMETOOLONG;
        if (lstat(ret_name, &there) < 0 && errno == ENOENT)
            break;
    }
    if (number > ASIDE_MAX)
        return -EEXIST;
    if (rename(path, ret_name) < 0)
        return -errno;
    move_along(path, ret_name, "-wal");
    move_along(path, ret_name, "-shm");
    return 0;
}

static bool reserve_name(const struct db *db, char *ret_name, size_t size)
{
    int length = snprintf(ret_name, size, "%s.reserve", db->path);

    return length > 0 && (size_t)length < size;
}

void fb_db_keep_reserve(struct db *db)
{
    char name[PATH_MOST];

    if (!db->path || !reserve_name(db, name, sizeof name))
        return;
    db->reserve = open(name, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (db->reserve >= 0 && posix_fallocate(db->reserve, 0, RESERVE_SIZE) != 0)
        fb_db_drop_reserve(db);
}

void fb_db_drop_reserve(struct db *db)
{
    char name[PATH_MOST];

    if (db->reserve < 0 || !reserve_name(db, name, sizeof name))
        return;
    (void)close(db->reserve);
    (void)unlink(name);
    db->reserve = -1;
}

bool fb_db_give_up_reserve(struct db *db)
{
    bool had = db->reserve >= 0;

    fb_db_drop_reserve(db);
    return had;
}
