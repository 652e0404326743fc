/* SPDX-License-Identifier: MIT */
/*
 * run_cases.c - run the public cases for structured fields (httpwg/structured-field-tests).
 *
 *     run_cases FILE.json...
 *
 * The data is not ours and stays outside: `make sf-tests SF=directory`. What the reader pulls out
 * of each header is built into the JSON form of those files and compared with what they expect.
 * A case that may fail by the RFC may; every other one has to behave. Exit 1 when one does not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "signal/fields.h"

#define TEXT_MAX (256 * 1024)

struct tally {
    unsigned run;
    unsigned refused; /* where the RFC leaves it open */
    unsigned wrong;
};

/* The half-built value of one field. */
struct built {
    json_t *top;    /* [member...], or [[key, member]...] */
    json_t *inner;  /* the items of the open inner list, or NULL */
    json_t *params; /* where the next parameter goes */
    json_t *outer;  /* the parameters of the inner list */
};

static json_t *base32(const char *bytes, size_t size)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    char *text = calloc(size * 2 + 9, 1);
    size_t length = 0;
    unsigned held = 0, bits = 0;

    if (!text)
        abort();
    for (size_t i = 0; i < size; i++) {
        held = (held << 8 | (unsigned char)bytes[i]) & 0xFFFF;
        for (bits += 8; bits >= 5; bits -= 5)
            text[length++] = alphabet[held >> (bits - 5) & 31];
    }
    if (bits > 0)
        text[length++] = alphabet[held << (5 - bits) & 31];
    while (length % 8 != 0)
        text[length++] = '=';
    json_t *value = json_stringn(text, length);
    free(text);
    return value;
}

static json_t *typed(const char *type, json_t *value)
{
    return json_pack("{s:s, s:o}", "__type", type, "value", value);
}

static json_t *json_of(const struct bare *b)
{
    static char bytes[TEXT_MAX];
    size_t size = fb_bare_decode(b, bytes, sizeof bytes);

    switch (b->type) {
    case BARE_INTEGER:
        return json_integer(b->number);
    case BARE_DECIMAL:
        return json_real((double)b->number / 1000.0);
    case BARE_BOOLEAN:
        return json_boolean(b->number != 0);
    case BARE_DATE:
        return typed("date", json_integer(b->number));
    case BARE_STRING:
        return json_stringn(bytes, size);
    case BARE_TOKEN:
        return typed("token", json_stringn(bytes, size));
    case BARE_BYTES:
        return typed("binary", base32(bytes, size));
    case BARE_DISPLAY:
        return typed("displaystring", json_stringn(bytes, size));
    }
    abort();
}

/* [key, value], in the place of an earlier one with the same key. */
static void set(json_t *pairs, struct slice key, json_t *value)
{
    json_t *pair = json_pack("[o, o]", json_stringn(key.at, key.length), value);
    size_t i;
    json_t *old;

    json_array_foreach(pairs, i, old)
    {
        if (json_equal(json_array_get(old, 0), json_array_get(pair, 0))) {
            json_array_set_new(pairs, i, pair);
            return;
        }
    }
    json_array_append_new(pairs, pair);
}

/* A new [value, parameters] of the field or of the open inner list. */
static void add(struct built *b, enum fields_kind kind, struct slice key, json_t *value)
{
    json_t *member = json_pack("[o, []]", value);

    b->params = json_array_get(member, 1);
    if (b->inner)
        json_array_append_new(b->inner, member);
    else if (kind == FIELDS_DICTIONARY)
        set(b->top, key, member);
    else
        json_array_append_new(b->top, member);
}

static void apply(struct built *b, enum fields_kind kind, enum field_event event,
                  const struct field *v)
{
    json_t *items;

    switch (event) {
    case FIELD_MEMBER:
        add(b, kind, v->key, json_of(&v->value));
        break;
    case FIELD_PARAMETER:
        set(b->params, v->key, json_of(&v->value));
        break;
    case FIELD_OPEN:
        items = json_array();
        add(b, kind, v->key, items);
        b->outer = b->params;
        b->inner = items;
        break;
    case FIELD_CLOSE:
        b->inner = NULL;
        b->params = b->outer;
        break;
    case FIELD_END:
    case FIELD_BROKEN:
        break;
    }
}

/* The field as JSON, or NULL when it is refused. */
static json_t *read_field(enum fields_kind kind, struct slice text)
{
    struct built b = {.top = json_array()};
    struct fields f;
    struct field v;
    enum field_event event;

    fb_fields_init(&f, kind, text);
    do {
        event = fb_fields_next(&f, &v);
        apply(&b, kind, event, &v);
    } while (event != FIELD_END && event != FIELD_BROKEN);

    json_t *value = NULL;
    if (event == FIELD_END)
        value = json_incref(kind == FIELDS_ITEM ? json_array_get(b.top, 0) : b.top);
    json_decref(b.top);
    return value;
}

/* All lines of a header as one, as RFC 9110 joins them. */
static struct slice join(const json_t *lines, char *text, size_t size)
{
    size_t length = 0, i;
    const json_t *line;

    json_array_foreach(lines, i, line)
    {
        size_t more = json_string_length(line);
        if (length + more + 2 > size)
            abort();
        if (i > 0) {
            memcpy(text + length, ", ", 2);
            length += 2;
        }
        memcpy(text + length, json_string_value(line), more);
        length += more;
    }
    return (struct slice){text, length};
}

static enum fields_kind kind_of(const char *name)
{
    return strcmp(name, "item") == 0   ? FIELDS_ITEM
           : strcmp(name, "list") == 0 ? FIELDS_LIST
                                       : FIELDS_DICTIONARY;
}

static void run(const char *path, json_t *test, struct tally *sum)
{
    static char text[TEXT_MAX];
    enum fields_kind kind = kind_of(json_string_value(json_object_get(test, "header_type")));
    struct slice field = join(json_object_get(test, "raw"), text, sizeof text);
    json_t *got = read_field(kind, field);
    bool must_fail = json_is_true(json_object_get(test, "must_fail"));
    bool can_fail = json_is_true(json_object_get(test, "can_fail"));
    bool right = got ? !must_fail && json_equal(got, json_object_get(test, "expected"))
                     : must_fail || can_fail;

    sum->run++;
    sum->refused += !got && can_fail;
    sum->wrong += !right;
    if (!right)
        printf("%s: %s\n", path, json_string_value(json_object_get(test, "name")));
    json_decref(got);
}

static void run_file(const char *path, struct tally *sum)
{
    json_error_t error;
    json_t *tests = json_load_file(path, JSON_ALLOW_NUL, &error), *test;
    size_t i;

    if (!json_is_array(tests)) {
        fprintf(stderr, "%s:%d: %s\n", path, error.line, error.text);
        exit(1);
    }
    json_array_foreach(tests, i, test) run(path, test, sum);
    json_decref(tests);
}

int main(int argc, char **argv)
{
    struct tally sum = {0};

    for (int i = 1; i < argc; i++)
        run_file(argv[i], &sum);
    printf("structured fields: %u cases, %u wrong; %u refused that may be\n", sum.run, sum.wrong,
           sum.refused);
    return sum.run == 0 || sum.wrong > 0;
}
