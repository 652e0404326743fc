/* SPDX-License-Identifier: MIT */
/* Lives where the system tells little: no page that a fork wipes, no /proc, or nonsense in it. */
#include "faults.h"
#include "ledger_rig.h"

#include <signal.h>

#include "ledger/life.h"

/* ---- the system ---- */

int __real_open(const char *path, int flags, ...);
ssize_t __real_read(int fd, void *bytes, size_t size);
void *__real_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
int __real_madvise(void *at, size_t size, int advice);
int __real_kill(pid_t pid, int number);

int __wrap_open(const char *path, int flags, ...);
ssize_t __wrap_read(int fd, void *bytes, size_t size);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
int __wrap_madvise(void *at, size_t size, int advice);
int __wrap_kill(pid_t pid, int number);

int __wrap_open(const char *path, int flags, ...)
{
    return fails("open") ? -1 : __real_open(path, flags);
}

/* What is read instead of what is there. */
static const char *stat_line;

ssize_t __wrap_read(int fd, void *bytes, size_t size)
{
    if (fails("read"))
        return -1;
    if (!stat_line)
        return __real_read(fd, bytes, size);
    assert_true(strlen(stat_line) <= size);
    memcpy(bytes, stat_line, strlen(stat_line));
    return (ssize_t)strlen(stat_line);
}

void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    return fails("mmap") ? MAP_FAILED : __real_mmap(at, size, protection, flags, fd, offset);
}

/* Another thread may be faster with its page. */
static bool another_is_faster;

int __wrap_madvise(void *at, size_t size, int advice)
{
    if (fails("madvise"))
        return -1;
    if (another_is_faster) {
        another_is_faster = false;
        assert_true(fb_life_me() != 0);
    }
    return __real_madvise(at, size, advice);
}

int __wrap_kill(pid_t pid, int number)
{
    return fails("kill") ? -1 : __real_kill(pid, number);
}

/* ---- who this is ---- */

/* Where nothing tells of a fork, the number of the process does. */
static void without_a_page(void **state)
{
    uint64_t *told = shared_memory(sizeof(*told));

    (void)state;
    fault = (struct fault){"mmap", 0, 99, ENOMEM};
    uint64_t me = fb_life_me();
    assert_true(me != 0 && !(me & FB_LIFE_SPARE));
    assert_int_equal(fb_life_me(), me);
    assert_false(fb_life_is_over(me));
    pid_t child = fork();
    if (child == 0) {
        *told = fb_life_me();
        _exit(0);
    }
    assert_int_equal(status_of(child), 0);
    assert_true(*told != 0 && *told != me);
    assert_true(fb_life_is_over(*told));

    fault = (struct fault){"madvise", 0, 99, EINVAL};
    assert_int_equal(fb_life_me(), me);
    fault = (struct fault){0};
    assert_int_equal(munmap(told, sizeof(*told)), 0);
}

static void another_thread_makes_the_page(void **state)
{
    (void)state;
    another_is_faster = true;
    uint64_t me = fb_life_me();
    assert_false(another_is_faster);
    assert_int_equal(fb_life_me(), me);
    assert_int_equal(me & ((UINT64_C(1) << FB_LIFE_PID_BITS) - 1), (uint64_t)getpid());
}

/* ---- who lives ---- */

/* What cannot be told is taken to live: a living process must not be robbed. */
static void who_cannot_be_looked_at_lives(void **state)
{
    uint64_t me = fb_life_me();
    static const struct fault unknown[] = {
        {"open", 0, 1, EMFILE},
        {"open", 0, 1, EACCES},
        {"read", 0, 1, EIO},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(unknown); i++) {
        fault = unknown[i];
        assert_false(fb_life_is_over(me));
    }
    fault = (struct fault){"open", 0, 1, ENOENT};
    assert_true(fb_life_is_over(me));
    fault = (struct fault){"read", 0, 1, ESRCH}; /* it ended while it was looked at */
    assert_true(fb_life_is_over(me));
    /* Known by its number alone, and another user's. */
    fault = (struct fault){"kill", 0, 1, EPERM};
    assert_false(fb_life_is_over((uint64_t)getpid()));
    fault = (struct fault){0};
}

/* A name may hold anything, and a line may be cut. */
static void lines_of_all_kinds(void **state)
{
    static const struct {
        const char *line;
        bool over;
    } rows[] = {
        {"", true},
        {"1 (sh", true},
        {"1 (sh)", true},
        {"1 (sh)S", true},
        {"1 (sh) S", true},
        {"1 (sh) S 1 2 3", true},
        {"1 (sh) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 1 18 7:", false},
        {"1 (sh) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 1 18 8 20", true}, /* began later */
        {"1 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 1 18 7 20", false},
        {"1 (sh) Z 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 1 18 7 20", true},
        {"1 (sh) X 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 1 18 7 20", true},
        {"1 (sh) X 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 2 18 7 20", false},
    };
    uint64_t began_at_7 = UINT64_C(7) << (FB_LIFE_PID_BITS + 1) | (uint64_t)getpid();

    (void)state;
    assert_true(fb_life_me() != 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        stat_line = rows[i].line;
        if (fb_life_is_over(began_at_7) != rows[i].over)
            fail_msg("\"%s\"", rows[i].line);
    }
    stat_line = NULL;
}

/* ---- once in a process ---- */

static int times;

static void count(void *self)
{
    ++*(int *)self;
}

static void once_in_each_process(void **state)
{
    _Atomic uint64_t of = 0;
    int *in_child = shared_memory(sizeof(*in_child));

    (void)state;
    fb_life_once(&of, count, &times);
    fb_life_once(&of, count, &times);
    assert_int_equal(times, 1);
    /* Also where a fork came in the middle of it. */
    atomic_store(&of, fb_life_me() | FB_LIFE_SPARE);
    pid_t child = fork();
    if (child == 0) {
        fb_life_once(&of, count, in_child);
        fb_life_once(&of, count, in_child);
        _exit(0);
    }
    assert_int_equal(status_of(child), 0);
    assert_int_equal(*in_child, 1);
    assert_int_equal(munmap(in_child, sizeof(*in_child)), 0);
}

/* Without /proc at the beginning a process is known by its number. */
static void without_proc(void **state)
{
    uint64_t *told = shared_memory(2 * sizeof(*told));
    pid_t child = fork();

    (void)state;
    if (child == 0) {
        fault = (struct fault){"open", 0, 99, ENOENT};
        told[0] = fb_life_me();
        told[1] = fb_life_is_over((uint64_t)getppid()) || fb_life_is_over(told[0]);
        _exit(0);
    }
    assert_int_equal(status_of(child), 0);
    assert_int_equal(told[0], (uint64_t)child);
    assert_int_equal(told[1], 0);
    assert_true(fb_life_is_over(told[0]));
    assert_int_equal(munmap(told, 2 * sizeof(*told)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_page), /* before there is one */
        cmocka_unit_test(another_thread_makes_the_page),
        cmocka_unit_test(who_cannot_be_looked_at_lives),
        cmocka_unit_test(lines_of_all_kinds),
        cmocka_unit_test(once_in_each_process),
        cmocka_unit_test(without_proc),
    };

    return cmocka_run_group_tests_name("life, faults", tests, NULL, NULL);
}
