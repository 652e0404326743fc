/* SPDX-License-Identifier: MIT */
/* What a batch leaves for other processes: whole or not at all, and known to run or not to. */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/rng.h"
#include "store/runs.h"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/flyball-runs-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static void path_of(char *path, size_t size, const char *name)
{
    int length = snprintf(path, size, "%s/%s.run", folder, name);
    assert_true(length > 0 && (size_t)length < size);
}

static int remove_folder(void **state)
{
    DIR *dir = opendir(folder);

    (void)state;
    for (const struct dirent *e; dir && (e = readdir(dir));)
        (void)unlinkat(dirfd(dir), e->d_name, 0);
    if (dir)
        (void)closedir(dir);
    return rmdir(folder);
}

static struct view_batch example(int64_t done)
{
    struct view_batch b = {.began_ns = 1000 * S, .done = done, .total = 600, .key_count = 1};

    fb_view_put(b.name, sizeof b.name, "fetch-1");
    fb_view_put(b.key[0].provider, sizeof b.key[0].provider, "a.example");
    return b;
}

static void write_one(const char *name, int64_t began_ns)
{
    struct view_batch b = example(1);
    struct run *r = NULL;

    b.began_ns = began_ns;
    fb_view_put(b.name, sizeof b.name, name);
    assert_int_equal(fb_run_open(folder, name, &r), 0);
    assert_true(fb_run_write(r, &b));
    fb_run_close(r);
}

static void what_was_written_last_is_read(void **state)
{
    struct runs all = {.count = 0};
    struct run *r = NULL;

    (void)state;
    assert_int_equal(fb_run_open(folder, "fetch-1", &r), 0);
    for (int64_t i = 0; i < 3; i++) {
        struct view_batch b = example(i);
        b.key[0].rate = 3.0;
        b.key[0].queued = b.key[0].in_flight = 4;
        assert_true(fb_run_write(r, &b));
    }
    fb_run_close(r);
    assert_int_equal(fb_runs_read(folder, &all), 0);
    assert_int_equal(all.count, 1);
    assert_int_equal(all.batch[0]->done, 2);
    assert_int_equal(all.batch[0]->running, 0);
    assert_string_equal(all.batch[0]->key[0].provider, "a.example");
    assert_string_equal(all.batch[0]->key[1].provider, "");
    assert_true(all.batch[0]->key[0].rate == 0.0); /* what has ended sends nothing */
    assert_int_equal(all.batch[0]->key[0].queued + all.batch[0]->key[0].in_flight, 0);
    fb_runs_free(&all);
}

static void one_that_did_nothing_leaves_nothing(void **state)
{
    struct view_batch b = example(0);
    struct runs all = {.count = 0};
    struct run *r = NULL;

    (void)state;
    write_one("fetch-2", 5 * S);
    assert_int_equal(fb_run_open(folder, "fetch-1", &r), 0);
    assert_true(fb_run_write(r, &b));
    fb_run_drop(r);
    fb_run_close(r);
    fb_run_drop(NULL);
    assert_int_equal(fb_runs_read(folder, &all), 0);
    assert_int_equal(all.count, 1);
    assert_string_equal(all.batch[0]->name, "fetch-2");
    fb_runs_free(&all);
}

/* Whoever says that it is kept has to know. */
static void what_could_not_be_written_is_known(void **state)
{
    struct view_batch b = example(1);
    struct rlimit before;
    struct run *r = NULL;

    (void)state;
    assert_false(fb_run_write(NULL, &b));
    assert_int_equal(fb_run_open(folder, "fetch-1", &r), 0);
    assert_true(fb_run_write(r, &b));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){8, before.rlim_max}), 0);
    bool is_written = fb_run_write(r, &b);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, SIG_DFL);
    assert_false(is_written);
    fb_run_close(r);
}

static void no_folder_is_no_runs(void **state)
{
    struct runs all = {.count = 7};

    (void)state;
    assert_int_equal(fb_runs_read("/nonexistent/folder", &all), 0);
    assert_int_equal(all.count, 7); /* untouched */
}

/* A child writes as fast as it can until it is killed. */
static pid_t start_writer(void)
{
    int ready[2];
    char byte;

    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct run *r = NULL;
        if (fb_run_open(folder, "fetch-1", &r) < 0)
            _exit(1);
        for (int64_t i = 0;; i++) {
            struct view_batch b = example(i);
            b.failed = -i; /* the two always fit together */
            b.key_count = 1 + i % VIEW_BATCH_KEYS;
            (void)fb_run_write(r, &b);
            if (i == 0 && write(ready[1], "x", 1) != 1)
                _exit(1);
        }
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    (void)close(ready[0]);
    (void)close(ready[1]);
    return pid;
}

static void readers_see_whole_states_of_one_that_runs(void **state)
{
    pid_t pid = start_writer();
    struct runs all = {.count = 0};
    struct run *r = NULL;

    (void)state;
    assert_int_equal(fb_run_open(folder, "fetch-1", &r), -EALREADY);
    for (int i = 0; i < 300; i++) {
        assert_int_equal(fb_runs_read(folder, &all), 0);
        if (all.count == 1) { /* under such a storm a reader may give up */
            assert_int_equal(all.batch[0]->running, 1);
            assert_int_equal(all.batch[0]->done + all.batch[0]->failed, 0);
        }
        fb_runs_free(&all);
    }
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
    assert_int_equal(fb_run_open(folder, "fetch-2", &r), 0); /* nobody is in the way */
    fb_run_close(r);
    assert_int_equal(fb_runs_read(folder, &all), 0);
    for (size_t i = 0; i < all.count; i++)
        assert_int_equal(all.batch[i]->running, 0);
    fb_runs_free(&all);
}

/* Any byte of the file may be anything. */
static void damage_is_passed_over(void **state)
{
    struct rng rng = {.state = seed_of_run()};
    char path[128];

    (void)state;
    path_of(path, sizeof path, "fetch-1");
    for (int i = 0; i < 300; i++) {
        struct runs all = {.count = 0};
        unsigned char byte = (unsigned char)fb_rng_next(&rng);

        write_one("fetch-1", 1000 * S);
        int fd = open(path, O_RDWR);
        assert_true(fd >= 0);
        off_t size = lseek(fd, 0, SEEK_END);
        off_t at = (off_t)(fb_rng_next(&rng) % (uint64_t)size);
        if (i % 3 == 0)
            assert_int_equal(ftruncate(fd, at), 0);
        else
            assert_int_equal(pwrite(fd, &byte, 1, at), 1);
        (void)close(fd);
        assert_int_equal(fb_runs_read(folder, &all), 0);
        assert_at_most((int64_t)all.count, 1);
        if (all.count == 1)
            assert_int_equal(all.batch[0]->done, 1);
        fb_runs_free(&all);
    }
}

static void old_ones_are_removed(void **state)
{
    struct runs all = {.count = 0};

    (void)state;
    for (int i = 0; i < RUNS_KEPT + 10; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "fetch-%d", i);
        write_one(name, (1000 + i) * S);
    }
    assert_int_equal(fb_runs_read(folder, &all), 0);
    assert_at_most((int64_t)all.count, RUNS_KEPT + 1);
    assert_at_least((int64_t)all.count, RUNS_KEPT - 1);
    assert_int_equal(all.batch[0]->began_ns, (1000 + RUNS_KEPT + 9) * S);
    fb_runs_free(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_written_last_is_read, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(one_that_did_nothing_leaves_nothing, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(what_could_not_be_written_is_known, make_folder,
                                        remove_folder),
        cmocka_unit_test(no_folder_is_no_runs),
        cmocka_unit_test_setup_teardown(readers_see_whole_states_of_one_that_runs, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(damage_is_passed_over, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(old_ones_are_removed, make_folder, remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
