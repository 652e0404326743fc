/* SPDX-License-Identifier: MIT */
/* wrap.c - lines break at blanks; a word that is longer than a line stays whole. */
#include "util/wrap.h"

#include <string.h>

/* Columns: bytes of UTF-8 that go on with a character take none. */
static size_t columns_of(const char *word, size_t size)
{
    size_t columns = 0;

    for (size_t i = 0; i < size; i++)
        columns += ((unsigned char)word[i] & 0xc0) != 0x80;
    return columns;
}

void fb_wrap(struct buffer *to, const char *text, size_t column, size_t indent, size_t width)
{
    for (bool is_first = true; *text; is_first = false) {
        size_t blanks = strspn(text, " ");
        size_t size = strcspn(text + blanks, " ");
        size_t columns = columns_of(text + blanks, size);

        if (!is_first && column + blanks + columns > width) {
            fb_buffer_add_char(to, '\n');
            for (size_t i = 0; i < indent; i++)
                fb_buffer_add_char(to, ' ');
            column = indent;
        } else {
            fb_buffer_add(to, text, blanks);
            column += blanks;
        }
        fb_buffer_add(to, text + blanks, size);
        column += columns;
        text += blanks + size;
    }
}
