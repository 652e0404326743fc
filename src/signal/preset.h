/* SPDX-License-Identifier: MIT */
/*
 * preset.h - what is known beforehand about well-known providers.
 *
 * A response is read by rule, without any of this. A preset resolves what no rule can: a unit that
 * the response does not tell, which pool a request falls into before it is answered, and where the
 * quota is told for free. The rows are written as presets/<name>.yaml and compiled at build time
 * into one constant table; the library reads no YAML.
 */
#ifndef FLYBALL_SIGNAL_PRESET_H
#define FLYBALL_SIGNAL_PRESET_H

#include <stdbool.h>
#include <stddef.h>

#include "signal/slice.h"

/* What a bare number in a `reset` header is. */
enum reset_unit {
    RESET_BY_SIZE, /* small: seconds from now; near now: an epoch */
    RESET_DELTA_S,
    RESET_DELTA_MS,
    RESET_EPOCH_S,
    RESET_EPOCH_MS,
};

/* Requests that share one budget. The first row that fits a request decides. */
struct preset_pool {
    const char *name;   /* as the provider names it in its headers, where it does */
    const char *method; /* "GET", or NULL: any */
    const char *path;   /* this and below it, "*" for one whole segment; or NULL: any */
    const char *limit;  /* limit text for this pool, or NULL: nothing known */
};

struct preset {
    const char *name;               /* "github": the file's name */
    const char *title;              /* for people */
    const char *documentation;      /* where the provider writes about its limits, or NULL */
    const char *const *hosts;       /* "api.github.com", "*.example.com"; NULL ends it */
    const struct preset_pool *pool; /* pool_count rows */
    size_t pool_count;
    const char *limit;      /* limit text where the pool has none, or NULL: nothing known */
    const char *quota_path; /* answers with the quota and costs nothing of it, or NULL */
    bool unmodified_free;   /* a 304 to a request with a credential costs nothing of the quota */
    enum reset_unit reset;  /* what a bare reset number is */
    enum reset_unit retry;  /* what a bare Retry-After number is: seconds by rule */
    bool asks_contact;      /* its manners: who asks says in the User-Agent how to be reached */
};

/* The table, in the order of its names. */
extern const struct preset fb_presets[];
extern const size_t fb_preset_count;

/* By its name, any case; or NULL. */
const struct preset *fb_preset_find(struct slice name);

/*
 * By the host of a URL, without its port, any case; or NULL: not a host of any preset. Of several
 * patterns that fit, the longest decides.
 */
const struct preset *fb_preset_for_host(struct slice host);

/*
 * The pool of a request, or NULL: the preset names none for it. `path` begins with '/', a query
 * behind it is left out; it is compared as it is written, percent signs and all.
 */
const struct preset_pool *fb_preset_pool(const struct preset *p, struct slice method,
                                         struct slice path);

/* The parts of that: whether a host, without its port, fits a pattern; a request a row. */
bool fb_preset_host_fits(const char *pattern, struct slice host);
bool fb_preset_pool_fits(const struct preset_pool *row, struct slice method, struct slice path);

/* The limit text for requests of a pool (NULL: of none), or NULL: nothing known. */
const char *fb_preset_limit(const struct preset *p, const struct preset_pool *pool);

#endif
