/* SPDX-License-Identifier: MIT */
/*
 * duration.c - number, unit, number, unit, each unit smaller than the one before.
 *
 * "m" and "ms" are told apart by taking all bytes up to the next digit as the name of the unit.
 */
#include "signal/duration.h"

#include <string.h>

#include "core/instant.h"
#include "signal/number.h"

static const struct {
    const char *name;
    int64_t ns;
} units[] = {
    {"s", FB_NS_PER_S},
    {"m", 60 * FB_NS_PER_S},
    {"h", 3600 * FB_NS_PER_S},
    {"d", 86400 * FB_NS_PER_S},
    {"ms", FB_NS_PER_MS},
    {"us", 1000},
    {"\302\265s", 1000}, /* U+00B5, the micro sign */
    {"\316\274s", 1000}, /* U+03BC, the Greek letter: looks the same */
    {"ns", 1},
};

/* The unit at the beginning of *s, taken off; 0 when there is none that is known. */
static int64_t unit_take(struct slice *s)
{
    size_t length = 0;

    while (length < s->length && !fb_is_digit(s->at[length]))
        length++;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strlen(units[i].name) == length && memcmp(units[i].name, s->at, length) == 0) {
            *s = fb_slice_after(*s, length);
            return units[i].ns;
        }
    }
    return 0;
}

/* One number with its unit, which has to be smaller than *unit, added to *sum. */
static bool step_take(struct slice *s, int64_t *unit, int64_t *sum)
{
    int64_t value, ns;
    struct fraction part;

    if (!fb_digits_take(s, &value) || !fb_fraction_take(s, &part))
        return false;
    ns = unit_take(s);
    if (ns == 0 || ns >= *unit || (part.scale > 1 && s->length > 0))
        return false;
    *unit = ns;
    return !__builtin_mul_overflow(value, ns, &value) &&
           !__builtin_add_overflow(value, fb_fraction_of(&part, ns), &value) &&
           !__builtin_add_overflow(*sum, value, sum);
}

bool fb_duration_read(struct slice s, int64_t *ret_ns)
{
    int64_t unit = INT64_MAX, sum = 0;

    do {
        if (!step_take(&s, &unit, &sum))
            return false;
    } while (s.length > 0);
    *ret_ns = sum;
    return true;
}
