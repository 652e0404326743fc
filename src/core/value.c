/* SPDX-License-Identifier: MIT */
/*
 * value.c - numbers, spans, rates and shares, read exactly.
 *
 * A decimal is kept as an integer and a power of ten, so that 0.1/s is one permit in ten seconds
 * and not a binary fraction near it.
 */
#include "core/value.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "core/instant.h"
#include "core/spec.h"
#include "core/wide.h"

#define DIGITS_MAX   15 /* of a number in all */
#define FRACTION_MAX 9

struct decimal {
    int64_t digits; /* the value is digits / scale */
    int64_t scale;  /* a power of ten */
};

/* Append up to `most` digits from `text` on to *value; returns how many there were. */
static size_t read_digits(const char *text, size_t most, int64_t *value)
{
    size_t at = 0;

    for (; at < most && text[at] >= '0' && text[at] <= '9'; at++)
        *value = *value * 10 + (text[at] - '0');
    assert(at <= most && *value >= 0);
    return at;
}

/* Read "12.5" up to the first byte that is no part of it; returns how many bytes that took. */
static size_t read_decimal(const char *text, struct decimal *ret_d)
{
    struct decimal d = {.scale = 1};
    size_t at = read_digits(text, DIGITS_MAX, &d.digits);

    if (at == 0)
        return 0;
    if (text[at] == '.') {
        size_t most = at + FRACTION_MAX < DIGITS_MAX ? FRACTION_MAX : DIGITS_MAX - at;
        size_t fraction = read_digits(text + at + 1, most, &d.digits);
        if (fraction == 0)
            return 0;
        for (size_t i = 0; i < fraction; i++)
            d.scale *= 10;
        at += 1 + fraction;
    }
    assert(d.digits >= 0 && d.scale >= 1);
    *ret_d = d;
    return at;
}

static const struct {
    const char *name;
    int64_t ns;
} units[] = {
    {"ns", 1},
    {"us", 1000},
    {"ms", FB_NS_PER_MS},
    {"s", FB_NS_PER_S},
    {"sec", FB_NS_PER_S},
    {"m", 60 * FB_NS_PER_S},
    {"min", 60 * FB_NS_PER_S},
    {"h", 3600 * FB_NS_PER_S},
    {"hour", 3600 * FB_NS_PER_S},
    {"d", 86400 * FB_NS_PER_S},
    {"day", 86400 * FB_NS_PER_S},
};

static int64_t unit_ns(const char *name)
{
    assert(name);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(units[i].name, name) == 0)
            return units[i].ns;
    return 0;
}

/* A sign or a digit too many tells more than "malformed" would. */
static enum value_error classify(const char *rest, bool number_read)
{
    if (!number_read)
        return rest[0] == '-' ? VALUE_NOT_POSITIVE : VALUE_MALFORMED;
    return rest[0] >= '0' && rest[0] <= '9' ? VALUE_TOO_LARGE : VALUE_MALFORMED;
}

enum value_error fb_value_span(const char *text, int64_t *ret_span_ns)
{
    struct decimal d = {.digits = 1, .scale = 1};
    size_t used = read_decimal(text, &d);
    int64_t unit = unit_ns(text + used);

    assert(text && ret_span_ns);
    if (unit == 0)
        return classify(text + used, used > 0);
    if (d.digits == 0)
        return VALUE_NOT_POSITIVE;

    fb_wide span = (fb_wide)d.digits * unit;
    if (span % d.scale != 0 || span / d.scale > FB_PERIOD_MAX)
        return VALUE_TOO_LARGE;
    assert(span >= d.scale); /* at least a nanosecond, since it is a whole number of them */
    *ret_span_ns = (int64_t)(span / d.scale);
    return VALUE_OK;
}

enum value_error fb_value_rate(const char *text, struct rate *ret_rate)
{
    struct decimal d;
    size_t used = read_decimal(text, &d);
    int64_t period;

    assert(text && ret_rate);
    if (used == 0 || text[used] != '/')
        return classify(text + used, used > 0);
    enum value_error error = fb_value_span(text + used + 1, &period);
    if (error != VALUE_OK)
        return error;
    if (d.digits == 0)
        return VALUE_NOT_POSITIVE;

    /* At most FB_RATE_MAX a second, and a period that can still be kept exactly. */
    fb_wide scaled = (fb_wide)period * d.scale;
    if (scaled > FB_PERIOD_MAX || (fb_wide)d.digits * FB_NS_PER_S > scaled * FB_RATE_MAX)
        return VALUE_TOO_LARGE;
    assert(d.digits >= 1 && scaled >= 1);
    *ret_rate = (struct rate){.permits = d.digits, .period_ns = (int64_t)scaled};
    return VALUE_OK;
}

enum value_error fb_value_count(const char *text, int64_t *ret_count)
{
    struct decimal d;
    size_t used = read_decimal(text, &d);

    assert(text && ret_count);
    if (used == 0 || text[used] != '\0')
        return classify(text + used, used > 0);
    if (d.scale != 1)
        return VALUE_MALFORMED;
    if (d.digits == 0)
        return VALUE_NOT_POSITIVE;
    if (d.digits > FB_COUNT_MAX)
        return VALUE_TOO_LARGE;
    assert(d.digits >= 1);
    *ret_count = d.digits;
    return VALUE_OK;
}

enum value_error fb_value_share(const char *text, int64_t *ret_ppm)
{
    struct decimal d;
    size_t used = read_decimal(text, &d);

    assert(text && ret_ppm);
    if (text[0] == '-')
        return VALUE_NEGATIVE;
    if (used == 0 || strcmp(text + used, "%") != 0)
        return classify(text + used, used > 0);
    assert(d.scale >= 1 && d.scale <= 1000000000);
    if (d.digits >= 100 * d.scale)
        return VALUE_TOO_LARGE;
    /* Finer than a millionth is rounded up: a larger margin errs towards waiting. */
    *ret_ppm = (d.digits * 10000 + d.scale - 1) / d.scale;
    assert(*ret_ppm >= 0 && *ret_ppm <= FB_MILLION);
    return VALUE_OK;
}
