/* SPDX-License-Identifier: MIT */
/*
 * spans.h - how long things took, in a fixed number of counters.
 *
 * Each power of two has 16 buckets of equal width, so that a span is known to a sixteenth at most.
 * What is shorter than a microsecond counts as one, what is longer than about four hours as that.
 */
#ifndef FLYBALL_CORE_SPANS_H
#define FLYBALL_CORE_SPANS_H

#include <stdint.h>

#define FB_SPANS_BUCKETS 544

struct spans {
    int64_t count; /* of all */
    int64_t bucket[FB_SPANS_BUCKETS];
};

void fb_spans_init(struct spans *s);
void fb_spans_add(struct spans *s, int64_t span_ns);

/*
 * The span that a share of them (0..1) did not exceed, to the end of its bucket: an answer is
 * never made to look quicker than it was. 0: there were none.
 */
int64_t fb_spans_share(const struct spans *s, double share);

/* Where a bucket begins; that of FB_SPANS_BUCKETS is where the last one ends. */
int64_t fb_spans_begin(int bucket);

#endif
