/* SPDX-License-Identifier: MIT */
/*
 * report_parts.h - what the page and the picture of a run share.
 */
#ifndef FLYBALL_VIEW_REPORT_PARTS_H
#define FLYBALL_VIEW_REPORT_PARTS_H

#include "view/batch.h"

/* Colours and sizes of pictures. */
extern const char fb_report_style[];

/* "urls.txt": what the list is called. */
const char *fb_report_title(const struct view_batch *b);

/* "600 of 600 items in 12 s, 50.0/s; 3 of 603 requests were refused" */
void fb_report_sentence(const struct view_batch *b, struct buffer *to);

#endif
