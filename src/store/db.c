/* SPDX-License-Identifier: MIT */
/*
 * db.c - statements and transactions on an open file.
 *
 * SQLite's own way to wait for a lock can starve one of several writers for most of a second. Here
 * each pause is short and drawn at random, so that whoever waits gets its turn.
 */
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "store/db.h"
#include "store/db_file.h"
#include "util/alloc.h"

#define PAUSES_MAX    1500    /* of 1.3 ms in the mean: two seconds */
#define PAUSE_NS_MIN  100000  /* 0.1 ms */
#define PAUSE_NS_SPAN 2400000 /* and up to 2.4 ms more */
#define FOLDER_MOST   4096

/* Called by SQLite when somebody else holds the lock; 0 gives up. */
static int pause_a_little(void *context, int count)
{
    struct db *db = context;
    struct timespec pause = {0, PAUSE_NS_MIN};

    if (count >= PAUSES_MAX)
        return 0;
    pause.tv_nsec += (long)(fb_rng_unit(&db->rng) * PAUSE_NS_SPAN);
    (void)nanosleep(&pause, NULL);
    return 1;
}

void fb_db_wait_for_others(struct db *db)
{
    (void)sqlite3_busy_handler(db->sqlite, pause_a_little, db);
}

static int error_of(int code, int system)
{
    static const struct {
        int code, error;
    } TABLE[] = {
        {SQLITE_BUSY, -EBUSY},        {SQLITE_LOCKED, -EBUSY},    {SQLITE_FULL, -ENOSPC},
        {SQLITE_READONLY, -EROFS},    {SQLITE_PERM, -EACCES},     {SQLITE_AUTH, -EACCES},
        {SQLITE_CANTOPEN, -EACCES},   {SQLITE_CORRUPT, -EUCLEAN}, {SQLITE_NOTADB, -EINVAL},
        {SQLITE_ERROR, -EUCLEAN},     {SQLITE_NOMEM, -ENOMEM},    {SQLITE_TOOBIG, -EFBIG},
        {SQLITE_CONSTRAINT, -EEXIST},
    };

    if ((code & 0xff) == SQLITE_IOERR && (system == ENOSPC || system == EDQUOT))
        return -ENOSPC;
    if ((code & 0xff) == SQLITE_CANTOPEN && (system == EMFILE || system == ENFILE))
        return -system;
    for (size_t i = 0; i < sizeof TABLE / sizeof TABLE[0]; i++) {
        if (TABLE[i].code == (code & 0xff))
            return TABLE[i].error;
    }
    return -EIO;
}

int fb_db_error(const struct db *db)
{
    if (!db->sqlite)
        return -ENOMEM;
    return error_of(sqlite3_extended_errcode(db->sqlite), sqlite3_system_errno(db->sqlite));
}

sqlite3_stmt *fb_db_statement(struct db *db, const char *sql)
{
    for (size_t i = 0; i < DB_STATEMENTS_MAX; i++) {
        if (!db->statements[i].sql) {
            if (sqlite3_prepare_v3(db->sqlite, sql, -1, SQLITE_PREPARE_PERSISTENT,
                                   &db->statements[i].statement, NULL) != SQLITE_OK)
                return NULL;
            db->statements[i].sql = sql;
        }
        if (db->statements[i].sql == sql) {
            (void)sqlite3_reset(db->statements[i].statement);
            (void)sqlite3_clear_bindings(db->statements[i].statement);
            return db->statements[i].statement;
        }
    }
    return NULL;
}

int fb_db_step(struct db *db, sqlite3_stmt *s)
{
    if (!s)
        return fb_db_error(db);

    int code = sqlite3_step(s);
    if (code == SQLITE_ROW)
        return 1;
    int error = code == SQLITE_DONE ? 0 : fb_db_error(db);
    (void)sqlite3_reset(s);
    return error;
}

int fb_db_run(struct db *db, sqlite3_stmt *s)
{
    int error = fb_db_step(db, s);

    return error > 0 ? -EIO : error;
}

/* Names in the folder of `path` onto the disk. */
static int sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t size = slash ? (size_t)(slash - path) + 1 : 1;
    char folder[FOLDER_MOST] = ".";

    if (size >= sizeof folder)
        return -ENAMETOOLONG;
    if (slash)
        memcpy(folder, path, size);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int error = fsync(fd) < 0 && errno != EINVAL ? -errno : 0;
    (void)close(fd);
    return error;
}

/*
 * A new file as it was set up, onto the disk. By SQLite's own descriptor: closing another one would
 * give up the locks of this process.
 */
static int settle_new(struct db *db)
{
    sqlite3_file *file = NULL;
    int code = sqlite3_file_control(db->sqlite, "main", SQLITE_FCNTL_FILE_POINTER, &file);

    if (code == SQLITE_OK)
        code = file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
    if (code != SQLITE_OK)
        return error_of(code, sqlite3_system_errno(db->sqlite));
    int error = sync_folder(db->path);
    if (error < 0)
        return error;
    (void)sqlite3_wal_autocheckpoint(db->sqlite, DB_CHECKPOINT_PAGES);
    db->is_new = false;
    return 0;
}

int fb_db_begin(struct db *db, bool sync)
{
    if (db->read_only)
        return -EROFS;

    int error = sync && db->is_new ? settle_new(db) : 0;
    if (error < 0)
        return error;
    error = fb_db_run(db, fb_db_statement(db, sync         ? "PRAGMA synchronous=FULL"
                                              : db->is_new ? "PRAGMA synchronous=OFF"
                                                           : "PRAGMA synchronous=NORMAL"));
    if (error < 0)
        return error;
    return fb_db_run(db, fb_db_statement(db, "BEGIN IMMEDIATE"));
}

int fb_db_commit(struct db *db)
{
    return fb_db_run(db, fb_db_statement(db, "COMMIT"));
}

void fb_db_rollback(struct db *db)
{
    /* It may have been rolled back already, by SQLite itself; then this changes nothing. */
    if (!sqlite3_get_autocommit(db->sqlite))
        (void)sqlite3_exec(db->sqlite, "ROLLBACK", NULL, NULL, NULL);
}

void fb_db_sync(struct db *db)
{
    if (db->path)
        (void)sqlite3_wal_checkpoint_v2(db->sqlite, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
}

void fb_db_close(struct db *db)
{
    if (!db)
        return;
    for (size_t i = 0; i < DB_STATEMENTS_MAX; i++)
        (void)sqlite3_finalize(db->statements[i].statement);
    (void)sqlite3_close(db->sqlite);
    fb_db_drop_reserve(db);
    fb_free(db->path);
    fb_free(db);
}
