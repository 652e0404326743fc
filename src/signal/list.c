/* SPDX-License-Identifier: MIT */
/*
 * list.c - which kind of list a value is, and the kinds that no standard describes.
 *
 *     600,30000                   two windows (Strava), or two lines that a proxy has joined
 *     10, 10;w=1, 50;w=60         a count and policies (RateLimit headers, early drafts)
 *     Compute/Get3Min;197,...     counts with their names (Azure)
 *     limit=100, remaining=50     keys with values; also with semicolons, also with fractions
 */
#include "signal/list.h"

#include <assert.h>

#include "signal/number.h"
#include "signal/tell.h"
#include "signal/words.h"

void fb_count_tell(struct pool *p, enum role role, int64_t count)
{
    if (role == ROLE_LIMIT)
        fb_told_least(&p->limit, count);
    else if (role == ROLE_REMAINING)
        fb_told_least(&p->remaining, count);
    else
        fb_told_most(&p->used, count);
}

/* ---- bare numbers ---- */

/* "1,000" is no list: nobody counts in zeros before a digit. */
static bool is_member(struct slice part)
{
    int64_t count;

    if (part.length > 1 && part.at[0] == '0' && fb_is_digit(part.at[1]))
        return false;
    return part.length == 0 || fb_read_count(part, &count);
}

/* How many parts, all of them counts or empty; 0: some are not, or there are too many. */
static size_t count_numbers(struct slice value)
{
    struct slice part;
    size_t n = 0;

    while (fb_slice_next(&value, ',', &part)) {
        n++;
        if (n > FB_LIST_MAX || !is_member(part))
            return 0;
    }
    return n;
}

/* The windows are known: a quarter of an hour, and a day. */
static const struct {
    struct slice name;
    int64_t window_ns;
} PAIR[] = {
    {{"15min", 5}, 900 * FB_S},
    {{"daily", 5}, FB_DAY_NS},
};

static struct pool *pair_pool(struct reading *r, const struct header_name *n, size_t i)
{
    char name[FLY_POOL_NAME_SIZE];
    size_t length = 0;
    struct slice front = fb_slice_head(n->pool, sizeof(name) - PAIR[i].name.length - 2);

    for (; length < front.length; length++)
        name[length] = front.at[length];
    if (length > 0)
        name[length++] = '-';
    for (size_t k = 0; k < PAIR[i].name.length; k++)
        name[length++] = PAIR[i].name.at[k];
    struct pool *p = fb_pool_get(r, (struct slice){name, length}, n->vendor);
    if (p) {
        p->flags |= POOL_PAIR;
        p->window_ns = PAIR[i].window_ns;
    }
    return p;
}

static void tell_pair(struct reading *r, const struct header_name *n, struct slice value)
{
    struct slice part;
    int64_t count;

    for (size_t i = 0; fb_slice_next(&value, ',', &part); i++) {
        if (!fb_read_count(part, &count))
            continue;
        struct pool *p = pair_pool(r, n, i);
        if (p)
            fb_count_tell(p, n->role, count);
    }
}

static void tell_joined(struct reading *r, const struct header_name *n, struct slice value)
{
    struct pool *p = fb_pool_get(r, n->pool, n->vendor);
    struct slice part;
    int64_t count;

    while (p && fb_slice_next(&value, ',', &part)) {
        if (fb_read_count(part, &count))
            fb_count_tell(p, n->role, count);
    }
}

/* ---- counts with names ---- */

static bool take_named(struct slice part, struct slice *ret_name, int64_t *ret_count)
{
    size_t end = fb_slice_find(part, ';');

    *ret_name = fb_slice_trim(fb_slice_head(part, end));
    return end < part.length && ret_name->length > 0 &&
           fb_number_read(fb_slice_trim(fb_slice_after(part, end + 1)), ret_count);
}

static void tell_named(struct reading *r, const struct header_name *n, struct slice value)
{
    struct slice part, name;
    int64_t count;

    for (size_t i = 0; i < FB_LIST_MAX && fb_slice_next(&value, ',', &part); i++) {
        if (!take_named(part, &name, &count))
            continue;
        struct pool *p = fb_pool_get(r, name, 0);
        if (p)
            fb_count_tell(p, n->role, count);
    }
}

void fb_list_tell(struct reading *r, struct header_name *n, struct slice value)
{
    size_t numbers = count_numbers(value);
    bool parameters = fb_slice_find(value, ';') < value.length;

    assert(n->role <= ROLE_USED);
    if (numbers == 2)
        tell_pair(r, n, value);
    else if (numbers > 2)
        tell_joined(r, n, value);
    else if (parameters && fb_is_digit(value.at[0]))
        fb_active_tell(r, fb_pool_get(r, n->pool, n->vendor), n->role, value);
    else if (parameters)
        tell_named(r, n, value);
}

/* ---- keys with values ---- */

#define KEY_MAX 24

static enum word_kind kind_of(struct slice key)
{
    char small[KEY_MAX];

    if (key.length > sizeof(small))
        return WORD_NAME;
    for (size_t i = 0; i < key.length; i++)
        small[i] = fb_lower(key.at[i]);
    return fb_word_get((struct slice){small, key.length})->kind;
}

static void tell_key(struct reading *r, struct pool *p, enum word_kind kind, struct slice value)
{
    int64_t count;
    bool counted = fb_read_count(value, &count);

    if (kind == WORD_RESET)
        (void)fb_tell_reset(r, p, value);
    else if (counted && kind == WORD_REMAINING)
        fb_count_tell(p, ROLE_REMAINING, count);
    else if (counted && (kind == WORD_LIMIT || kind == WORD_TOTAL))
        fb_count_tell(p, ROLE_LIMIT, count);
    else if (counted && kind == WORD_USED)
        fb_count_tell(p, ROLE_USED, count);
}

/* "17/250(appName=x)": the pool has the key's name. */
static bool tell_usage(struct reading *r, struct slice key, struct slice value)
{
    int64_t used, limit;
    struct slice fraction = fb_slice_head(value, fb_slice_find(value, '('));

    if (!fb_read_fraction(fb_slice_trim(fraction), &used, &limit))
        return false;
    struct pool *p = fb_pool_get(r, key, 0);
    if (p) {
        fb_count_tell(p, ROLE_USED, used);
        fb_count_tell(p, ROLE_LIMIT, limit);
    }
    return true;
}

static bool tell_part(struct reading *r, struct header_name *n, struct slice part)
{
    size_t end = fb_slice_find(part, '=');
    struct slice key = fb_slice_trim(fb_slice_head(part, end));
    struct slice value = fb_slice_trim(fb_slice_after(part, end + 1));
    enum word_kind kind = kind_of(key);

    if (end == part.length || key.length == 0)
        return false;
    if (kind == WORD_NAME)
        return tell_usage(r, key, value);
    struct pool *p = fb_pool_get(r, n->pool, n->vendor);
    if (p)
        tell_key(r, p, kind, value);
    return true;
}

bool fb_pairs_tell(struct reading *r, struct header_name *n, struct slice value)
{
    char by = fb_slice_find(value, ';') < value.length ? ';' : ',';
    struct slice part;

    for (size_t i = 0; i < FB_LIST_MAX && fb_slice_next(&value, by, &part); i++) {
        if (!tell_part(r, n, part) && i == 0)
            return false;
    }
    return true;
}
