/* SPDX-License-Identifier: MIT */
/*
 * ask.h - what a request asks the mock to do, in the words of its query: "/x?status=503&delay=1s".
 *
 * Words that are not known are somebody else's and mean nothing. Pure.
 */
#ifndef FLYBALL_MOCK_ASK_H
#define FLYBALL_MOCK_ASK_H

#include <stdbool.h>
#include <stdint.h>

#include "signal/slice.h"

#define FB_MOCK_BYTES_MAX (INT64_C(1) << 30)

enum ask_fault {
    ASK_FINE,
    ASK_HANG,  /* never answer */
    ASK_CLOSE, /* close without a byte */
    ASK_RESET, /* reset without a byte */
    ASK_CUT    /* close in the middle of the body */
};

struct mock_ask {
    struct slice path; /* without the query */
    int64_t status;    /* 200 unless said */
    int64_t retry_s;   /* Retry-After; -1: none */
    int64_t delay_ns;  /* before the answer */
    int64_t drip_ns;   /* between two bytes of the body; 0: all at once */
    int64_t bytes;     /* of the body; -1: the usual one */
    int64_t cut;       /* bytes of the body before ASK_CUT */
    int64_t page;      /* of /pages */
    int64_t of;
    enum ask_fault fault;
};

/*
 * Read a path with its query. NULL; or the word whose value is wrong, and in *ret_expects what it
 * should be.
 */
const char *fb_mock_ask_read(struct slice target, struct mock_ask *ret_ask,
                             const char **ret_expects);

#endif
