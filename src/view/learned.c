/* SPDX-License-Identifier: MIT */
/* learned.c - a table of what was learned, and of when it changed. */
#include "view/learned.h"

#include <string.h>

#include "util/json.h"
#include "view/rows.h"
#include "view/table.h"
#include "view/words.h"

static const struct view_column COLUMNS[] = {
    {.title = "provider", .keep = 99},
    {.title = "pool", .keep = 8},
    {.title = "credential", .keep = 1},
    {.title = "limit", .keep = 99, .is_right = true},
    {.title = "confidence", .keep = 9, .is_right = true},
    {.title = "cut by", .keep = 4, .is_right = true},
    {.title = "refusals last", .keep = 5, .is_right = true},
    {.title = "by", .keep = 3},
    {.title = "changed", .keep = 6},
    {.title = "saved", .keep = 2},
};
enum { COLUMN_COUNT = sizeof COLUMNS / sizeof COLUMNS[0] };

static void add_percent(double share, struct buffer *to)
{
    fb_buffer_add_int(to, (int64_t)(share * 100.0 + 0.5));
    fb_buffer_add_text(to, " %");
}

static void add_ago(int64_t at_ns, int64_t now_ns, struct buffer *to)
{
    if (at_ns <= 0)
        return;
    fb_words_span(now_ns - at_ns, to);
    fb_buffer_add_text(to, " ago");
}

static void add_row(struct view_table *t, const struct view_learned_row *r, int64_t now_ns)
{
    fb_view_table_add(t, r->provider);
    fb_view_table_add(t, strcmp(r->pool, "default") == 0 ? "-" : r->pool);
    if (r->credential)
        fb_buffer_add(&t->text, r->credential, strnlen(r->credential, 4));
    fb_view_table_next(t);
    if (r->rate > 0.0) {
        fb_words_rate(r->rate, &t->text);
        fb_buffer_add_text(&t->text, "/s");
    } else {
        fb_buffer_add_char(&t->text, '-');
    }
    fb_view_table_next(t);
    add_percent(r->confidence, &t->text);
    fb_view_table_next(t);
    if (r->reduction > 0.0)
        add_percent(r->reduction, &t->text);
    fb_view_table_next(t);
    if (r->recovery_ns > 0)
        fb_view_add_short(r->recovery_ns, &t->text);
    else
        fb_buffer_add_char(&t->text, '-');
    fb_view_table_next(t);
    fb_view_table_add(t, r->by);
    add_ago(r->changed_ns, now_ns, &t->text);
    fb_view_table_next(t);
    add_ago(r->saved_ns, now_ns, &t->text);
    fb_view_table_next(t);
}

static const struct view_column EVENT_COLUMNS[] = {
    {.title = "when", .keep = 99}, {.title = "provider", .keep = 9}, {.title = "pool", .keep = 5},
    {.title = "what", .keep = 99}, {.title = "limit", .keep = 8},    {.title = "by", .keep = 4},
};
enum { EVENT_COLUMN_COUNT = sizeof EVENT_COLUMNS / sizeof EVENT_COLUMNS[0] };

static void add_event(struct view_table *t, const struct view_learned_event *e, int64_t now_ns)
{
    add_ago(e->at_ns, now_ns, &t->text);
    fb_view_table_next(t);
    fb_view_table_add(t, e->provider);
    fb_view_table_add(t, strcmp(e->pool, "default") == 0 ? "-" : e->pool);
    fb_view_table_add(t, e->kind);
    if (e->before > 0.0) {
        fb_words_rate(e->before, &t->text);
        fb_buffer_add_text(&t->text, " -> ");
    }
    fb_words_rate(e->after, &t->text);
    fb_buffer_add_text(&t->text, "/s");
    fb_view_table_next(t);
    fb_view_table_add(t, e->why);
}

void fb_view_learned_text(const struct view_learned *v, const struct view_style *style,
                          int64_t now_ns, struct buffer *to)
{
    struct view_table t;

    if (v->row_count == 0) {
        fb_buffer_add_text(to, v->after_demo ? VIEW_AFTER_DEMO
                                             : "Nothing has been learned yet. Try: flyball demo\n");
        return;
    }
    fb_view_table_init(&t, COLUMNS, COLUMN_COUNT);
    for (size_t i = 0; i < v->row_count; i++)
        add_row(&t, &v->row[i], now_ns);
    fb_view_table_print(&t, style, true, to);
    fb_view_table_fini(&t);
    if (!style->verbose || v->event_count == 0)
        return;
    fb_buffer_add_char(to, '\n');
    fb_view_table_init(&t, EVENT_COLUMNS, EVENT_COLUMN_COUNT);
    for (size_t i = 0; i < v->event_count; i++)
        add_event(&t, &v->event[i], now_ns);
    fb_view_table_print(&t, style, true, to);
    fb_view_table_fini(&t);
}

/* ------------------------------------------------------------------------------------- as JSON */

static void add_row_json(const struct view_learned_row *r, int64_t now_ns, struct buffer *to)
{
    fb_buffer_add_char(to, '{');
    fb_json_text(to, "provider", r->provider);
    fb_json_text(to, "host", r->host);
    fb_json_text(to, "pool", r->pool);
    if (r->credential && r->credential[0])
        fb_json_text(to, "credential", r->credential);
    if (r->by[0])
        fb_json_text(to, "by", r->by);
    fb_json_real(to, "limit_per_s", r->rate, 4);
    fb_json_real(to, "reduction", r->reduction, 4);
    fb_json_real(to, "confidence", r->confidence, 3);
    if (r->recovery_ns > 0)
        fb_words_json_span(to, "recovery_s", r->recovery_ns);
    else
        fb_json_text(to, "recovery_s", NULL);
    fb_words_json_instant(to, "changed", r->changed_ns, now_ns);
    fb_words_json_instant(to, "saved", r->saved_ns, now_ns);
    fb_buffer_add_char(to, '}');
}

static void add_event_json(const struct view_learned_event *e, int64_t now_ns, struct buffer *to)
{
    fb_buffer_add_char(to, '{');
    fb_words_json_instant(to, "at", e->at_ns, now_ns);
    fb_json_text(to, "provider", e->provider);
    fb_json_text(to, "pool", e->pool);
    fb_json_text(to, "kind", e->kind);
    fb_json_real(to, "before_per_s", e->before, 4);
    fb_json_real(to, "after_per_s", e->after, 4);
    fb_json_text(to, "why", e->why);
    fb_buffer_add_char(to, '}');
}

void fb_view_learned_json(const struct view_learned *v, int64_t now_ns, struct buffer *to)
{
    fb_view_json_begin("learned", now_ns, to);
    fb_json_name(to, "learned");
    fb_buffer_add_char(to, '[');
    for (size_t i = 0; i < v->row_count; i++) {
        fb_buffer_add_text(to, i > 0 ? "," : "");
        add_row_json(&v->row[i], now_ns, to);
    }
    fb_buffer_add_char(to, ']');
    fb_json_name(to, "events");
    fb_buffer_add_char(to, '[');
    for (size_t i = 0; i < v->event_count; i++) {
        fb_buffer_add_text(to, i > 0 ? "," : "");
        add_event_json(&v->event[i], now_ns, to);
    }
    fb_buffer_add_text(to, "]}\n");
}
