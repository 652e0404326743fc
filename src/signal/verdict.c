/* SPDX-License-Identifier: MIT */
/*
 * verdict.c - refused for rate or not, worth another try or not, and from when on.
 *
 * The status decides where it can. Where it cannot (a 403 may be a missing right, a 400 a mistake,
 * a 200 an error told in JSON), a phrase, a used up pool or a told wait does. Whatever was told, a
 * refusal holds for at least a second, and no hold is longer than a told wait may be.
 */
#include "signal/verdict.h"

#include <assert.h>
#include <string.h>

#include "core/instant.h"

/* Where nothing is told: providers that ban lift it after minutes, daily budgets after hours. */
#define BAN_HOLD_NS   (900 * FB_S)
#define QUOTA_HOLD_NS FB_HOUR_NS
#define LONG_NS       FB_HOUR_NS /* a wait beyond this is no matter of rate any more */

/* A reset is when all is back; as a hold it is believed for a day. */
#define RESET_HOLD_MAX_NS FB_DAY_NS

/* ---- status ---- */

enum {
    REFUSED = 1,   /* for rate, by itself */
    SPEAKING = 2,  /* its body may say that it is a refusal for rate */
    FORBIDDEN = 4, /* so may a used up pool, or a told wait */
    LATER = 8,     /* worth another try */
    TROUBLE = 16,  /* of the server */
    BAN = 32,
};

static uint32_t status_means(int32_t status)
{
    static const struct {
        int32_t from, to;
        uint32_t means;
    } ROWS[] = {
        {200, 299, SPEAKING},
        {400, 400, SPEAKING},
        {402, 402, SPEAKING},
        {403, 403, SPEAKING | FORBIDDEN},
        {408, 408, LATER},
        {418, 418, REFUSED | BAN},
        {420, 420, REFUSED},
        {422, 422, SPEAKING},
        {425, 425, LATER},
        {429, 430, REFUSED},
        {500, 500, SPEAKING | LATER | TROUBLE},
        {502, 504, SPEAKING | LATER | TROUBLE},
        {509, 509, REFUSED},
        {520, 530, SPEAKING | LATER | TROUBLE},
        {598, 599, LATER | TROUBLE},
    };

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        if (status >= ROWS[i].from && status <= ROWS[i].to)
            return ROWS[i].means;
    }
    return 0;
}

/* ---- what was told ---- */

static bool is_used_up(const struct pool *p)
{
    if (p->remaining != FLY_ABSENT)
        return p->remaining == 0;
    return p->limit != FLY_ABSENT && p->used != FLY_ABSENT && p->used >= p->limit;
}

static bool any_used_up(const struct reading *r)
{
    for (size_t i = 0; i < r->pool_count; i++) {
        if (is_used_up(&r->pool[i]))
            return true;
    }
    return false;
}

static bool is_long(const struct pool *p)
{
    return (p->flags & POOL_LONG) || (p->window_ns != FLY_ABSENT && p->window_ns >= FB_DAY_NS);
}

static bool long_pool_used_up(const struct reading *r)
{
    for (size_t i = 0; i < r->pool_count; i++) {
        if (is_used_up(&r->pool[i]) && is_long(&r->pool[i]))
            return true;
    }
    return false;
}

/* The longest wait told, as a span from now; FLY_ABSENT on success, where it is no such thing. */
static int64_t told_wait_ns(const struct reading *r)
{
    int64_t wait_ns = r->wait_ns;

    if (r->status >= 200 && r->status <= 299)
        return FLY_ABSENT;
    if (r->wait_at_ns != FLY_ABSENT) {
        int64_t left_ns = fb_max64(fb_max64(r->wait_at_ns, 0) - fb_reading_now(r), 0);
        if (left_ns <= FLY_SIGNAL_WAIT_MAX_NS)
            fb_told_most(&wait_ns, left_ns);
    }
    return wait_ns;
}

static bool phrases_refuse(const struct reading *r)
{
    uint32_t both = MEANS_LIMIT | MEANS_EXCEEDED;

    return (r->means & MEANS_THROTTLED) || (r->means & both) == both;
}

/* ---- flags ---- */

static bool is_throttled(const struct reading *r, uint32_t status)
{
    if (status & REFUSED)
        return true;
    if (!(status & SPEAKING))
        return false;
    return phrases_refuse(r) || ((status & FORBIDDEN) && (any_used_up(r) || r->wait_in_header));
}

static bool is_banned(const struct reading *r, uint32_t status, int64_t wait_ns)
{
    return (status & BAN) || (r->means & MEANS_BANNED) ||
           ((r->means & MEANS_BANNED_UNLESS_TOLD) && wait_ns == FLY_ABSENT);
}

/* Words about a month count only where no near end is told. */
static bool is_quota_gone(const struct reading *r, int64_t wait_ns)
{
    if (wait_ns != FLY_ABSENT)
        return wait_ns > LONG_NS;
    return (r->means & MEANS_QUOTA) || long_pool_used_up(r);
}

static uint32_t refusal_flags(const struct reading *r, uint32_t status, int64_t wait_ns)
{
    uint32_t flags = FLY_SIGNAL_THROTTLED | FLY_SIGNAL_FOUND;

    if (!(r->means & MEANS_FOR_GOOD))
        flags |= FLY_SIGNAL_RETRYABLE;
    if (r->means & MEANS_CONCURRENCY)
        flags |= FLY_SIGNAL_CONCURRENCY;
    if (is_banned(r, status, wait_ns))
        flags |= FLY_SIGNAL_BANNED;
    else if (is_quota_gone(r, wait_ns))
        flags |= FLY_SIGNAL_QUOTA_GONE;
    return flags;
}

static uint32_t other_flags(const struct reading *r, uint32_t status, int64_t wait_ns)
{
    uint32_t flags = 0;

    if (status & LATER)
        flags |= FLY_SIGNAL_RETRYABLE;
    if (status & TROUBLE)
        flags |= FLY_SIGNAL_OUTAGE;
    if (r->means & MEANS_NEAR)
        flags |= FLY_SIGNAL_NEAR | FLY_SIGNAL_FOUND;
    if (r->pool_count > 0 || wait_ns != FLY_ABSENT || r->concurrency != FLY_ABSENT)
        flags |= FLY_SIGNAL_FOUND;
    return flags;
}

/* ---- how long ---- */

static int64_t longest_reset_ns(const struct reading *r)
{
    int64_t longest_ns = FLY_ABSENT;

    for (size_t i = 0; i < r->pool_count; i++) {
        if (is_used_up(&r->pool[i]))
            fb_told_most(&longest_ns, r->pool[i].after_ns);
    }
    return longest_ns;
}

static int64_t refusal_hold_ns(const struct reading *r, uint32_t flags, int64_t wait_ns)
{
    int64_t reset_ns = longest_reset_ns(r);
    int64_t hold_ns = wait_ns;

    if (hold_ns == FLY_ABSENT && reset_ns != FLY_ABSENT)
        hold_ns = fb_min64(reset_ns, RESET_HOLD_MAX_NS);
    else if (hold_ns == FLY_ABSENT && (flags & FLY_SIGNAL_BANNED))
        hold_ns = BAN_HOLD_NS;
    else if (hold_ns == FLY_ABSENT && (flags & FLY_SIGNAL_QUOTA_GONE))
        hold_ns = QUOTA_HOLD_NS;
    return fb_max64(hold_ns, FLY_SIGNAL_HOLD_MIN_NS);
}

/* ---- putting it down ---- */

static void copy_pool(const struct pool *p, struct fly_pool *ret_pool)
{
    memcpy(ret_pool->name, p->name, p->length);
    ret_pool->name[p->length] = '\0';
    ret_pool->limit = p->limit;
    ret_pool->remaining = p->remaining;
    ret_pool->used = p->used;
    ret_pool->refill_millionths = p->refill;
    ret_pool->window_ns = p->window_ns;
    ret_pool->reset_ns = p->after_ns;
}

static void copy_evidence(const struct reading *r, uint32_t status, struct fly_signal *s)
{
    const char *text = "";

    if (s->flags & FLY_SIGNAL_THROTTLED) {
        if (r->phrase && phrases_refuse(r))
            text = r->phrase;
        else if (!(status & REFUSED))
            text = r->wait_in_header ? "retry-after" : "nothing left";
    }
    size_t length = strlen(text);
    assert(length < sizeof(s->evidence));
    memcpy(s->evidence, text, length + 1);
}

void fb_verdict(const struct reading *r, struct fly_signal *ret_signal)
{
    uint32_t status = status_means(r->status);
    int64_t wait_ns = told_wait_ns(r);
    struct fly_signal *s = ret_signal;

    s->status = r->status;
    s->retry_after_ns = wait_ns;
    s->concurrency = r->concurrency;
    s->stated_limit = r->stated_limit;
    s->stated_window_ns = r->stated_window_ns;
    if (is_throttled(r, status)) {
        s->flags = refusal_flags(r, status, wait_ns);
        s->hold_ns = refusal_hold_ns(r, s->flags, wait_ns);
    } else {
        s->flags = other_flags(r, status, wait_ns);
        s->hold_ns = fb_max64(wait_ns, 0);
    }
    copy_evidence(r, status, s);
    s->pool_count = r->pool_count;
    for (size_t i = 0; i < r->pool_count; i++)
        copy_pool(&r->pool[i], &s->pool[i]);
    assert(!(s->flags & FLY_SIGNAL_THROTTLED) || s->hold_ns >= FLY_SIGNAL_HOLD_MIN_NS);
    assert(s->hold_ns <= FLY_SIGNAL_WAIT_MAX_NS);
}
