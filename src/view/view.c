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

/* What colours a word has no width. Escapes are ours alone: no text that is shown has any. */
static size_t columns_of(const char *line, size_t size)
{
    size_t columns = fb_words_columns(line, size);

    for (size_t i = 0; i < size; i++) {
        const char *end = line[i] == '\x1b' ? memchr(line + i, 'm', size - i) : NULL;

        columns -= end ? (size_t)(end - line) - i + 1 : 0;
    }
    return columns;
}

/* Where a line ends: at the last blank that is within the window, or the first. 0: nowhere. */
static size_t blank_of(const char *line, size_t size, size_t indent, size_t width)
{
    size_t found = 0;

    for (size_t i = indent + 1; i < size; i++) {
        if (found > 0 && columns_of(line, i) > width)
            break;
        if (line[i] == ' ')
            found = i;
    }
    return found;
}

static void fold_line(const char *line, size_t size, size_t indent, size_t width, struct buffer *to)
{
    size_t cut = 0, first = indent;

    while (columns_of(line, size) > width && (cut = blank_of(line, size, first, width)) > 0) {
        fb_buffer_add(to, line, cut);
        fb_buffer_add_char(to, '\n');
        for (size_t i = 0; i < indent; i++)
            fb_buffer_add_char(to, ' ');
        line += cut + 1;
        size -= cut + 1;
        width -= first;
        first = 0;
    }
    fb_buffer_add(to, line, size);
}

void fb_view_fold(struct buffer *to, size_t from, size_t indent, const struct view_style *style)
{
    struct buffer text = BUFFER_INIT;

    if (style->width <= 2 * indent || to->failed || from >= to->size)
        return;
    fb_buffer_add(&text, to->bytes + from, to->size - from);
    to->size = from;
    for (size_t at = 0; !text.failed && at < text.size;) {
        const char *end = memchr(text.bytes + at, '\n', text.size - at);
        size_t size = end ? (size_t)(end - text.bytes) - at : text.size - at;

        fold_line(text.bytes + at, size, indent, style->width, to);
        if (end)
            fb_buffer_add_char(to, '\n');
        at += size + 1;
    }
    to->failed |= text.failed;
    fb_buffer_fini(&text);
}

void fb_view_json_begin(const char *command, int64_t now_ns, struct buffer *to)
{
    fb_buffer_add_text(to, "{\"schema\":\"flyball.");
    fb_buffer_add_text(to, command);
    fb_buffer_add_text(to, "/1\",\"now\":\"");
    fb_words_instant(now_ns / INT64_C(1000000000), to);
    fb_buffer_add_char(to, '"');
}
