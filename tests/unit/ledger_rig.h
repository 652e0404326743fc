/* SPDX-License-Identifier: MIT */
/* ledger_rig.h - what tests of the ledger share: a file of their own, memory that forks share. */
#ifndef FLYBALL_TESTS_LEDGER_RIG_H
#define FLYBALL_TESTS_LEDGER_RIG_H

#include "unit.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/rng.h"
#include "ledger/ledger.h"

/* A folder that is gone when the test ends; `path` is the ledger in it. */
struct place {
    char folder[64];
    char path[96];
};

static inline struct place place_new(void)
{
    struct place p = {.folder = "/tmp/flyball-test-XXXXXX"};

    assert_non_null(mkdtemp(p.folder));
    assert_true(snprintf(p.path, sizeof(p.path), "%s/ledger", p.folder) > 0);
    return p;
}

static inline void place_free(struct place *p)
{
    static const char *const names[] = {"ledger", "ledger.damaged"};
    char path[128];

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        assert_true(snprintf(path, sizeof(path), "%s/%s", p->folder, names[i]) > 0);
        (void)unlink(path);
    }
    assert_int_equal(rmdir(p->folder), 0);
}

static inline struct fly_ledger *ledger_at(const char *path)
{
    struct fly_ledger_options small = {.size = sizeof(small), .bytes = 1 << 20};
    struct fly_ledger *ledger = NULL;
    struct fly_error err = {""};

    if (fly_ledger_open(path, &small, &ledger, &err) < 0)
        fail_msg("%s", err.text);
    return ledger;
}

static inline struct fly_limiter *limiter_of(struct fly_ledger *ledger, const char *pool,
                                             const char *spec)
{
    struct fly_key key = {"api.example.com", pool, "secret"};
    struct fly_limiter *l = NULL;
    struct fly_error err = {""};

    if (fly_ledger_limiter(ledger, &key, spec, &l, &err) < 0)
        fail_msg("%s: %s", spec, err.text);
    return l;
}

/* How many of `most` there are at this instant. */
static inline int grants_now(struct fly_limiter *l, int most)
{
    uint64_t ticket;
    int64_t now_ns = fly_now();
    int n = 0;

    while (n < most && fly_limiter_take(l, now_ns, 1, &ticket) <= now_ns)
        n++;
    return n;
}

/* Change the head of a ledger on disk. */
static inline void change_head(const char *path, void (*change)(struct head *head))
{
    int fd = open(path, O_RDWR);
    struct stat st;

    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    struct head *head = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(head != MAP_FAILED);
    change(head);
    assert_int_equal(munmap(head, (size_t)st.st_size), 0);
    assert_int_equal(close(fd), 0);
}

/* Zeroed memory that this process shares with those it forks. */
static inline void *shared_memory(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    assert_true(at != MAP_FAILED);
    return at;
}

/* Wait for a child; its exit status, or minus the signal that ended it. */
static inline int status_of(pid_t child)
{
    int status = 0;

    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

#endif
