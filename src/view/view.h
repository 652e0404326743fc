/* SPDX-License-Identifier: MIT */
/*
 * view.h - what answers have in common: states, and how wide and how colourful a table may be.
 *
 * An answer is a plain struct, filled by whoever has the facts: a command from files, a daemon from
 * its engine. For each there is one function that lays it out for people and one that writes it as
 * JSON, `{"schema":"flyball.<command>/1", ...}`. Both are functions of the struct and of `now_ns`
 * alone: no clock, no files, no terminal. Texts in the structs hold no secrets: who fills them in
 * sees to that.
 *
 * Instants are nanoseconds since 1970, and 0 is "none"; spans are nanoseconds. In JSON an instant
 * is text as RFC 3339 has it, with the time from now beside it as `..._in_s`; what is not known is
 * left out.
 */
#ifndef FLYBALL_VIEW_VIEW_H
#define FLYBALL_VIEW_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"

/* Name, shape, the same where there is no UTF-8, colour (SGR). From the worst to the best. */
#define FB_VIEW_STATES(X)            \
    X(critical, "\u25a0", "#", "31") \
    X(holding, "\u2016", "||", "35") \
    X(warning, "\u25b2", "!", "33")  \
    X(ok, "\u25cf", "*", "32")       \
    X(idle, "\u25cb", "o", "2")

enum view_state {
#define X(name, shape, plain, color) VIEW_##name,
    FB_VIEW_STATES(X)
#undef X
        VIEW_STATES
};

/* How a text is laid out. */
struct view_style {
    size_t width;   /* columns; 0: as many as it takes */
    size_t rows;    /* of the screen, for what is redrawn; 0: any number */
    bool color;     /* escapes for colour may be used; state is never told by colour alone */
    bool ascii;     /* nothing but ASCII */
    bool verbose;   /* -v */
    int64_t zone_s; /* of the clock on the wall, east of Greenwich */
};

/* Where nothing is known, and a demo has run: whoever has seen it learn asks where that is. */
#define VIEW_AFTER_DEMO                                                               \
    "The demo keeps nothing of what it learned: its API was its own, and has gone.\n" \
    "Try: flyball fetch urls.txt\n"

/* "holding" */
const char *fb_view_state_name(enum view_state s);

/* By its name; VIEW_STATES: there is none. */
enum view_state fb_view_state_find(const char *name);

/* "‖", or what stands for it in ASCII. */
const char *fb_view_state_shape(enum view_state s, bool ascii);

/* From here on in the colour of a state, and no longer; nothing where colour is not allowed. */
void fb_view_color_begin(enum view_state s, const struct view_style *style, struct buffer *to);
void fb_view_color_end(const struct view_style *style, struct buffer *to);

/*
 * Break the lines behind byte `from` that are wider than the window, at blanks; what follows goes
 * below their text, which begins at column `indent`.
 */
void fb_view_fold(struct buffer *to, size_t from, size_t indent, const struct view_style *style);

/* `{"schema":"flyball.<command>/1","now":"2026-..."`: the caller goes on and closes it. */
void fb_view_json_begin(const char *command, int64_t now_ns, struct buffer *to);

#endif
