/* SPDX-License-Identifier: MIT */
/*
 * report.h - a run that is over: as one page that needs nothing else, or as one picture.
 *
 * The page holds no script and loads nothing; its policy forbids both, and allows its own style by
 * its hash. It is light or dark as its reader likes, and has pictures for wide and for narrow
 * windows. Behind each picture is a table.
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
