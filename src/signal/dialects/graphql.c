/* SPDX-License-Identifier: MIT */
/*
 * graphql.c - a cost budget in the body, as Shopify tells it:
 *
 *     "throttleStatus":{"maximumAvailable":1000,"currentlyAvailable":498,"restoreRate":50}
 *
 * It stands at the end of the answer, behind the data.
 */
#include "signal/dialect.h"
#include "signal/number.h"
#include "signal/scan.h"

#define STATUS_MAX 256 /* bytes that the object takes */

static void tell_value(struct pool *p, const struct scan_value *v)
{
    int64_t millionths;

    if (!fb_decimal_read(v->text, &millionths))
        return;
    if (fb_slice_is(v->key, "maximumAvailable"))
        fb_told_least(&p->limit, millionths / FB_MILLIONTH);
    else if (fb_slice_is(v->key, "currentlyAvailable"))
        fb_told_least(&p->remaining, millionths / FB_MILLIONTH);
    else if (fb_slice_is(v->key, "restoreRate") && millionths > 0)
        fb_told_least(&p->refill, millionths);
}

static void graphql_body(struct reading *r, struct slice body)
{
    size_t at = fb_slice_search(body, "\"throttleStatus\"");
    struct scan_value v;
    struct scan j;

    if (at == body.length)
        return;
    struct slice rest = fb_slice_after(body, at);
    struct slice object = fb_slice_after(rest, fb_slice_find(rest, '{'));
    struct pool *p = object.length > 0 ? fb_pool_get(r, FB_SLICE("graphql"), 0) : NULL;

    fb_scan_init(&j, fb_slice_head(object, STATUS_MAX));
    while (p && fb_scan_next(&j, &v))
        tell_value(p, &v);
}

const struct dialect fb_dialect_graphql = {.name = "graphql", .body = graphql_body};
