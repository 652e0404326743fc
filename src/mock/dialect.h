/* SPDX-License-Identifier: MIT */
/*
 * dialect.h - how a provider words what it tells about its limit: fields, and the refusal's body.
 *
 * To add one: write its function in dialect.c, and a row in the table there.
 */
#ifndef FLYBALL_MOCK_DIALECT_H
#define FLYBALL_MOCK_DIALECT_H

#include "mock/limit.h"

/* Where the fields go: names as they are sent, values that are clean. */
struct field_sink {
    void (*add)(void *to, const char *name, const char *value);
    void *to;
};

struct dialect {
    const char *name;

    /* Tell. `wall_ns` is now, since 1970. NULL: it keeps silent. */
    void (*tell)(const struct mock_told *t, int64_t wall_ns, struct field_sink *out);

    const char *refusal; /* the body, JSON */
};

/* Or NULL. */
const struct dialect *fb_dialect_find(const char *name);

/* All names, NULL behind the last. */
extern const char *const fb_dialect_names[];

#endif
