/* SPDX-License-Identifier: MIT */
/*
 * item.h - one request of a list, as it was written there.
 */
#ifndef FLYBALL_FETCH_ITEM_H
#define FLYBALL_FETCH_ITEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"

#define ITEM_HEADERS_MAX      64
#define ITEM_ALTERNATIVES_MAX 16
#define ITEM_ID_SIZE          48 /* of the ids that are made here: numbers */

struct item {
    uint64_t number; /* from 1, blank lines not counted, ranges counted out */
    uint64_t line;   /* of the list, from 1 */
    const char *id;
    const char *url;
    const char *method; /* NULL: GET */
    struct engine_header *header;
    size_t header_count;
    const char *body; /* NULL: none */
    size_t body_size;
    const char *operation; /* NULL: the usual */
    const char *pool;
    const char **alternative;
    size_t alternative_count;
    enum priority priority;
    uint32_t cost; /* 0: 1 */
    bool retryable;
};

/* A hash of all that makes the request what it is: for the journal, to see that a list changed. */
uint64_t fb_item_hash(const struct item *i);

#endif
