/* SPDX-License-Identifier: MIT */
/*
 * tell.c - values of limit headers: numbers, fractions, lists, dates and spans, each read whole
 * or not at all.
 */
#include "signal/tell.h"

#include <assert.h>
#include <string.h>

#include "signal/duration.h"
#include "signal/httpdate.h"
#include "signal/list.h"
#include "signal/number.h"
#include "signal/rfc3339.h"
#include "signal/words.h"

static struct pool *pool_of(struct reading *r, struct header_name *n)
{
    struct pool *p = fb_pool_get(r, n->pool, n->vendor);

    if (p)
        fb_told_window(p, n->window_ns);
    if (p && n->calendar)
        p->flags |= POOL_LONG;
    return p;
}

/* ---- counts ---- */

bool fb_read_count(struct slice value, int64_t *ret_count)
{
    int64_t millionths;

    if (fb_number_read(value, ret_count))
        return true;
    if (!fb_decimal_read(value, &millionths))
        return false;
    *ret_count = millionths / FB_MILLIONTH;
    return true;
}

bool fb_read_fraction(struct slice value, int64_t *ret_first, int64_t *ret_second)
{
    size_t bar = fb_slice_find(value, '/');

    return bar < value.length &&
           fb_number_read(fb_slice_trim(fb_slice_head(value, bar)), ret_first) &&
           fb_number_read(fb_slice_trim(fb_slice_after(value, bar + 1)), ret_second);
}

/* "limit-per-second: 10" is a pool of its own; "50.00" there is what comes back in a second. */
static struct pool *per_pool(struct reading *r, struct header_name *n)
{
    char *at = n->text + FB_NAME_MAX;
    size_t length = n->pool.length;

    if (length > 0)
        at[length++] = '-';
    /* The span stands in the other half of the text, so the two never overlap. */
    memcpy(at + length, n->per.at, n->per.length);
    n->pool = (struct slice){at, length + n->per.length};
    return pool_of(r, n);
}

static bool tell_refill(struct reading *r, struct header_name *n, struct slice value)
{
    int64_t millionths;

    if (n->window_ns == FLY_ABSENT || !fb_decimal_read(value, &millionths))
        return false;
    struct pool *p = fb_pool_get(r, n->pool, n->vendor);
    if (p && millionths > 0)
        p->refill = fb_per_second(millionths, n->window_ns);
    return true;
}

static void tell_number(struct reading *r, struct header_name *n, struct slice value)
{
    int64_t count, millionths;
    bool whole = fb_number_read(value, &count);

    if (!whole && n->per.length > 0 && tell_refill(r, n, value))
        return;
    if (!whole && !fb_decimal_read(value, &millionths))
        return;
    struct pool *p = n->per.length > 0 ? per_pool(r, n) : pool_of(r, n);
    if (!p)
        return;
    if (whole)
        fb_count_tell(p, n->role, count);
    else if (n->role == ROLE_LIMIT)
        fb_told_least(&p->decimal, millionths);
    else
        fb_count_tell(p, n->role, millionths / FB_MILLIONTH);
}

/* "100/hour", "100/1h": a limit and its window. */
static void tell_rate(struct reading *r, struct header_name *n, struct slice value)
{
    size_t bar = fb_slice_find(value, '/');
    struct slice span = fb_slice_trim(fb_slice_after(value, bar + 1));
    const struct word *word = fb_word_get(span);
    int64_t count, window_ns = word->span_ns;

    if (!fb_number_read(fb_slice_trim(fb_slice_head(value, bar)), &count) ||
        (window_ns == 0 && !fb_duration_read(span, &window_ns)))
        return;
    struct pool *p = pool_of(r, n);
    if (p) {
        fb_count_tell(p, n->role, count);
        fb_told_window(p, window_ns);
    }
}

static void tell_fraction(struct reading *r, struct header_name *n, struct slice value)
{
    int64_t first, second;

    if (!fb_read_fraction(value, &first, &second)) {
        tell_rate(r, n, value);
        return;
    }
    struct pool *p = pool_of(r, n);
    if (!p)
        return;
    fb_count_tell(p, n->role == ROLE_REMAINING ? ROLE_REMAINING : ROLE_USED, first);
    fb_count_tell(p, ROLE_LIMIT, second);
}

static void tell_amount(struct reading *r, struct header_name *n, struct slice value)
{
    if (fb_slice_find(value, '/') < value.length && fb_slice_find(value, ';') == value.length)
        tell_fraction(r, n, value);
    else if (fb_slice_find(value, ',') < value.length || fb_slice_find(value, ';') < value.length)
        fb_list_tell(r, n, value);
    else
        tell_number(r, n, value);
}

/* ---- resets ---- */

bool fb_tell_reset(const struct reading *r, struct pool *p, struct slice value)
{
    int64_t number;

    if (fb_decimal_read(value, &number))
        fb_told_most(&p->number, number);
    else if (fb_duration_read(value, &number))
        fb_told_most(&p->after_ns, number);
    else if (fb_rfc3339_read(value, &number) || fb_httpdate_read(value, r->now_ns, &number))
        fb_told_most(&p->at_ns, number);
    else
        return false;
    return true;
}

static void tell_reset(struct reading *r, struct header_name *n, struct slice value)
{
    struct pool *p = pool_of(r, n);
    struct slice part;

    if (!p)
        return;
    if (n->ms)
        p->flags |= POOL_MS;
    if (fb_tell_reset(r, p, value))
        return;
    /* Two lines that a proxy has put into one. */
    for (size_t i = 0; i < FB_LIST_MAX && fb_slice_next(&value, ',', &part); i++)
        (void)fb_tell_reset(r, p, part);
}

/* Bare numbers are in the unit that the name tells. */
static bool read_span(struct slice value, int64_t unit_ns, int64_t *ret_ns)
{
    int64_t millionths;

    if (!fb_decimal_read(value, &millionths))
        return fb_duration_read(value, ret_ns);
    int64_t each_ns = unit_ns / FB_MILLIONTH; /* of a second or a millisecond: whole */
    if (millionths > INT64_MAX / each_ns)
        return false;
    *ret_ns = millionths * each_ns;
    return true;
}

static int64_t unit_of(struct header_name *n)
{
    return n->ms ? FB_MS : FB_S;
}

static void tell_reset_after(struct reading *r, struct header_name *n, struct slice value)
{
    int64_t span_ns;

    if (!read_span(value, unit_of(n), &span_ns))
        return;
    struct pool *p = pool_of(r, n);
    if (p)
        fb_told_most(&p->after_ns, span_ns);
}

static void tell_period(struct reading *r, struct header_name *n, struct slice value)
{
    int64_t span_ns;

    if (!read_span(value, unit_of(n), &span_ns))
        return;
    struct pool *p = pool_of(r, n);
    if (p)
        fb_told_window(p, span_ns);
}

static void tell_fill(struct reading *r, struct header_name *n, struct slice value)
{
    int64_t millionths;

    if (!fb_decimal_read(value, &millionths) || millionths == 0)
        return;
    struct pool *p = pool_of(r, n);
    if (p)
        fb_told_least(&p->fill, millionths);
}

/* ---- waits ---- */

/* An instant written where a span belongs: past ones are over, far ones are no numbers of ours. */
static bool is_instant(const struct reading *r, int64_t millionths)
{
    int64_t epoch_us = fb_reading_now(r) / FB_US;

    return millionths >= FB_SPAN_END_S * FB_MILLIONTH &&
           millionths > epoch_us - FB_DAY_NS / FB_US &&
           millionths <= epoch_us + FLY_SIGNAL_WAIT_MAX_NS / FB_US;
}

static bool tell_one_wait(struct reading *r, struct slice value, int64_t unit_ns)
{
    int64_t number;

    if (fb_decimal_read(value, &number) && is_instant(r, number))
        fb_told_wait_until(r, number * FB_US);
    else if (read_span(value, unit_ns, &number))
        fb_told_wait(r, number);
    else if (fb_rfc3339_read(value, &number) || fb_httpdate_read(value, r->now_ns, &number))
        fb_told_wait_until(r, number);
    else
        return false;
    return true;
}

void fb_tell_wait(struct reading *r, struct slice value, int64_t unit_ns)
{
    struct slice part;

    if (tell_one_wait(r, value, unit_ns))
        return;
    /* Two lines that a proxy has put into one. */
    for (size_t i = 0; i < FB_LIST_MAX && fb_slice_next(&value, ',', &part); i++)
        (void)tell_one_wait(r, part, unit_ns);
}

static void tell_wait(struct reading *r, struct header_name *n, struct slice value)
{
    bool ms = n->ms || (r->preset && r->preset->retry == RESET_DELTA_MS);

    fb_tell_wait(r, value, ms ? FB_MS : FB_S);
    r->wait_in_header |= r->wait_ns != FLY_ABSENT || r->wait_at_ns != FLY_ABSENT;
}

/* ---- the rest ---- */

static void tell_concurrency(struct reading *r, struct header_name *n, struct slice value)
{
    int64_t count;

    (void)n;
    /* None at once would stop everything for ever. */
    if (fb_number_read(value, &count) && count > 0)
        fb_told_least(&r->concurrency, count);
}

static void tell_title(struct reading *r, struct header_name *n, struct slice value)
{
    (void)n;
    if (value.length == 0 || value.length >= FLY_POOL_NAME_SIZE)
        return;
    for (size_t i = 0; i < value.length; i++) {
        if (value.at[i] <= ' ' || value.at[i] > '~')
            return;
    }
    for (size_t i = 0; i < value.length; i++)
        r->title[i] = value.at[i];
    r->title_length = (uint8_t)value.length;
}

static void tell_near(struct reading *r, struct header_name *n, struct slice value)
{
    (void)n;
    if (fb_slice_is(value, "true"))
        r->means |= MEANS_NEAR;
}

/* "RateLimit" alone: a structured field, or a number. */
static void tell_bare(struct reading *r, struct header_name *n, struct slice value)
{
    int64_t count;

    n->role = ROLE_LIMIT;
    if (fb_number_read(value, &count) || fb_slice_find(value, '/') < value.length)
        tell_amount(r, n, value);
    else if (!fb_pairs_tell(r, n, value))
        fb_policies_tell(r, value);
}

static void tell_policy(struct reading *r, struct header_name *n, struct slice value)
{
    (void)n;
    fb_policies_tell(r, value);
}

static void tell_params(struct reading *r, struct header_name *n, struct slice value)
{
    (void)fb_pairs_tell(r, n, value);
}

typedef void tell_fn(struct reading *r, struct header_name *n, struct slice value);

static tell_fn *const TELL[] = {
    [ROLE_LIMIT] = tell_amount, [ROLE_REMAINING] = tell_amount,        [ROLE_USED] = tell_amount,
    [ROLE_RESET] = tell_reset,  [ROLE_RESET_AFTER] = tell_reset_after, [ROLE_PERIOD] = tell_period,
    [ROLE_FILL] = tell_fill,    [ROLE_POLICY] = tell_policy,           [ROLE_TITLE] = tell_title,
    [ROLE_WAIT] = tell_wait,    [ROLE_CONCURRENCY] = tell_concurrency, [ROLE_NEAR] = tell_near,
    [ROLE_BARE] = tell_bare,    [ROLE_PARAMS] = tell_params,
};

void fb_tell(struct reading *r, struct header_name *n, struct slice value)
{
    assert(n->role <= ROLE_PARAMS);
    TELL[n->role](r, n, fb_slice_trim(value));
}
