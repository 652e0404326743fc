/* SPDX-License-Identifier: MIT */
/*
 * screen.h - standard error, on which there may be one line that is drawn again and again.
 *
 * Messages go above that line. Where standard error is no terminal there is no such line, and
 * neither a carriage return nor an escape is written.
 */
#ifndef FLYBALL_FETCH_SCREEN_H
#define FLYBALL_FETCH_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

/* How progress is shown. */
#define FB_SCREEN_MODES(X) X(auto) X(bar) X(plain) X(json) X(none)

#define X(name) SCREEN_##name,
enum screen_mode { FB_SCREEN_MODES(X) SCREEN_MODES };
#undef X

enum screen_color { SCREEN_COLOR_auto, SCREEN_COLOR_always, SCREEN_COLOR_never };

struct screen {
    enum screen_mode mode; /* never auto once it is open */
    bool is_terminal;
    bool has_color;
    bool has_line; /* the live one is there */
};

/* -1: there is none of that name. */
int fb_screen_mode_find(const char *name);
int fb_screen_color_find(const char *name);

/* Choose: by what is wanted, by what standard error is, by TERM and NO_COLOR. */
void fb_screen_open(struct screen *s, enum screen_mode mode, enum screen_color color);

/* Columns of the live line; the last one of the terminal stays free. */
size_t fb_screen_width(void);

/* Draw the live line, or take it away. */
void fb_screen_draw(struct screen *s, const char *line, size_t size);
void fb_screen_clear(struct screen *s);

/* A sentence without "flyball fetch: " in front, for whoever says himself who speaks. */
const char *fb_screen_unnamed(const char *sentence);

/* A line of its own; as JSON a message. `is_wait`: it stands out. */
void fb_screen_say(struct screen *s, const char *text, bool is_wait);

/* A line as it is, whatever the mode. */
void fb_screen_print(struct screen *s, const char *text);

#endif
