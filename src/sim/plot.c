/* SPDX-License-Identifier: MIT */
/*
 * plot.c - the picture, top to bottom: title, legend, panels, the axis of time.
 *
 * Coordinates are pixels of a 760 wide page, which a README shows in full and a phone at half. A
 * panel is a chart of rates with a strip of bars below it that counts refusals; the same scales
 * hold for all panels, or they could not be compared at a glance.
 */
#include "sim/plot.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/instant.h"

enum {
    PAGE_W = 760,
    LEFT = 62,
    RIGHT = 744,
    TOP = 116,      /* of the first panel's caption */
    CAPTION_H = 44, /* two lines */
    CHART_H = 118,
    STRIP_GAP = 6,
    STRIP_H = 24,
    PANEL_H = CAPTION_H + CHART_H + STRIP_GAP + STRIP_H + 22,
    AXIS_H = 46
};

/* One drawing: the scales, and how many bins make a point. */
struct canvas {
    FILE *out;
    const struct plot *plot;
    double span_s;
    double rate_top;
    double rate_step;
    double refused_top;
    int group;
    double chart_y; /* top of the chart being drawn */
};

static const char STYLE[] =
    "<style>\n"
    "text{font:14px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;fill:#3b4351}\n"
    ".title{font-size:23px;font-weight:600;fill:#16181d}\n"
    ".sub{font-size:14px}\n"
    ".name{font-size:16px;font-weight:600;fill:#16181d}\n"
    ".tick{font-size:13px;fill:#667085}\n"
    ".num{font-variant-numeric:tabular-nums}\n"
    ".page{fill:#ffffff}.chart{fill:#f6f8fa}.grid{stroke:#dfe3e8;stroke-width:1}\n"
    ".rate{fill:none;stroke:#0b61c4;stroke-width:1.8;stroke-linejoin:round}\n"
    ".area{fill:#0b61c4;fill-opacity:.12}\n"
    ".limit{fill:none;stroke:#8a4b00;stroke-width:1.8;stroke-dasharray:6 3}\n"
    ".mark{stroke:#c4232b;stroke-width:1.5;fill:none}.bar{fill:#c4232b}\n"
    "@media (prefers-color-scheme:dark){\n"
    "text{fill:#b6bfcc}.title,.name{fill:#f2f4f7}.tick{fill:#8b95a5}\n"
    ".page{fill:#14171c}.chart{fill:#1b2027}.grid{stroke:#2e3640}\n"
    ".rate{stroke:#5ea8ff}.area{fill:#5ea8ff}.limit{stroke:#e0a252}\n"
    ".mark{stroke:#ff6b70}.bar{fill:#ff6b70}}\n"
    "</style>\n";

/* The least of 1, 2, 5 x 10^k that is >= x. */
static double round_up(double x)
{
    double ten = pow(10.0, floor(log10(x)));
    double lead = x / ten;

    return ten * (lead <= 1.0 ? 1.0 : lead <= 2.0 ? 2.0 : lead <= 5.0 ? 5.0 : 10.0);
}

static double x_at(const struct canvas *c, double seconds)
{
    return LEFT + (RIGHT - LEFT) * seconds / c->span_s;
}

static double y_at(const struct canvas *c, double rate)
{
    return c->chart_y + CHART_H * (1.0 - fmin(rate, c->rate_top) / c->rate_top);
}

static double bin_s(const struct canvas *c)
{
    return c->span_s / FB_TALLY_BINS;
}

/* Accepted a second around point i. */
static double rate_of(const struct canvas *c, const struct tally *t, int i)
{
    double units = 0.0;
    int from = i * c->group;

    for (int k = from; k < from + c->group; k++)
        units += t->bin_units[k];
    return units / (c->group * bin_s(c));
}

static double refused_of(const struct canvas *c, const struct tally *t, int i)
{
    double refused = 0.0;

    for (int k = i * c->group; k < (i + 1) * c->group; k++)
        refused += t->bin_refused[k];
    return refused;
}

/* So many bins that a point stands for about 25 requests: below that a line is noise. */
static int choose_group(const struct canvas *c, double rate)
{
    static const int GROUPS[] = {1, 2, 3, 4, 5, 6, 8, 10, 12};
    int i = 0;

    while (i + 1 < (int)(sizeof GROUPS / sizeof GROUPS[0]) && rate * bin_s(c) * GROUPS[i] < 25.0)
        i++;
    return GROUPS[i];
}

static void choose_scales(struct canvas *c)
{
    const struct setup *s = c->plot->setup;
    double limit_top = 0.0;
    double limit_low = INFINITY;

    for (int i = 0; i <= 100; i++) {
        double limit = fb_provider_rate(&s->provider, s->duration_ns / 100 * i);

        limit_top = fmax(limit_top, limit);
        limit_low = fmin(limit_low, limit);
    }
    c->span_s = fb_seconds(s->duration_ns);
    c->group = choose_group(c, limit_low);
    c->rate_step = round_up(limit_top * 1.2 / 5.0);
    c->rate_top = c->rate_step * ceil(limit_top * 1.12 / c->rate_step);
    c->refused_top = 1.0;
    for (int p = 0; p < c->plot->panel_count; p++) {
        for (int i = 0; i < FB_TALLY_BINS / c->group; i++)
            c->refused_top = fmax(c->refused_top, refused_of(c, c->plot->panel[p].tally, i));
    }
}

static void write_title(const struct canvas *c)
{
    const struct plot *p = c->plot;
    bool is_untold = p->panel_count == 1 && strcmp(p->panel[0].name, "probe") == 0;
    const char *title = is_untold ? "A limit that nobody told, found and kept to"
                                  : "One API: who finds its limit and keeps to it"; /* some knew */

    fprintf(c->out, "<text class=\"title\" x=\"%d\" y=\"38\">%s</text>\n", LEFT, title);
    fprintf(c->out,
            "<text class=\"sub\" x=\"%d\" y=\"60\">%s (%s) \xc2\xb7 %d worker%s \xc2\xb7 seed "
            "%" PRIu64 "</text>\n",
            LEFT, p->scenario, p->about, p->setup->workers * p->setup->clients,
            p->setup->workers * p->setup->clients == 1 ? "" : "s", p->seed);
}

static void write_legend(const struct canvas *c)
{
    fprintf(c->out,
            "<g transform=\"translate(%d,88)\">"
            "<path class=\"rate\" d=\"M0-4h26\"/><text x=\"33\" y=\"0\">accepted a second</text>"
            "<path class=\"limit\" d=\"M184-4h26\"/><text x=\"217\" y=\"0\">true limit</text>"
            "<path class=\"mark\" d=\"M310-8l8 8m0-8l-8 8\"/><rect class=\"bar\" x=\"324\" "
            "y=\"-10\" width=\"4\" height=\"11\"/>"
            "<text x=\"336\" y=\"0\">refused; a full bar: %.0f in %.0f s</text></g>\n",
            LEFT, c->refused_top, c->group * bin_s(c));
}

/* Who, how much of the oracle's goodput, how many refused; below that what it is. */
static void write_caption(const struct canvas *c, const struct plot_panel *p, double y)
{
    fprintf(c->out,
            "<text class=\"name\" x=\"%d\" y=\"%.0f\">%s</text>"
            "<text x=\"%d\" y=\"%.0f\">%s</text>\n",
            LEFT, y + 14, p->name, LEFT, y + 34, p->about);
    fprintf(c->out,
            "<text class=\"num\" x=\"%d\" y=\"%.0f\" text-anchor=\"end\">%.0f %% of what was "
            "possible \xc2\xb7 %" PRId64 " refused \xc2\xb7 <tspan class=\"name\">score %.0f"
            "</tspan></text>\n",
            RIGHT, y + 14, 100.0 * fmin(1.0, p->score->goodput), p->score->refused,
            p->score->score);
}

/* Ticks of time: minutes up to two hours and a half, hours beyond. */
static double time_step_s(const struct canvas *c)
{
    static const double STEPS[] = {60, 120, 300, 600, 900, 1200, 1800, 3600, 7200, 14400};
    size_t i = 0;

    while (i + 1 < sizeof STEPS / sizeof STEPS[0] && c->span_s / STEPS[i] > 10.0)
        i++;
    return STEPS[i];
}

static void write_grid(const struct canvas *c)
{
    double strip_y = c->chart_y + CHART_H + STRIP_GAP;

    fprintf(c->out,
            "<rect class=\"chart\" x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%d\"/>"
            "<rect class=\"chart\" x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%d\"/>\n",
            LEFT, c->chart_y, RIGHT - LEFT, CHART_H, LEFT, strip_y, RIGHT - LEFT, STRIP_H);
    for (double s = 0.0; s <= c->span_s * 1.0001; s += time_step_s(c))
        fprintf(c->out, "<path class=\"grid\" d=\"M%.1f %.1fv%dm0 %dv%d\"/>\n", x_at(c, s),
                c->chart_y, CHART_H, STRIP_GAP, STRIP_H);
    for (double r = 0.0; r <= c->rate_top * 1.0001; r += c->rate_step)
        fprintf(c->out,
                "<path class=\"grid\" d=\"M%d %.1fh%d\"/><text class=\"tick num\" x=\"%d\" "
                "y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
                LEFT, y_at(c, r), RIGHT - LEFT, LEFT - 8, y_at(c, r) + 4, r);
}

/* The curve of what was accepted; `area` closes it down to zero. */
static void write_rate(const struct canvas *c, const struct tally *t, bool area)
{
    int points = FB_TALLY_BINS / c->group;
    double half_s = 0.5 * c->group * bin_s(c);

    fprintf(c->out, "<path class=\"%s\" d=\"", area ? "area" : "rate");
    for (int i = 0; i < points; i++)
        fprintf(c->out, "%s%.1f %.1f", i == 0 ? "M" : "L", x_at(c, 2.0 * half_s * i + half_s),
                y_at(c, rate_of(c, t, i)));
    if (area)
        fprintf(c->out, "L%.1f %.1fL%.1f %.1fZ", x_at(c, c->span_s - half_s), y_at(c, 0.0),
                x_at(c, half_s), y_at(c, 0.0));
    fputs("\"/>\n", c->out);
}

/* The limit as a stepped line: a new corner only where it changes. */
static void write_limit(const struct canvas *c)
{
    const struct setup *s = c->plot->setup;
    double last = fb_provider_rate(&s->provider, 0);

    fprintf(c->out, "<path class=\"limit\" d=\"M%d %.1f", LEFT, y_at(c, last));
    for (int i = 1; i <= RIGHT - LEFT; i++) {
        double at_s = c->span_s * i / (RIGHT - LEFT);
        double limit = fb_provider_rate(&s->provider, fb_span(at_s));

        if (fabs(limit - last) > 0.002 * c->rate_top) {
            fprintf(c->out, "H%.1fV%.1f", x_at(c, at_s), y_at(c, limit));
            last = limit;
        }
    }
    fprintf(c->out, "H%d\"/>\n", RIGHT);
}

static void write_refusals(const struct canvas *c, const struct tally *t)
{
    int points = FB_TALLY_BINS / c->group;
    double width = (double)(RIGHT - LEFT) / points;
    double base_y = c->chart_y + CHART_H + STRIP_GAP + STRIP_H;

    for (int i = 0; i < points; i++) {
        double refused = refused_of(c, t, i);
        if (refused <= 0.0)
            continue;

        double x = LEFT + width * i;
        double y = y_at(c, rate_of(c, t, i));
        double h = fmax(2.0, STRIP_H * refused / c->refused_top);
        fprintf(c->out,
                "<path class=\"mark\" d=\"M%.1f %.1fl5 5m0-5l-5 5\"/><rect class=\"bar\" "
                "x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
                x + width / 2 - 2.5, y - 2.5, x, base_y - h, fmax(2.0, width - 0.6), h);
    }
}

static void write_strip_label(const struct canvas *c)
{
    fprintf(c->out, "<text class=\"tick\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">refused</text>\n",
            LEFT - 8, c->chart_y + CHART_H + STRIP_GAP + STRIP_H - 6);
}

static void write_panel(struct canvas *c, const struct plot_panel *p, double y)
{
    c->chart_y = y + CAPTION_H;
    write_caption(c, p, y);
    write_grid(c);
    write_strip_label(c);
    write_rate(c, p->tally, true);
    write_limit(c);
    write_rate(c, p->tally, false);
    write_refusals(c, p->tally);
}

static void write_time_axis(const struct canvas *c, double y)
{
    bool hours = time_step_s(c) >= 1800.0 && c->span_s > 9000.0;

    for (double s = 0.0; s <= c->span_s * 1.0001; s += time_step_s(c))
        fprintf(c->out,
                "<text class=\"tick num\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%g</text>\n",
                x_at(c, s), y, hours ? s / 3600.0 : s / 60.0);
    fprintf(c->out, "<text class=\"tick\" x=\"%d\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
            (LEFT + RIGHT) / 2, y + 18, hours ? "virtual hours" : "virtual minutes");
}

void fb_plot_write(FILE *out, const struct plot *p)
{
    int32_t height = TOP + p->panel_count * PANEL_H + AXIS_H - 14;
    struct canvas c = {.out = out, .plot = p};

    choose_scales(&c);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
            "height=\"%d\" role=\"img\">\n<title>%s, seed %" PRIu64 "</title>\n",
            PAGE_W, height, PAGE_W, height, p->scenario, p->seed);
    fputs(STYLE, out);
    fprintf(out, "<rect class=\"page\" width=\"%d\" height=\"%d\"/>\n", PAGE_W, height);
    write_title(&c);
    write_legend(&c);
    for (int32_t i = 0; i < p->panel_count; i++)
        write_panel(&c, &p->panel[i], TOP + i * PANEL_H);
    write_time_axis(&c, TOP + p->panel_count * PANEL_H - 4);
    fputs("</svg>\n", out);
}
