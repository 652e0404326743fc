/* SPDX-License-Identifier: MIT */
/*
 * db.h - one SQLite file of ours: opened with care, one schema, used by one thread at a time.
 *
 * A file on a disk may be anything by the time we look: cut, damaged, another program's, of a
 * newer version, a directory, a link to somewhere else, read-only, locked, on a full disk. Opening
 * never fails for that reason alone where the caller allows it (DB_OURS): what cannot be used is
 * set aside under another name, a new file begins with nothing learned, and `note` says so in a
 * sentence that names the path. Nothing is ever overwritten or deleted.
 *
 * WAL mode. A commit survives the end of the process as soon as it returns; it survives a power
 * cut when it was made with `sync`, or when a later one was.
 */
#ifndef FLYBALL_STORE_DB_H
#define FLYBALL_STORE_DB_H

#include <stdbool.h>
#include <stdint.h>

#include <flyball/flyball.h>

#include "core/rng.h"

struct sqlite3;
struct sqlite3_stmt;

#define DB_STATEMENTS_MAX   32
#define DB_CHECKPOINT_PAGES 128 /* of the log, after which they are moved into the file */

enum {
    DB_OURS = 1u,      /* at a place of our own: set aside what cannot be used, and begin anew */
    DB_READ_ONLY = 2u, /* for commands that only show; -ENOENT when there is none */
    DB_OR_MEMORY = 4u, /* where nothing else helps go on in memory, with a note that says so */
};

struct db {
    struct sqlite3 *sqlite;
    char *path;     /* NULL: in memory, nothing lasts */
    bool read_only; /* what is written is refused with -EROFS */
    bool set_aside; /* there was a file, and it could not be used */
    bool is_new;    /* made just now, and not yet on the disk: nothing in it needs to last */
    struct fly_error note;
    struct rng rng; /* for how long to wait when somebody else is writing */
    int reserve;    /* descriptor of the space given up when the disk is full, or -1 */
    struct {
        const char *sql; /* compared as a pointer */
        struct sqlite3_stmt *statement;
    } statements[DB_STATEMENTS_MAX];
};

/*
 * Open or make the file at `path`; NULL: a store in memory. 0, and then `note` is empty or tells
 * what was found and done about it. Or a negative errno, and `err` has a sentence:
 *   -EISDIR, -ELOOP, -EINVAL  a directory, a link, a file that is not ours
 *   -EUCLEAN   damaged
 *   -EPROTO    of a newer version
 *   -EROFS, -EACCES, -ENOENT, -ENOSPC, -EBUSY, -ENOMEM, -EIO  as usual
 */
int fb_db_open(const char *path, unsigned flags, struct db **ret_db, struct fly_error *err)
    __attribute__((warn_unused_result));

/* NULL is allowed. */
void fb_db_close(struct db *db);

/*
 * The prepared form of `sql`, a constant, reset and ready to bind; kept until close. NULL when it
 * cannot be made (fb_db_error() says why).
 */
struct sqlite3_stmt *fb_db_statement(struct db *db, const char *sql);

/* Run a statement that returns no rows, and reset it. 0 or negative errno. */
int fb_db_run(struct db *db, struct sqlite3_stmt *s) __attribute__((warn_unused_result));

/* 1: there is a row. 0: there are no more; the statement is reset. Or negative errno. */
int fb_db_step(struct db *db, struct sqlite3_stmt *s) __attribute__((warn_unused_result));

/* The last error of SQLite as a negative errno: never 0. */
int fb_db_error(const struct db *db);

/*
 * Transactions. begin waits its turn among the processes that write: short, random pauses, two
 * seconds at most, then -EBUSY. `sync`: the commit is on the disk when it returns. Until the first
 * of those a new file waits for no disk at all.
 */
int fb_db_begin(struct db *db, bool sync) __attribute__((warn_unused_result));
int fb_db_commit(struct db *db) __attribute__((warn_unused_result));
void fb_db_rollback(struct db *db);

/* Put onto the disk what was committed without `sync`, as far as nobody is reading it. */
void fb_db_sync(struct db *db);

/*
 * The disk is full: give up the space kept back for this. True when there was some, and a second
 * try is worth while.
 */
bool fb_db_give_up_reserve(struct db *db);

#endif
