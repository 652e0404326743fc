/* SPDX-License-Identifier: MIT */
/*
 * bare.h - one bare item of a structured field (RFC 9651, section 3.3): a value and its type.
 */
#ifndef FLYBALL_SIGNAL_BARE_H
#define FLYBALL_SIGNAL_BARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "signal/slice.h"

enum bare_type {
    BARE_INTEGER, /* up to 15 digits */
    BARE_DECIMAL, /* up to 12 digits and 3 after the point */
    BARE_STRING,
    BARE_TOKEN,
    BARE_BYTES,
    BARE_BOOLEAN,
    BARE_DATE,    /* seconds since 1970, as an integer is written */
    BARE_DISPLAY, /* text beyond ASCII */
};

struct bare {
    enum bare_type type;
    int64_t number;    /* integer, date; decimal in thousandths; boolean 0 or 1 */
    struct slice text; /* string, token, bytes, display: as written, without what encloses it */
};

/* Read the item at the beginning of *s and take it off; false, and *s anywhere, when none is. */
bool fb_bare_take(struct slice *s, struct bare *ret_bare);

/*
 * What the text of a string, token, bytes or display means: escapes, base64 and percent signs
 * resolved. Writes at most `size` bytes and no NUL, and returns how many there are in all; never
 * more than text.length.
 */
size_t fb_bare_decode(const struct bare *b, char *ret_bytes, size_t size);

#endif
