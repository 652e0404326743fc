/* SPDX-License-Identifier: MIT */
/*
 * head.h - the head of an answer, written so that no value can forge another field.
 *
 * Names and values are checked; one that could break out of its line, or a head that is too long,
 * breaks the whole head: it is never sent in part. Pure.
 */
#ifndef FLYBALL_SERVE_HEAD_H
#define FLYBALL_SERVE_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "signal/slice.h"
#include "util/text.h"

#define FB_ANSWER_HEAD_MAX 16384

struct head {
    char bytes[FB_ANSWER_HEAD_MAX];
    struct text text;
    bool broken;
};

/* "Too Many Requests"; "Unknown" for what nobody has named. */
const char *fb_status_reason(int status);

/* Begin with the status line. `status` is 100 to 999. */
void fb_head_start(struct head *h, int status);

/* One field. A name that is no token or a value with control characters breaks the head. */
void fb_head_field(struct head *h, struct slice name, struct slice value);
void fb_head_number(struct head *h, const char *name, int64_t value);

/* "Date: Sun, 06 Nov 1994 08:49:37 GMT", from seconds since 1970. */
void fb_head_date(struct head *h, int64_t epoch_s);

/* The empty line. The finished head, or nothing (at NULL) if it is broken. */
struct slice fb_head_end(struct head *h);

#endif
