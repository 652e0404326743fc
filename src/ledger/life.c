/* SPDX-License-Identifier: MIT */
/*
 * life.c - a process is its number and its start time, as /proc tells them.
 *
 * The word of this process is kept in a page that the kernel wipes in the child of a fork: there
 * it reads 0, and is found out anew. Where the kernel cannot do that, getpid() tells.
 */
#include "ledger/life.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ledger/lock.h"
#include "util/text.h"

#define PAGE_BYTES 4096
#define PID_MASK   ((UINT64_C(1) << FB_LIFE_PID_BITS) - 1)
#define START_AT   (FB_LIFE_PID_BITS + 1)

/* Counted from the field after the name, which may itself hold anything. */
enum { FIELD_STATE = 0, FIELD_THREADS = 17, FIELD_START = 19 };

struct stat_line {
    char state;
    uint64_t threads;
    uint64_t start; /* ticks since boot */
};

static uint64_t number(const char *s)
{
    uint64_t n = 0;

    while (*s >= '0' && *s <= '9')
        n = n * 10 + (uint64_t)(*s++ - '0');
    return n;
}

static const char *field(const char *s, int index)
{
    while (s && index-- > 0) {
        s = strchr(s, ' ');
        s = s ? s + 1 : NULL;
    }
    return s;
}

static bool parse(const char *text, struct stat_line *ret_line)
{
    const char *name_end = strrchr(text, ')');
    const char *first = name_end && name_end[1] == ' ' ? name_end + 2 : NULL;
    const char *threads = field(first, FIELD_THREADS);
    const char *start = field(first, FIELD_START);

    if (!start)
        return false;
    *ret_line = (struct stat_line){
        .state = first[FIELD_STATE],
        .threads = number(threads),
        .start = number(start),
    };
    return true;
}

/* 0, or a negative errno: -ENOENT where there is no such process (or no /proc). */
static int read_stat(uint64_t pid, struct stat_line *ret_line)
{
    char path[40];
    char text[1024];
    struct text t;

    fb_text_init(&t, path, sizeof(path));
    fb_text_add(&t, "/proc/");
    fb_text_add_int(&t, (int64_t)pid);
    fb_text_add(&t, "/stat");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t size = read(fd, text, sizeof(text) - 1);
    int rc = size < 0 ? -errno : 0;
    (void)close(fd);
    if (rc < 0)
        return rc;
    text[size] = '\0';
    return parse(text, ret_line) ? 0 : -ESRCH;
}

/* ---- this process ---- */

static uint64_t find_out(void)
{
    struct stat_line line = {0};
    uint64_t pid = (uint64_t)getpid();

    /* Without /proc the start is 0: then the number alone must do. */
    if (read_stat(pid, &line) < 0)
        line.start = 0;
    return line.start << START_AT | (pid & PID_MASK);
}

static _Atomic(_Atomic uint64_t *) page;

static _Atomic uint64_t *new_page(void)
{
    void *fresh =
        mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    _Atomic uint64_t *expected = NULL;

    if (fresh == MAP_FAILED)
        return NULL;
    if (madvise(fresh, PAGE_BYTES, MADV_WIPEONFORK) < 0 ||
        !atomic_compare_exchange_strong(&page, &expected, (_Atomic uint64_t *)fresh)) {
        (void)munmap(fresh, PAGE_BYTES);
        return expected;
    }
    return fresh;
}

/* Where nothing tells of a fork. */
static uint64_t by_number(void)
{
    static _Atomic uint64_t known;
    uint64_t who = atomic_load(&known);

    if ((who & PID_MASK) != ((uint64_t)getpid() & PID_MASK)) {
        who = find_out();
        atomic_store(&known, who);
    }
    return who;
}

uint64_t fb_life_me(void)
{
    _Atomic uint64_t *mine = atomic_load_explicit(&page, memory_order_acquire);
    uint64_t who = mine ? atomic_load_explicit(mine, memory_order_relaxed) : 0;

    if (who != 0)
        return who;
    if (!mine)
        mine = new_page();
    if (!mine)
        return by_number();
    who = find_out();
    atomic_store(mine, who);
    return who;
}

/* The spare bit: it is being made fresh. Where that is not of this process, nobody does it here. */
static void make_fresh(_Atomic uint64_t *of, uint64_t me, void (*fresh)(void *self), void *self)
{
    uint64_t was = atomic_load(of);

    while (was != me) {
        if (was != (me | FB_LIFE_SPARE) &&
            atomic_compare_exchange_strong(of, &was, me | FB_LIFE_SPARE)) {
            fresh(self);
            atomic_store(of, me);
        }
        fb_pause();
        was = atomic_load(of);
    }
}

void fb_life_once(_Atomic uint64_t *of, void (*fresh)(void *self), void *self)
{
    uint64_t me = fb_life_me();

    if (atomic_load_explicit(of, memory_order_acquire) != me)
        make_fresh(of, me, fresh, self);
}

/* ---- others ---- */

/* An ended leader whose threads go on is not gone; one that is only not waited for is. */
static bool has_ended(const struct stat_line *line)
{
    return (line->state == 'Z' || line->state == 'X') && line->threads <= 1;
}

bool fb_life_is_over(uint64_t who)
{
    uint64_t pid = who & PID_MASK;
    uint64_t start = who >> START_AT;
    struct stat_line line;

    if (pid == 0)
        return true;
    if (start == 0 || fb_life_me() >> START_AT == 0)
        return kill((pid_t)pid, 0) < 0 && errno == ESRCH;
    int rc = read_stat(pid, &line);
    if (rc < 0)
        return rc == -ENOENT || rc == -ESRCH;
    return line.start != start || has_ended(&line);
}
