/* SPDX-License-Identifier: MIT */
/* deferred.c - a table of what was put off. */
#include "view/deferred.h"

#include "util/json.h"
#include "view/table.h"
#include "view/words.h"

#define NS_PER_S INT64_C(1000000000)

static const struct view_column COLUMNS[] = {
    {.title = "not before", .keep = 99}, {.title = "from now", .keep = 7},
    {.title = "item", .keep = 9},        {.title = "where", .keep = 8},
    {.title = "why", .keep = 6},         {.title = "list", .keep = 5},
};
enum { COLUMN_COUNT = sizeof COLUMNS / sizeof COLUMNS[0] };

static void add_times(struct view_table *t, int64_t at_s, int64_t zone_s, int64_t now_ns)
{
    int64_t span_ns = at_s * NS_PER_S - now_ns;

    if (at_s > 0)
        fb_words_moment(at_s * NS_PER_S, now_ns, zone_s, &t->text);
    else
        fb_buffer_add_text(&t->text, "not known");
    fb_view_table_next(t);
    if (at_s > 0 && span_ns <= 0) {
        fb_buffer_add_text(&t->text, "now");
    } else if (at_s > 0) {
        fb_buffer_add_text(&t->text, "in ");
        fb_words_span(span_ns, &t->text);
    }
    fb_view_table_next(t);
}

void fb_view_deferred_text(const struct view_deferred *v, const struct view_style *style,
                           int64_t now_ns, struct buffer *to)
{
    struct view_table t;

    if (v->row_count == 0) {
        fb_buffer_add_text(to, "nothing is deferred\n");
        return;
    }
    fb_view_table_init(&t, COLUMNS, COLUMN_COUNT);
    for (size_t i = 0; i < v->row_count; i++) {
        add_times(&t, v->row[i].not_before_s, style->zone_s, now_ns);
        fb_view_table_add(&t, v->row[i].id);
        fb_view_table_add(&t, v->row[i].place);
        fb_view_table_add(&t, v->row[i].reason);
        fb_view_table_add(&t, v->row[i].list);
    }
    fb_view_table_print(&t, style, true, to);
    fb_view_table_fini(&t);
}

void fb_view_deferred_json(const struct view_deferred *v, int64_t now_ns, struct buffer *to)
{
    fb_view_json_begin("deferred", now_ns, to);
    fb_json_name(to, "deferred");
    fb_buffer_add_char(to, '[');
    for (size_t i = 0; i < v->row_count; i++) {
        const struct view_deferred_row *r = &v->row[i];

        fb_buffer_add_text(to, i > 0 ? ",{" : "{");
        fb_json_text(to, "id", r->id);
        fb_json_int(to, "item", (int64_t)r->item);
        fb_json_text(to, "place", r->place);
        fb_json_text(to, "reason", r->reason);
        fb_words_json_instant(to, "not_before", r->not_before_s * NS_PER_S, now_ns);
        fb_json_int(to, "not_before_s", r->not_before_s);
        fb_json_int(to, "made_s", r->made_s);
        fb_json_text(to, "list", r->list);
        fb_json_text(to, "output", r->output);
        fb_buffer_add_char(to, '}');
    }
    fb_buffer_add_text(to, "]}\n");
}
