/* SPDX-License-Identifier: MIT */
/*
 * buffer.h - bytes that grow.
 *
 * A buffer that could not grow remembers that (`failed`) and takes no more, so that a writer adds
 * piece after piece and asks once at the end.
 */
#ifndef FLYBALL_UTIL_BUFFER_H
#define FLYBALL_UTIL_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer {
    char *bytes; /* not terminated; NULL while there is no room */
    size_t size; /* bytes in use */
    size_t room;
    bool failed; /* memory was out: what was added since is missing */
};

/* Zeroes are an empty buffer, too. */
#define BUFFER_INIT \
    {               \
        0           \
    }

void fb_buffer_fini(struct buffer *b);

/* Forget the content, keep the memory. */
void fb_buffer_clear(struct buffer *b);

/* What fb_buffer_reserve() does where there is no room yet. */
char *fb_buffer_grow(struct buffer *b, size_t size);

/* Room for `size` more bytes, to be filled by the caller, who then raises b->size; or NULL. */
static inline char *fb_buffer_reserve(struct buffer *b, size_t size)
{
    if (b->bytes && size <= b->room - b->size && !b->failed)
        return b->bytes + b->size;
    return fb_buffer_grow(b, size);
}

void fb_buffer_add(struct buffer *b, const void *bytes, size_t size);
void fb_buffer_add_text(struct buffer *b, const char *text);
void fb_buffer_add_char(struct buffer *b, char c);
void fb_buffer_add_int(struct buffer *b, int64_t value);

/* The content as a C string, valid until the next change; NULL when memory was out. */
const char *fb_buffer_text(struct buffer *b);

#endif
