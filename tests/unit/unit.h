/* SPDX-License-Identifier: MIT */
/*
 * unit.h - cmocka with what it needs before it, and a few words that limiter tests share.
 */
#ifndef FLYBALL_TESTS_UNIT_H
#define FLYBALL_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <flyball/flyball.h>

#define MS INT64_C(1000000)
#define S  INT64_C(1000000000)

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

/* Signed comparisons that print both sides. */
#define assert_at_least(a, b) at_least_in((a), (b), __FILE__, __LINE__)
#define assert_at_most(a, b)  at_least_in((b), (a), __FILE__, __LINE__)

static inline void at_least_in(int64_t large, int64_t small, const char *file, int line)
{
    if (large < small) {
        print_error("%s:%d: %lld < %lld\n", file, line, (long long)large, (long long)small);
        fail();
    }
}

/* cmocka compares as float. */
#define assert_close(a, b, most) close_in((a), (b), (most), __FILE__, __LINE__)

static inline void close_in(double a, double b, double most, const char *file, int line)
{
    if (!(a - b <= most && b - a <= most)) {
        print_error("%s:%d: %.17g is not near %.17g\n", file, line, a, b);
        fail();
    }
}

static inline void assert_contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" does not contain \"%s\"", text, part);
}

/* A limiter that must be there; most tests begin at instant 0. */
static inline struct fly_limiter *limiter(const char *spec, int64_t now_ns)
{
    struct fly_error err = {""};
    struct fly_limiter *l = fly_limiter_new(spec, now_ns, 1, &err);

    if (!l)
        fail_msg("%s: %s", spec, err.text);
    return l;
}

/* An answer that tells nothing but its status. */
static inline struct fly_outcome outcome(uint64_t ticket, int32_t status, int64_t sent_ns)
{
    return (struct fly_outcome){
        .sent_ns = sent_ns,
        .latency_ns = 0,
        .limit = FLY_ABSENT,
        .remaining = FLY_ABSENT,
        .reset_ns = FLY_ABSENT,
        .retry_after_ns = FLY_ABSENT,
        .ticket = ticket,
        .status = status,
    };
}

static inline void report(struct fly_limiter *l, int64_t now_ns, uint64_t ticket, int32_t status)
{
    struct fly_outcome o = outcome(ticket, status, now_ns);

    fly_limiter_report(l, now_ns, &o);
}

/*
 * The seed of a random test, always told. The same one every time, so that a build that passed
 * passes again; `make torture` draws others.
 */
static inline uint64_t seed_of_run(void)
{
    const char *given = getenv("FLYBALL_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : 20261116;

    printf("FLYBALL_SEED=%llu\n", (unsigned long long)seed);
    fflush(stdout);
    return seed;
}

#endif
