/* SPDX-License-Identifier: MIT */
/*
 * embed.c - a program that sends requests and lets a limiter say when.
 *
 *     cc embed.c $(pkg-config --cflags --libs flyball) -o embed
 *     ./embed                       the limit is not known: it is found
 *     ./embed 'rate=10/s burst=5'   the limit is known: it is kept
 *
 * The API is a function in this file: 20 requests a second, 30 at once after a pause; a refusal
 * says when to come back. The clock is virtual, so ten minutes pass at once. A real program reads
 * CLOCK_MONOTONIC in now() and sleeps in wait_until(); nothing else changes.
 */
#include <flyball/flyball.h>
#include <stdio.h>
#include <stdlib.h>

#define SECOND  INT64_C(1000000000)
#define LATENCY (SECOND / 40)

static int64_t clock_ns;

static int64_t now(void)
{
    return clock_ns;
}

static void wait_until(int64_t at_ns)
{
    clock_ns = at_ns;
}

/* The fake API: an HTTP status, and after a refusal the Retry-After that came with it. */
static int call_api(int64_t *ret_retry_after_ns)
{
    static int64_t spent_until_ns; /* every request moves it on by a twentieth of a second */
    int64_t from_ns = spent_until_ns > now() ? spent_until_ns : now();
    int status = from_ns - now() < 30 * (SECOND / 20) ? 200 : 429;

    if (status == 200)
        spent_until_ns = from_ns + SECOND / 20;
    else
        *ret_retry_after_ns = SECOND;
    wait_until(now() + LATENCY);
    return status;
}

/* One request: wait for the permit, send, and tell what came of it. Returns the status. */
static int send_one(struct fly_limiter *l)
{
    struct fly_outcome o = FLY_OUTCOME_INIT;
    int64_t at_ns = now();

    /* A later time is a hint, not a booking: ask again then. */
    do {
        if (at_ns == FLY_NEVER)
            return 0; /* only a report could unblock it, and nothing is out */
        wait_until(at_ns);
        o.sent_ns = now();
        at_ns = fly_limiter_take(l, o.sent_ns, 1, &o.ticket);
    } while (at_ns > o.sent_ns);
    o.status = call_api(&o.retry_after_ns);
    o.latency_ns = now() - o.sent_ns;
    fly_limiter_report(l, now(), &o); /* once for every grant, whatever came of it */
    return o.status;
}

int main(int argc, char **argv)
{
    struct fly_error err;
    struct fly_why why = {.size = sizeof(why)};
    int accepted = 0, refused = 0, status = 200;
    struct fly_limiter *l = fly_limiter_new(argc > 1 ? argv[1] : "", now(), 1, &err);

    if (!l) {
        fprintf(stderr, "embed: %s\n", err.text);
        return 2;
    }
    while (status != 0 && now() < 600 * SECOND) {
        status = send_one(l);
        accepted += status == 200;
        refused += status == 429;
    }
    printf("%d accepted, %d refused in %d s\n", accepted, refused, (int)(now() / SECOND));
    printf("pace now %.2f/s\n", fly_limiter_rate(l));
    if (fly_limiter_why(l, now(), 1, &why) == 0)
        printf("%s: %s\n", why.cause, why.text);
    fly_limiter_free(l);
    return status != 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
