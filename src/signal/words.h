/* SPDX-License-Identifier: MIT */
/*
 * words.h - what the words in the name of a header mean.
 */
#ifndef FLYBALL_SIGNAL_WORDS_H
#define FLYBALL_SIGNAL_WORDS_H

#include <stdint.h>

#include "signal/slice.h"

enum word_kind {
    WORD_NAME, /* any other: part of a pool's name */
    /* What the value is. */
    WORD_LIMIT,
    WORD_TOTAL, /* a limit, in a name that is surely about limits */
    WORD_REMAINING,
    WORD_USED,
    WORD_COUNT, /* used, likewise */
    WORD_RESET,
    WORD_NEXT, /* reset, likewise */
    WORD_PERIOD,
    WORD_FILL,
    WORD_POLICY,
    WORD_NEAR,
    WORD_TITLE, /* the value names the pool */
    WORD_MUTE,  /* the value is no number that counts */
    /* What it belongs to, and its unit. */
    WORD_ANCHOR, /* "ratelimit": this is about limits */
    WORD_RATE,   /* "rate": the same, if "limit" follows */
    WORD_CALLS,  /* "call": a limit of these is about limits */
    WORD_REQUESTS,
    WORD_SCOPE, /* whose limit it is: a part of the name even before the anchor */
    WORD_SPAN,  /* "minute", "daily" */
    WORD_PER,
    WORD_AFTER,
    WORD_RETRY,
    WORD_CONCURRENT,
    WORD_MS,
    WORD_FILLER, /* says nothing */
    WORD_KINDS
};

struct word {
    const char *text;
    enum word_kind kind;
    int64_t span_ns; /* of a WORD_SPAN; 0 where it has no fixed length */
};

/* The meaning of a word in small letters. Never NULL: an unknown one is a WORD_NAME. */
const struct word *fb_word_get(struct slice word);

#endif
