/* SPDX-License-Identifier: MIT */
/*
 * fields.c - the structure around bare items: members, parameters, inner lists.
 *
 * A state says what may come next, and each state has one function that reads it. Every event takes
 * at least one byte off the text, so a field of n bytes gives at most n + 1 of them.
 */
#include "signal/fields.h"

#include <assert.h>
#include <string.h>

void fb_fields_init(struct fields *f, enum fields_kind kind, struct slice text)
{
    *f = (struct fields){.rest = text, .kind = kind, .state = FIELDS_START};
}

static bool is_key_start(char c)
{
    return (c >= 'a' && c <= 'z') || c == '*';
}

static bool is_key(char c)
{
    return is_key_start(c) || fb_is_digit(c) || c == '_' || c == '-' || c == '.';
}

static bool key_take(struct slice *s, struct slice *ret_key)
{
    size_t length = 1;

    if (s->length == 0 || !is_key_start(s->at[0]))
        return false;
    while (length < s->length && is_key(s->at[length]))
        length++;
    *ret_key = fb_slice_head(*s, length);
    *s = fb_slice_after(*s, length);
    return true;
}

static void skip_blanks(struct slice *s)
{
    while (fb_slice_take(s, ' '))
        ;
}

/* Around commas tabs are blanks too. */
static void skip_blanks_and_tabs(struct slice *s)
{
    while (fb_slice_take(s, ' ') || fb_slice_take(s, '\t'))
        ;
}

static enum field_event go(struct fields *f, enum fields_state state, enum field_event event)
{
    f->state = state;
    return event;
}

static enum field_event broken(struct fields *f)
{
    return go(f, FIELDS_BROKEN, FIELD_BROKEN);
}

/* An item, or what a key without "=" means: true. */
static bool value_take(struct slice *s, bool is_given, struct bare *ret_value)
{
    if (is_given)
        return fb_bare_take(s, ret_value);
    *ret_value = (struct bare){.type = BARE_BOOLEAN, .number = 1};
    return true;
}

/* After the ";". */
static enum field_event parameter(struct fields *f, struct field *v)
{
    skip_blanks(&f->rest);
    if (!key_take(&f->rest, &v->key))
        return broken(f);
    if (!value_take(&f->rest, fb_slice_take(&f->rest, '='), &v->value))
        return broken(f);
    return FIELD_PARAMETER;
}

static enum field_event member(struct fields *f, struct field *v)
{
    bool is_given = true;

    v->key = (struct slice){NULL, 0};
    if (f->kind == FIELDS_DICTIONARY) {
        if (!key_take(&f->rest, &v->key))
            return broken(f);
        is_given = fb_slice_take(&f->rest, '=');
    }
    if (f->kind != FIELDS_ITEM && is_given && fb_slice_take(&f->rest, '('))
        return go(f, FIELDS_INSIDE, FIELD_OPEN);
    if (!value_take(&f->rest, is_given, &v->value))
        return broken(f);
    return go(f, FIELDS_AFTER_MEMBER, FIELD_MEMBER);
}

static enum field_event start(struct fields *f, struct field *v)
{
    skip_blanks(&f->rest);
    if (f->kind != FIELDS_ITEM && f->rest.length == 0)
        return go(f, FIELDS_ENDED, FIELD_END);
    return member(f, v);
}

static enum field_event after_member(struct fields *f, struct field *v)
{
    if (fb_slice_take(&f->rest, ';'))
        return parameter(f, v);
    if (f->kind == FIELDS_ITEM)
        skip_blanks(&f->rest);
    else
        skip_blanks_and_tabs(&f->rest);
    if (f->rest.length == 0)
        return go(f, FIELDS_ENDED, FIELD_END);
    if (f->kind == FIELDS_ITEM || !fb_slice_take(&f->rest, ','))
        return broken(f);
    skip_blanks_and_tabs(&f->rest);
    return member(f, v);
}

static enum field_event inside(struct fields *f, struct field *v)
{
    skip_blanks(&f->rest);
    if (fb_slice_take(&f->rest, ')'))
        return go(f, FIELDS_AFTER_MEMBER, FIELD_CLOSE);
    v->key = (struct slice){NULL, 0};
    if (!fb_bare_take(&f->rest, &v->value))
        return broken(f);
    return go(f, FIELDS_AFTER_INSIDE, FIELD_MEMBER);
}

static enum field_event after_inside(struct fields *f, struct field *v)
{
    if (fb_slice_take(&f->rest, ';'))
        return parameter(f, v);
    if (f->rest.length == 0 || (f->rest.at[0] != ' ' && f->rest.at[0] != ')'))
        return broken(f);
    return inside(f, v);
}

static enum field_event stay_ended(struct fields *f, struct field *v)
{
    (void)f;
    (void)v;
    return FIELD_END;
}

static enum field_event stay_broken(struct fields *f, struct field *v)
{
    (void)v;
    return broken(f);
}

enum field_event fb_fields_next(struct fields *f, struct field *ret_field)
{
    static enum field_event (*const readers[])(struct fields *, struct field *) = {
        [FIELDS_START] = start,      [FIELDS_AFTER_MEMBER] = after_member,
        [FIELDS_INSIDE] = inside,    [FIELDS_AFTER_INSIDE] = after_inside,
        [FIELDS_ENDED] = stay_ended, [FIELDS_BROKEN] = stay_broken,
    };

    assert(f->state <= FIELDS_BROKEN);
    return readers[f->state](f, ret_field);
}

bool fb_fields_valid(enum fields_kind kind, struct slice text)
{
    struct fields f;
    struct field ignored;
    enum field_event event;

    fb_fields_init(&f, kind, text);
    do {
        event = fb_fields_next(&f, &ignored);
    } while (event != FIELD_END && event != FIELD_BROKEN);
    return event == FIELD_END;
}
