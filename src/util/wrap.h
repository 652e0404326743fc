/* SPDX-License-Identifier: MIT */
/* wrap.h - words into lines. */
#ifndef FLYBALL_UTIL_WRAP_H
#define FLYBALL_UTIL_WRAP_H

#include <stddef.h>

#include "util/buffer.h"

/*
 * Add the words of `text`, the first at `column`, with a new line before each that would reach
 * beyond `width`; further lines begin at `indent`. Several blanks in a row stay as they are where
 * no line ends. No newline at the end.
 */
void fb_wrap(struct buffer *to, const char *text, size_t column, size_t indent, size_t width);

#endif
