/* SPDX-License-Identifier: MIT */
/*
 * fields.h - structured fields (RFC 9651, and with it RFC 8941), pulled out of the text in place.
 *
 * All three kinds and all types are read. Nothing is copied: texts are borrowed as they are
 * written, and fb_bare_decode() resolves their escapes where that matters. A field that comes in
 * several lines is one field, joined by ", " by the caller.
 *
 *     struct fields f;
 *     struct field v;
 *     fb_fields_init(&f, FIELDS_LIST, text);          "a";q=1, (2 3);w
 *     fb_fields_next(&f, &v)     FIELD_MEMBER         string a
 *                                FIELD_PARAMETER      q, integer 1
 *                                FIELD_OPEN
 *                                FIELD_MEMBER         integer 2
 *                                FIELD_MEMBER         integer 3
 *                                FIELD_CLOSE
 *                                FIELD_PARAMETER      w, boolean 1
 *                                FIELD_END
 *
 * A member is given before it is known whether the rest of the text is right. By the RFC a mistake
 * anywhere makes the whole field void: ask fb_fields_valid() first, or forget what came before
 * FIELD_BROKEN. Where a key comes twice, the last one counts; whoever stores values as they come
 * has it so.
 */
#ifndef FLYBALL_SIGNAL_FIELDS_H
#define FLYBALL_SIGNAL_FIELDS_H

#include <stdbool.h>

#include "signal/bare.h"
#include "signal/slice.h"

enum fields_kind { FIELDS_ITEM, FIELDS_LIST, FIELDS_DICTIONARY };

enum field_event {
    FIELD_END,
    FIELD_MEMBER,    /* an item: the field itself, of a list, of a dictionary, of an inner list */
    FIELD_PARAMETER, /* of what came before: a member, or the inner list just closed */
    FIELD_OPEN,      /* an inner list begins */
    FIELD_CLOSE,     /* and ends */
    FIELD_BROKEN,    /* not a structured field */
};

struct field {
    struct slice key; /* of a parameter, or of a dictionary's member; else empty */
    struct bare value;
};

enum fields_state {
    FIELDS_START,        /* before the first member */
    FIELDS_AFTER_MEMBER, /* a parameter, the next member, or the end */
    FIELDS_INSIDE,       /* an inner list: an item or its end */
    FIELDS_AFTER_INSIDE, /* a parameter, a blank, or its end */
    FIELDS_ENDED,
    FIELDS_BROKEN,
};

struct fields {
    struct slice rest;
    enum fields_kind kind;
    enum fields_state state;
};

void fb_fields_init(struct fields *f, enum fields_kind kind, struct slice text);

/*
 * The next event; *ret_field is set by FIELD_MEMBER, FIELD_PARAMETER and FIELD_OPEN (its key), and
 * anything otherwise. After FIELD_END and FIELD_BROKEN comes the same again.
 */
enum field_event fb_fields_next(struct fields *f, struct field *ret_field);

/* Is all of `text` a field of this kind? */
bool fb_fields_valid(enum fields_kind kind, struct slice text);

#endif
