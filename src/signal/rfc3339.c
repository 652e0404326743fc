/* SPDX-License-Identifier: MIT */
/*
 * rfc3339.c - date, time, offset: each part takes itself off the front of the text.
 */
#include "signal/rfc3339.h"

#include "core/instant.h"
#include "signal/civil.h"
#include "signal/number.h"

static bool date_take(struct slice *s, struct civil *c)
{
    return fb_digits_exactly(s, 4, &c->year) && fb_slice_take(s, '-') &&
           fb_digits_exactly(s, 2, &c->month) && fb_slice_take(s, '-') &&
           fb_digits_exactly(s, 2, &c->day);
}

/* "10:26", of the day or of the offset. */
static bool minutes_take(struct slice *s, int64_t *ret_hours, int64_t *ret_minutes)
{
    return fb_digits_exactly(s, 2, ret_hours) && fb_slice_take(s, ':') &&
           fb_digits_exactly(s, 2, ret_minutes);
}

/* "10:26", "10:26:53" or "10:26:53.5". */
static bool time_take(struct slice *s, struct civil *c)
{
    struct fraction part;

    if (!minutes_take(s, &c->hour, &c->minute))
        return false;
    if (!fb_slice_take(s, ':'))
        return true;
    if (!fb_digits_exactly(s, 2, &c->second) || !fb_fraction_take(s, &part))
        return false;
    c->part_ns = fb_fraction_of(&part, FB_NS_PER_S);
    return true;
}

/* "Z", or "+02:00". */
static bool offset_take(struct slice *s, struct civil *c)
{
    int64_t hours, minutes;

    if (fb_slice_take(s, 'Z') || fb_slice_take(s, 'z'))
        return true;
    bool is_west = fb_slice_take(s, '-');
    if (!is_west && !fb_slice_take(s, '+'))
        return false;
    if (!minutes_take(s, &hours, &minutes) || hours > 23 || minutes > 59)
        return false;
    c->offset_s = (hours * 3600 + minutes * 60) * (is_west ? -1 : 1);
    return true;
}

bool fb_rfc3339_read(struct slice s, int64_t *ret_epoch_ns)
{
    struct civil c = {0};

    if (!date_take(&s, &c))
        return false;
    if (!fb_slice_take(&s, 'T') && !fb_slice_take(&s, 't') && !fb_slice_take(&s, ' '))
        return false;
    if (!time_take(&s, &c) || !offset_take(&s, &c) || s.length > 0)
        return false;
    return fb_civil_epoch(&c, ret_epoch_ns);
}
