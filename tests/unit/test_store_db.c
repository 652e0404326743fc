/* SPDX-License-Identifier: MIT */
/* A database at a path where anything may be: opened, set aside, refused, never harmed. */
#include "store_rig.h"

#include <errno.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include "core/rng.h"
#include "store/cache.h"
#include "store/db.h"
#include "store/learned.h"
#include "store/schema.h"

static struct db *open_db(const char *path, unsigned flags)
{
    struct fly_error err = {""};
    struct db *db = NULL;
    int error = fb_db_open(path, flags, &db, &err);

    if (error < 0)
        fail_msg("%d %s", error, err.text);
    return db;
}

static int64_t ask(struct db *db, const char *sql)
{
    sqlite3_stmt *s = NULL;

    assert_int_equal(sqlite3_prepare_v2(db->sqlite, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return value;
}

static void remember(struct db *db, const char *host, double rate)
{
    struct learned l = {.key = {"p", host, "core"},
                        .state = "blob",
                        .state_size = 4,
                        .rate = rate,
                        .confidence = 0.5,
                        .changed_s = 1};

    assert_int_equal(fb_db_begin(db, true), 0);
    assert_int_equal(fb_learned_write(db, &l), 0);
    assert_int_equal(fb_db_commit(db), 0);
}

static int sum_rates(void *context, const struct learned *l)
{
    *(double *)context += l->rate;
    return 0;
}

static double rates(struct db *db, int *ret_dropped)
{
    double sum = 0.0;

    assert_int_equal(fb_learned_each(db, sum_rates, &sum, ret_dropped), 0);
    return sum;
}

/* Until something must last, nothing waits for the disk; then the file is put there first. */
static void a_new_file_is_on_the_disk_with_the_first_commit_that_lasts(void **state)
{
    struct db *db = open_db(rig_path("n.db"), DB_OURS);

    (void)state;
    assert_true(db->is_new);
    assert_int_equal(fb_db_begin(db, false), 0);
    assert_int_equal(ask(db, "PRAGMA synchronous"), 0);
    assert_int_equal(fb_db_commit(db), 0);
    assert_true(db->is_new);
    assert_int_equal(fb_db_begin(db, true), 0);
    assert_int_equal(ask(db, "PRAGMA synchronous"), 2);
    assert_int_equal(fb_db_commit(db), 0);
    assert_false(db->is_new);
    assert_int_equal(ask(db, "PRAGMA wal_autocheckpoint"), DB_CHECKPOINT_PAGES);
    assert_int_equal(fb_db_begin(db, false), 0);
    assert_int_equal(ask(db, "PRAGMA synchronous"), 1);
    assert_int_equal(fb_db_commit(db), 0);
    fb_db_close(db);
    db = open_db(rig_path("n.db"), DB_OURS);
    assert_false(db->is_new);
    fb_db_close(db);
}

static void a_new_file_is_private_and_of_our_version(void **state)
{
    struct db *db = open_db(rig_path("a.db"), DB_OURS);
    struct stat there;

    (void)state;
    assert_string_equal(db->note.text, "");
    assert_int_equal(ask(db, "PRAGMA application_id"), SCHEMA_APPLICATION);
    assert_int_equal(ask(db, "PRAGMA user_version"), fb_schema_version());
    assert_int_equal(stat(rig_path("a.db"), &there), 0);
    assert_int_equal(there.st_mode & 0777, 0600);
    fb_db_close(db);
}

static void what_was_committed_is_there_again(void **state)
{
    struct db *db = open_db(rig_path("a.db"), DB_OURS);
    int dropped = -1;

    (void)state;
    remember(db, "h", 2.5);
    fb_db_close(db);
    db = open_db(rig_path("a.db"), DB_OURS);
    assert_close(rates(db, &dropped), 2.5, 0.0);
    assert_int_equal(dropped, 0);
    fb_db_close(db);
    assert_int_equal(access(rig_path("a.db.reserve"), F_OK), -1);
}

/* What stands at the path, and what opening it says when it may not be set aside. */
static void make_text(const char *path)
{
    rig_write(path, "https://example.com/1\nhttps://example.com/2\n", 44);
}

static void make_folder(const char *path)
{
    assert_int_equal(mkdir(path, 0700), 0);
}

static void make_link(const char *path)
{
    make_text(rig_path("target"));
    assert_int_equal(symlink(rig_path("target"), path), 0);
}

static void make_fifo(const char *path)
{
    assert_int_equal(mkfifo(path, 0600), 0);
}

static void make_other_program(const char *path)
{
    sqlite3 *other = NULL;

    assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(other, "CREATE TABLE t(x); INSERT INTO t VALUES(1)", NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(other);
}

static const struct {
    const char *name;
    void (*make)(const char *path);
    int error;
    const char *says;
} STRANGE[] = {
    {"text", make_text, -EINVAL, "no store at all"},
    {"folder", make_folder, -EISDIR, "directory"},
    {"link", make_link, -ELOOP, "symbolic link"},
    {"fifo", make_fifo, -EINVAL, "not a file"},
    {"other.db", make_other_program, -EINVAL, "another program"},
};

static void strange_things_are_set_aside_at_our_own_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(STRANGE); i++) {
        const char *path = rig_path(STRANGE[i].name);
        char aside[160];
        struct stat there;

        STRANGE[i].make(path);
        struct db *db = open_db(path, DB_OURS);
        assert_true(db->set_aside);
        assert_contains(db->note.text, path);
        assert_contains(db->note.text, STRANGE[i].says);
        assert_int_equal(ask(db, "PRAGMA user_version"), fb_schema_version());
        fb_db_close(db);
        (void)snprintf(aside, sizeof aside, "%s.aside-1", path);
        assert_int_equal(lstat(aside, &there), 0);
    }
}

static void strange_things_that_a_user_named_are_left_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(STRANGE); i++) {
        const char *path = rig_path(STRANGE[i].name);
        struct fly_error err = {""};
        struct stat before, after;
        struct db *db = NULL;

        STRANGE[i].make(path);
        assert_int_equal(lstat(path, &before), 0);
        assert_int_equal(fb_db_open(path, 0, &db, &err), STRANGE[i].error);
        assert_contains(err.text, path);
        assert_contains(err.text, STRANGE[i].says);
        assert_int_equal(lstat(path, &after), 0);
        assert_int_equal(before.st_ino, after.st_ino);
        assert_int_equal(before.st_size, after.st_size);
    }
}

static void a_newer_version_is_not_touched(void **state)
{
    struct db *db = open_db(rig_path("a.db"), DB_OURS);
    struct fly_error err = {""};

    (void)state;
    assert_int_equal(sqlite3_exec(db->sqlite, "PRAGMA user_version=99", NULL, NULL, NULL),
                     SQLITE_OK);
    fb_db_close(db);
    assert_int_equal(fb_db_open(rig_path("a.db"), DB_OURS, &db, &err), -EPROTO);
    assert_contains(err.text, "newer");
    db = open_db(rig_path("a.db"), DB_OURS | DB_OR_MEMORY);
    assert_null(db->path);
    assert_contains(db->note.text, "nothing will be remembered");
    remember(db, "h", 1.0);
    fb_db_close(db);
}

static void a_place_that_is_not_there_means_memory_or_an_error(void **state)
{
    struct fly_error err = {""};
    struct db *db = NULL;

    (void)state;
    assert_int_equal(fb_db_open(rig_path("no/such/a.db"), DB_OURS, &db, &err), -ENOENT);
    assert_contains(err.text, "no/such/a.db");
    assert_int_equal(fb_db_open(rig_path("none.db"), DB_READ_ONLY, &db, &err), -ENOENT);
    assert_int_equal(access(rig_path("none.db"), F_OK), -1);
    db = open_db(rig_path("no/such/a.db"), DB_OURS | DB_OR_MEMORY);
    assert_null(db->path);
    fb_db_close(db);
}

/* It is the process that lacks something: the file is neither called damaged nor set aside. */
static void too_many_open_files_are_no_damage(void **state)
{
    struct db *db = open_db(rig_path("a.db"), DB_OURS);
    struct rlimit before, few;
    int refused = 0, dropped;

    (void)state;
    remember(db, "h", 2.5);
    fb_db_close(db);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    for (few.rlim_cur = 3; few.rlim_cur < 16; few.rlim_cur++) {
        struct fly_error err = {""};

        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        int error = fb_db_open(rig_path("a.db"), DB_OURS, &db, &err);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        if (error < 0) {
            refused++;
            assert_int_equal(error, -EMFILE);
            assert_contains(err.text, strerror(EMFILE));
            continue;
        }
        assert_false(db->set_aside);
        assert_close(rates(db, &dropped), 2.5, 0.0);
        fb_db_close(db);
    }
    assert_true(refused >= 3); /* the file, its log, and what they share */
}

static void read_only_reads(void **state)
{
    struct db *db = open_db(rig_path("a.db"), DB_OURS);
    int dropped;

    (void)state;
    remember(db, "h", 3.0);
    fb_db_close(db);
    db = open_db(rig_path("a.db"), DB_READ_ONLY);
    assert_close(rates(db, &dropped), 3.0, 0.0);
    assert_int_equal(fb_db_begin(db, false), -EROFS);
    fb_db_close(db);
}

static void who_holds_the_lock_is_waited_for_and_not_for_ever(void **state)
{
    struct db *a = open_db(rig_path("a.db"), DB_OURS);
    struct db *b = open_db(rig_path("a.db"), DB_OURS);

    (void)state;
    assert_int_equal(fb_db_begin(a, false), 0);
    assert_int_equal(fb_db_begin(b, false), -EBUSY);
    assert_int_equal(fb_db_commit(a), 0);
    assert_int_equal(fb_db_begin(b, false), 0);
    fb_db_rollback(b);
    fb_db_close(a);
    fb_db_close(b);
}

static void a_wrong_row_is_dropped(void **state)
{
    static const char *const WRONG[] = {
        "UPDATE learned SET rate = 99",       "UPDATE learned SET state = 'blub'",
        "UPDATE learned SET confidence = 1",  "UPDATE learned SET host = 'other'",
        "UPDATE learned SET changed_s = 2",   "UPDATE learned SET saved_s = 2",
        "UPDATE learned SET reduction = 0.5", "UPDATE learned SET recovery_s = 7",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(WRONG); i++) {
        struct db *db = open_db(NULL, 0);
        int dropped = 0;

        remember(db, "h", 2.0);
        assert_int_equal(sqlite3_exec(db->sqlite, WRONG[i], NULL, NULL, NULL), SQLITE_OK);
        assert_close(rates(db, &dropped), 0.0, 0.0);
        assert_int_equal(dropped, 1);
        fb_db_close(db);
    }
}

static void answers_are_kept_until_a_byte_is_wrong(void **state)
{
    struct db *db = open_db(NULL, 0);
    struct cached c = {.key = {1, 2},
                       .etag = "\"a\"",
                       .modified = "",
                       .type = "text/plain",
                       .next = "http://h/2",
                       .body = "body",
                       .body_size = 4,
                       .stored_s = 7};
    struct cached found;

    (void)state;
    assert_int_equal(fb_cache_read(db, c.key, &found), 0);
    assert_int_equal(fb_cache_write(db, &c), 0);
    assert_int_equal(fb_cache_read(db, c.key, &found), 1);
    assert_string_equal(found.etag, "\"a\"");
    assert_memory_equal(found.body, "body", 4);
    assert_string_equal(found.next, "http://h/2");
    assert_int_equal(fb_cache_read(db, (uint64_t[]){2, 1}, &found), 0);
    assert_int_equal(sqlite3_exec(db->sqlite, "UPDATE cached SET body = 'bode'", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(fb_cache_read(db, c.key, &found), 0);
    c.body_size = CACHE_BODY_MAX + 1u;
    assert_int_equal(fb_cache_write(db, &c), -EFBIG);
    fb_db_close(db);
}

/* A byte is changed anywhere: the file is set aside, or the row dropped, or it did not matter. */
static void a_changed_byte_never_gives_a_wrong_value(void **state)
{
    struct db *db = open_db(rig_path("a.db"), DB_OURS);
    struct rng rng = {seed_of_run()};
    size_t size;

    (void)state;
    for (int i = 0; i < 40; i++) {
        char host[32];
        (void)snprintf(host, sizeof host, "host-%d", i);
        remember(db, host, 1.0);
    }
    fb_db_close(db);
    char *good = rig_read(rig_path("a.db"), &size);
    for (int round = 0; round < 300; round++) {
        size_t at = (size_t)(fb_rng_next(&rng) % size);
        char bit = (char)(1u << (fb_rng_next(&rng) % 8));
        char name[32];
        int dropped = 0;

        (void)snprintf(name, sizeof name, "copy-%d", round);
        good[at] = (char)(good[at] ^ bit);
        rig_write(rig_path(name), good, size);
        good[at] = (char)(good[at] ^ bit);
        db = open_db(rig_path(name), DB_OURS | DB_OR_MEMORY);
        double sum = rates(db, &dropped);
        assert_true(sum <= 40.0);
        assert_true(sum == (double)(int)sum);
        remember(db, "new", 1.0);
        assert_int_equal(ask(db, "SELECT count(*) FROM pragma_integrity_check"
                                 " WHERE integrity_check <> 'ok'"),
                         0);
        fb_db_close(db);
    }
    free(good);
}

static int count_events(void *context, const struct learned_event *e)
{
    struct {
        int count;
        double newest;
    } *seen = context;

    if (seen->count++ == 0)
        seen->newest = e->after;
    return 0;
}

static void the_last_thousand_events_stay(void **state)
{
    struct db *db = open_db(NULL, 0);
    struct {
        int count;
        double newest;
    } seen = {0};

    (void)state;
    assert_int_equal(fb_db_begin(db, false), 0);
    for (int i = 0; i < 1500; i++) {
        struct learned_event e = {
            .key = {"p", "h", "c"}, .at_s = i, .kind = "raised", .after = i, .why = "probe"};
        assert_int_equal(fb_learned_note(db, &e), 0);
    }
    assert_int_equal(fb_db_commit(db), 0);
    assert_int_equal(fb_learned_events(db, count_events, &seen), 0);
    assert_int_equal(seen.count, LEARNED_EVENTS_MAX);
    assert_close(seen.newest, 1499, 0);
    fb_db_close(db);
}

static void learned_values_out_of_range_are_refused(void **state)
{
    struct db *db = open_db(NULL, 0);
    struct learned l = {.key = {"p", "h", "c"}, .rate = -1.0};
    struct learned_key all = {0};

    (void)state;
    assert_int_equal(fb_learned_write(db, &l), -EINVAL);
    l = (struct learned){.key = {"p", "h", "c"}, .confidence = 1.5};
    assert_int_equal(fb_learned_write(db, &l), -EINVAL);
    remember(db, "a", 1.0);
    remember(db, "b", 1.0);
    assert_int_equal(fb_learned_forget(db, &(struct learned_key){.host = "a"}), 1);
    assert_int_equal(fb_learned_forget(db, &all), 1);
    fb_db_close(db);
}

struct by_credential {
    int rows;
    double rate[2];
};

static int see_credential(void *context, const struct learned *l)
{
    struct by_credential *seen = context;

    seen->rows++;
    seen->rate[l->key.credential[0] != '\0'] = l->rate;
    return 0;
}

static void each_credential_has_its_own_row(void **state)
{
    struct db *db = open_db(NULL, 0);
    struct learned l = {.key = {"p", "h", "c", "00ff"}, .rate = 4.0};
    struct by_credential seen = {0};
    int dropped = 0;

    (void)state;
    remember(db, "h", 1.0); /* under pool "core", without a credential */
    l.key.pool = "core";
    assert_int_equal(fb_learned_write(db, &l), 0);
    assert_int_equal(fb_learned_each(db, see_credential, &seen, &dropped), 0);
    assert_int_equal(dropped, 0);
    assert_int_equal(seen.rows, 2);
    assert_close(seen.rate[0], 1.0, 0);
    assert_close(seen.rate[1], 4.0, 0);
    assert_int_equal(
        fb_learned_forget(db, &(struct learned_key){.provider = "p", .credential = "00ff"}), 1);
    assert_int_equal(fb_learned_forget(db, &(struct learned_key){.provider = "p"}), 1);
    fb_db_close(db);
}

static void the_oldest_rows_go(void **state)
{
    struct db *db = open_db(NULL, 0);
    char host[16];
    int dropped = 0;

    (void)state;
    for (int i = 1; i <= 10; i++) {
        struct learned l = {.key = {"p", host, "c", ""}, .rate = i, .saved_s = 1000 + i};

        (void)snprintf(host, sizeof host, "h%d", i);
        assert_int_equal(fb_learned_write(db, &l), 0);
    }
    assert_int_equal(fb_learned_trim(db, 10), 0);
    assert_int_equal(fb_learned_trim(db, 3), 7);
    assert_close(rates(db, &dropped), 8 + 9 + 10, 0);
    fb_db_close(db);
}

static void a_secret_is_kept_and_its_damage_seen(void **state)
{
    struct db *db = open_db(NULL, 0);
    static const unsigned char secret[SECRET_BYTES] = "0123456789abcde";
    unsigned char found[SECRET_BYTES] = "";

    (void)state;
    assert_int_equal(fb_secret_read(db, "credentials", found), -ENOENT);
    assert_int_equal(fb_secret_write(db, "credentials", secret), 0);
    assert_int_equal(fb_secret_read(db, "credentials", found), 0);
    assert_memory_equal(found, secret, sizeof secret);
    assert_int_equal(fb_secret_read(db, "others", found), -ENOENT);
    assert_int_equal(sqlite3_exec(db->sqlite, "UPDATE secret SET value = 'x'", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(fb_secret_read(db, "credentials", found), -EUCLEAN);
    fb_db_close(db);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_new_file_is_on_the_disk_with_the_first_commit_that_lasts),
        TEST(a_new_file_is_private_and_of_our_version),
        TEST(what_was_committed_is_there_again),
        TEST(strange_things_are_set_aside_at_our_own_place),
        TEST(strange_things_that_a_user_named_are_left_alone),
        TEST(a_newer_version_is_not_touched),
        TEST(a_place_that_is_not_there_means_memory_or_an_error),
        TEST(too_many_open_files_are_no_damage),
        TEST(read_only_reads),
        TEST(who_holds_the_lock_is_waited_for_and_not_for_ever),
        TEST(a_wrong_row_is_dropped),
        TEST(answers_are_kept_until_a_byte_is_wrong),
        TEST(a_changed_byte_never_gives_a_wrong_value),
        TEST(the_last_thousand_events_stay),
        TEST(learned_values_out_of_range_are_refused),
        TEST(each_credential_has_its_own_row),
        TEST(the_oldest_rows_go),
        TEST(a_secret_is_kept_and_its_damage_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
