/* SPDX-License-Identifier: MIT */
/*
 * source.h - what an answer says: one contract for every kind of source.
 *
 * A rule says what is wanted of an answer: fields of one item, or the rows of a list. A kind of
 * source finds it in the bytes of a body. Every body is hostile: it may be huge, deep, cut off or
 * no text at all, and the worst that comes of it is a sentence about what is wrong. Values become
 * texts that are equal where they mean the same (values.h), in the order of their names, so that
 * whatever was read is a snapshot.
 *
 * Some kinds read in this process (json); others leave it to a program, which has the body on its
 * standard input and prints one JSON object (html, which is this very program in another process,
 * and exec). read.h does either, whichever it is.
 *
 * A new kind: its file here, a row in FB_SOURCES, a word in config/table_watch.c.
 */
#ifndef FLYBALL_WATCH_SOURCES_SOURCE_H
#define FLYBALL_WATCH_SOURCES_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "config/watch.h"
#include "core/freshness.h"
#include "core/snapshot.h"
#include "signal/slice.h"
#include "util/buffer.h"

/* In the order of enum config_source_kind. */
#define FB_SOURCES(X) X(json) X(html) X(exec)

#define FB_SOURCE_VALUE_MAX  4096    /* bytes of one value; a longer one is wrong */
#define FB_SOURCE_VALUES_MAX 2000000 /* values of any kind in one JSON text */
#define FB_SOURCE_DEPTH_MAX  64      /* lists and objects within each other */

struct fly_error;

/* What is wanted. Everything is the configuration's, which lasts longer. */
struct source_rule {
    const char *name; /* of the source, or CONFIG_ITEMS_NAME */
    const struct config_ask *ask;
    const struct config_field *field; /* of an item; none, of exec: all that there are */
    size_t field_count;
    const char *id; /* where the answer says what it is about, or NULL */

    const struct config_items *items; /* the rows of a list are wanted, and no fields; or NULL */
    const char *const *id_path; /* of a row, for each source in its order; NULL: not in the list */
    size_t source_count;
};

/* An item of a list. */
struct source_row {
    const char *id;
    enum item_state state;
    const char *word;             /* that the list has for its state, where nobody knows it */
    const char *const *source_id; /* of each source; NULL: the list does not say */
};

/* What was read. Zeroes: nothing; to be freed by fb_source_said_fini(). */
struct source_said {
    struct snapshot says; /* in order */
    const char *id;       /* of the item that it is about; NULL: it does not say */
    struct source_row *row;
    size_t row_count;
    size_t rows_bad; /* rows without an id that can be used */
    size_t missing;  /* fields that are not there */
    size_t wrong;    /* that are not of their type, or too long */
    char first[128]; /* about the first of them, for a person; "": there is none */
    struct source_piece *memory;
};

void fb_source_said_fini(struct source_said *s);

/* ---- kinds ---- */

struct source_kind {
    const char *name;

    /*
     * Read a body, or what the program printed. 0; or a negative errno with a sentence: -EBADMSG
     * where it is nothing such; -E2BIG where it is too much; -ENOMEM. Nothing of it has to be freed
     * then.
     */
    int (*read)(const struct source_rule *r, struct slice body, struct source_said *ret_said,
                struct fly_error *err);

    /*
     * The program to be started: append its words, each with its NUL. NULL: there is none, and
     * read() is given the body itself. 0; -ENOTSUP with a sentence where this build cannot.
     */
    int (*words)(const struct source_rule *r, struct buffer *ret_words, struct fly_error *err);
};

/* By its number in the configuration. */
const struct source_kind *fb_source_kind(int64_t kind);

/* ---- for kinds ---- */

/* Zeroed memory of what was said, or NULL. */
void *fb_source_alloc(struct source_said *s, size_t size);
const char *fb_source_text(struct source_said *s, const char *bytes, size_t size);

/* Something is not as it should be: count it, and keep the first sentence. */
void fb_source_missing(struct source_said *s, const char *field);
void fb_source_wrong(struct source_said *s, const char *field, const char *what);

/* The state that a word of the list stands for; false: nobody knows it, and it is imminent. */
bool fb_source_state(const struct config_items *items, const char *word,
                     enum item_state *ret_state);

/* One JSON text by pointers: what json.c reads, and what programs print. */
int fb_source_read_json(const struct source_rule *r, struct slice body,
                        struct source_said *ret_said, struct fly_error *err);

#endif
