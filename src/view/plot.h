/* SPDX-License-Identifier: MIT */
/*
 * plot.h - pictures of a run, as SVG that needs no script.
 *
 * Each is one <svg> element of the width that is asked for, in which a unit is a pixel: text is as
 * large in a narrow picture as in a wide one. Colours come from classes, which the page that holds
 * it defines; what they tell is told in words as well.
 */
#ifndef FLYBALL_VIEW_PLOT_H
#define FLYBALL_VIEW_PLOT_H

#include "core/spans.h"
#include "view/series.h"

/* Where it goes, and what it is for those who cannot see it. */
struct plot_place {
    const char *css_class; /* or "" */
    double y;              /* in a picture that holds several */
    double width;
};

/* What was sent against the limit, with refusals as marks. Returns its height. */
double fb_plot_rate(const struct view_series *s, const struct view_key *k, size_t index,
                    const struct plot_place *place, struct buffer *to);

/* How long keys waited, by cause. */
double fb_plot_waits(const struct view_batch *b, const struct plot_place *place, struct buffer *to);

/* How long answers took, on a logarithmic scale. */
double fb_plot_answers(const struct spans *answers, const struct plot_place *place,
                       struct buffer *to);

/* Text with what is special in XML escaped. */
void fb_plot_escape(const char *text, struct buffer *to);

/* printf into a buffer; pieces longer than 511 bytes are cut. */
void fb_plot_add(struct buffer *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
