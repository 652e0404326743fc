/* SPDX-License-Identifier: MIT */
/*
 * spans.c - buckets by the highest bits of a span.
 *
 * The unit is 1024 ns: the first sixteen buckets are one unit wide, then each sixteen are twice as
 * wide as those before.
 */
#include "core/spans.h"

#include <assert.h>
#include <string.h>

#define UNIT_BITS 10
#define PART_BITS 4
#define PARTS     (1 << PART_BITS)

void fb_spans_init(struct spans *h)
{
    memset(h, 0, sizeof(*h));
}

static int bucket_of(int64_t span_ns)
{
    uint64_t units = span_ns > 0 ? (uint64_t)span_ns >> UNIT_BITS : 0;

    if (units < PARTS)
        return (int)units;
    int octave = 63 - __builtin_clzll(units) - PART_BITS;
    assert(octave >= 0);
    int bucket = (octave + 1) * PARTS + (int)((units >> octave) & (PARTS - 1));
    return bucket < FB_SPANS_BUCKETS ? bucket : FB_SPANS_BUCKETS - 1;
}

int64_t fb_spans_begin(int bucket)
{
    assert(bucket >= 0 && bucket <= FB_SPANS_BUCKETS);

    int octave = bucket / PARTS - 1;
    int64_t units = octave < 0 ? bucket : (int64_t)(PARTS + bucket % PARTS) << octave;
    return units << UNIT_BITS;
}

void fb_spans_add(struct spans *h, int64_t span_ns)
{
    assert(h->count >= 0);
    h->bucket[bucket_of(span_ns)]++;
    h->count++;
}

int64_t fb_spans_share(const struct spans *h, double share)
{
    double wanted = share * (double)h->count;
    int64_t seen = 0;

    assert(share >= 0.0 && share <= 1.0);
    assert(h->count >= 0);

    if (h->count == 0)
        return 0;
    for (int i = 0; i < FB_SPANS_BUCKETS - 1; i++) {
        seen += h->bucket[i];
        assert(seen <= h->count);
        if (seen > 0 && (double)seen >= wanted)
            return fb_spans_begin(i + 1);
    }
    return fb_spans_begin(FB_SPANS_BUCKETS);
}
