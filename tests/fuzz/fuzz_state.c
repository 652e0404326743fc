/* SPDX-License-Identifier: MIT */
/*
 * fuzz_state.c - any bytes as a saved state, and any state that somebody could forge.
 *
 * The first byte chooses the limiter. The rest is loaded as it is, and then as the words of a state
 * whose head and checksum are right. What is loaded has to keep the bounds of the limiter, and
 * work on: its own state, saved again, is as good as any.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <flyball/flyball.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define S          INT64_C(1000000000)
#define HEAD_BYTES 32
#define SUM_BYTES  8
#define STEPS      60

#define HOLD(fact) ((fact) ? (void)0 : broken(#fact, __LINE__))

static void broken(const char *fact, int line)
{
    fprintf(stderr, "fuzz_state.c:%d: does not hold: %s\n", line, fact);
    abort();
}

static const struct {
    const char *spec;
    double rate_max; /* 0: none is stated */
} limits[] = {
    {"", 0},
    {"adapt=probe ceiling=50/s floor=1/s", 50},
    {"adapt=aimd", 2},
    {"adapt=aimd rate=5/s ceiling=9/s burst=3", 9},
    {"adapt=step rate=10/s", 10},
    {"adapt=step window=30/1s", 0},
    {"rate=5/s burst=7", 5},
    {"window=10/1s window=20000/1h", 0},
    {"pacing=even rate=100/s", 100},
};

static void seal(unsigned char *bytes, size_t size)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < size - SUM_BYTES; i++)
        sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    for (size_t i = 0; i < SUM_BYTES; i++)
        bytes[size - SUM_BYTES + i] = (unsigned char)(sum >> 8 * i);
}

static struct fly_outcome outcome_of(uint8_t kind, uint64_t ticket, int64_t now_ns)
{
    static const int32_t status[8] = {200, 200, 200, 429, 503, 403, 0, 404};
    struct fly_outcome o = FLY_OUTCOME_INIT;

    o.sent_ns = now_ns;
    o.status = status[kind % 8];
    o.ticket = ticket;
    if (kind & 8)
        o.retry_after_ns = S * (kind >> 4);
    if (kind & 16) {
        o.limit = 100;
        o.remaining = kind >> 2;
        o.reset_ns = now_ns + S * (1 + (kind >> 5));
    }
    return o;
}

/* A life after loading: nothing in it may surprise the library. */
static void work_on(struct fly_limiter *l, int64_t now_ns, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < STEPS; i++) {
        uint8_t kind = size ? data[i % size] : 0;
        uint64_t ticket = 0;
        int64_t at_ns = fly_limiter_take(l, now_ns, 1 + kind % 3, &ticket);
        if (at_ns > now_ns) {
            now_ns = at_ns < now_ns + 3600 * S ? at_ns : now_ns + 3600 * S;
            continue;
        }
        struct fly_outcome o = outcome_of(kind, ticket, now_ns);
        now_ns += S / 50 * (kind % 16);
        if (kind == 77)
            fly_limiter_cancel(l, now_ns, ticket);
        else
            fly_limiter_report(l, now_ns, &o);
    }
}

static void check(struct fly_limiter *l, double rate_max, int64_t now_ns)
{
    struct fly_learned x = {.size = sizeof x};
    struct fly_why why = {.size = sizeof why};
    unsigned char bytes[FLY_STATE_BYTES];
    struct fly_error err = {{0}};

    HOLD(fly_limiter_learned(l, now_ns, &x) == 0);
    HOLD(rate_max == 0.0 || x.rate <= rate_max * 1.000001);
    HOLD(x.reduction >= -1e-6 && x.reduction <= 1.0);
    HOLD(x.confidence >= 0.0 && x.confidence <= 1.0 && x.recovery_ns >= 0);
    HOLD(fly_limiter_why(l, now_ns, 1, &why) == 0);
    int size = fly_limiter_save(l, now_ns, bytes, sizeof bytes);
    HOLD(size > 0);
    if (fly_limiter_load(l, now_ns, 0, bytes, (size_t)size, &err) != 0)
        broken(err.text, __LINE__);
}

static void try_bytes(size_t which, const unsigned char *bytes, size_t size, int64_t passed_ns,
                      const uint8_t *data, size_t left)
{
    struct fly_error err = {{0}};
    struct fly_limiter *l = fly_limiter_new(limits[which].spec, 5 * S, 1, NULL);

    if (!l)
        return;
    double before = fly_limiter_rate(l);
    if (fly_limiter_load(l, 7 * S, passed_ns, bytes, size, &err) == 0) {
        check(l, limits[which].rate_max, 7 * S);
    } else {
        HOLD(err.text[0] && memchr(err.text, 0, sizeof err.text));
        HOLD(!(fly_limiter_rate(l) < before) && !(fly_limiter_rate(l) > before));
    }
    work_on(l, 7 * S, data, left);
    fly_limiter_free(l);
}

/* The state of a new limiter, with the input over its words. */
static size_t forge(size_t which, const uint8_t *data, size_t left, unsigned char *ret_bytes)
{
    struct fly_limiter *l = fly_limiter_new(limits[which].spec, 0, 1, NULL);
    int size = l ? fly_limiter_save(l, 0, ret_bytes, FLY_STATE_BYTES) : 0;

    fly_limiter_free(l);
    if (size <= 0)
        return 0;
    size_t words = (size_t)size - HEAD_BYTES - SUM_BYTES;
    if (left > 0)
        memcpy(ret_bytes + HEAD_BYTES, data, left < words ? left : words);
    seal(ret_bytes, (size_t)size);
    return (size_t)size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char bytes[FLY_STATE_BYTES];

    if (size < 2)
        return 0;
    size_t which = data[0] % (sizeof limits / sizeof limits[0]);
    int64_t passed_ns = data[1] % 8 == 7 ? INT64_MAX : S * (data[1] % 8) * 100;
    data += 2;
    size -= 2;
    try_bytes(which, data, size, passed_ns, data, size);
    size_t forged = forge(which, data, size, bytes);
    if (forged > 0)
        try_bytes(which, bytes, forged, passed_ns, data, size);
    return 0;
}
