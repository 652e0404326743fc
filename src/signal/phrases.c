/* SPDX-License-Identifier: MIT */
/*
 * phrases.c - the table of phrases, by their first letter, and one pass over the text.
 *
 * A phrase either means a refusal by itself (THROTTLED), or is one of two halves: it speaks of a
 * limit on requests (LIMIT), or of having gone beyond something (EXCEEDED). Halves alone mean
 * nothing: "see our rate limit" and "exceeded the maximum size" are no refusals for rate.
 *
 * To teach the reader a phrase, add it to the row of its first letter.
 */
#include "signal/phrases.h"

#include <assert.h>

struct phrase {
    const char *text; /* small letters, digits and blanks */
    uint32_t means;
};

#define T MEANS_THROTTLED

static const struct phrase A[] = {
    {"abuse detection mechanism", T},
    {"api limit", MEANS_LIMIT},
};
static const struct phrase B[] = {
    {"banned until", T | MEANS_BANNED},
    {"blocked from accessing", T | MEANS_BANNED},
    {"bandwidth limit exceeded", T},
};
static const struct phrase C[] = {
    {"call limit", MEANS_LIMIT},
    {"concurrent request limit", T | MEANS_CONCURRENCY},
    {"concurrency limit", MEANS_LIMIT | MEANS_CONCURRENCY},
    {"concurrent requests", MEANS_CONCURRENCY},
};
static const struct phrase D[] = {
    {"daily limit exceeded", T | MEANS_QUOTA},
    {"daily limit", MEANS_LIMIT | MEANS_QUOTA},
    {"daily quota", MEANS_LIMIT | MEANS_QUOTA},
};
static const struct phrase E[] = {
    {"exceeded", MEANS_EXCEEDED},
    {"exhausted", MEANS_EXCEEDED},
    {"error code 1015", T | MEANS_BANNED_UNLESS_TOLD},
    {"enhance your calm", T},
};
static const struct phrase H[] = {
    {"have been blocked", T | MEANS_BANNED | MEANS_FOR_GOOD},
    {"has been blocked", T | MEANS_BANNED | MEANS_FOR_GOOD},
};
static const struct phrase I[] = {
    {"ip banned", T | MEANS_BANNED},
    {"insufficient quota", T | MEANS_QUOTA},
};
static const struct phrase M[] = {
    {"monthly limit", MEANS_LIMIT | MEANS_QUOTA},
    {"monthly quota", MEANS_LIMIT | MEANS_QUOTA},
    {"monthly request", MEANS_LIMIT | MEANS_QUOTA},
};
static const struct phrase N[] = {
    {"number of times the operation is allowed", MEANS_LIMIT},
};
static const struct phrase O[] = {
    {"over query limit", T},
    {"over rate", T},
    {"over qps", T},
};
static const struct phrase P[] = {
    {"prior request not complete", T},
    {"provisioned throughput exceeded", T},
};
static const struct phrase Q[] = {
    {"quota exceeded", T},
    {"quota has been exceeded", T},
    {"quota for the requested resource", MEANS_LIMIT},
    {"query limit", MEANS_LIMIT},
};
static const struct phrase R[] = {
    {"rate limit", MEANS_LIMIT},
    {"rate limited", T},
    {"rate exceeded", T},
    {"rate too high", T},
    {"rate is too high", T},
    {"reached", MEANS_EXCEEDED},
    {"reduce your request rate", T},
    {"request limit", MEANS_LIMIT},
    {"requests limit", MEANS_LIMIT},
    {"request rate", MEANS_LIMIT},
    {"request throttled", T},
    {"resource exhausted", T},
    {"request limit exceeded", T | MEANS_QUOTA},
    {"requests per day", MEANS_LIMIT | MEANS_QUOTA},
    {"requests per month", MEANS_LIMIT | MEANS_QUOTA},
};
static const struct phrase S[] = {
    {"slow down", T},
    {"secondary rate limit", T},
};
static const struct phrase T_[] = {
    {"too many requests", T},
    {"too many calls", T},
    {"too many concurrent", T | MEANS_CONCURRENCY},
    {"too many simultaneous", T | MEANS_CONCURRENCY},
    {"throttled", T},
    {"throttling", T},
    {"temporary lockout", T | MEANS_BANNED},
    {"temporary reduced capacity", T},
};
static const struct phrase U[] = {
    {"usage limit", MEANS_LIMIT},
};

#undef T

#define ROW(letter, rows) [letter - 'a'] = {rows, sizeof(rows) / sizeof((rows)[0])}
static const struct {
    const struct phrase *phrase;
    size_t count;
} BY_LETTER[26] = {
    ROW('a', A), ROW('b', B), ROW('c', C),  ROW('d', D), ROW('e', E), ROW('h', H),
    ROW('i', I), ROW('m', M), ROW('n', N),  ROW('o', O), ROW('p', P), ROW('q', Q),
    ROW('r', R), ROW('s', S), ROW('t', T_), ROW('u', U),
};

/* Letters and digits only, small. */
static size_t squeeze(struct slice text, char *ret_small)
{
    size_t n = 0;

    for (size_t i = 0; i < text.length; i++) {
        char c = fb_lower(text.at[i]);
        ret_small[n] = c;
        n += (c >= 'a' && c <= 'z') || fb_is_digit(c);
    }
    return n;
}

static bool begins_with(struct slice small, const char *phrase)
{
    size_t i = 0;

    for (; *phrase; phrase++) {
        if (*phrase == ' ')
            continue;
        if (i == small.length || small.at[i] != *phrase)
            return false;
        i++;
    }
    return true;
}

/* The phrase that says most is the one to show. */
static void found(struct reading *r, const struct phrase *p)
{
    bool refuses = p->means & MEANS_THROTTLED;

    if (!r->phrase || (refuses && !(r->means & MEANS_THROTTLED)))
        r->phrase = p->text;
    r->means |= p->means;
}

static void read_at(struct reading *r, struct slice small)
{
    size_t letter = (size_t)(small.at[0] - 'a');

    for (size_t i = 0; i < BY_LETTER[letter].count; i++) {
        if (begins_with(small, BY_LETTER[letter].phrase[i].text))
            found(r, &BY_LETTER[letter].phrase[i]);
    }
}

void fb_phrases_read(struct reading *r, struct slice text)
{
    char small[FB_BODY_HEAD];
    size_t length = squeeze(fb_slice_head(text, sizeof(small)), small);

    assert(length <= sizeof(small));
    for (size_t i = 0; i < length; i++) {
        if (!fb_is_digit(small[i]))
            read_at(r, (struct slice){small + i, length - i});
    }
}
