/* SPDX-License-Identifier: MIT */
/* options.c - what is usual, and what cannot be. */
#include <errno.h>
#include <stddef.h>

#include "engine/inside.h"
#include "engine/options.h"
#include "util/text.h"

void fb_engine_options_init(struct engine_options *o)
{
    *o = (struct engine_options){
        .stuck_ns = 30 * FB_NS_PER_S,
        .attempts_max = FB_RECOVERY_ATTEMPTS_MAX,
        .concurrency = 40,
        .queue_max = 1000000,
        .keys_kept = 1024,
        .ageing = FB_QUEUE_AGEING,
        .connect_ns = 10 * FB_NS_PER_S,
        .first_byte_ns = 30 * FB_NS_PER_S,
        .idle_ns = 30 * FB_NS_PER_S,
        .total_ns = 120 * FB_NS_PER_S,
        .hold_max_ns = 3600 * FB_NS_PER_S,
        .outage_max_ns = 900 * FB_NS_PER_S,
        .breaker_failures = FB_BREAKER_FAILURES,
        .breaker_ns = FB_BREAKER_OPEN_NS,
        .pause_failures = FB_PAUSE_FAILURES,
        .pause_ns = FB_PAUSE_NS,
        .redirects_max = 10,
        .body_bytes_max = INT64_C(64) << 20,
        .spill_bytes = 256 << 10,
        .head_bytes_max = 64 << 10,
        .headers_max = 200,
        .inflate_max = 200,
        .recycle_ns = 6 * 3600 * FB_NS_PER_S,
        .recycle_tasks = 10000,
        .events_max = 4096,
    };
}

/* Fields that are numbers, and between what they must lie. */
struct bound {
    const char *name;
    size_t offset;
    bool is_wide; /* int64_t, else int32_t */
    int64_t least, most;
};

#define WIDE(field, least, most)                                              \
    {                                                                         \
#field, offsetof(struct engine_options, field), true, (least), (most) \
    }
#define NARROW(field, least, most)                                             \
    {                                                                          \
#field, offsetof(struct engine_options, field), false, (least), (most) \
    }

static const struct bound bounds[] = {
    NARROW(attempts_max, 1, 1000),
    NARROW(concurrency, 1, 10000),
    NARROW(concurrency_provider, 0, 10000),
    NARROW(concurrency_key, 0, 10000),
    NARROW(reserved, 0, 9999),
    NARROW(ageing, 0, 1000000),
    NARROW(breaker_failures, 0, 1000000),
    NARROW(pause_failures, 0, 1000000),
    NARROW(redirects_max, 0, 100),
    NARROW(headers_max, 1, 10000),
    NARROW(inflate_max, 1, 1000000),
    WIDE(queue_max, 1, 100000000),
    WIDE(keys_kept, 0, 100000000),
    WIDE(connect_ns, 1, FB_TIME_MAX / 4),
    WIDE(first_byte_ns, 1, FB_TIME_MAX / 4),
    WIDE(idle_ns, 1, FB_TIME_MAX / 4),
    WIDE(total_ns, 1, FB_TIME_MAX / 4),
    WIDE(stuck_ns, 1, FB_TIME_MAX / 4),
    WIDE(hold_max_ns, 0, FB_TIME_MAX / 4),
    WIDE(outage_max_ns, 0, FB_TIME_MAX / 4),
    WIDE(breaker_ns, 0, FB_TIME_MAX / 4),
    WIDE(pause_ns, 0, FB_TIME_MAX / 4),
    WIDE(body_bytes_max, 0, INT64_C(1) << 40),
    WIDE(spill_bytes, 0, INT64_C(1) << 40),
    WIDE(head_bytes_max, 256, INT64_C(1) << 24),
    WIDE(recycle_ns, 1, FB_TIME_MAX / 4),
    WIDE(recycle_tasks, 1, INT64_MAX),
};

static int64_t value_of(const struct engine_options *o, const struct bound *b)
{
    const char *at = (const char *)o + b->offset;

    return b->is_wide ? *(const int64_t *)(const void *)at : *(const int32_t *)(const void *)at;
}

int fb_engine_options_check(const struct engine_options *o, struct fly_error *err)
{
    const struct bound *bad = NULL;
    struct text t;

    for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]) && !bad; i++)
        if (value_of(o, &bounds[i]) < bounds[i].least || value_of(o, &bounds[i]) > bounds[i].most)
            bad = &bounds[i];
    fb_text_init(&t, err->text, sizeof(err->text));
    if (bad) {
        fb_text_add(&t, bad->name);
        fb_text_add(&t, " is ");
        fb_text_add_int(&t, value_of(o, bad));
        fb_text_add(&t, "; expected: ");
        fb_text_add_int(&t, bad->least);
        fb_text_add(&t, " to ");
        fb_text_add_int(&t, bad->most);
        return -EINVAL;
    }
    if (o->reserved >= o->concurrency) {
        fb_text_add(&t, "all of the concurrency is reserved; expected: at least one slot is not");
        return -EINVAL;
    }
    return 0;
}
