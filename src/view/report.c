/* SPDX-License-Identifier: MIT */
/* report.c - a run in one sentence, and the picture around the plots. */
#include "view/report.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "view/plot.h"
#include "view/report_parts.h"
#include "view/rows.h"
#include "view/words.h"

#define WIDE       920.0
#define KEYS_SHOWN 6

static bool ends_with(const char *path, const char *tail)
{
    size_t size = strlen(path);

    return size > strlen(tail) && strcasecmp(path + size - strlen(tail), tail) == 0;
}

bool fb_view_report_is_svg(const char *path)
{
    return ends_with(path, ".svg");
}

bool fb_view_report_is_html(const char *path)
{
    return ends_with(path, ".html") || ends_with(path, ".htm");
}

/* ------------------------------------------------------------------------------------ in words */

static int64_t span_of(const struct view_batch *b)
{
    return b->ended_ns > b->began_ns ? b->ended_ns - b->began_ns : 0;
}

const char *fb_report_title(const struct view_batch *b)
{
    const char *slash = strrchr(b->list, '/');

    return slash && slash[1] ? slash + 1 : b->list;
}

/* Which keys are drawn: those that sent something; returns how many. */
static size_t choose_keys(const struct view_report *r, size_t *ret_index)
{
    size_t count = 0;

    for (size_t i = 0; i < fb_view_batch_keys(r->batch) && i < VIEW_SERIES_KEYS; i++) {
        if (r->batch->key[i].requests > 0 && count < KEYS_SHOWN)
            ret_index[count++] = i;
    }
    return count;
}

void fb_report_sentence(const struct view_batch *b, struct buffer *to)
{
    fb_words_count(fb_view_batch_ended(b), to);
    if (b->total >= 0) {
        fb_buffer_add_text(to, " of ");
        fb_words_count(b->total, to);
    }
    fb_buffer_add_text(to, " items in ");
    fb_view_add_short(span_of(b), to);
    fb_buffer_add_text(to, ", ");
    fb_words_rate(b->rate, to);
    fb_buffer_add_text(to, "/s; ");
    fb_words_count(b->throttled, to);
    fb_buffer_add_text(to, " of ");
    fb_words_count(b->requests, to);
    fb_buffer_add_text(to, b->throttled == 1 ? " requests was refused" : " requests were refused");
}

/* --------------------------------------------------------------------------------- the picture */

static double add_caption(double y, const char *text, const char *css_class, struct buffer *to)
{
    fb_plot_add(to, "<text class=\"%s\" x=\"0\" y=\"%.0f\">", css_class, y);
    fb_plot_escape(text, to);
    fb_buffer_add_text(to, "</text>\n");
    return y + 12;
}

static double add_pictures(const struct view_report *r, double y, struct buffer *to)
{
    size_t index[KEYS_SHOWN];
    size_t count = choose_keys(r, index);

    for (size_t i = 0; i < count; i++) {
        const struct view_key *k = &r->batch->key[index[i]];
        struct buffer name = BUFFER_INIT;

        fb_view_key_name(k, &name);
        y = add_caption(y, fb_buffer_text(&name) ? name.bytes : "", "h2", to);
        fb_buffer_fini(&name);
        y += 24 + fb_plot_rate(r->series, k, index[i], &(struct plot_place){"", y, WIDE}, to);
    }
    y = add_caption(y, "Waits by cause", "h2", to);
    y += 24 + fb_plot_waits(r->batch, &(struct plot_place){"", y, WIDE}, to);
    y = add_caption(y, "Time to answer", "h2", to);
    return y + fb_plot_answers(r->answers, &(struct plot_place){"", y, WIDE}, to);
}

void fb_view_report_svg(const struct view_report *r, struct buffer *to)
{
    struct buffer inside = BUFFER_INIT;
    struct buffer sentence = BUFFER_INIT;
    double y = add_caption(34, fb_report_title(r->batch), "h1", &inside);

    fb_report_sentence(r->batch, &sentence);
    y = add_caption(y + 12, fb_buffer_text(&sentence) ? sentence.bytes : "", "text", &inside);
    y = add_pictures(r, y + 24, &inside);
    fb_plot_add(
        to,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
        "viewBox=\"-20 0 %.0f %.0f\" role=\"img\" aria-label=\"A run of flyball\">\n<style>",
        WIDE + 40, y + 12, WIDE + 40, y + 12);
    fb_buffer_add_text(to, fb_report_style);
    fb_plot_add(to, "</style>\n<rect class=\"page\" x=\"-20\" width=\"%.0f\" height=\"%.0f\"/>\n",
                WIDE + 40, y + 12);
    if (inside.failed || sentence.failed)
        to->failed = true;
    fb_buffer_add(to, inside.bytes, inside.size);
    fb_buffer_add_text(to, "</svg>\n");
    fb_buffer_fini(&inside);
    fb_buffer_fini(&sentence);
}
