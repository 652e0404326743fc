/* SPDX-License-Identifier: MIT */
/* series.c - rows that are merged, and never lost. */
#include "view/series.h"

#include <assert.h>

void fb_view_series_init(struct view_series *s, int64_t row_ns)
{
    assert(row_ns > 0);

    s->count = 0;
    s->row_ns = row_ns;
}

static void merge(struct view_row *to, const struct view_row *more)
{
    to->span_ns += more->span_ns;
    for (int i = 0; i < VIEW_BATCH_CAUSES; i++)
        to->wait_ns[i] += more->wait_ns[i];
    for (int i = 0; i < VIEW_SERIES_KEYS; i++) {
        to->key[i].sent += more->key[i].sent;
        to->key[i].refused += more->key[i].refused;
        to->key[i].limit = more->key[i].limit;
    }
}

static void halve(struct view_series *s)
{
    for (size_t i = 0; i < s->count; i += 2) {
        struct view_row row = s->row[i];

        if (i + 1 < s->count)
            merge(&row, &s->row[i + 1]);
        s->row[i / 2] = row;
    }
    s->count = (s->count + 1) / 2;
    s->row_ns *= 2;
}

void fb_view_series_add(struct view_series *s, const struct view_row *row)
{
    struct view_row *last = s->count > 0 ? &s->row[s->count - 1] : NULL;

    /* Half a row more does not make it a longer one. */
    if (last && last->span_ns + row->span_ns / 2 < s->row_ns) {
        merge(last, row);
        return;
    }
    if (s->count == VIEW_SERIES_ROWS)
        halve(s);
    s->row[s->count++] = *row;
}
