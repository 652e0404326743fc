/* SPDX-License-Identifier: MIT */
/*
 * series.h - a run, second by second, in bounded memory.
 *
 * Rows are added as they come, about one a second. When there are too many, each two become one of
 * twice the length, and rows that come later are gathered to that length. Sums stay what they
 * were, whatever the length of the run.
 */
#ifndef FLYBALL_VIEW_SERIES_H
#define FLYBALL_VIEW_SERIES_H

#include <stdint.h>

#include "view/batch.h"

#define VIEW_SERIES_ROWS 480
#define VIEW_SERIES_KEYS 8 /* of a batch's keys, the first ones */

struct view_series_key {
    int32_t sent;
    int32_t refused;
    float limit; /* permits a second at the end of the row; 0: none known */
};

struct view_row {
    int64_t began_ns;
    int64_t span_ns;
    int64_t wait_ns[VIEW_BATCH_CAUSES]; /* by cause, as in the batch's table of them */
    struct view_series_key key[VIEW_SERIES_KEYS];
};

struct view_series {
    size_t count;
    int64_t row_ns; /* a row is at least so long */
    struct view_row row[VIEW_SERIES_ROWS];
};

/* Empty, with rows of `row_ns` at first. */
void fb_view_series_init(struct view_series *s, int64_t row_ns);

/* What happened from row->began_ns on; it follows what was added before. */
void fb_view_series_add(struct view_series *s, const struct view_row *row);

#endif
