/* SPDX-License-Identifier: MIT */
/*
 * meta.c - usage as JSON in a header: percents of a quota that itself is not told.
 *
 *     X-App-Usage: {"call_count":28,"total_cputime":10,"total_time":15}
 *     X-Business-Use-Case-Usage: {"123":[{"type":"ads_management","call_count":100,...,
 *                                         "estimated_time_to_regain_access":19}]}
 *
 * The pools are "app.call_count" and "ads_management.call_count". The time to regain access is in
 * minutes.
 */
#include <string.h>

#include "signal/dialect.h"
#include "signal/number.h"
#include "signal/scan.h"
#include "signal/tell.h"

#define PERCENT  100
#define MINUTE_S 60

struct usage {
    struct slice owner; /* the first part of the pools' names */
};

static struct pool *usage_pool(struct reading *r, const struct usage *u, struct slice key)
{
    char name[2 * FLY_POOL_NAME_SIZE];
    struct slice owner = fb_slice_head(u->owner, FLY_POOL_NAME_SIZE - 2);
    struct slice what = fb_slice_head(key, FLY_POOL_NAME_SIZE);

    memcpy(name, owner.at, owner.length);
    name[owner.length] = '.';
    memcpy(name + owner.length + 1, what.at, what.length);
    return fb_pool_get(r, (struct slice){name, owner.length + 1 + what.length}, 0);
}

static void tell_percent(struct reading *r, const struct usage *u, const struct scan_value *v)
{
    int64_t percent;

    if (!fb_read_count(v->text, &percent))
        return;
    struct pool *p = usage_pool(r, u, v->key);
    if (p) {
        fb_told_most(&p->used, percent);
        p->limit = PERCENT;
    }
}

static void tell_value(struct reading *r, struct usage *u, const struct scan_value *v)
{
    int64_t number;

    if (v->key.length == 0)
        return;
    if (v->string && fb_slice_is(v->key, "type") && v->text.length > 0)
        u->owner = v->text;
    else if (v->string)
        return;
    else if (!fb_slice_is(v->key, "estimated_time_to_regain_access"))
        tell_percent(r, u, v);
    else if (fb_number_read(v->text, &number) && number > 0 &&
             number <= FLY_SIGNAL_WAIT_MAX_NS / FB_S)
        fb_told_wait(r, number * MINUTE_S * FB_S);
}

/* "x-app-usage": "app". */
static struct slice owner_of(struct slice name)
{
    struct slice owner = fb_slice_after(name, 2);

    return fb_slice_head(owner, fb_slice_find(owner, '-'));
}

void fb_meta_header(struct reading *r, struct slice name, struct slice value)
{
    struct usage u = {.owner = owner_of(name)};
    struct scan_value v;
    struct scan j;

    fb_scan_init(&j, fb_slice_head(value, FB_BODY_HEAD));
    while (fb_scan_next(&j, &v)) {
        if (j.depth > 0)
            tell_value(r, &u, &v);
    }
}
