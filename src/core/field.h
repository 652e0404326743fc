/* SPDX-License-Identifier: MIT */
/*
 * field.h - what of a plain value lasts: a table of its members, each with its range.
 *
 * A value is written as one 8-byte word per member and read back only if every word lies in the
 * range that its row says. Instants are written as ages, so that no clock needs to be the same
 * when they are read: an instant to come has a negative age.
 */
#ifndef FLYBALL_CORE_FIELD_H
#define FLYBALL_CORE_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum field_kind {
    FIELD_DOUBLE,
    FIELD_FLOAT,
    FIELD_INSTANT, /* int64_t; least and most are ages in seconds */
    FIELD_INT64,
    FIELD_INT32,
    FIELD_UINT32,
    FIELD_UINT8,
    FIELD_BOOL,
};

struct field {
    const char *name; /* as the refusal of a bad value says it */
    enum field_kind kind;
    size_t offset;
    uint32_t count; /* of them, side by side */
    double least;
    double most;
};

/* A row of a table about `type`. */
#define FB_FIELD(type, member, kind, least, most)                   \
    {                                                               \
#member, (kind), offsetof(type, member), 1, (least), (most) \
    }

/* How many words the fields take. */
size_t fb_fields_words(const struct field *f, size_t count);

/* Write them as words. */
void fb_fields_write(const struct field *f, size_t count, const void *value, int64_t now_ns,
                     uint64_t *ret_word);

/*
 * Read them from so many words. `passed_ns` >= 0 is what went by since they were written. Returns
 * NULL, or the name of a field that is out of its range; *ret_value may then be half read.
 */
const char *fb_fields_read(const struct field *f, size_t count, const uint64_t *word,
                           int64_t now_ns, int64_t passed_ns, void *ret_value);

#endif
