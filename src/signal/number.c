/* SPDX-License-Identifier: MIT */
/*
 * number.c - digits to integers, and nothing but digits.
 *
 * Every sum and product is checked; one pass over the digits.
 */
#include "signal/number.h"

#include <assert.h>

#include "core/wide.h"

#define DIGITS_MAX 18 /* always fit into int64_t */
#define MILLION    INT64_C(1000000)

bool fb_digits_take(struct slice *s, int64_t *ret_value)
{
    int64_t value = 0;
    size_t at = 0;

    for (; at < s->length && fb_is_digit(s->at[at]); at++) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, s->at[at] - '0', &value))
            return false;
    }
    if (at == 0)
        return false;
    *s = fb_slice_after(*s, at);
    *ret_value = value;
    return true;
}

bool fb_digits_exactly(struct slice *s, size_t count, int64_t *ret_value)
{
    struct slice digits = fb_slice_head(*s, count);

    assert(count > 0 && count <= DIGITS_MAX);
    if (s->length < count || !fb_digits_take(&digits, ret_value) || digits.length > 0)
        return false;
    *s = fb_slice_after(*s, count);
    return true;
}

bool fb_fraction_take(struct slice *s, struct fraction *ret_fraction)
{
    struct fraction f = {.scale = 1};

    if (fb_slice_take(s, '.')) {
        size_t before = s->length;
        if (!fb_digits_take(s, &f.digits) || before - s->length > DIGITS_MAX)
            return false;
        for (size_t i = s->length; i < before; i++)
            f.scale *= 10;
    }
    *ret_fraction = f;
    return true;
}

int64_t fb_fraction_of(const struct fraction *f, int64_t unit)
{
    assert(unit > 0 && f->digits >= 0 && f->digits < f->scale);

    return (int64_t)(((fb_wide)f->digits * unit + f->scale - 1) / f->scale);
}

bool fb_number_read(struct slice s, int64_t *ret_value)
{
    int64_t value;

    if (!fb_digits_take(&s, &value) || s.length > 0)
        return false;
    *ret_value = value;
    return true;
}

bool fb_decimal_read(struct slice s, int64_t *ret_millionths)
{
    int64_t value;
    struct fraction part;

    if (!fb_digits_take(&s, &value) || !fb_fraction_take(&s, &part) || s.length > 0)
        return false;
    if (__builtin_mul_overflow(value, MILLION, &value) ||
        __builtin_add_overflow(value, fb_fraction_of(&part, MILLION), &value))
        return false;
    *ret_millionths = value;
    return true;
}
