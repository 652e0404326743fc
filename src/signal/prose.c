/* SPDX-License-Identifier: MIT */
/*
 * prose.c - a few known forms of sentences; whatever does not match one of them says nothing.
 *
 *     (retry | again | wait | available | reset) ... (in | after | for | least) SPAN   a wait
 *     until EPOCH, (retry | ...) ... (after | at) EPOCH                                its end
 *     N requests ... (per | in | within | every | /) [M] UNIT                          a limit
 *     N requests ... without a unit, where concurrency is spoken of                    that limit
 */
#include "signal/prose.h"

#include <assert.h>

#include "signal/duration.h"
#include "signal/number.h"
#include "signal/rfc3339.h"

#define NEAR 5 /* words that belong together stand no further apart */

/* ---- words ---- */

static bool is_inside(char c)
{
    char small = fb_lower(c);

    return (small >= 'a' && small <= 'z') || fb_is_digit(c) || c == '.' || c == '_' || c == ':' ||
           c == '+' || c == '-';
}

static size_t token_length(struct slice text)
{
    size_t n = 0;

    if (text.at[0] == '/')
        return 1;
    while (n < text.length && is_inside(text.at[n]))
        n++;
    return n;
}

/* "second." ends a sentence, "(TPM):" announces something. */
static struct slice without_end(struct slice token)
{
    while (token.length > 1) {
        char last = token.at[token.length - 1];
        if (last != '.' && last != ':' && last != '-')
            break;
        token.length--;
    }
    return token;
}

void fb_tokens_read(struct tokens *t, struct slice text)
{
    t->count = 0;
    while (text.length > 0 && t->count < FB_TOKENS_MAX) {
        size_t n = token_length(text);
        if (n > 0)
            t->at[t->count++] = without_end(fb_slice_head(text, n));
        text = fb_slice_after(text, n > 0 ? n : 1);
    }
}

bool fb_token_is(const struct tokens *t, size_t i, const char *word)
{
    return i < t->count && fb_slice_is(t->at[i], word);
}

static bool is_one_of(const struct tokens *t, size_t i, const char *const *words)
{
    for (; *words; words++) {
        if (fb_token_is(t, i, *words))
            return true;
    }
    return false;
}

bool fb_token_unit(const struct tokens *t, size_t i, int64_t *ret_ns)
{
    static const struct {
        const char *word;
        int64_t ns;
    } UNITS[] = {
        {"s", FB_S},        {"sec", FB_S},           {"second", FB_S},
        {"ms", FB_MS},      {"millisecond", FB_MS},  {"m", 60 * FB_S},
        {"min", 60 * FB_S}, {"minute", 60 * FB_S},   {"h", FB_HOUR_NS},
        {"hr", FB_HOUR_NS}, {"hour", FB_HOUR_NS},    {"d", FB_DAY_NS},
        {"day", FB_DAY_NS}, {"week", 7 * FB_DAY_NS},
    };

    if (i >= t->count)
        return false;
    struct slice word = t->at[i];
    if (word.length > 2 && fb_slice_ends(word, "s"))
        word.length--; /* seconds, hrs */
    for (size_t k = 0; k < sizeof(UNITS) / sizeof(UNITS[0]); k++) {
        if (fb_slice_is(word, UNITS[k].word)) {
            *ret_ns = UNITS[k].ns;
            return true;
        }
    }
    return false;
}

/* ---- waits ---- */

static bool duration_at(const struct tokens *t, size_t i, int64_t *ret_ns)
{
    return i < t->count && fb_duration_read(t->at[i], ret_ns);
}

/* "9.816s", or "2 minutes". */
static bool span_at(const struct tokens *t, size_t i, int64_t *ret_ns)
{
    int64_t millionths, unit_ns;

    if (duration_at(t, i, ret_ns))
        return true;
    if (i >= t->count || !fb_decimal_read(t->at[i], &millionths) ||
        !fb_token_unit(t, i + 1, &unit_ns))
        return false;
    if (millionths / FB_MILLIONTH > FLY_SIGNAL_WAIT_MAX_NS / unit_ns)
        return false;
    *ret_ns = millionths * (unit_ns / FB_MILLIONTH);
    return true;
}

static bool speaks_of_waiting(const struct tokens *t, size_t i)
{
    static const char *const WORDS[] = {"retry", "again",  "wait",     "available",
                                        "reset", "resets", "retrying", NULL};

    for (size_t back = 0; back < NEAR && back <= i; back++) {
        if (is_one_of(t, i - back, WORDS))
            return true;
    }
    return false;
}

static void read_wait(struct reading *r, const struct tokens *t, size_t i)
{
    static const char *const BEFORE[] = {"in", "after", "for", "least", "wait", NULL};
    int64_t span_ns;

    if (is_one_of(t, i, BEFORE) && speaks_of_waiting(t, i) && span_at(t, i + 1, &span_ns))
        fb_told_wait(r, span_ns);
}

/* Seconds or milliseconds since 1970: only near now is it an instant. */
static bool instant_at(const struct reading *r, struct slice token, int64_t *ret_ns)
{
    int64_t number;

    if (fb_rfc3339_read(token, ret_ns))
        return true;
    if (!fb_number_read(token, &number) || number < FB_SPAN_END_S || number > INT64_MAX / FB_MS)
        return false;
    /* What is too large for seconds is too late, unless it is in milliseconds. */
    *ret_ns = number <= INT64_MAX / FB_S ? number * FB_S : number * FB_MS;
    return *ret_ns > fb_reading_now(r) - FB_DAY_NS;
}

static bool announces_instant(const struct tokens *t, size_t i)
{
    static const char *const BEFORE[] = {"after", "at", NULL};

    return fb_token_is(t, i, "until") || (is_one_of(t, i, BEFORE) && speaks_of_waiting(t, i));
}

static void read_until(struct reading *r, const struct tokens *t, size_t i)
{
    int64_t at_ns;

    if (announces_instant(t, i) && i + 1 < t->count && instant_at(r, t->at[i + 1], &at_ns))
        fb_told_wait_until(r, at_ns);
}

/* ---- limits ---- */

static bool is_counted(const struct tokens *t, size_t i)
{
    static const char *const WORDS[] = {"request",  "requests",   "calls", "call", "queries",
                                        "query",    "hits",       "reqs",  "req",  "tokens",
                                        "messages", "operations", NULL};

    return is_one_of(t, i, WORDS);
}

static bool is_window(int64_t times, int64_t unit_ns)
{
    return times >= 1 && unit_ns > 0 && times <= FLY_SIGNAL_RESET_MAX_NS / unit_ns;
}

/* After "per": "hour", "1 minute", "any 60 second", "10s". */
static bool window_at(const struct tokens *t, size_t i, int64_t *ret_ns)
{
    int64_t times = 1, unit_ns;

    i += fb_token_is(t, i, "any") || fb_token_is(t, i, "each");
    if (i >= t->count)
        return false;
    if (fb_number_read(t->at[i], &times))
        i++;
    if (!fb_token_unit(t, i, &unit_ns) && !duration_at(t, i, &unit_ns))
        return false;
    if (!is_window(times, unit_ns))
        return false;
    *ret_ns = unit_ns * times;
    return true;
}

static bool find_window(const struct tokens *t, size_t from, int64_t *ret_ns)
{
    static const char *const PER[] = {"per", "in", "within", "every", "each", "/", "a", "an", NULL};

    for (size_t i = from; i < from + NEAR; i++) {
        if (is_one_of(t, i, PER) && window_at(t, i + 1, ret_ns))
            return true;
    }
    return false;
}

/* "5 requests", "60 API calls"; "limit: 100" of whatever. */
static bool find_counted(const struct tokens *t, size_t i, size_t *ret_what)
{
    *ret_what = is_counted(t, i + 1) ? i + 1 : i + 2;
    if (is_counted(t, *ret_what))
        return true;
    *ret_what = i;
    return i > 0 && fb_token_is(t, i - 1, "limit") && fb_token_is(t, i + 1, "per");
}

static void read_limit(struct reading *r, const struct tokens *t, size_t i)
{
    int64_t limit, window_ns;
    size_t what = i;

    if (!fb_number_read(t->at[i], &limit) || limit < 1 || !find_counted(t, i, &what))
        return;
    if (!find_window(t, what + 1, &window_ns)) {
        if (r->means & MEANS_CONCURRENCY)
            fb_told_least(&r->concurrency, limit);
    } else if (r->stated_limit == FLY_ABSENT) {
        r->stated_limit = limit;
        r->stated_window_ns = window_ns;
    }
}

void fb_prose_read(struct reading *r, const struct tokens *t)
{
    assert(t->count <= FB_TOKENS_MAX);
    for (size_t i = 0; i < t->count; i++) {
        read_wait(r, t, i);
        read_until(r, t, i);
        read_limit(r, t, i);
    }
}
