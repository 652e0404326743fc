/* SPDX-License-Identifier: MIT */
/* buffer.c - grows by doubling. */
#include "util/buffer.h"

#include <string.h>

#include "util/alloc.h"

#define ROOM_MIN   256
#define DIGITS_MAX 20 /* of an int64_t, its sign included */

void fb_buffer_fini(struct buffer *b)
{
    fb_free(b->bytes);
    *b = (struct buffer)BUFFER_INIT;
}

void fb_buffer_clear(struct buffer *b)
{
    b->size = 0;
    b->failed = false;
}

static char *move(struct buffer *b, size_t need)
{
    size_t room = b->room < ROOM_MIN ? ROOM_MIN : b->room;

    while (room < need)
        room = room > SIZE_MAX / 2 ? need : 2 * room;

    char *bytes = fb_alloc(room);
    if (!bytes) {
        b->failed = true;
        return NULL;
    }
    if (b->size > 0)
        memcpy(bytes, b->bytes, b->size);
    fb_free(b->bytes);
    b->bytes = bytes;
    b->room = room;
    return bytes + b->size;
}

char *fb_buffer_grow(struct buffer *b, size_t size)
{
    if (b->failed)
        return NULL;
    if (size > SIZE_MAX - b->size) {
        b->failed = true;
        return NULL;
    }
    return move(b, b->size + size);
}

void fb_buffer_add(struct buffer *b, const void *bytes, size_t size)
{
    char *to = fb_buffer_reserve(b, size);

    if (!to || size == 0)
        return;
    memcpy(to, bytes, size);
    b->size += size;
}

void fb_buffer_add_text(struct buffer *b, const char *text)
{
    fb_buffer_add(b, text, strlen(text));
}

void fb_buffer_add_char(struct buffer *b, char c)
{
    char *to = fb_buffer_reserve(b, 1);

    if (!to)
        return;
    *to = c;
    b->size++;
}

void fb_buffer_add_int(struct buffer *b, int64_t value)
{
    char digits[DIGITS_MAX];
    size_t at = sizeof digits;
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    do {
        digits[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (value < 0)
        digits[--at] = '-';
    fb_buffer_add(b, digits + at, sizeof digits - at);
}

const char *fb_buffer_text(struct buffer *b)
{
    char *end = fb_buffer_reserve(b, 1);

    if (!end)
        return NULL;
    *end = '\0';
    return b->bytes;
}
