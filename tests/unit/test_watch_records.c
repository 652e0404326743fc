/* SPDX-License-Identifier: MIT */
/* Records of a watcher in a real file: written, read after an end without warning, damaged. */
#include "watch_rig.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "watch/records.h"

static char folder[] = "/tmp/flyball-records-XXXXXX";
static char path[64];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof(path), "%s/watch.db", folder);
    return 0;
}

static int remove_folder(void **state)
{
    char command[96];

    (void)state;
    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    return system(command);
}

static struct watch_records *open_records(struct fly_error *err)
{
    struct watch_records *r = NULL;

    *err = (struct fly_error){""};
    if (fb_watch_records_open(path, &r, err) < 0)
        fail_msg("%s", err->text);
    return r;
}

static struct world *world_with(struct watch_records *r)
{
    struct world *w = world_new(1);

    add_site(w, "alpha", 2);
    w->items = w->live = 20;
    w->records = r;
    world_open(w);
    return w;
}

static void what_is_kept_comes_back(void **state)
{
    struct fly_error err;
    struct watch_records *r = open_records(&err);
    struct world *w = world_with(r);
    char score[32];

    (void)state;
    assert_string_equal(err.text, "");
    assert_int_equal(fb_watch_records_load(r, w->watch), 0);
    pass(w, 60 * S);
    fb_watch_keep_all(w->watch);
    int64_t fresh_ns = item(w, "item-7").fresh_ns;
    snprintf(score, sizeof(score), "%s", value(w, "item-7", "score"));
    world_free(w);
    fb_watch_records_close(r, 60000);

    r = open_records(&err);
    w = world_with(r);
    w->now_ns += 90 * S;
    w->wake_ns = w->now_ns;
    assert_int_equal(fb_watch_records_load(r, w->watch), 20);
    assert_int_equal(fb_watch_records_load(r, w->watch), 0);
    assert_int_equal(item(w, "item-7").fresh_ns, fresh_ns);
    assert_string_equal(value(w, "item-7", "score"), score);
    /* One goes for good. */
    fb_watch_records_keep(r, "item-7", NULL, 0);
    assert_int_equal(fb_watch_records_figures(r).handed_over, 1);
    world_free(w);
    fb_watch_records_close(r, 60000);

    r = open_records(&err);
    w = world_with(r);
    assert_int_equal(fb_watch_records_load(r, w->watch), 19);
    world_free(w);
    fb_watch_records_close(r, 60000);
}

/* What is no database of ours is set aside, and the watcher begins with nothing. */
static void a_file_that_is_none(void **state)
{
    struct fly_error err;
    FILE *f = fopen(path, "w");

    (void)state;
    fputs("this is no database, and never was one; but it is long enough to be looked at\n", f);
    fclose(f);
    struct watch_records *r = open_records(&err);
    assert_contains(err.text, "watch.db");
    struct world *w = world_with(r);
    assert_int_equal(fb_watch_records_load(r, w->watch), 0);
    world_free(w);
    fb_watch_records_close(r, 60000);
    fb_watch_records_close(NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_comes_back),
        cmocka_unit_test(a_file_that_is_none),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
