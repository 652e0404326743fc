/* SPDX-License-Identifier: MIT */
/* head.h - the lines of an answer's head as names and values. */
#ifndef FLYBALL_ENGINE_HEAD_H
#define FLYBALL_ENGINE_HEAD_H

#include <stddef.h>

struct buffer;
struct engine_header;

/*
 * Cut a head, status line first, into names and values that end with NUL, in place. *header is an
 * array of *room, which grows where it has to and is freed by the caller with fb_free(). Folded
 * lines become blanks. Returns how many there are; what finds no memory is left out.
 */
size_t fb_head_split(struct buffer *head, struct engine_header **header, size_t *room);

#endif
