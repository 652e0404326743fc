/* SPDX-License-Identifier: MIT */
/*
 * ncbi.c - a refusal that tells the limit in its own JSON: {"error":..., "count":"5","limit":"3"}.
 */
#include "signal/dialect.h"
#include "signal/number.h"
#include "signal/scan.h"

/* Where a number of this key belongs; NULL: nowhere. */
static int64_t *place_of(struct slice key, int64_t *limit, int64_t *used)
{
    if (fb_slice_is(key, "limit"))
        return limit;
    return fb_slice_is(key, "count") ? used : NULL;
}

static void ncbi_body(struct reading *r, struct slice body)
{
    int64_t limit = FLY_ABSENT, used = FLY_ABSENT;
    struct scan_value v;
    struct scan j;

    if (r->status < 400 || body.at[0] != '{')
        return;
    fb_scan_init(&j, body);
    while (fb_scan_next(&j, &v)) {
        int64_t *told = j.depth == 1 ? place_of(v.key, &limit, &used) : NULL;
        if (told)
            (void)fb_number_read(v.text, told);
    }
    if (limit == FLY_ABSENT || used == FLY_ABSENT)
        return;
    struct pool *p = fb_pool_get(r, (struct slice){NULL, 0}, 0);
    if (p) {
        fb_told_least(&p->limit, limit);
        fb_told_most(&p->used, used);
    }
}

const struct dialect fb_dialect_ncbi = {.name = "ncbi", .body = ncbi_body};
