/* SPDX-License-Identifier: MIT */
/* say_text.c - the same for people: tables that fit the window, and sentences. */
#include <math.h>
#include <string.h>

#include "core/instant.h"
#include "util/text.h"
#include "view/rows.h"
#include "view/table.h"
#include "view/words.h"
#include "watch/say.h"
#include "watch/say_parts.h"

#define COLUMNS_OF(table) (sizeof(table) / sizeof((table)[0]))

static void add_share(double share, struct buffer *to)
{
    char text[32];
    struct text t;

    fb_text_init(&t, text, sizeof text);
    fb_text_add_fixed(&t, 100.0 * share, 1);
    fb_buffer_add_text(to, text);
    fb_buffer_add_text(to, " %");
}

/* ---- cells ---- */

static void cell_count(struct view_table *t, int64_t n)
{
    fb_words_count(n, &t->text);
    fb_view_table_next(t);
}

static void cell_span(struct view_table *t, int64_t span_ns)
{
    fb_view_add_short(span_ns, &t->text);
    fb_view_table_next(t);
}

static void cell_when(struct view_table *t, int64_t at_ns, int64_t now_ns)
{
    if (at_ns == 0 || at_ns == FB_NEVER) {
        fb_buffer_add_char(&t->text, '-');
    } else if (at_ns <= now_ns) {
        fb_buffer_add_text(&t->text, "now");
    } else {
        fb_buffer_add_text(&t->text, "in ");
        fb_view_add_short(at_ns - now_ns, &t->text);
    }
    fb_view_table_next(t);
}

/* -------------------------------------------------------------------------------- the status */

static const struct view_column SPREADS[] = {
    {.title = "items", .keep = 99},
    {.title = "number", .keep = 99, .is_right = true},
    {.title = "median age", .keep = 9, .is_right = true},
    {.title = "95th", .keep = 8, .is_right = true},
    {.title = "oldest", .keep = 7, .is_right = true},
    {.title = "aim", .keep = 6, .is_right = true},
};

static void print_spreads(const struct watch_figures *f, const struct watch_plan *p,
                          const struct view_style *style, struct buffer *to)
{
    struct view_table t;

    fb_view_table_init(&t, SPREADS, COLUMNS_OF(SPREADS));
    for (int state = 0; state < ITEM_STATES; state++) {
        const struct freshness_spread *s = &f->spread[state];

        fb_view_table_add(&t, fb_item_state_name((enum item_state)state));
        cell_count(&t, f->items[state]);
        cell_span(&t, s->p50_ns);
        cell_span(&t, s->p95_ns);
        cell_span(&t, s->oldest_ns);
        cell_span(&t, p->aims.aim_ns[state]);
    }
    fb_view_table_print(&t, style, true, to);
    fb_view_table_fini(&t);
}

static const struct view_column SOURCES[] = {
    {.title = "source", .keep = 99},
    {.title = "state", .keep = 20, .is_state = true},
    {.title = "", .keep = 99},
    {.title = "items", .keep = 8, .is_right = true},
    {.title = "asked", .keep = 9, .is_right = true},
    {.title = "unchanged", .keep = 4, .is_right = true},
    {.title = "failed", .keep = 10, .is_right = true},
    {.title = "latency", .keep = 7, .is_right = true},
    {.title = "reliable", .keep = 9, .is_right = true},
    {.title = "under way", .keep = 5, .is_right = true},
    {.title = "next", .keep = 6, .is_right = true},
};

static void print_sources(const struct watch *w, const struct watch_plan *p,
                          const struct view_style *style, int64_t now_ns, struct buffer *to)
{
    struct view_table t;

    fb_view_table_init(&t, SOURCES, COLUMNS_OF(SOURCES));
    for (uint32_t i = 0; i < p->domain_count; i++) {
        struct watch_domain_view v;
        const char *word;

        fb_watch_domain(w, i, &v);
        enum view_state state = fb_say_source_state(&v, &word);
        fb_view_table_add(&t, v.name);
        fb_view_table_add(&t, fb_view_state_name(state));
        fb_view_table_add(&t, state == VIEW_ok ? "" : v.is_enabled ? word : "disabled");
        cell_count(&t, v.items);
        cell_count(&t, v.looks);
        cell_count(&t, v.ended[LOOK_SAME]);
        cell_count(&t, v.ended[LOOK_FAILED]);
        cell_span(&t, v.reliability.latency_ns);
        add_share(v.reliability.score, &t.text);
        fb_view_table_next(&t);
        cell_count(&t, v.in_flight);
        cell_when(&t, v.is_enabled ? fb_max64(v.ready_ns, now_ns) : FB_NEVER, now_ns);
    }
    fb_view_table_print(&t, style, true, to);
    fb_view_table_fini(&t);
}

static void print_work(const struct watch_figures *f, const struct watch_plan *p, struct buffer *to)
{
    fb_words_count(f->queued, to);
    fb_buffer_add_text(to, " of at most ");
    fb_words_count(p->queue_max, to);
    fb_buffer_add_text(to, " looks wait, ");
    fb_words_count(f->in_flight, to);
    fb_buffer_add_text(to, " of at most ");
    fb_words_count(p->concurrency, to);
    fb_buffer_add_text(to, " are under way; ");
    fb_words_count(f->deferred_lately, to);
    fb_buffer_add_text(to, " put off, ");
    fb_words_count(f->paused, to);
    fb_buffer_add_text(to, " items paused. ");
    if (isnan(fb_say_hit_rate(f))) {
        fb_buffer_add_text(to, "Nobody has asked for an item yet.\n");
        return;
    }
    fb_buffer_add_text(to, "Of what was asked for, ");
    add_share(fb_say_hit_rate(f), to);
    fb_buffer_add_text(to, " was fresh.\n");
}

static void print_warnings(const struct watch *w, const struct view_style *style, struct buffer *to)
{
    const struct watch_warning *g;
    size_t most = style->verbose ? SAY_WARNINGS : 5;

    for (size_t n = 0; n < most && (g = fb_watch_warning(w, n)) != NULL; n++) {
        fb_buffer_add_text(to, n == 0 ? "\nwarnings:\n  " : "  ");
        fb_words_clock(g->last_ns / FB_NS_PER_S + style->zone_s, to);
        fb_buffer_add_text(to, "  ");
        fb_buffer_add_text(to, g->text);
        if (g->count > 1) {
            fb_buffer_add_text(to, " (");
            fb_words_count(g->count, to);
            fb_buffer_add_text(to, " times)");
        }
        fb_buffer_add_char(to, '\n');
    }
}

static enum view_state grade_state(enum health grade)
{
    static const enum view_state STATES[HEALTHS] = {[HEALTH_healthy] = VIEW_ok,
                                                    [HEALTH_recovering] = VIEW_holding,
                                                    [HEALTH_degraded] = VIEW_warning,
                                                    [HEALTH_failing] = VIEW_critical};

    return STATES[grade];
}

static void print_grade(const struct watch_figures *f, const struct view_style *style,
                        int64_t now_ns, struct buffer *to)
{
    enum view_state state = grade_state(f->grade);

    fb_view_color_begin(state, style, to);
    fb_buffer_add_text(to, fb_view_state_shape(state, style->ascii));
    fb_buffer_add_char(to, ' ');
    fb_buffer_add_text(to, fb_health_name(f->grade));
    fb_view_color_end(style, to);
    fb_buffer_add_text(to, " for ");
    fb_words_span(fb_max64(now_ns - f->grade_since_ns, 0), to);
    if (f->grade_text && f->grade_text[0]) {
        fb_buffer_add_text(to, ": ");
        fb_buffer_add_text(to, f->grade_text);
    }
    fb_buffer_add_text(to, f->is_idle ? "; nothing is live\n\n" : "\n\n");
}

void fb_say_status_text(const struct watch *w, const struct view_style *style, int64_t now_ns,
                        struct buffer *to)
{
    const struct watch_plan *p = fb_watch_plan(w);
    struct watch_figures f;

    fb_watch_figures(w, &f);
    fb_watch_spreads(w, f.spread);
    print_grade(&f, style, now_ns, to);
    print_spreads(&f, p, style, to);
    fb_buffer_add_char(to, '\n');
    print_sources(w, p, style, now_ns, to);
    fb_buffer_add_char(to, '\n');
    print_work(&f, p, to);
    print_warnings(w, style, to);
}

/* ------------------------------------------------------------------------------------- items */

static const struct view_column ITEMS[] = {
    {.title = "item", .keep = 99},
    {.title = "state", .keep = 20},
    {.title = "age", .keep = 30, .is_right = true},
    {.title = "", .keep = 15},
    {.title = "version", .keep = 5, .is_right = true},
    {.title = "next", .keep = 8, .is_right = true},
    {.title = "what is known", .keep = 7},
};

/* "away 1, home 2, minute 63": as far as there is room for it. */
static void cell_fields(struct view_table *t, const struct watch *w, const struct watch_item *i,
                        size_t count)
{
    struct watch_field f;

    for (size_t n = 0; n < count; n++) {
        fb_watch_field(w, i, n, &f);
        fb_buffer_add_text(&t->text, n > 0 ? ", " : "");
        fb_buffer_add_text(&t->text, f.name);
        fb_buffer_add_char(&t->text, ' ');
        fb_buffer_add_text(&t->text, f.value);
    }
    fb_view_table_next(t);
}

static void row_of(struct view_table *t, const struct watch *w, const struct watch_item *i,
                   const struct watch_item_view *v, int64_t now_ns)
{
    fb_view_table_add(t, v->id);
    fb_view_table_add(t, fb_item_state_name(v->state));
    cell_span(t, v->age_ns);
    fb_view_table_add(t, v->paused_ns   ? "paused"
                         : !v->fresh_ns ? "not yet"
                         : v->is_stale  ? "stale"
                                        : "");
    cell_count(t, (int64_t)v->seq);
    cell_when(t, v->next_ns, now_ns);
    cell_fields(t, w, i, v->fields);
}

void fb_say_items_text(const struct watch *w, const struct say_which *which,
                       const struct view_style *style, int64_t now_ns, struct buffer *to)
{
    size_t count = fb_watch_count(w);
    size_t wanted = 0;
    size_t told = 0;
    struct watch_item_view v;
    struct view_table t;

    fb_view_table_init(&t, ITEMS, COLUMNS_OF(ITEMS));
    for (size_t n = 0; n < count; n++) {
        const struct watch_item *i = fb_watch_item_at(w, n);

        fb_watch_item(w, i, &v);
        if (!fb_say_is_wanted(which, &v) || wanted++ < which->skip || told >= which->most)
            continue;
        row_of(&t, w, i, &v, now_ns);
        told++;
    }
    if (told > 0)
        fb_view_table_print(&t, style, true, to);
    fb_view_table_fini(&t);
    if (told == 0)
        fb_buffer_add_text(to, "There are no such items.\n");
    else if (told < wanted) {
        fb_words_count((int64_t)(wanted - told), to);
        fb_buffer_add_text(to, " more\n");
    }
}
