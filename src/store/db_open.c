/* SPDX-License-Identifier: MIT */
/*
 * db_open.c - opening with care: whatever is at the path, the answer is a database or a sentence.
 */
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/db.h"
#include "store/db_file.h"
#include "store/schema.h"
#include "util/alloc.h"
#include "util/text.h"

#define CHECKED_SIZE_MAX (64 << 20) /* larger files are believed until they prove damaged */
#define NAME_MOST        4096

/* How a file is set up; in memory all but the last are refused or ignored, which is fine. */
static const char SETTINGS[] = "PRAGMA journal_mode=WAL;"
                               "PRAGMA journal_size_limit=1048576;"
                               "PRAGMA temp_store=MEMORY;"
                               "PRAGMA cell_size_check=ON;"
                               "PRAGMA trusted_schema=OFF";

static struct db *new_db(const char *path, unsigned flags)
{
    struct db *db = fb_alloc(sizeof *db);

    if (!db)
        return NULL;
    db->reserve = -1;
    db->read_only = flags & DB_READ_ONLY;
    db->rng.state = (uint64_t)getpid() << 20 ^ (uint64_t)time(NULL);
    if (path) {
        db->path = fb_alloc(strlen(path) + 1);
        if (!db->path) {
            fb_free(db);
            return NULL;
        }
        memcpy(db->path, path, strlen(path));
    }
    return db;
}

/* A new file is for its owner alone: what an API sends may be nobody else's business. */
static int make_file(const char *path, bool *ret_new)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    struct stat there;

    if (fd < 0)
        return -errno;
    *ret_new = fstat(fd, &there) == 0 && there.st_size == 0;
    (void)close(fd);
    return 0;
}

static bool is_of_the_process(int error)
{
    return error == -EMFILE || error == -ENFILE || error == -ENOMEM;
}

/* 0: it is sound; -EUCLEAN: damaged; else what the process lacks, of which a file is not guilty. */
static int check(struct db *db)
{
    sqlite3_stmt *s = NULL;
    struct stat there;
    int error = 0;

    if (db->path && stat(db->path, &there) == 0 && there.st_size > CHECKED_SIZE_MAX)
        return 0;
    if (sqlite3_prepare_v2(db->sqlite, "PRAGMA integrity_check(1)", -1, &s, NULL) != SQLITE_OK ||
        sqlite3_step(s) != SQLITE_ROW)
        error = fb_db_error(db);
    else if (strcmp((const char *)sqlite3_column_text(s, 0), "ok") != 0)
        error = -EUCLEAN;
    sqlite3_finalize(s);
    return error == 0 || is_of_the_process(error) ? error : -EUCLEAN;
}

/*
 * A new file is written without waiting for the disk, and nothing of it is moved from the log into
 * it, until it is put there as a whole (fb_db_begin): a power cut before leaves an empty file.
 */
static int set_up(struct db *db, struct fly_error *err)
{
    int error = fb_schema_settle(db, err);

    if (error < 0)
        return error;
    (void)sqlite3_wal_autocheckpoint(db->sqlite, db->is_new ? 0 : DB_CHECKPOINT_PAGES);
    if (!db->read_only && sqlite3_exec(db->sqlite, SETTINGS, NULL, NULL, NULL) != SQLITE_OK)
        return fb_db_error(db);
    error = check(db);
    if (error == -EUCLEAN)
        (void)snprintf(err->text, sizeof err->text, "it is damaged");
    return error;
}

static int open_sqlite(struct db *db, struct fly_error *err)
{
    int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    int error = db->path ? fb_db_look_at(db->path, err) : 0;

    if (error == 0 && db->path && !db->read_only)
        error = make_file(db->path, &db->is_new);
    if (error < 0)
        return error;
    flags |= db->read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    if (sqlite3_open_v2(db->path ? db->path : ":memory:", &db->sqlite, flags, NULL) != SQLITE_OK) {
        error = fb_db_error(db);
        return error == -EACCES && access(db->path, F_OK) < 0 ? -errno : error;
    }
    fb_db_wait_for_others(db);
    error = set_up(db, err);
    /* A header that forbids writing, in a file that can be written, is a wrong byte. */
    return error == -EROFS && !db->read_only && db->path && access(db->path, W_OK) == 0 ? -EUCLEAN
                                                                                        : error;
}

static int try_open(const char *path, unsigned flags, struct db **ret_db, struct fly_error *err)
{
    struct db *db = new_db(path, flags);

    err->text[0] = '\0';
    if (!db)
        return -ENOMEM;
    int error = open_sqlite(db, err);
    if (error < 0) {
        fb_db_close(db);
        return error;
    }
    if (!db->read_only)
        fb_db_keep_reserve(db);
    *ret_db = db;
    return 0;
}

/* The reason as it was given, or in the words of the system. */
static struct fly_error reason(const struct fly_error *err, int error)
{
    struct fly_error why = *err;
    struct text t;

    if (why.text[0])
        return why;
    fb_text_init(&t, why.text, sizeof why.text);
    fb_text_add(&t, error == -EUCLEAN || error == -EINVAL ? "it is damaged, or no store at all"
                                                          : strerror(-error));
    return why;
}

/* "PATH: WHY", and what is done about it. */
static void say(struct fly_error *to, const char *path, const struct fly_error *why,
                const char *what, const char *more)
{
    struct text t;

    fb_text_init(&t, to->text, sizeof to->text);
    fb_text_add(&t, path);
    fb_text_add(&t, ": ");
    fb_text_add(&t, why->text);
    fb_text_add(&t, what);
    fb_text_add(&t, more);
}

static bool is_unusable(int error)
{
    return error == -EISDIR || error == -ELOOP || error == -EINVAL || error == -EUCLEAN;
}

/* Set aside what is there and begin anew, and say so. */
static int replace(const char *path, unsigned flags, int because, struct db **ret_db,
                   struct fly_error *err)
{
    struct fly_error why = reason(err, because);
    char name[NAME_MOST];
    int error = fb_db_put_aside(path, name, sizeof name);

    if (error == 0)
        error = try_open(path, flags, ret_db, err);
    if (error < 0)
        return error;
    (*ret_db)->set_aside = true;
    say(&(*ret_db)->note, path, &why, "; beginning anew, the old one is ", name);
    return 0;
}

/* Nothing lasts, and that is said. */
static int in_memory(const char *path, int because, struct db **ret_db, struct fly_error *err)
{
    struct fly_error why = reason(err, because);
    int error = try_open(NULL, 0, ret_db, err);

    if (error == 0)
        say(&(*ret_db)->note, path, &why, "; going on in memory, nothing will be remembered", "");
    return error;
}

int fb_db_open(const char *path, unsigned flags, struct db **ret_db, struct fly_error *err)
{
    int error = try_open(path, flags, ret_db, err);

    if (error == 0 || error == -ENOMEM || !path)
        return error;
    if ((flags & DB_OURS) && is_unusable(error))
        error = replace(path, flags, error, ret_db, err);
    if (error < 0 && (flags & DB_OR_MEMORY))
        error = in_memory(path, error, ret_db, err);
    if (error < 0) {
        struct fly_error why = reason(err, error);
        say(err, path, &why, "", "");
    }
    return error;
}
