/* SPDX-License-Identifier: MIT */
/*
 * head.c - cut a head into its fields.
 *
 * The head was checked line by line when it came (http1/answer.h): every line ends with CR LF and
 * every field has a name and a colon, unless it goes on from the line before.
 */
#include "engine/head.h"

#include <stdbool.h>
#include <string.h>

#include "engine/engine.h"
#include "util/alloc.h"
#include "util/buffer.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* A line that begins with a blank belongs to the one before it (RFC 9112, 5.2). */
static size_t unfold(char *bytes, size_t size)
{
    char *stop = bytes + size;
    size_t lines = 0;

    for (char *at = bytes; at < stop && (at = memchr(at, '\n', (size_t)(stop - at))); at++)
        if (at + 1 < stop && is_blank(at[1]))
            at[-1] = at[0] = ' ';
        else
            lines++;
    return lines;
}

static bool make_room(struct engine_header **header, size_t *room, size_t count)
{
    if (count <= *room)
        return true;
    fb_free(*header);
    *header = fb_alloc(count * sizeof(**header));
    *room = *header ? count : 0;
    return *header != NULL;
}

/* One field without its end. */
static bool split(char *line, char *end, struct engine_header *to)
{
    char *colon = memchr(line, ':', (size_t)(end - line));
    char *value;

    if (!colon)
        return false;
    *colon = '\0';
    for (value = colon + 1; value < end && is_blank(*value); value++)
        continue;
    while (end > value && is_blank(end[-1]))
        end--;
    *end = '\0';
    *to = (struct engine_header){.name = line, .value = value};
    return true;
}

size_t fb_head_split(struct buffer *head, struct engine_header **header, size_t *room)
{
    size_t lines = unfold(head->bytes, head->size);
    char *at = head->bytes;
    char *stop = head->bytes + head->size;
    size_t count = 0;

    if (lines == 0 || !make_room(header, room, lines))
        return 0;
    for (size_t i = 0; i < lines; i++) {
        char *end = memchr(at, '\n', (size_t)(stop - at));

        if (i > 0 && split(at, end - 1, &(*header)[count]))
            count++;
        at = end + 1;
    }
    return count;
}
