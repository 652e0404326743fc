/* SPDX-License-Identifier: MIT */
/*
 * json.h - write JSON by hand, piece after piece, into a buffer.
 *
 * A member is written with the comma before it where one is needed: it looks at the last byte.
 * What is not UTF-8 never becomes a JSON string: fb_json_bytes() gives it as base64 under another
 * name.
 */
#ifndef FLYBALL_UTIL_JSON_H
#define FLYBALL_UTIL_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"

/* A quoted string. Bytes that are not UTF-8 become U+FFFD each. */
void fb_json_add_string(struct buffer *b, const char *bytes, size_t size);

/* Base64 as RFC 4648 section 4 has it, without quotes. */
void fb_json_add_base64(struct buffer *b, const char *bytes, size_t size);

/* `"name":`, after a comma unless it is the first of its object. `name` needs no escapes. */
void fb_json_name(struct buffer *b, const char *name);

/* Members: NULL as text is written as null. */
void fb_json_text(struct buffer *b, const char *name, const char *text);
void fb_json_int(struct buffer *b, const char *name, int64_t value);
void fb_json_bool(struct buffer *b, const char *name, bool value);

/* With at most so many digits after the point; null unless finite. As a value, as a member. */
void fb_json_add_real(struct buffer *b, double value, int digits);
void fb_json_real(struct buffer *b, const char *name, double value, int digits);

/* `"name":"text"`, or `"name_base64":"..."` where the bytes are not UTF-8. */
void fb_json_bytes(struct buffer *b, const char *name, const char *bytes, size_t size);

#endif
