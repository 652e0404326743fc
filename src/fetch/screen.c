/* SPDX-License-Identifier: MIT */
/* screen.c - writing on standard error: the live line, and messages above it. */
#include "fetch/screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "util/json.h"
#include "util/wrap.h"

#define WIDTH_UNSAID 80
#define WIDTH_MIN    10
#define ERASE        "\r\x1b[K"

int fb_screen_mode_find(const char *name)
{
#define X(name) #name,
    static const char *const NAMES[SCREEN_MODES] = {FB_SCREEN_MODES(X)};
#undef X

    for (int i = 0; i < SCREEN_MODES; i++) {
        if (strcmp(NAMES[i], name) == 0)
            return i;
    }
    return -1;
}

int fb_screen_color_find(const char *name)
{
    static const char *const NAMES[] = {"auto", "always", "never"};

    for (int i = 0; i < 3; i++) {
        if (strcmp(NAMES[i], name) == 0)
            return i;
    }
    return -1;
}

/* A terminal that can go back to the beginning of a line. */
static bool can_redraw(void)
{
    const char *term = getenv("TERM");

    return !(term && strcmp(term, "dumb") == 0);
}

void fb_screen_open(struct screen *s, enum screen_mode mode, enum screen_color color)
{
    const char *no_color = getenv("NO_COLOR");
    bool redraws = isatty(STDERR_FILENO) && can_redraw();

    *s = (struct screen){.mode = mode, .is_terminal = redraws};
    if (mode == SCREEN_auto)
        s->mode = redraws ? SCREEN_bar : SCREEN_plain;
    else if (mode == SCREEN_bar && !redraws)
        s->mode = SCREEN_plain;
    s->has_color = color == SCREEN_COLOR_always ||
                   (color == SCREEN_COLOR_auto && redraws && !(no_color && *no_color));
}

size_t fb_screen_width(void)
{
    struct winsize w = {0};

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) < 0 || w.ws_col == 0)
        return WIDTH_UNSAID - 1;
    return w.ws_col > WIDTH_MIN ? (size_t)w.ws_col - 1 : WIDTH_MIN;
}

void fb_screen_draw(struct screen *s, const char *line, size_t size)
{
    fprintf(stderr, ERASE "%.*s", (int)size, line);
    (void)fflush(stderr);
    s->has_line = true;
}

void fb_screen_clear(struct screen *s)
{
    if (s->has_line)
        fputs(ERASE, stderr);
    s->has_line = false;
}

void fb_screen_print(struct screen *s, const char *text)
{
    fb_screen_clear(s);
    fprintf(stderr, "%s\n", text);
    (void)fflush(stderr);
}

const char *fb_screen_unnamed(const char *sentence)
{
    static const char NAME[] = "flyball fetch: ";

    return strncmp(sentence, NAME, strlen(NAME)) == 0 ? sentence + strlen(NAME) : sentence;
}

static void say_json(struct screen *s, const char *text, bool is_wait)
{
    struct buffer b = BUFFER_INIT;

    fb_buffer_add_char(&b, '{');
    fb_json_text(&b, "type", is_wait ? "hold" : "message");
    fb_json_text(&b, "text", fb_screen_unnamed(text));
    fb_buffer_add_char(&b, '}');
    if (fb_buffer_text(&b))
        fb_screen_print(s, b.bytes);
    fb_buffer_fini(&b);
}

/* One line, in which an id or an URL of a list does nothing to a terminal. */
static void add_plain(struct buffer *out, const char *text)
{
    for (const char *c = text; *c; c++)
        fb_buffer_add_char(out, (unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c);
}

void fb_screen_say(struct screen *s, const char *text, bool is_wait)
{
    if (s->mode == SCREEN_json) {
        say_json(s, text, is_wait);
        return;
    }
    struct buffer plain = BUFFER_INIT;
    struct buffer lines = BUFFER_INIT;

    add_plain(&plain, text);
    const char *shown = fb_buffer_text(&plain);
    if (shown && s->is_terminal) {
        fb_wrap(&lines, shown, 0, 2, fb_screen_width());
        shown = lines.size > 0 ? fb_buffer_text(&lines) : shown;
    }
    fb_screen_clear(s);
    if (is_wait && s->has_color)
        fprintf(stderr, "\x1b[33m%s\x1b[0m\n", shown ? shown : "");
    else
        fprintf(stderr, "%s\n", shown ? shown : "");
    (void)fflush(stderr);
    fb_buffer_fini(&lines);
    fb_buffer_fini(&plain);
}
