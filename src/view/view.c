/* SPDX-License-Identifier: MIT */
/* view.c - states: a word, a shape, and a colour where that is allowed. */
#include "view/view.h"

#include <string.h>

#include "util/json.h"
#include "view/words.h"

static const struct {
    const char *name;
    const char *shape;
    const char *plain;
    const char *color;
} STATE[VIEW_STATES] = {
#define X(name, shape, plain, color) {#name, shape, plain, color},
    FB_VIEW_STATES(X)
#undef X
};

const char *fb_view_state_name(enum view_state s)
{
    return STATE[s].name;
}

enum view_state fb_view_state_find(const char *name)
{
    int s = 0;

    while (s < VIEW_STATES && strcmp(STATE[s].name, name) != 0)
        s++;
    return (enum view_state)s;
}

const char *fb_view_state_shape(enum view_state s, bool ascii)
{
    return ascii ? STATE[s].plain : STATE[s].shape;
}

void fb_view_color_begin(enum view_state s, const struct view_style *style, struct buffer *to)
{
    if (!style->color)
        return;
    fb_buffer_add_text(to, "\x1b[");
    fb_buffer_add_text(to, STATE[s].color);
    fb_buffer_add_char(to, 'm');
}

void fb_view_color_end(const struct view_style *style, struct buffer *to)
{
    if (style->color)
        fb_buffer_add_text(to, "\x1b[0m");
}

void fb_view_json_begin(const char *command, int64_t now_ns, struct buffer *to)
{
    fb_buffer_add_text(to, "{\"schema\":\"flyball.");
    fb_buffer_add_text(to, command);
    fb_buffer_add_text(to, "/1\",\"now\":\"");
    fb_words_instant(now_ns / INT64_C(1000000000), to);
    fb_buffer_add_char(to, '"');
}
