/* SPDX-License-Identifier: MIT */
/*
 * report.h - a run that is over: as one page that needs nothing else, or as one picture.
 *
 * The page is the dashboard with its figures frozen in: it opens from a file, asks nobody for
 * anything, and its policy allows its own script and style by their hashes and nothing else.
 * Without scripts it has its table; the picture needs none.
 */
#ifndef FLYBALL_VIEW_REPORT_H
#define FLYBALL_VIEW_REPORT_H

#include "core/spans.h"
#include "view/series.h"

struct view_report {
    const struct view_batch *batch;
    const struct view_series *series;
    const struct spans *answers;
};

/* Whether a file of this name is a picture; and whether it is a page. */
bool fb_view_report_is_svg(const char *path);
bool fb_view_report_is_html(const char *path);

void fb_view_report_html(const struct view_report *r, struct buffer *to);
void fb_view_report_svg(const struct view_report *r, struct buffer *to);

#endif
