/* SPDX-License-Identifier: MIT */
/*
 * preset.h - what is known beforehand about well-known providers.
 *
 * A limiter needs none of this: it learns, and it believes what the responses tell. A preset says
 * what neither can know before the first answer: which requests share a budget, which limits the
 * provider documents, and where it tells the quota for free.
 *
 *     struct fly_preset p = {.size = sizeof(p)};
 *     if (fly_preset_for("api.github.com", "GET", "/search/code?q=x", &p) == 0)
 *         l = fly_limiter_new(p.limit, now(), seed, &err);     one for each p.name and p.pool
 *
 * All texts are constants of the library.
 */
#ifndef FLYBALL_PRESET_H
#define FLYBALL_PRESET_H

#include <stdint.h>

#include <flyball/flyball.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fly_preset {
    uint64_t size;             /* sizeof(struct fly_preset), set by the caller */
    const char *name;          /* "github" */
    const char *title;         /* for people */
    const char *documentation; /* where the provider writes about its limits */
    const char *pool;          /* the budget that the request falls into, or NULL: no name for it */
    const char *limit;         /* text for fly_limiter_new(), or NULL: nothing is documented */
    const char *quota_path;    /* answers with the quota and costs nothing of it, or NULL */
};

/*
 * By the name of the provider, any case; `pool` is NULL then. 0, -ENOENT when there is no such
 * preset, -EINVAL when `size` is too small; *ret_preset is untouched unless it is 0.
 */
FLY_API int fly_preset_find(const char *name, struct fly_preset *ret_preset);

/*
 * For a request: by its host, without a port; its method; and its path from the '/' on, with or
 * without a query. Results as above.
 */
FLY_API int fly_preset_for(const char *host, const char *method, const char *path,
                           struct fly_preset *ret_preset);

#ifdef __cplusplus
}
#endif

#endif
