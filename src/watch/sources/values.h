/* SPDX-License-Identifier: MIT */
/*
 * values.h - a value of JSON as a text: equal texts where it means the same.
 *
 * "3", 3 and 3.0 are the same integer and the same number; 1e2 is 100; "yes", 1 and true are the
 * same boolean. What is not of the type that is wanted has no text.
 */
#ifndef FLYBALL_WATCH_SOURCES_VALUES_H
#define FLYBALL_WATCH_SOURCES_VALUES_H

#include <stdbool.h>

#include <jansson.h>

#include "config/watch.h"
#include "util/buffer.h"

/* Append it; false: it is not of this type, or is null. That memory is out is in the buffer. */
bool fb_source_value(const json_t *v, enum config_field_type type, struct buffer *out);

/* "is no integer" */
const char *fb_source_type_is_not(enum config_field_type type);

/* What a pointer (RFC 6901) finds in a value, or NULL. */
json_t *fb_source_find(json_t *v, const char *pointer);

#endif
