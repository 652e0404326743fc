/* SPDX-License-Identifier: MIT */
/*
 * report.h - what is to be said about a configuration: mistakes and warnings, each with its place,
 * its line and a caret below it.
 *
 *     flyball.yaml:12:9: rate: expected a rate such as 10/s, found "fast"
 *       12 |   rate: fast
 *          |         ^
 *
 * In the order of the file, mistakes of the environment and of flags before it. A line that may
 * hold a secret is not shown.
 */
#ifndef FLYBALL_CONFIG_REPORT_H
#define FLYBALL_CONFIG_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "config/mistakes.h"
#include "util/buffer.h"

#define FB_REPORT_MAX 100 /* remarks that are kept; the others are counted */

struct remark {
    struct place at; /* line 0: not in the file */
    bool is_warning;
    bool is_private; /* its line is not shown */
    char *sentence;  /* "flyball.yaml:12:9: rate: expected ..." */
};

/* Zeroes are an empty one. */
struct config_report {
    struct remark remark[FB_REPORT_MAX];
    size_t kept;
    unsigned mistakes, warnings;
    struct buffer text;   /* made by the functions below */
    struct buffer source; /* the file, as it was read */
};

void fb_config_report_fini(struct config_report *r);

/* One more; its sentence is copied. */
void fb_config_report_add(struct config_report *r, const struct remark *remark);

/* Whether the file has these very bytes at a place: then they were written without quotes. */
bool fb_config_report_has(const struct config_report *r, struct place at, const char *text);

/* All of it, lines with carets and a count at the end; "" when there is nothing to say. */
const char *fb_config_report_text(struct config_report *r);

/* The sentence of the first mistake, for a log or a status; "" when there is none. */
const char *fb_config_report_first(struct config_report *r);

#endif
