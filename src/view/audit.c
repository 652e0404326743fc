/* SPDX-License-Identifier: MIT */
/* audit.c - a line for each event. */
#include "view/audit.h"

#include <string.h>

#include "util/json.h"
#include "view/table.h"
#include "view/words.h"

static const struct view_column COLUMNS[] = {
    {.title = "time", .keep = 99}, {.title = "key", .keep = 9},     {.title = "event", .keep = 99},
    {.title = "cause", .keep = 5}, {.title = "outcome", .keep = 4}, {.title = "", .keep = 8},
};
enum { COLUMN_COUNT = sizeof COLUMNS / sizeof COLUMNS[0] };

static const char *or_none(const char *text)
{
    return text ? text : "";
}

static void add_key(const struct view_audit_event *e, struct buffer *to)
{
    fb_buffer_add_text(to, or_none(e->provider));
    if (!e->pool || !e->pool[0] || strcmp(e->pool, "default") == 0)
        return;
    fb_buffer_add_char(to, '/');
    fb_buffer_add_text(to, e->pool);
}

void fb_view_audit_text(const struct view_audit *v, const struct view_style *style, int64_t now_ns,
                        struct buffer *to)
{
    struct view_table t;

    if (v->event_count == 0)
        fb_buffer_add_text(to, "Nothing has happened yet.\n");
    fb_view_table_init(&t, COLUMNS, COLUMN_COUNT);
    for (size_t i = 0; i < v->event_count; i++) {
        const struct view_audit_event *e = &v->event[i];

        fb_words_moment(e->at_ns, now_ns, style->zone_s, &t.text);
        fb_view_table_next(&t);
        add_key(e, &t.text);
        fb_view_table_next(&t);
        fb_view_table_add(&t, or_none(e->kind));
        fb_view_table_add(&t, or_none(e->cause));
        fb_view_table_add(&t, or_none(e->outcome));
        fb_view_table_add(&t, or_none(e->text));
    }
    fb_view_table_print(&t, style, true, to);
    fb_view_table_fini(&t);
}

void fb_view_audit_json(const struct view_audit *v, int64_t now_ns, struct buffer *to)
{
    fb_view_json_begin("audit", now_ns, to);
    fb_json_int(to, "lost", (int64_t)v->lost);
    fb_json_name(to, "events");
    fb_buffer_add_char(to, '[');
    for (size_t i = 0; i < v->event_count; i++) {
        const struct view_audit_event *e = &v->event[i];

        fb_buffer_add_text(to, i > 0 ? ",{" : "{");
        fb_words_json_instant(to, "at", e->at_ns, now_ns);
        fb_json_text(to, "provider", e->provider);
        fb_json_text(to, "pool", e->pool);
        fb_json_text(to, "kind", or_none(e->kind));
        fb_json_text(to, "cause", or_none(e->cause));
        fb_json_text(to, "item", e->item && e->item[0] ? e->item : NULL);
        fb_json_text(to, "outcome", or_none(e->outcome));
        if (e->until_ns > 0)
            fb_words_json_end(to, "until", e->until_ns, now_ns);
        if (e->took_ns > 0)
            fb_json_real(to, "took_s", (double)e->took_ns / 1e9, 3);
        fb_json_text(to, "text", or_none(e->text));
        fb_buffer_add_char(to, '}');
    }
    fb_buffer_add_text(to, "]}\n");
}
