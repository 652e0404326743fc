/* SPDX-License-Identifier: MIT */
/* ask.c - the words of a query as a table. */
#include "mock/ask.h"

#include <stddef.h>
#include <string.h>

#include "core/value.h"
#include "signal/number.h"

enum ask_kind { KIND_NUMBER, KIND_SPAN, KIND_FAULT, KIND_CUT };

static const struct word {
    const char *name;
    enum ask_kind kind;
    size_t offset; /* of the number in struct mock_ask */
    int64_t low;   /* or the fault */
    int64_t high;
    const char *expects;
} words[] = {
    {"status", KIND_NUMBER, offsetof(struct mock_ask, status), 200, 599,
     "a status from 200 to 599"},
    {"retry_after", KIND_NUMBER, offsetof(struct mock_ask, retry_s), 0, 1000000000,
     "a number of seconds"},
    {"bytes", KIND_NUMBER, offsetof(struct mock_ask, bytes), 0, FB_MOCK_BYTES_MAX,
     "a number of bytes, at most 1073741824"},
    {"page", KIND_NUMBER, offsetof(struct mock_ask, page), 1, 1000000, "a number from 1 on"},
    {"of", KIND_NUMBER, offsetof(struct mock_ask, of), 1, 1000000, "a number from 1 on"},
    {"delay", KIND_SPAN, offsetof(struct mock_ask, delay_ns), 0, 0, "a time such as 500ms"},
    {"drip", KIND_SPAN, offsetof(struct mock_ask, drip_ns), 0, 0, "a time such as 100ms"},
    {"cut", KIND_CUT, offsetof(struct mock_ask, cut), 0, FB_MOCK_BYTES_MAX, "a number of bytes"},
    {"hang", KIND_FAULT, 0, ASK_HANG, 0, "no value"},
    {"close", KIND_FAULT, 0, ASK_CLOSE, 0, "no value"},
    {"reset", KIND_FAULT, 0, ASK_RESET, 0, "no value"},
};

static bool read_span(struct slice value, int64_t *ret_ns)
{
    char text[32];

    if (value.length >= sizeof(text))
        return false;
    memcpy(text, value.at, value.length);
    text[value.length] = '\0';
    return fb_value_span(text, ret_ns) == VALUE_OK;
}

static bool read_number(const struct word *w, struct slice value, int64_t *ret_number)
{
    int64_t number;

    if (!fb_number_read(value, &number) || number < w->low || number > w->high)
        return false;
    *ret_number = number;
    return true;
}

static bool read_value(const struct word *w, struct slice value, struct mock_ask *a)
{
    int64_t *number = (int64_t *)(void *)((char *)a + w->offset);

    switch (w->kind) {
    case KIND_NUMBER:
        return read_number(w, value, number);
    case KIND_SPAN:
        return read_span(value, number);
    case KIND_CUT:
        a->fault = ASK_CUT;
        return read_number(w, value, number);
    case KIND_FAULT:
        a->fault = (enum ask_fault)w->low;
        return value.length == 0;
    }
    return false;
}

static const struct word *find_word(struct slice name)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (fb_slice_is(name, words[i].name))
            return &words[i];
    return NULL;
}

const char *fb_mock_ask_read(struct slice target, struct mock_ask *ret_ask,
                             const char **ret_expects)
{
    size_t mark = fb_slice_find(target, '?');
    struct slice query = fb_slice_after(target, mark + 1);
    struct slice part;

    *ret_ask = (struct mock_ask){.path = fb_slice_head(target, mark),
                                 .status = 200,
                                 .retry_s = -1,
                                 .bytes = -1,
                                 .page = 1,
                                 .of = 10};
    while (fb_slice_next(&query, '&', &part)) {
        size_t equals = fb_slice_find(part, '=');
        const struct word *w = find_word(fb_slice_head(part, equals));

        if (w && !read_value(w, fb_slice_after(part, equals + 1), ret_ask)) {
            *ret_expects = w->expects;
            return w->name;
        }
    }
    return NULL;
}
