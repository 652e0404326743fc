/* SPDX-License-Identifier: MIT */
/* value.c - one value of each type, read whole or refused. */
#include <assert.h>
#include <string.h>

#include "config/reading.h"
#include "core/spec.h"
#include "core/value.h"
#include "util/text.h"

#define DIGITS "0123456789"

/* Digits alone, at most 18 of them. */
static bool read_int(const char *text, size_t size, int64_t *ret_value)
{
    int64_t value = 0;

    if (size == 0 || size > 18 || strspn(text, DIGITS) < size)
        return false;
    for (size_t i = 0; i < size; i++)
        value = value * 10 + (text[i] - '0');
    *ret_value = value;
    return true;
}

static bool is_within(const struct config_key *k, int64_t value)
{
    return value >= k->least && value <= k->most;
}

static bool store_int(int64_t value, void *field)
{
    if (field)
        *(int64_t *)field = value;
    return true;
}

static bool store_text(const char *text, void *field)
{
    if (field)
        *(const char **)field = text;
    return true;
}

static bool of_TEXT(const struct config_key *k, const char *text, void *field)
{
    return text[0] && (!k->is_right || k->is_right(text)) && store_text(text, field);
}

static bool of_BOOL(const struct config_key *k, const char *text, void *field)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on"};

    (void)k;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(text, words[i]) == 0) {
            if (field)
                *(bool *)field = i % 2 == 1;
            return true;
        }
    }
    return false;
}

static bool of_INT(const struct config_key *k, const char *text, void *field)
{
    int64_t value;

    return read_int(text, strlen(text), &value) && is_within(k, value) && store_int(value, field);
}

static bool of_SPAN(const struct config_key *k, const char *text, void *field)
{
    int64_t span_ns = 0;
    bool is_zero = strcmp(text, "0") == 0 || strcmp(text, "0s") == 0;

    return (is_zero || fb_value_span(text, &span_ns) == VALUE_OK) && is_within(k, span_ns) &&
           store_int(span_ns, field);
}

static bool of_SHARE(const struct config_key *k, const char *text, void *field)
{
    int64_t ppm;

    (void)k;
    return fb_value_share(text, &ppm) == VALUE_OK && store_int(ppm, field);
}

static bool of_SIZE(const struct config_key *k, const char *text, void *field)
{
    static const char *const units[] = {"", "KiB", "MiB", "GiB"};
    size_t size = strspn(text, DIGITS);
    const char *unit = text + size + (text[size] == ' ');
    int64_t value;

    if (!read_int(text, size, &value))
        return false;
    for (int i = 0; i < 4; i++) {
        int64_t factor = INT64_C(1) << (10 * i);
        if (strcmp(unit, units[i]) == 0 || (i == 0 && strcmp(unit, "B") == 0))
            return value <= INT64_MAX / factor && is_within(k, value * factor) &&
                   store_int(value * factor, field);
    }
    return false;
}

static bool of_RATE(const struct config_key *k, const char *text, void *field)
{
    struct rate rate;

    (void)k;
    return fb_value_rate(text, &rate) == VALUE_OK && store_text(text, field);
}

static bool of_WORD(const struct config_key *k, const char *text, void *field)
{
    for (int64_t i = 0; k->words[i]; i++) {
        if (strcmp(text, k->words[i]) == 0)
            return store_int(i, field);
    }
    return false;
}

/* Of these the parts are read one by one. */
#define of_TEXTS   NULL
#define of_PAIRS   NULL
#define of_LIMIT   NULL
#define of_SECTION NULL
#define of_MAP     NULL

static const struct {
    bool (*read)(const struct config_key *k, const char *text, void *field);
    const char *expects;
    enum config_json json;
} types[] = {
#define X(name, expects, json) [CONFIG_##name] = {of_##name, expects, JSON_##json},
    FB_CONFIG_TYPES(X)
#undef X
};

bool fb_value_of_key(const struct config_key *k, const char *text, void *field)
{
    assert(types[k->type].read);
    return types[k->type].read(k, text, field);
}

enum config_json fb_config_type_json(enum config_type type)
{
    return types[type].json;
}

/* ----------------------------------------------------------------------------- what is expected */

static void add_words(const struct config_key *k, struct text *text)
{
    for (size_t i = 0; k->words[i]; i++) {
        if (i > 0)
            fb_text_add(text, k->words[i + 1] ? ", " : " or ");
        fb_text_add(text, k->words[i]);
    }
}

/* 64 KiB rather than 65536. */
static void add_size(struct text *text, int64_t bytes)
{
    static const char *const units[] = {"", "KiB", "MiB", "GiB"};
    int unit = 0;

    for (; unit < 3 && bytes > 0 && bytes % 1024 == 0; unit++)
        bytes /= 1024;
    fb_text_add_int(text, bytes);
    fb_text_add(text, units[unit]);
}

static void add_range(const struct config_key *k, struct text *text)
{
    if (k->type == CONFIG_INT && k->most < INT64_MAX) {
        fb_text_add(text, " from ");
        fb_text_add_int(text, k->least);
        fb_text_add(text, " to ");
        fb_text_add_int(text, k->most);
    } else if (k->type == CONFIG_INT) {
        fb_text_add(text, " from ");
        fb_text_add_int(text, k->least);
        fb_text_add(text, " on");
    } else if (k->type == CONFIG_SIZE) {
        fb_text_add(text, " from ");
        add_size(text, k->least);
        fb_text_add(text, " to ");
        add_size(text, k->most);
    } else if (k->type == CONFIG_SPAN && k->least == 0) {
        fb_text_add(text, ", or 0");
    } else if (k->type == CONFIG_SPAN && k->least > 1) {
        fb_text_add(text, ", at least ");
        fb_text_add_span(text, k->least);
    }
}

void fb_config_key_expects(const struct config_key *k, struct text *text)
{
    if (k->expects) {
        fb_text_add(text, k->expects);
    } else if (k->type == CONFIG_WORD) {
        add_words(k, text);
    } else {
        fb_text_add(text, types[k->type].expects);
        add_range(k, text);
    }
}
