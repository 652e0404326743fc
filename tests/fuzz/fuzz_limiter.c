/* SPDX-License-Identifier: MIT */
/*
 * fuzz_limiter.c - any limit text, and any calls on what it makes.
 *
 * The input up to the first newline is the text. When it parses, the rest drives two limiters
 * made from it: a byte chooses the call, the next ones its arguments. Beside what the sanitizers
 * see, the answers have to keep the contract of the public header.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <flyball/flyball.h>

#define TEXT_MAX    1024
#define CALLS_MAX   2048
#define TICKETS_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *at;
    size_t left;
};

struct world {
    struct fly_limiter *limiter[2];
    int64_t now_ns;
    uint64_t ticket[2][TICKETS_MAX];
    unsigned next[2];
};

#define HOLD(fact) ((fact) ? (void)0 : broken(#fact, __LINE__))

static void broken(const char *fact, int line)
{
    fprintf(stderr, "fuzz_limiter.c:%d: does not hold: %s\n", line, fact);
    abort();
}

static uint8_t byte(struct input *in)
{
    if (in->left == 0)
        return 0;
    in->left--;
    return *in->at++;
}

/* Small and large numbers alike, the extremes among them. */
static int64_t number(struct input *in)
{
    uint8_t kind = byte(in);
    uint64_t value = byte(in);

    if (kind == 255)
        return INT64_MAX;
    if (kind == 254)
        return INT64_MIN;
    if (kind == 253)
        return -(int64_t)value;
    return (int64_t)(value << (kind % 57));
}

/* The sum, or `a` where there is none. */
static int64_t add(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? a : sum;
}

static void move_clock(struct world *w, struct input *in)
{
    int64_t later_ns = add(w->now_ns, number(in));

    if (later_ns > w->now_ns)
        w->now_ns = later_ns;
}

static void check_why(struct world *w, struct fly_limiter *l, uint32_t cost, int64_t at_ns)
{
    struct fly_why why = {.size = sizeof why};

    HOLD(fly_limiter_why(l, w->now_ns, cost, &why) == 0);
    HOLD((why.until_ns <= w->now_ns) == (at_ns <= w->now_ns));
    HOLD(memchr(why.cause, 0, sizeof why.cause) != NULL && why.cause[0]);
    HOLD(memchr(why.text, 0, sizeof why.text) != NULL && why.text[0]);
}

/* Beyond this the library's clock stands still: there it has to be safe, not right. */
static int is_sane(int64_t now_ns)
{
    return now_ns > -(INT64_MAX / 4) && now_ns < INT64_MAX / 4;
}

static void take(struct world *w, struct input *in, unsigned which)
{
    struct fly_limiter *l = w->limiter[which];
    uint32_t cost = (uint32_t)number(in);
    uint64_t ticket = 0xABCDEF;
    struct fly_why why = {.size = sizeof why};

    HOLD(fly_limiter_why(l, w->now_ns, cost, &why) == 0);
    int64_t at_ns = fly_limiter_take(l, w->now_ns, cost, &ticket);

    if (!is_sane(w->now_ns))
        return;
    HOLD((why.until_ns <= w->now_ns) == (at_ns <= w->now_ns));
    if (at_ns <= w->now_ns) {
        HOLD(ticket != 0xABCDEF);
        w->ticket[which][w->next[which]++ % TICKETS_MAX] = ticket;
        return;
    }
    /* Nothing changed, so the answer is the same again. */
    HOLD(ticket == 0xABCDEF);
    HOLD(fly_limiter_take(l, w->now_ns, cost, &ticket) == at_ns);
    check_why(w, l, cost, at_ns);
}

static void take_all(struct world *w, struct input *in)
{
    uint32_t cost[2] = {byte(in), byte(in)};
    uint64_t ticket[2] = {1, 2};
    int64_t at_ns = fly_take_all(w->limiter, cost, 2, w->now_ns, ticket);

    if (at_ns > w->now_ns) {
        HOLD(!is_sane(w->now_ns) || (ticket[0] == 1 && ticket[1] == 2));
        return;
    }
    for (unsigned i = 0; i < 2; i++)
        w->ticket[i][w->next[i]++ % TICKETS_MAX] = ticket[i];
}

static int64_t field(struct input *in)
{
    uint8_t kind = byte(in);

    return kind < 128 ? FLY_ABSENT : number(in);
}

static void report(struct world *w, struct input *in, unsigned which)
{
    static const int32_t status[8] = {200, 429, 503, 0, 403, 500, 302, -1};
    uint8_t kind = byte(in);
    struct fly_outcome o = {
        .latency_ns = number(in),
        .limit = field(in),
        .remaining = field(in),
        .reset_ns = field(in),
        .retry_after_ns = field(in),
        .ticket = w->ticket[which][byte(in) % TICKETS_MAX],
        .status = status[kind % 8],
        .flags = kind >> 7,
    };

    o.sent_ns = kind & 64 ? number(in) : w->now_ns;
    if (o.reset_ns != FLY_ABSENT && kind & 32)
        o.reset_ns = add(o.reset_ns, w->now_ns);
    fly_limiter_report(w->limiter[which], w->now_ns, &o);
}

static void call(struct world *w, struct input *in)
{
    uint8_t op = byte(in);
    unsigned which = op >> 7;
    uint64_t ticket = w->ticket[which][byte(in) % TICKETS_MAX];
    struct fly_why why = {.size = byte(in)};

    switch (op % 8) {
    case 0:
        move_clock(w, in);
        break;
    case 1:
        fly_limiter_cancel(w->limiter[which], w->now_ns, ticket);
        break;
    case 2:
        fly_limiter_settle(w->limiter[which], w->now_ns, ticket, (uint32_t)number(in));
        break;
    case 3:
        take_all(w, in);
        break;
    case 4:
        HOLD(fly_limiter_why(w->limiter[which], w->now_ns, 1, &why) == -EINVAL);
        HOLD(fly_limiter_rate(w->limiter[which]) >= 0.0);
        break;
    case 5:
        report(w, in, which);
        break;
    default:
        take(w, in, which);
        break;
    }
}

static void drive(struct world *w, struct input *in)
{
    for (int i = 0; i < CALLS_MAX && in->left > 0; i++)
        call(w, in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    size_t length = end ? (size_t)(end - data) : size;
    char text[TEXT_MAX];
    struct fly_error err = {{0}};

    if (length >= sizeof text)
        return 0;
    if (length)
        memcpy(text, data, length);
    text[length] = 0;

    struct input in = {end ? end + 1 : data + size, end ? size - length - 1 : 0};
    struct world w = {.now_ns = number(&in)};

    for (unsigned i = 0; i < 2; i++)
        w.limiter[i] = fly_limiter_new(text, w.now_ns, i, &err);
    if (w.limiter[0] && w.limiter[1]) {
        drive(&w, &in);
    } else {
        HOLD(!w.limiter[0] && !w.limiter[1]);
        HOLD(memchr(err.text, 0, sizeof err.text) != NULL && err.text[0]);
    }
    fly_limiter_free(w.limiter[0]);
    fly_limiter_free(w.limiter[1]);
    return 0;
}
