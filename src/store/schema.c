/* SPDX-License-Identifier: MIT */
/* schema.c - the versions, and the way up. */
#include "store/schema.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>

#include "util/hash.h"

static const char *const VERSIONS[] = {
    /* 1: journal, deferred queue, learned limits, cached answers. */
    "CREATE TABLE batch("
    "  id INTEGER PRIMARY KEY, identity INTEGER NOT NULL UNIQUE,"
    "  list TEXT NOT NULL, output TEXT NOT NULL, made_s INTEGER NOT NULL,"
    "  out_size INTEGER NOT NULL, marks INTEGER NOT NULL, replaced INTEGER NOT NULL,"
    "  sum INTEGER NOT NULL);"
    "CREATE TABLE chunk("
    "  batch INTEGER NOT NULL, number INTEGER NOT NULL, states BLOB NOT NULL,"
    "  sum INTEGER NOT NULL, PRIMARY KEY(batch, number)) WITHOUT ROWID;"
    "CREATE TABLE deferred("
    "  batch INTEGER NOT NULL, item INTEGER NOT NULL, id TEXT NOT NULL, place TEXT NOT NULL,"
    "  reason TEXT NOT NULL, not_before_s INTEGER NOT NULL, made_s INTEGER NOT NULL,"
    "  PRIMARY KEY(batch, item)) WITHOUT ROWID;"
    "CREATE TABLE learned("
    "  provider TEXT NOT NULL, host TEXT NOT NULL, pool TEXT NOT NULL, state BLOB NOT NULL,"
    "  rate REAL NOT NULL, reduction REAL NOT NULL, confidence REAL NOT NULL,"
    "  recovery_s REAL NOT NULL, changed_s INTEGER NOT NULL, sum INTEGER NOT NULL,"
    "  PRIMARY KEY(provider, host, pool)) WITHOUT ROWID;"
    "CREATE TABLE learned_event("
    "  seq INTEGER PRIMARY KEY AUTOINCREMENT, provider TEXT NOT NULL, host TEXT NOT NULL,"
    "  pool TEXT NOT NULL, at_s INTEGER NOT NULL, kind TEXT NOT NULL, before REAL NOT NULL,"
    "  after REAL NOT NULL, why TEXT NOT NULL);"
    "CREATE TABLE cached("
    "  high INTEGER NOT NULL, low INTEGER NOT NULL, etag TEXT NOT NULL, modified TEXT NOT NULL,"
    "  type TEXT NOT NULL, body BLOB NOT NULL, stored_s INTEGER NOT NULL,"
    "  used INTEGER NOT NULL, sum INTEGER NOT NULL, PRIMARY KEY(high, low));"
    "CREATE INDEX cached_used ON cached(used);",

    /* 2: when a limit was saved; where a request of several pages is. */
    "ALTER TABLE learned ADD COLUMN saved_s INTEGER NOT NULL DEFAULT 0;"
    "CREATE TABLE page("
    "  batch INTEGER NOT NULL, item INTEGER NOT NULL, number INTEGER NOT NULL,"
    "  next TEXT NOT NULL, PRIMARY KEY(batch, item)) WITHOUT ROWID;",

    /* 3: limits by credential, and the secret that credentials are hashed with. */
    "CREATE TABLE learned_3("
    "  provider TEXT NOT NULL, host TEXT NOT NULL, pool TEXT NOT NULL,"
    "  credential TEXT NOT NULL, state BLOB NOT NULL,"
    "  rate REAL NOT NULL, reduction REAL NOT NULL, confidence REAL NOT NULL,"
    "  recovery_s REAL NOT NULL, changed_s INTEGER NOT NULL, saved_s INTEGER NOT NULL,"
    "  sum INTEGER NOT NULL, PRIMARY KEY(provider, host, pool, credential)) WITHOUT ROWID;"
    "INSERT INTO learned_3 SELECT provider, host, pool, '', state, rate, reduction, confidence,"
    "  recovery_s, changed_s, saved_s, sum FROM learned;"
    "DROP TABLE learned;"
    "ALTER TABLE learned_3 RENAME TO learned;"
    "ALTER TABLE learned_event ADD COLUMN credential TEXT NOT NULL DEFAULT '';"
    "CREATE TABLE secret("
    "  name TEXT PRIMARY KEY, value BLOB NOT NULL, sum INTEGER NOT NULL) WITHOUT ROWID;",

    /* 4: what a watcher knows of its items. A record has its own sum. */
    "CREATE TABLE watched(id TEXT PRIMARY KEY, record BLOB NOT NULL) WITHOUT ROWID;",

    /* 5: how an output begins, so that another's results are not taken for it. */
    "ALTER TABLE batch ADD COLUMN first INTEGER NOT NULL DEFAULT 0;",

    /* 6: which page comes after an answer that was kept. Those kept before are asked for again. */
    "DELETE FROM cached; ALTER TABLE cached ADD COLUMN next TEXT NOT NULL DEFAULT '';",
};

enum { VERSION = sizeof VERSIONS / sizeof VERSIONS[0] };

int fb_schema_version(void)
{
    return VERSION;
}

/* The one number that this statement gives. 0 or negative errno. */
static int ask(struct db *db, const char *sql, int64_t *ret_value)
{
    sqlite3_stmt *s = NULL;

    if (sqlite3_prepare_v2(db->sqlite, sql, -1, &s, NULL) != SQLITE_OK)
        return fb_db_error(db);
    int error = sqlite3_step(s) == SQLITE_ROW ? 0 : fb_db_error(db);
    if (error == 0)
        *ret_value = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return error;
}

static int execute(struct db *db, const char *sql)
{
    return sqlite3_exec(db->sqlite, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fb_db_error(db);
}

/* Inside a transaction: somebody else may have been faster, so it looks again. */
static int bring_up(struct db *db)
{
    char set[96];
    int64_t version = 0;
    int error = ask(db, "PRAGMA user_version", &version);

    for (; error == 0 && version < VERSION; version++)
        error = execute(db, VERSIONS[version]);
    if (error < 0)
        return error;
    (void)snprintf(set, sizeof set, "PRAGMA user_version=%d; PRAGMA application_id=%d", VERSION,
                   SCHEMA_APPLICATION);
    return execute(db, set);
}

static int migrate(struct db *db)
{
    int error = fb_db_begin(db, !db->is_new);

    if (error < 0)
        return error;
    error = bring_up(db);
    if (error == 0)
        error = fb_db_commit(db);
    if (error < 0)
        fb_db_rollback(db);
    return error;
}

/* All that the schema says, as one number. */
static int hash_schema(struct db *db, uint64_t *ret_hash)
{
    sqlite3_stmt *s = NULL;
    uint64_t hash = FB_HASH_INIT;
    int found = sqlite3_prepare_v2(db->sqlite,
                                   "SELECT type || ' ' || name || ' ' || tbl_name || ' ' || sql"
                                   " FROM sqlite_schema WHERE sql NOT NULL ORDER BY name",
                                   -1, &s, NULL);

    while (found == SQLITE_OK && (found = sqlite3_step(s)) == SQLITE_ROW) {
        const unsigned char *text = sqlite3_column_text(s, 0);
        hash =
            fb_hash_add(hash, text ? text : (const void *)"", (size_t)sqlite3_column_bytes(s, 0));
        found = SQLITE_OK;
    }
    int error = found == SQLITE_DONE ? 0 : fb_db_error(db);
    sqlite3_finalize(s);
    *ret_hash = hash;
    return error;
}

/* A file of this version has the tables that a new one gets; else a byte of them was changed. */
static int compare(struct db *db)
{
    struct db fresh = {.reserve = -1};
    uint64_t is = 0;
    uint64_t should = 0;
    int error = hash_schema(db, &is);

    if (error == 0 && sqlite3_open(":memory:", &fresh.sqlite) != SQLITE_OK)
        error = -ENOMEM;
    if (error == 0)
        error = bring_up(&fresh);
    if (error == 0)
        error = hash_schema(&fresh, &should);
    (void)sqlite3_close(fresh.sqlite);
    return error < 0 ? error : is == should ? 0 : -EUCLEAN;
}

/* Whose file is it? */
static int look(struct db *db, int64_t *ret_version, struct fly_error *err)
{
    int64_t application = 0;
    int64_t tables = 0;
    int error = ask(db, "PRAGMA application_id", &application);

    if (error == 0)
        error = ask(db, "SELECT count(*) FROM sqlite_schema", &tables);
    if (error == 0)
        error = ask(db, "PRAGMA user_version", ret_version);
    if (error < 0)
        return error;
    if (application != SCHEMA_APPLICATION && (tables > 0 || application != 0)) {
        (void)snprintf(err->text, sizeof err->text, "it belongs to another program");
        return -EINVAL;
    }
    if (application == SCHEMA_APPLICATION && (*ret_version < 1 || tables == 0))
        return -EUCLEAN;
    if (*ret_version > VERSION) {
        (void)snprintf(err->text, sizeof err->text,
                       "it was made by a newer flyball (version %lld of the file, this one knows "
                       "%d)",
                       (long long)*ret_version, VERSION);
        return -EPROTO;
    }
    return 0;
}

/* In one transaction: another process may be making the file at this moment. */
static int look_once(struct db *db, int64_t *ret_version, struct fly_error *err)
{
    if (sqlite3_exec(db->sqlite, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
        return fb_db_error(db);
    int error = look(db, ret_version, err);
    (void)sqlite3_exec(db->sqlite, "ROLLBACK", NULL, NULL, NULL);
    return error;
}

int fb_schema_settle(struct db *db, struct fly_error *err)
{
    int64_t version = 0;
    int error = look_once(db, &version, err);

    if (error < 0)
        return error;
    if (db->read_only && version == 0)
        return -ENOENT; /* its maker has not come to its tables yet */
    if (version == VERSION)
        return compare(db);
    /* What an older version has can still be shown. */
    return db->read_only ? 0 : migrate(db);
}
