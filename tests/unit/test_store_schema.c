/* SPDX-License-Identifier: MIT */
/* A file of every older version is brought up to date, and what is in it stays. */
#include "store_rig.h"

#include <errno.h>
#include <sqlite3.h>

#include "store/deferred.h"
#include "store/learned.h"
#include "store/schema.h"
#include "util/hash.h"

/* As the first version made it; never to be changed. */
static const char FIRST[] =
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
    "CREATE INDEX cached_used ON cached(used);"
    "PRAGMA application_id=1181514050;"
    "PRAGMA user_version=1;";

/* What the first version hashed of a row. */
static int64_t first_sum(void)
{
    uint64_t hash = fb_hash_add(FB_HASH_INIT, "p\0h\0c", 6);
    double reals[] = {2.5, 0.0, 0.5, 0.0};

    for (size_t i = 0; i < COUNT_OF(reals); i++) {
        uint64_t bits;
        memcpy(&bits, &reals[i], sizeof bits);
        hash = fb_hash_add_int(hash, bits);
    }
    hash = fb_hash_add_int(hash, 77);
    return (int64_t)fb_hash_end(fb_hash_add(hash, "blob", 4));
}

static void make_first(const char *path)
{
    sqlite3 *s = NULL;
    char insert[200];

    assert_int_equal(SCHEMA_APPLICATION, 1181514050);
    assert_int_equal(sqlite3_open(path, &s), SQLITE_OK);
    assert_int_equal(sqlite3_exec(s, FIRST, NULL, NULL, NULL), SQLITE_OK);
    (void)snprintf(insert, sizeof insert,
                   "INSERT INTO learned VALUES('p','h','c','blob',2.5,0,0.5,0,77,%lld)",
                   (long long)first_sum());
    assert_int_equal(sqlite3_exec(s, insert, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(s);
}

static int check_row(void *context, const struct learned *l)
{
    ++*(int *)context;
    assert_close(l->rate, 2.5, 0);
    assert_int_equal(l->changed_s, 77);
    assert_int_equal(l->saved_s, 0);
    assert_string_equal(l->key.credential, "");
    assert_memory_equal(l->state, "blob", 4);
    return 0;
}

static void the_first_version_is_read_and_brought_up(void **state)
{
    struct fly_error err = {""};
    struct db *db = NULL;
    int rows = 0;
    int dropped = -1;

    (void)state;
    make_first(rig_path("a.db"));
    for (int i = 0; i < 2; i++) { /* and again, as a file of this version */
        assert_int_equal(fb_db_open(rig_path("a.db"), DB_OURS, &db, &err), 0);
        assert_string_equal(db->note.text, "");
        rows = 0;
        assert_int_equal(fb_learned_each(db, check_row, &rows, &dropped), 0);
        assert_int_equal(rows, 1);
        assert_int_equal(dropped, 0);
        fb_db_close(db);
    }
}

static void an_old_file_that_is_only_read_stays_as_it_is(void **state)
{
    struct fly_error err = {""};
    struct db *db = NULL;

    (void)state;
    make_first(rig_path("a.db"));
    for (int i = 0; i < 2; i++) {
        int count = 0;
        assert_int_equal(fb_db_open(rig_path("a.db"), DB_READ_ONLY, &db, &err), 0);
        assert_int_equal(fb_deferred_each(db, NULL, &count), 0);
        fb_db_close(db);
    }
}

static void two_at_once_bring_it_up_once(void **state)
{
    struct fly_error err = {""};
    struct db *a = NULL, *b = NULL;

    (void)state;
    make_first(rig_path("a.db"));
    assert_int_equal(fb_db_open(rig_path("a.db"), DB_OURS, &a, &err), 0);
    assert_int_equal(fb_db_open(rig_path("a.db"), DB_OURS, &b, &err), 0);
    assert_false(b->set_aside);
    fb_db_close(a);
    fb_db_close(b);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_first_version_is_read_and_brought_up),
        TEST(an_old_file_that_is_only_read_stays_as_it_is),
        TEST(two_at_once_bring_it_up_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
