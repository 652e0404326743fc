/* SPDX-License-Identifier: MIT */
/*
 * fuzz_readers.c - any bytes as a number, a span, a date, a structured field.
 *
 * Beside what the sanitizers see, the answers have to agree with each other: a number is a decimal,
 * a date is not also one without its last byte, and a list written twice is a list twice as long.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/instant.h"
#include "signal/civil.h"
#include "signal/duration.h"
#include "signal/fields.h"
#include "signal/httpdate.h"
#include "signal/number.h"
#include "signal/rfc3339.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NOW (INT64_C(1700000000) * FB_NS_PER_S)

#define HOLD(fact) ((fact) ? (void)0 : broken(#fact, __LINE__))

static void broken(const char *fact, int line)
{
    fprintf(stderr, "fuzz_readers.c:%d: does not hold: %s\n", line, fact);
    abort();
}

static void numbers(struct slice s)
{
    int64_t number = -1, millionths = -1, ns = -1;
    bool is_number = fb_number_read(s, &number);
    bool is_decimal = fb_decimal_read(s, &millionths);

    HOLD(is_number || number == -1);
    HOLD(is_decimal || millionths == -1);
    if (is_number) {
        HOLD(number >= 0);
        HOLD(is_decimal == (number <= INT64_MAX / 1000000));
        HOLD(!is_decimal || millionths == number * 1000000);
    }
    if (fb_duration_read(s, &ns)) {
        HOLD(ns >= 0 && !is_decimal);
        HOLD(s.at[s.length - 1] == 's' || strchr("mhd", s.at[s.length - 1]));
    } else {
        HOLD(ns == -1);
    }
}

static void dates(struct slice s)
{
    struct slice shorter = fb_slice_head(s, s.length - 1);
    int64_t ns = -1, again = -1;

    if (fb_httpdate_read(s, NOW, &ns)) {
        struct civil c = fb_civil_of(ns);
        HOLD(ns % FB_NS_PER_S == 0);
        HOLD(fb_civil_epoch(&c, &again) && again == ns);
        HOLD(!fb_httpdate_read(shorter, NOW, &again));
        HOLD(!fb_rfc3339_read(s, &again));
    } else {
        HOLD(ns == -1);
    }
    if (fb_rfc3339_read(s, &ns))
        HOLD(!fb_rfc3339_read(shorter, &again));
}

static bool is_within(struct slice part, struct slice whole)
{
    return part.length == 0 ||
           (part.at >= whole.at && part.at + part.length <= whole.at + whole.length);
}

static void check_field(const struct field *v, struct slice whole)
{
    static char bytes[1 << 16];

    HOLD(is_within(v->key, whole));
    HOLD(is_within(v->value.text, whole));
    HOLD(fb_bare_decode(&v->value, bytes, sizeof bytes) <= v->value.text.length);
}

/* How many events until the end, that one not counted; -1 when it is broken. */
static long events(enum fields_kind kind, struct slice s)
{
    struct fields f;
    struct field v;
    long count = 0;

    fb_fields_init(&f, kind, s);
    for (enum field_event event; (event = fb_fields_next(&f, &v)) != FIELD_END; count++) {
        if (event == FIELD_BROKEN)
            return -1;
        HOLD((size_t)count < s.length);
        if (event == FIELD_MEMBER || event == FIELD_PARAMETER)
            check_field(&v, s);
    }
    return count;
}

static void fields(struct slice s)
{
    char *twice = malloc(2 * s.length + 1);

    if (!twice)
        abort();
    memcpy(twice, s.at, s.length);
    twice[s.length] = ',';
    memcpy(twice + s.length + 1, s.at, s.length);
    struct slice both = {twice, 2 * s.length + 1};

    for (int kind = FIELDS_ITEM; kind <= FIELDS_DICTIONARY; kind++) {
        long count = events((enum fields_kind)kind, s);
        HOLD(fb_fields_valid((enum fields_kind)kind, s) == (count >= 0));
        if (count > 0 && kind != FIELDS_ITEM)
            HOLD(events((enum fields_kind)kind, both) == 2 * count);
        if (count > 0 && kind == FIELDS_ITEM)
            HOLD(events(FIELDS_LIST, s) == count);
    }
    free(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice s = {(const char *)data, size};

    if (size == 0)
        return 0;
    numbers(s);
    dates(s);
    fields(s);
    return 0;
}
