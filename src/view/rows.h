/* SPDX-License-Identifier: MIT */
/*
 * rows.h - tables of keys and of batches, which several answers show.
 */
#ifndef FLYBALL_VIEW_ROWS_H
#define FLYBALL_VIEW_ROWS_H

#include "view/batch.h"

/* One table of the keys in `group_count` arrays: the worst first. */
void fb_view_keys_table(const struct view_key *const *group, size_t group_count,
                        const size_t *key_count, const struct view_style *style, int64_t now_ns,
                        struct buffer *to);

void fb_view_batches_table(const struct view_batch *const *batch, size_t count,
                           const struct view_style *style, int64_t now_ns, struct buffer *to);

/* "hold 12 s, bucket 40 s" */
void fb_view_waits(const struct view_wait *wait, int64_t count, struct buffer *to);

/* "412 of 600 (68 %)", "412" where the end is not known. */
void fb_view_batch_progress(const struct view_batch *b, struct buffer *to);

/* "220 µs", "2.4 ms", "22 ms", "1.2 s", "3 min 20 s": what an answer takes. */
void fb_view_add_short(int64_t span_ns, struct buffer *to);

#endif
