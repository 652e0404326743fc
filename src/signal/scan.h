/* SPDX-License-Identifier: MIT */
/*
 * scan.h - walk over the plain values in a JSON text, in place.
 *
 * For looking something up in what a server sent, cut off anywhere: it does not check the text,
 * decode escapes or need it to be whole. It never goes back, so the work is linear, and it ends
 * below a bounded depth, so that no nesting can hurt.
 */
#ifndef FLYBALL_SIGNAL_SCAN_H
#define FLYBALL_SIGNAL_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "signal/slice.h"

#define FB_SCAN_DEPTH 16

struct scan {
    struct slice rest;
    size_t depth;                        /* 0 outside, 1 in the outermost object or list */
    struct slice key[FB_SCAN_DEPTH + 1]; /* key[d]: the last one seen at depth d; empty in lists */
};

struct scan_value {
    struct slice key;  /* of this value; empty in a list */
    struct slice text; /* a string without its quotes, its escapes as written; or a word */
    bool string;
};

void fb_scan_init(struct scan *j, struct slice text);

/* The next string, number or word that is not a key. False: the end, or too deep. */
bool fb_scan_next(struct scan *j, struct scan_value *ret_value);

#endif
