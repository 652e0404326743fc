/* SPDX-License-Identifier: MIT */
/* The journal and its output: every item exactly once, whenever it ended. */
#include "store_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>

#include "core/rng.h"
#include "store/deferred.h"
#include "util/alloc.h"

/* A batch as a test holds it. */
struct batch {
    struct store *store;
    struct journal *journal;
    struct journal_found found;
    int committed;
    int error;
};

struct line {
    struct journal_entry entry;
    struct batch *batch;
    const char *pad;
};

static struct journal_options file_options(void)
{
    return (struct journal_options){
        .path = rig_path("j.db"), .list = "list", .output = rig_path("out"), .stream = -1};
}

static int try_open(struct batch *b, const struct journal_options *o, struct fly_error *err)
{
    *b = (struct batch){.store = rig_store()};
    int error = fb_journal_open(b->store, o, &b->journal, &b->found, err);

    if (error < 0)
        assert_int_equal(fb_store_close(b->store, LONG_MS), 0);
    return error;
}

static void open_batch(struct batch *b, const struct journal_options *o)
{
    struct fly_error err = {""};

    if (try_open(b, o, &err) < 0)
        fail_msg("%s", err.text);
}

static void close_batch(struct batch *b)
{
    assert_int_equal(fb_store_close(b->store, LONG_MS), 0);
    fb_journal_close(b->journal, false);
}

static int format(struct journal_entry *e, struct buffer *out)
{
    const struct line *l = (const struct line *)(const void *)e;

    fb_buffer_add_text(out, ",\"id\":");
    fb_buffer_add_int(out, (int64_t)e->item);
    fb_buffer_add_text(out, l->pad);
    return 0;
}

static void line_done(struct journal_entry *e, int error)
{
    struct line *l = (struct line *)(void *)e;

    if (error == 0)
        l->batch->committed++;
    else
        l->batch->error = error;
    free(l);
}

static void put(struct batch *b, uint64_t item, enum entry_state state)
{
    struct line *l = calloc(1, sizeof *l);

    assert_non_null(l);
    l->batch = b;
    l->pad = "";
    l->entry = (struct journal_entry){.item = item,
                                      .check = fb_journal_check(item),
                                      .state = state,
                                      .format = state == ENTRY_started ? NULL : format,
                                      .done = line_done,
                                      .id = "x",
                                      .place = "https://h/p",
                                      .reason = "hold",
                                      .not_before_s = 12};
    assert_int_equal(fb_journal_put(b->journal, &l->entry), 0);
}

static enum entry_state state_of(const struct batch *b, uint64_t item)
{
    bool same;

    return fb_journal_state(b->journal, item, fb_journal_check(item), &same);
}

/* How often each item is in the output; every line must be whole. */
static void count_lines(const char *path, int *times, size_t most)
{
    size_t size;
    char *text = rig_read(path, &size);

    memset(times, 0, (most + 1) * sizeof *times);
    for (char *at = text, *end; at < text + size; at = end + 1) {
        unsigned long long item = 0;

        end = strchr(at, '\n');
        assert_non_null(end);
        assert_int_equal(end[-1], '}');
        assert_int_equal(sscanf(at, "{\"item\":%llu,", &item), 1);
        assert_true(item > 0 && item <= most);
        times[item]++;
    }
    free(text);
}

static void what_is_finished_is_known_again(void **state)
{
    struct journal_options o = file_options();
    struct batch b;

    (void)state;
    open_batch(&b, &o);
    assert_false(b.found.resumed);
    put(&b, 1, ENTRY_done);
    put(&b, 2, ENTRY_failed);
    put(&b, 4, ENTRY_skipped);
    put(&b, 5000, ENTRY_done);
    close_batch(&b);
    assert_int_equal(b.committed, 4);

    open_batch(&b, &o);
    assert_true(b.found.resumed);
    assert_false(b.found.rebuilt);
    assert_int_equal(b.found.items[ENTRY_done], 2);
    assert_int_equal(b.found.items[ENTRY_failed], 1);
    assert_int_equal(state_of(&b, 1), ENTRY_done);
    assert_int_equal(state_of(&b, 2), ENTRY_failed);
    assert_int_equal(state_of(&b, 3), ENTRY_pending);
    assert_int_equal(state_of(&b, 5000), ENTRY_done);
    assert_int_equal(state_of(&b, 4000000), ENTRY_pending);
    close_batch(&b);
}

static void another_request_at_the_same_place_is_noticed(void **state)
{
    struct journal_options o = file_options();
    struct batch b;
    bool same;

    (void)state;
    open_batch(&b, &o);
    put(&b, 1, ENTRY_done);
    close_batch(&b);
    open_batch(&b, &o);
    (void)fb_journal_state(b.journal, 1, fb_journal_check(1), &same);
    assert_true(same);
    (void)fb_journal_state(b.journal, 1, fb_journal_check(2), &same);
    assert_false(same);
    (void)fb_journal_state(b.journal, 2, fb_journal_check(7), &same);
    assert_true(same);
    close_batch(&b);
}

static void lists_and_outputs_do_not_share_a_batch(void **state)
{
    struct journal_options o = file_options();
    struct batch b;

    (void)state;
    open_batch(&b, &o);
    put(&b, 1, ENTRY_done);
    close_batch(&b);
    o.list = "another";
    o.output = rig_path("out2");
    open_batch(&b, &o);
    assert_false(b.found.resumed);
    assert_int_equal(state_of(&b, 1), ENTRY_pending);
    close_batch(&b);
}

static void check_refused(const struct journal_options *o, int lines)
{
    struct fly_error err = {""};
    struct batch b;
    int times[3];

    assert_int_equal(try_open(&b, o, &err), -EEXIST);
    assert_non_null(strstr(err.text, "holds something else"));
    count_lines(o->output, times, 2);
    assert_int_equal(times[1] + times[2], lines);
}

/* Not cut, not written over, not taken for our own: whether it is shorter than ours or longer. */
static void results_of_another_list_are_left_alone(void **state)
{
    struct journal_options one = file_options();
    struct journal_options other = file_options();
    struct batch b;

    (void)state;
    other.list = "another";
    other.path = rig_path("other.db");
    open_batch(&b, &one);
    put(&b, 1, ENTRY_done);
    close_batch(&b);
    check_refused(&other, 1);
    assert_int_equal(access(other.path, F_OK), -1); /* there is no such batch */
    other.fresh = true;
    open_batch(&b, &other);
    put(&b, 2, ENTRY_done);
    put(&b, 1, ENTRY_done);
    close_batch(&b);
    check_refused(&one, 2);
    other.fresh = false;
    open_batch(&b, &other);
    assert_true(b.found.resumed && !b.found.rebuilt);
    close_batch(&b);
    one.fresh = true;
    open_batch(&b, &one);
    close_batch(&b);
}

static void two_processes_do_not_share_a_journal(void **state)
{
    struct journal_options o = file_options();
    struct fly_error err = {""};
    struct batch a, b;

    (void)state;
    open_batch(&a, &o);
    assert_int_equal(try_open(&b, &o, &err), -EALREADY);
    assert_contains(err.text, "another process");
    close_batch(&a);
    open_batch(&b, &o);
    close_batch(&b);
}

static void what_was_not_committed_is_cut_off(void **state)
{
    struct journal_options o = file_options();
    int times[4];
    struct batch b;

    (void)state;
    open_batch(&b, &o);
    put(&b, 1, ENTRY_done);
    close_batch(&b);
    FILE *f = fopen(o.output, "a");
    assert_non_null(f);
    fputs("{\"item\":2,\"outcome\":\"ok\"}\n{\"item\":3,\"outc", f);
    assert_int_equal(fclose(f), 0);
    open_batch(&b, &o);
    assert_false(b.found.rebuilt);
    assert_int_equal(state_of(&b, 2), ENTRY_pending);
    put(&b, 2, ENTRY_done);
    close_batch(&b);
    count_lines(o.output, times, 3);
    assert_int_equal(times[1], 1);
    assert_int_equal(times[2], 1);
    assert_int_equal(times[3], 0);
}

static void a_shorter_output_is_believed(void **state)
{
    struct journal_options o = file_options();
    struct batch b;
    struct stat there;

    (void)state;
    open_batch(&b, &o);
    put(&b, 1, ENTRY_done);
    put(&b, 2, ENTRY_failed);
    put(&b, 3, ENTRY_started);
    put(&b, 4, ENTRY_done);
    close_batch(&b);
    assert_int_equal(stat(o.output, &there), 0);
    assert_int_equal(truncate(o.output, there.st_size - 5), 0);
    open_batch(&b, &o);
    assert_true(b.found.rebuilt);
    assert_contains(b.found.note.text, o.output);
    assert_int_equal(state_of(&b, 1), ENTRY_done);
    assert_int_equal(state_of(&b, 2), ENTRY_failed);
    assert_int_equal(state_of(&b, 3), ENTRY_started);
    assert_int_equal(state_of(&b, 4), ENTRY_pending);
    close_batch(&b);
}

static void an_output_that_is_gone_is_a_new_beginning(void **state)
{
    struct journal_options o = file_options();
    struct batch b;

    (void)state;
    open_batch(&b, &o);
    put(&b, 1, ENTRY_done);
    close_batch(&b);
    assert_int_equal(unlink(o.output), 0);
    open_batch(&b, &o);
    assert_false(b.found.resumed);
    assert_int_equal(state_of(&b, 1), ENTRY_pending);
    close_batch(&b);
}

static void fresh_forgets(void **state)
{
    struct journal_options o = file_options();
    struct batch b;
    int times[2];

    (void)state;
    open_batch(&b, &o);
    put(&b, 1, ENTRY_done);
    close_batch(&b);
    o.fresh = true;
    open_batch(&b, &o);
    assert_int_equal(state_of(&b, 1), ENTRY_pending);
    put(&b, 1, ENTRY_done);
    close_batch(&b);
    count_lines(o.output, times, 1);
    assert_int_equal(times[1], 1);
}

static void failed_ones_are_done_again_and_leave_the_output(void **state)
{
    struct journal_options o = file_options();
    int times[7];
    struct batch b;

    (void)state;
    open_batch(&b, &o);
    put(&b, 1, ENTRY_done);
    put(&b, 2, ENTRY_failed);
    put(&b, 3, ENTRY_deferred);
    put(&b, 4, ENTRY_failed);
    put(&b, 5, ENTRY_done);
    close_batch(&b);
    o.again = 1u << ENTRY_failed;
    open_batch(&b, &o);
    assert_int_equal(b.found.items[ENTRY_pending], 2);
    assert_int_equal(state_of(&b, 2), ENTRY_pending);
    assert_int_equal(state_of(&b, 3), ENTRY_deferred);
    count_lines(o.output, times, 6);
    assert_int_equal(times[2] + times[4], 0);
    assert_int_equal(times[1] + times[3] + times[5], 3);
    put(&b, 2, ENTRY_done);
    put(&b, 4, ENTRY_failed);
    put(&b, 6, ENTRY_done);
    close_batch(&b);
    count_lines(o.output, times, 6);
    for (int i = 1; i <= 6; i++)
        assert_int_equal(times[i], 1);
}

static int count_deferred(void *context, const struct deferred *d)
{
    ++*(int *)context;
    assert_string_equal(d->list, "list");
    assert_string_equal(d->place, "https://h/p");
    assert_int_equal(d->not_before_s, 12);
    return 0;
}

static int deferred_in(const char *path)
{
    struct fly_error err = {""};
    struct db *db = NULL;
    int count = 0;

    assert_int_equal(fb_db_open(path, DB_READ_ONLY, &db, &err), 0);
    assert_int_equal(fb_deferred_each(db, count_deferred, &count), 0);
    fb_db_close(db);
    return count;
}

static void deferred_ones_are_listed_until_they_are_done(void **state)
{
    struct journal_options o = file_options();
    struct batch b;

    (void)state;
    open_batch(&b, &o);
    put(&b, 1, ENTRY_deferred);
    put(&b, 2, ENTRY_deferred);
    close_batch(&b);
    assert_int_equal(deferred_in(o.path), 2);
    o.again = 1u << ENTRY_deferred;
    open_batch(&b, &o);
    put(&b, 1, ENTRY_done);
    put(&b, 2, ENTRY_deferred);
    close_batch(&b);
    assert_int_equal(deferred_in(o.path), 1);
}

/* A page of item 1, and where the next one is. */
static void put_page(struct batch *b, uint32_t page, const char *next)
{
    struct line *l = calloc(1, sizeof *l);

    assert_non_null(l);
    *l = (struct line){.batch = b, .pad = ""};
    l->entry = (struct journal_entry){.item = 1,
                                      .check = fb_journal_check(1),
                                      .state = ENTRY_done,
                                      .format = format,
                                      .done = line_done,
                                      .page = page,
                                      .next = next};
    assert_int_equal(fb_journal_put(b->journal, &l->entry), 0);
}

static void an_item_of_several_pages_goes_on_where_it_was(void **state)
{
    struct journal_options o = file_options();
    uint32_t page = 0;
    int times[2];
    struct batch b;

    (void)state;
    open_batch(&b, &o);
    put_page(&b, 1, "http://h/2");
    put_page(&b, 2, "http://h/3");
    close_batch(&b);
    open_batch(&b, &o);
    assert_int_equal(state_of(&b, 1), ENTRY_pending);
    assert_string_equal(fb_journal_next(b.journal, 1, &page), "http://h/3");
    assert_int_equal(page, 2);
    assert_null(fb_journal_next(b.journal, 2, &page));
    put_page(&b, 3, NULL);
    close_batch(&b);
    open_batch(&b, &o);
    assert_int_equal(state_of(&b, 1), ENTRY_done);
    assert_null(fb_journal_next(b.journal, 1, &page));
    close_batch(&b);
    count_lines(o.output, times, 1);
    assert_int_equal(times[1], 3);
}

static void read_back_an_item_without_its_last_page_has_failed(void **state)
{
    struct journal_options o = file_options();
    struct stat there;
    struct batch b;
    uint32_t page;

    (void)state;
    open_batch(&b, &o);
    put_page(&b, 1, "http://h/2");
    put_page(&b, 2, NULL);
    close_batch(&b);
    assert_int_equal(stat(o.output, &there), 0);
    assert_int_equal(truncate(o.output, there.st_size - 3), 0);
    open_batch(&b, &o);
    assert_true(b.found.rebuilt);
    assert_int_equal(state_of(&b, 1), ENTRY_failed);
    assert_null(fb_journal_next(b.journal, 1, &page));
    close_batch(&b);
}

static void a_damaged_journal_is_set_aside_and_read_back(void **state)
{
    struct journal_options o = file_options();
    struct batch b;
    size_t size;

    (void)state;
    open_batch(&b, &o);
    for (uint64_t i = 1; i <= 20; i++)
        put(&b, i, ENTRY_done);
    close_batch(&b);
    char *bytes = rig_read(o.path, &size);
    memset(bytes, 'x', 100);
    rig_write(o.path, bytes, size);
    free(bytes);
    open_batch(&b, &o);
    assert_true(b.found.rebuilt);
    assert_contains(b.found.note.text, "aside");
    assert_int_equal(b.found.items[ENTRY_done], 20);
    close_batch(&b);
}

static void change(const char *path, const char *sql)
{
    sqlite3 *s = NULL;

    assert_int_equal(sqlite3_open(path, &s), SQLITE_OK);
    assert_int_equal(sqlite3_exec(s, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_changes(s), 1);
    sqlite3_close(s);
}

/* Changes that SQLite cannot see: each is noticed, and the output is believed. */
static void a_wrong_row_is_noticed(void **state)
{
    static const char *const WRONG[] = {
        "UPDATE chunk SET states = zeroblob(2048)",
        "UPDATE chunk SET states = zeroblob(10)",
        "UPDATE chunk SET number = 7",
        "DELETE FROM chunk",
        "UPDATE batch SET out_size = 5",
        "UPDATE batch SET out_size = -5",
        "UPDATE batch SET marks = 0",
        "UPDATE batch SET replaced = 1",
        "UPDATE batch SET id = 9",
    };
    struct journal_options o = file_options();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(WRONG); i++) {
        struct batch b;

        o.fresh = true;
        open_batch(&b, &o);
        put(&b, 1, ENTRY_done);
        put(&b, 3, ENTRY_failed);
        close_batch(&b);
        change(o.path, WRONG[i]);
        o.fresh = false;
        open_batch(&b, &o);
        if (!b.found.rebuilt)
            fail_msg("not noticed: %s", WRONG[i]);
        assert_int_equal(state_of(&b, 1), ENTRY_done);
        assert_int_equal(state_of(&b, 2), ENTRY_pending);
        assert_int_equal(state_of(&b, 3), ENTRY_failed);
        close_batch(&b);
    }
}

/* Whichever bit is wrong, an item is finished exactly when the output has it. */
static void a_changed_byte_does_no_harm(void **state)
{
    struct journal_options o = file_options();
    struct rng rng = {seed_of_run()};
    struct batch b;
    size_t size;

    (void)state;
    open_batch(&b, &o);
    for (uint64_t i = 1; i <= 30; i++)
        put(&b, 2 * i, i % 3 ? ENTRY_done : ENTRY_failed);
    close_batch(&b);
    char *good = rig_read(o.path, &size);
    for (int round = 0; round < 200; round++) {
        size_t at = (size_t)(fb_rng_next(&rng) % size);
        char bit = (char)(1u << (fb_rng_next(&rng) % 8));

        good[at] = (char)(good[at] ^ bit);
        rig_write(o.path, good, size);
        good[at] = (char)(good[at] ^ bit);
        struct fly_error err = {""};
        int error = try_open(&b, &o, &err);
        if (error == -EPROTO) /* its version is the wrong byte: not touched */
            continue;
        assert_int_equal(error, 0);
        for (uint64_t i = 1; i <= 30; i++) {
            assert_int_equal(state_of(&b, 2 * i), i % 3 ? ENTRY_done : ENTRY_failed);
            assert_int_equal(state_of(&b, 2 * i - 1), ENTRY_pending);
        }
        close_batch(&b);
        (void)unlink(rig_path("j.db-wal"));
        (void)unlink(rig_path("j.db-shm"));
    }
    free(good);
}

/* Memory is out at the n-th call, for every n: an error each time, and the journal stays sound. */
static void without_memory_nothing_is_harmed(void **state)
{
    struct journal_options o = file_options();
    struct fly_error err = {""};
    struct batch b;
    size_t n = 0;

    (void)state;
    open_batch(&b, &o);
    put(&b, 1, ENTRY_done);
    put(&b, 2, ENTRY_deferred);
    put_page(&b, 1, "http://h/2");
    close_batch(&b);
    o.again = 1u << ENTRY_deferred;
    for (bool done = false; !done; n++) {
        fb_alloc_fail_at(n + 1);
        struct store_options so = {0};
        int error = fb_store_open(&so, &b.store);
        if (error == 0)
            error = fb_journal_open(b.store, &o, &b.journal, &b.found, &err);
        else
            b.store = NULL;
        fb_alloc_fail_at(0);
        done = error == 0;
        assert_true(done || error == -ENOMEM);
        assert_int_equal(fb_store_close(b.store, LONG_MS), 0);
        if (done)
            fb_journal_close(b.journal, false);
    }
    assert_true(n > 5);
    o.again = 0;
    open_batch(&b, &o);
    assert_int_equal(state_of(&b, 1), ENTRY_done);
    assert_int_equal(state_of(&b, 2), ENTRY_pending);
    close_batch(&b);
}

/* The same while results are being written: each is committed, or comes back with the error. */
static void without_memory_results_come_back(void **state)
{
    struct journal_options o = file_options();
    int times[4];

    (void)state;
    for (size_t n = 1; n < 12; n++) {
        struct batch b;

        o.fresh = true;
        open_batch(&b, &o);
        fb_alloc_fail_at(n);
        for (uint64_t i = 1; i <= 3; i++)
            put(&b, i, ENTRY_done);
        int error = fb_store_drain(b.store, LONG_MS);
        fb_alloc_fail_at(0);
        assert_int_equal(error, 0);
        close_batch(&b);
        assert_true(b.committed == 3 || b.error == -ENOMEM);
        count_lines(o.output, times, 3);
        assert_int_equal(times[1] + times[2] + times[3], b.committed);
    }
}

static void told(void *context, int error, const char *sentence)
{
    struct {
        int error;
        char text[256];
    } *seen = context;

    if (error < 0) {
        seen->error = error;
        (void)snprintf(seen->text, sizeof seen->text, "%s", sentence);
    }
}

static void a_full_disk_is_told_and_nothing_is_lost(void **state)
{
    struct {
        int error;
        char text[256];
    } seen = {0};
    struct store_options so = {.trouble = told, .context = &seen};
    struct journal_options o = file_options();
    struct fly_error err = {""};
    struct batch b = {0};

    (void)state;
    o.output = "/dev/full";
    assert_int_equal(fb_store_open(&so, &b.store), 0);
    assert_int_equal(fb_journal_open(b.store, &o, &b.journal, &b.found, &err), 0);
    put(&b, 1, ENTRY_done);
    while (seen.error == 0)
        assert_int_equal(fb_store_drain(b.store, 20), -ETIMEDOUT);
    assert_int_equal(seen.error, -ENOSPC);
    assert_contains(seen.text, "/dev/full");
    fb_store_give_up(b.store);
    close_batch(&b);
    assert_int_equal(b.error, -ENOSPC);

    open_batch(&b, &o);
    assert_int_equal(state_of(&b, 1), ENTRY_pending);
    b.error = 0;
    fb_store_give_up(b.store);
    close_batch(&b);
}

static void a_reader_that_left_ends_it(void **state)
{
    struct journal_options o = file_options();
    struct batch b;
    int ends[2];

    (void)state;
    (void)signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(close(ends[0]), 0);
    o.output = NULL;
    o.stream = ends[1];
    open_batch(&b, &o);
    put(&b, 1, ENTRY_done);
    close_batch(&b);
    assert_int_equal(b.error, -EPIPE);
    assert_int_equal(close(ends[1]), 0);
}

/* A process that finishes items until it is killed; those of every third number are started. */
static void work_until_killed(uint64_t from)
{
    struct journal_options o = file_options();
    struct fly_error err = {""};
    struct batch b;

    if (try_open(&b, &o, &err) < 0)
        _exit(1);
    for (uint64_t item = from; item < from + 1000000; item++) {
        if (state_of(&b, item) != ENTRY_pending)
            continue;
        if (item % 3 == 0)
            put(&b, item, ENTRY_started);
        put(&b, item, ENTRY_done);
        while (fb_store_turn(b.store) > 200)
            (void)usleep(100);
    }
    _exit(0);
}

static void killed_at_any_moment_every_item_is_there_once(void **state)
{
    enum { MOST = 1100000 };
    struct journal_options o = file_options();
    struct rng rng = {seed_of_run()};
    int *times = calloc(MOST + 1, sizeof *times);
    size_t finished = 0;

    (void)state;
    assert_non_null(times);
    for (int round = 0; round < 10; round++) {
        struct batch b;
        int status;
        pid_t child = fork();

        if (child == 0)
            work_until_killed(1);
        (void)usleep((useconds_t)(50000 + fb_rng_next(&rng) % 100000));
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        open_batch(&b, &o);
        count_lines(o.output, times, MOST);
        size_t before = finished;
        finished = 0;
        for (uint64_t i = 1; i <= MOST; i++) {
            assert_true(times[i] <= 1);
            assert_int_equal(times[i], state_of(&b, i) == ENTRY_done);
            finished += (size_t)times[i];
        }
        assert_true(finished >= before);
        close_batch(&b);
    }
    assert_true(finished > 0);
    free(times);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_finished_is_known_again),
        TEST(another_request_at_the_same_place_is_noticed),
        TEST(lists_and_outputs_do_not_share_a_batch),
        TEST(results_of_another_list_are_left_alone),
        TEST(two_processes_do_not_share_a_journal),
        TEST(what_was_not_committed_is_cut_off),
        TEST(a_shorter_output_is_believed),
        TEST(an_output_that_is_gone_is_a_new_beginning),
        TEST(fresh_forgets),
        TEST(failed_ones_are_done_again_and_leave_the_output),
        TEST(deferred_ones_are_listed_until_they_are_done),
        TEST(an_item_of_several_pages_goes_on_where_it_was),
        TEST(read_back_an_item_without_its_last_page_has_failed),
        TEST(a_damaged_journal_is_set_aside_and_read_back),
        TEST(a_wrong_row_is_noticed),
        TEST(a_changed_byte_does_no_harm),
        TEST(without_memory_nothing_is_harmed),
        TEST(without_memory_results_come_back),
        TEST(a_full_disk_is_told_and_nothing_is_lost),
        TEST(a_reader_that_left_ends_it),
        TEST(killed_at_any_moment_every_item_is_there_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
