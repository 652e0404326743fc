/* SPDX-License-Identifier: MIT */
/* plot.c - axes, steps, bars. */
#include "view/plot.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "view/rows.h"
#include "view/words.h"

#define NS_PER_S 1e9

enum {
    LEFT = 48,
    RIGHT = 12,
    TOP = 30,
    BOTTOM = 30,
    CHART_H = 170,
    BAR_H = 26,
    LABEL_W = 92,
    TICK_GAP = 52
};

void fb_plot_add(struct buffer *to, const char *format, ...)
{
    char text[512];
    va_list words;

    va_start(words, format);
    int size = vsnprintf(text, sizeof text, format, words);
    va_end(words);
    if (size > 0)
        fb_buffer_add(to, text, (size_t)size < sizeof text ? (size_t)size : sizeof text - 1);
}

void fb_plot_escape(const char *text, struct buffer *to)
{
    for (; *text; text++) {
        const char *entity = *text == '<'   ? "&lt;"
                             : *text == '>' ? "&gt;"
                             : *text == '&' ? "&amp;"
                             : *text == '"' ? "&quot;"
                                            : NULL;
        if (entity)
            fb_buffer_add_text(to, entity);
        else
            fb_buffer_add_char(to, *text);
    }
}

/* ------------------------------------------------------------------------------------- a frame */

/* One chart: its place, and what its axes end at. */
struct frame {
    struct buffer *to;
    double width;
    double height; /* of the whole */
    double bottom; /* of the chart */
    double x_top;
    double y_top;
};

static double x_of(const struct frame *f, double x)
{
    return LEFT + (f->width - LEFT - RIGHT) * x / f->x_top;
}

static double y_of(const struct frame *f, double y)
{
    return f->bottom - (f->bottom - TOP) * fmin(y, f->y_top) / f->y_top;
}

static void begin(struct frame *f, const struct plot_place *place, const char *label)
{
    fb_plot_add(f->to,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" y=\"%.0f\" width=\"%.0f\" "
                "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" role=\"img\"",
                place->y, place->width, f->height, place->width, f->height);
    if (place->css_class[0])
        fb_plot_add(f->to, " class=\"%s\"", place->css_class);
    fb_buffer_add_text(f->to, " aria-label=\"");
    fb_plot_escape(label, f->to);
    fb_buffer_add_text(f->to, "\">\n");
}

static void end(const struct frame *f)
{
    fb_buffer_add_text(f->to, "</svg>\n");
}

/* The least of 1, 2, 5 x 10^k that is >= x. */
static double round_up(double x)
{
    double ten = pow(10.0, floor(log10(x)));
    double lead = x / ten;

    return ten * (lead <= 1.0001 ? 1.0 : lead <= 2.0001 ? 2.0 : lead <= 5.0001 ? 5.0 : 10.0);
}

/* Four or five lines across, each with its number. */
static void draw_grid(const struct frame *f, double step)
{
    int digits = step < 0.1 ? 2 : step < 1.0 ? 1 : 0;

    for (double y = 0.0; y <= f->y_top * 1.0001; y += step) {
        fb_plot_add(f->to, "<path class=\"grid\" d=\"M%d %.1fH%.0f\"/>", LEFT, y_of(f, y),
                    f->width - RIGHT);
        fb_plot_add(f->to, "<text class=\"tick end\" x=\"%d\" y=\"%.1f\">%.*f</text>\n", LEFT - 6,
                    y_of(f, y) + 4, digits, y);
    }
}

/* Scale for values up to `most`; returns the step. */
static double scale_y(struct frame *f, double most)
{
    double step = round_up((most > 0.0 ? most : 1.0) * 1.05 / 5.0);

    f->y_top = step * ceil((most > 0.0 ? most : 1.0) * 1.02 / step);
    return step;
}

static double time_step_s(double span_s, double width)
{
    static const double STEPS[] = {1,   2,    5,    10,   15,    30,    60,    120,   300,   600,
                                   900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 604800};
    double most = (width - LEFT - RIGHT) / 80.0;
    size_t i = 0;

    while (i + 1 < sizeof STEPS / sizeof STEPS[0] && span_s / STEPS[i] > most)
        i++;
    return STEPS[i];
}

static void draw_times(const struct frame *f)
{
    double step_s = time_step_s(f->x_top, f->width);

    for (double s = 0.0; s <= f->x_top; s += step_s) {
        struct buffer text = BUFFER_INIT;

        if (s > 0.0)
            fb_words_span((int64_t)(s * NS_PER_S), &text);
        else
            fb_buffer_add_text(&text, "start");
        if (fb_buffer_text(&text) && x_of(f, s) < f->width - RIGHT - 20)
            fb_plot_add(f->to, "<text class=\"tick%s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
                        s > 0.0 ? " mid" : "", x_of(f, s), f->bottom + 18, text.bytes);
        fb_buffer_fini(&text);
    }
}

static void draw_nothing(const struct frame *f, const char *text)
{
    fb_plot_add(f->to, "<text class=\"mid\" x=\"%.0f\" y=\"%.0f\">%s</text>\n", f->width / 2,
                (TOP + f->bottom) / 2, text);
}

/* ------------------------------------------------------------------------------ rate and limit */

static double seconds_of(const struct view_series *s, const struct view_row *r)
{
    return (double)(r->began_ns - s->row[0].began_ns) / NS_PER_S;
}

static double rate_of(const struct view_row *r, size_t key)
{
    return r->span_ns > 0 ? (double)r->key[key].sent / (double)r->span_ns * NS_PER_S : 0.0;
}

static void draw_steps(const struct frame *f, const struct view_series *s, size_t key,
                       bool is_limit)
{
    bool is_down = false; /* the pen */

    fb_plot_add(f->to, "<path class=\"%s\" d=\"", is_limit ? "limit" : "rate");
    for (size_t i = 0; i < s->count; i++) {
        const struct view_row *r = &s->row[i];
        double value = is_limit ? (double)r->key[key].limit : rate_of(r, key);
        double x = seconds_of(s, r);

        if (is_limit && value <= 0.0) {
            is_down = false;
            continue;
        }
        if (is_down)
            fb_plot_add(f->to, "V%.1f", y_of(f, value));
        else
            fb_plot_add(f->to, "M%.1f %.1f", x_of(f, x), y_of(f, value));
        fb_plot_add(f->to, "H%.1f", x_of(f, x + (double)r->span_ns / NS_PER_S));
        is_down = true;
    }
    fb_buffer_add_text(f->to, "\"/>\n");
}

static void draw_cross(const struct frame *f, double x, double y)
{
    fb_plot_add(f->to, "M%.1f %.1fl8 8m0 -8l-8 8", x - 4, y - 4);
}

static void draw_refusals(const struct frame *f, const struct view_series *s, size_t key)
{
    fb_buffer_add_text(f->to, "<path class=\"mark\" d=\"");
    for (size_t i = 0; i < s->count; i++) {
        const struct view_row *r = &s->row[i];
        double x = seconds_of(s, r) + (double)r->span_ns / NS_PER_S / 2.0;

        if (r->key[key].refused > 0)
            draw_cross(f, x_of(f, x), y_of(f, rate_of(r, key)));
    }
    fb_buffer_add_text(f->to, "\"/>\n");
}

static void draw_legend(const struct frame *f)
{
    fb_plot_add(f->to,
                "<path class=\"rate\" d=\"M%d 14h22\"/><text x=\"%d\" y=\"18\">sent/s</text>\n"
                "<path class=\"limit\" d=\"M%d 14h22\"/><text x=\"%d\" y=\"18\">limit</text>\n"
                "<path class=\"mark\" d=\"",
                LEFT, LEFT + 28, LEFT + 84, LEFT + 112);
    draw_cross(f, LEFT + 164, 14);
    fb_plot_add(f->to, "\"/><text x=\"%d\" y=\"18\">refused (429)</text>\n", LEFT + 174);
}

double fb_plot_rate(const struct view_series *s, const struct view_key *k, size_t index,
                    const struct plot_place *place, struct buffer *to)
{
    struct frame f = {
        .to = to, .width = place->width, .height = TOP + CHART_H + BOTTOM, .bottom = TOP + CHART_H};
    struct buffer label = BUFFER_INIT;
    double most = 0.0;

    for (size_t i = 0; i < s->count; i++)
        most = fmax(most, fmax(rate_of(&s->row[i], index), (double)s->row[i].key[index].limit));
    const struct view_row *last = s->count > 0 ? &s->row[s->count - 1] : NULL;
    f.x_top = last ? fmax(seconds_of(s, last) + (double)last->span_ns / NS_PER_S, 0.001) : 1.0;
    fb_buffer_add_text(&label, "Requests sent a second and limit of ");
    fb_view_key_name(k, &label);
    fb_buffer_add_text(&label, "; refusals are marked");
    begin(&f, place, fb_buffer_text(&label) ? label.bytes : "");
    fb_buffer_fini(&label);
    draw_grid(&f, scale_y(&f, most));
    draw_times(&f);
    draw_legend(&f);
    if (last) {
        draw_steps(&f, s, index, true);
        draw_steps(&f, s, index, false);
        draw_refusals(&f, s, index);
    } else {
        draw_nothing(&f, "no requests in this run");
    }
    end(&f);
    return f.height;
}

/* --------------------------------------------------------------------------------------- waits */

double fb_plot_waits(const struct view_batch *b, const struct plot_place *place, struct buffer *to)
{
    struct frame f = {.to = to,
                      .width = place->width,
                      .height = 12 + BAR_H * (double)(b->wait_count > 0 ? b->wait_count : 1)};
    double sum = 0.0;
    double most = 0.0;
    double room = place->width - LABEL_W - 118;

    for (int64_t i = 0; i < b->wait_count; i++) {
        sum += (double)b->wait[i].span_ns;
        most = fmax(most, (double)b->wait[i].span_ns);
    }
    begin(&f, place, "How long requests were held back, by cause");
    if (sum <= 0.0)
        fb_plot_add(to, "<text x=\"0\" y=\"20\">nothing had to wait</text>\n");
    for (int64_t i = 0; sum > 0.0 && i < b->wait_count; i++) {
        double share = (double)b->wait[i].span_ns / sum;
        double wide = fmax(1.0, room * (double)b->wait[i].span_ns / most);
        double y = 6 + BAR_H * (double)i;
        struct buffer span = BUFFER_INIT;

        fb_view_add_short(b->wait[i].span_ns, &span);
        fb_plot_add(to, "<text x=\"0\" y=\"%.0f\">%s</text>", y + 15, b->wait[i].cause);
        fb_plot_add(to, "<rect class=\"wait\" x=\"%d\" y=\"%.0f\" width=\"%.1f\" height=\"%d\"/>",
                    LABEL_W, y, wide, BAR_H - 6);
        fb_plot_add(to, "<text class=\"num\" x=\"%.1f\" y=\"%.0f\">%s, %.0f %%</text>\n",
                    LABEL_W + wide + 8, y + 15, fb_buffer_text(&span) ? span.bytes : "",
                    share * 100.0);
        fb_buffer_fini(&span);
    }
    end(&f);
    return f.height;
}

/* ------------------------------------------------------------------------------------- answers */

#define GROUP 8 /* buckets to a bar: two bars an octave */

/* The bars from the first to the last that is not empty. */
struct bars {
    int first;
    int last;
    int64_t count[FB_SPANS_BUCKETS / GROUP + 1];
    int64_t most;
};

static void gather(const struct spans *answers, struct bars *b)
{
    *b = (struct bars){.first = -1};
    for (int i = 0; i < FB_SPANS_BUCKETS; i++) {
        int bar = i / GROUP;

        b->count[bar] += answers->bucket[i];
        if (b->count[bar] == 0)
            continue;
        b->first = b->first < 0 ? bar : b->first;
        b->last = bar;
        b->most = b->count[bar] > b->most ? b->count[bar] : b->most;
    }
}

/* A span on the axis, in bars from the first: logarithmic. */
static double place_of(const struct bars *b, double ns)
{
    double low = fmax(1e3, (double)fb_spans_begin(b->first * GROUP));
    double high = (double)fb_spans_begin((b->last + 1) * GROUP);

    return fmax(0.0, log(fmax(ns, low) / low) / log(high / low));
}

static void draw_bars(const struct frame *f, const struct bars *b)
{
    for (int i = b->first; i <= b->last; i++) {
        double x = x_of(f, place_of(b, (double)fb_spans_begin(i * GROUP)));
        double end_x = x_of(f, place_of(b, (double)fb_spans_begin((i + 1) * GROUP)));
        double y = y_of(f, (double)b->count[i]);

        if (b->count[i] > 0 && end_x > x)
            fb_plot_add(f->to,
                        "<rect class=\"bar\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                        "height=\"%.1f\"/>\n",
                        x, y, fmax(1.0, end_x - x - 1.0), fmax(0.5, f->bottom - y));
    }
}

/* 1 ms, 10 ms, ...; where the bars are within a decade, their ends. */
static void draw_spans(const struct frame *f, const struct bars *b)
{
    double low = (double)fb_spans_begin(b->first * GROUP);
    double high = (double)fb_spans_begin((b->last + 1) * GROUP);
    double step = high / fmax(low, 1e3) > 30.0 ? 10.0 : 2.0;
    double last = 0.0; /* where the last word is */
    double first = step == 10.0 ? pow(10.0, ceil(log10(fmax(low, 1e3)))) : fmax(low, 1e3);

    for (double ns = first; ns <= high * 1.0001; ns *= step) {
        double x = fmin(x_of(f, place_of(b, ns)), f->width - 26);
        struct buffer text = BUFFER_INIT;

        fb_view_add_short((int64_t)ns, &text);
        if (fb_buffer_text(&text) && x - last > TICK_GAP) {
            fb_plot_add(f->to, "<text class=\"tick mid\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", x,
                        f->bottom + 18, text.bytes);
            last = x;
        }
        fb_buffer_fini(&text);
    }
}

static void draw_share(const struct frame *f, const struct bars *b, const struct spans *answers,
                       int percent, double y)
{
    double ns = (double)fb_spans_share(answers, percent / 100.0);
    double x = x_of(f, fmin(1.0, place_of(b, ns)));
    bool is_right = x > f->width * 0.7;
    struct buffer text = BUFFER_INIT;

    fb_view_add_short((int64_t)ns, &text);
    /* Below all three words: none of them is crossed out. */
    fb_plot_add(f->to, "<path class=\"share\" d=\"M%.1f %dV%.0f\"/>", x, TOP + 42, f->bottom);
    fb_plot_add(f->to, "<text class=\"num%s\" x=\"%.1f\" y=\"%.0f\">p%d %s</text>\n",
                is_right ? " end" : "", is_right ? x - 5 : x + 5, y, percent,
                fb_buffer_text(&text) ? text.bytes : "");
    fb_buffer_fini(&text);
}

double fb_plot_answers(const struct spans *answers, const struct plot_place *place,
                       struct buffer *to)
{
    struct frame f = {.to = to,
                      .width = place->width,
                      .height = TOP + 24 + CHART_H + BOTTOM,
                      .bottom = TOP + 24 + CHART_H,
                      .x_top = 1.0,
                      .y_top = 1.0};
    struct bars b;

    gather(answers, &b);
    begin(&f, place, "How long answers took: a histogram on a logarithmic scale");
    if (answers->count == 0) {
        draw_nothing(&f, "no answers in this run");
    } else {
        double step = scale_y(&f, (double)b.most * 1.35); /* room for the words above */
        draw_grid(&f, fmax(1.0, step));
        draw_bars(&f, &b);
        draw_spans(&f, &b);
        draw_share(&f, &b, answers, 50, TOP + 4);
        draw_share(&f, &b, answers, 95, TOP + 20);
        draw_share(&f, &b, answers, 99, TOP + 36);
    }
    end(&f);
    return f.height;
}
