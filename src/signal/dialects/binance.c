/* SPDX-License-Identifier: MIT */
/*
 * binance.c - "X-MBX-USED-WEIGHT-1M: 12", "X-MBX-ORDER-COUNT-10S: 1": what is used, and of how
 * long a time in the last word of the name. Without one it says the same again.
 */
#include "signal/dialect.h"
#include "signal/duration.h"
#include "signal/number.h"

void fb_binance_header(struct reading *r, struct slice name, struct slice value)
{
    char small[FLY_POOL_NAME_SIZE];
    struct slice pool = fb_slice_after(name, sizeof("x-mbx-") - 1);
    struct slice last = {NULL, 0};
    int64_t used, window_ns;

    if (pool.length > sizeof(small))
        return;
    for (size_t i = 0; i < pool.length; i++)
        small[i] = fb_lower(pool.at[i]);
    pool.at = small;
    for (struct slice rest = pool; fb_slice_next(&rest, '-', &last);)
        continue;
    if (!fb_duration_read(last, &window_ns) || !fb_number_read(fb_slice_trim(value), &used))
        return;
    struct pool *p = fb_pool_get(r, pool, 0);
    if (!p)
        return;
    fb_told_most(&p->used, used);
    fb_told_window(p, window_ns);
}
