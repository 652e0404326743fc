/* SPDX-License-Identifier: MIT */
/* exact.h - a text in memory of its own that ends where it ends, so that the sanitizer sees whoever
 * reads a byte too many. */
#ifndef FLYBALL_TESTS_EXACT_H
#define FLYBALL_TESTS_EXACT_H

#include "unit.h"

#include "signal/slice.h"

/* Good until the next call. */
static inline struct slice exact(const char *text)
{
    static char *last;
    size_t length = strlen(text);

    free(last);
    last = malloc(length > 0 ? length : 1);
    assert_non_null(last);
    memcpy(last, text, length);
    return (struct slice){last, length};
}

#endif
