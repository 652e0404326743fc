/* SPDX-License-Identifier: MIT */
/*
 * field.c - members of a value as words, and back.
 *
 * Floating-point members travel as the bits of a double, all others as an int64_t. NaN lies in no
 * range, so it is refused like any other value out of range.
 */
#include "core/field.h"

#include <assert.h>
#include <string.h>

#include "core/instant.h"

#define AGE_LONG_AGO INT64_MAX /* no time has this age */

/* ---- one member ---- */

static double real_of(uint64_t word)
{
    double x;

    memcpy(&x, &word, sizeof(x));
    return x;
}

static uint64_t word_of(double x)
{
    uint64_t word;

    memcpy(&word, &x, sizeof(word));
    return word;
}

#define MEMBER(name, type, to_word, from_word)               \
    static uint64_t get_##name(const unsigned char *at)      \
    {                                                        \
        type x;                                              \
        memcpy(&x, at, sizeof(x));                           \
        return to_word;                                      \
    }                                                        \
    static void put_##name(unsigned char *at, uint64_t word) \
    {                                                        \
        type x = (type)(from_word);                          \
        memcpy(at, &x, sizeof(x));                           \
    }

#define REAL(name, type)   MEMBER(name, type, word_of((double)x), real_of(word))
#define NUMBER(name, type) MEMBER(name, type, (uint64_t)(int64_t)x, (int64_t)word)

REAL(double, double)
REAL(float, float)
NUMBER(int64, int64_t)
NUMBER(int32, int32_t)
NUMBER(uint32, uint32_t)
NUMBER(uint8, uint8_t)
NUMBER(flag, bool)

static const struct {
    size_t size;
    uint64_t (*get)(const unsigned char *at);
    void (*put)(unsigned char *at, uint64_t word);
    bool is_real;
} kinds[] = {
    [FIELD_DOUBLE] = {sizeof(double), get_double, put_double, true},
    [FIELD_FLOAT] = {sizeof(float), get_float, put_float, true},
    [FIELD_INSTANT] = {sizeof(int64_t), get_int64, put_int64, false},
    [FIELD_INT64] = {sizeof(int64_t), get_int64, put_int64, false},
    [FIELD_INT32] = {sizeof(int32_t), get_int32, put_int32, false},
    [FIELD_UINT32] = {sizeof(uint32_t), get_uint32, put_uint32, false},
    [FIELD_UINT8] = {sizeof(uint8_t), get_uint8, put_uint8, false},
    [FIELD_BOOL] = {sizeof(bool), get_flag, put_flag, false},
};

/* ---- instants ---- */

static uint64_t age_of(int64_t at_ns, int64_t now_ns)
{
    assert(now_ns >= -FB_TIME_MAX && now_ns <= FB_TIME_MAX);
    if (at_ns <= FB_LONG_AGO)
        return (uint64_t)AGE_LONG_AGO;
    return (uint64_t)(now_ns - fb_min64(at_ns, FB_TIME_MAX));
}

/* What would be before all times is as long ago as can be. */
static int64_t instant_of(int64_t age_ns, int64_t now_ns, int64_t passed_ns)
{
    assert(passed_ns >= 0);
    if (age_ns == AGE_LONG_AGO)
        return FB_LONG_AGO;
    return fb_clamp64(now_ns - passed_ns - age_ns, FB_LONG_AGO, FB_TIME_MAX);
}

/* ---- all of them ---- */

size_t fb_fields_words(const struct field *f, size_t count)
{
    size_t words = 0;

    for (size_t i = 0; i < count; i++) {
        assert(f[i].count >= 1 && f[i].least <= f[i].most);
        words += f[i].count;
    }
    return words;
}

void fb_fields_write(const struct field *f, size_t count, const void *value, int64_t now_ns,
                     uint64_t *ret_word)
{
    for (size_t i = 0; i < count; i++) {
        const unsigned char *at = (const unsigned char *)value + f[i].offset;
        assert(f[i].offset % kinds[f[i].kind].size == 0);
        for (uint32_t n = 0; n < f[i].count; n++, at += kinds[f[i].kind].size) {
            uint64_t word = kinds[f[i].kind].get(at);
            *ret_word++ = f[i].kind == FIELD_INSTANT ? age_of((int64_t)word, now_ns) : word;
        }
    }
}

static bool is_within(const struct field *f, uint64_t word)
{
    int64_t number = (int64_t)word;

    assert(f->kind < sizeof(kinds) / sizeof(kinds[0]) && kinds[f->kind].size > 0);
    if (kinds[f->kind].is_real)
        return real_of(word) >= f->least && real_of(word) <= f->most;
    if (f->kind != FIELD_INSTANT)
        return (double)number >= f->least && (double)number <= f->most;
    return number == AGE_LONG_AGO ||
           ((double)number >= f->least * 1e9 && (double)number <= f->most * 1e9);
}

const char *fb_fields_read(const struct field *f, size_t count, const uint64_t *word,
                           int64_t now_ns, int64_t passed_ns, void *ret_value)
{
    assert(passed_ns >= 0 && passed_ns <= FB_TIME_MAX);
    assert(now_ns >= -FB_TIME_MAX && now_ns <= FB_TIME_MAX);
    for (size_t i = 0; i < count; i++) {
        assert(f[i].name && f[i].least <= f[i].most);
        unsigned char *at = (unsigned char *)ret_value + f[i].offset;
        assert(f[i].offset % kinds[f[i].kind].size == 0);
        for (uint32_t n = 0; n < f[i].count; n++, at += kinds[f[i].kind].size, word++) {
            if (!is_within(&f[i], *word))
                return f[i].name;
            uint64_t x = *word;
            if (f[i].kind == FIELD_INSTANT)
                x = (uint64_t)instant_of((int64_t)x, now_ns, passed_ns);
            kinds[f[i].kind].put(at, x);
        }
    }
    return NULL;
}
