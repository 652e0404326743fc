/* SPDX-License-Identifier: MIT */
/* say_item.c - one item for people: what is known, who says so, what was before, what is next. */
#include <string.h>

#include "core/instant.h"
#include "view/rows.h"
#include "view/table.h"
#include "view/words.h"
#include "watch/say.h"
#include "watch/say_parts.h"

#define COLUMNS_OF(table) (sizeof(table) / sizeof((table)[0]))

static const char *domain_name(const struct watch *w, uint32_t domain)
{
    struct watch_domain_view v;

    fb_watch_domain(w, domain, &v);
    return v.name;
}

static void add_age(int64_t at_ns, int64_t now_ns, struct buffer *to)
{
    if (at_ns == 0)
        fb_buffer_add_char(to, '-');
    else
        fb_view_add_short(fb_max64(now_ns - at_ns, 0), to);
}

static void print_head(const struct watch_item_view *v, const struct view_style *style,
                       int64_t now_ns, struct buffer *to)
{
    fb_buffer_add_text(to, v->id);
    fb_buffer_add_text(to, ": ");
    fb_buffer_add_text(to, fb_item_state_name(v->state));
    fb_buffer_add_text(to, ", version ");
    fb_buffer_add_int(to, (int64_t)v->seq);
    if (v->fresh_ns) {
        fb_buffer_add_text(to, ", ");
        fb_view_add_short(v->age_ns, to);
        fb_buffer_add_text(to, v->is_stale ? " old (stale)" : " old");
    } else {
        fb_buffer_add_text(to, ", never seen");
    }
    if (v->paused_ns) {
        fb_buffer_add_text(to, "; paused, ");
        fb_words_when(v->paused_ns, now_ns, style->zone_s, to);
    }
    fb_buffer_add_char(to, '\n');
}

/* ---- fields ---- */

static const struct view_column FIELDS[] = {
    {.title = "field", .keep = 99}, {.title = "value", .keep = 99},
    {.title = "from", .keep = 9},   {.title = "asked", .keep = 6, .is_right = true},
    {.title = "others", .keep = 5},
};

/* "arena says the same; ticker says 3" */
static void cell_others(struct view_table *t, const struct watch *w, const struct watch_item *i,
                        const struct watch_field *f)
{
    uint32_t same = f->agree & ~(UINT32_C(1) << f->domain);
    bool has_one = false;

    for (uint32_t d = 0; d < WATCH_DOMAINS_MAX; d++) {
        if (!((same | f->disagree) >> d & 1))
            continue;
        const char *says = same >> d & 1 ? "the same" : fb_watch_says(w, i, d, f->name);

        fb_buffer_add_text(&t->text, has_one ? "; " : "");
        has_one = true;
        fb_buffer_add_text(&t->text, domain_name(w, d));
        fb_buffer_add_text(&t->text, " says ");
        fb_buffer_add_text(&t->text, says ? says : "nothing");
    }
    fb_view_table_next(t);
}

static void print_fields(const struct watch *w, const struct watch_item *i, size_t count,
                         const struct view_style *style, int64_t now_ns, struct buffer *to)
{
    struct view_table t;

    fb_view_table_init(&t, FIELDS, COLUMNS_OF(FIELDS));
    for (size_t n = 0; n < count; n++) {
        struct watch_field f;

        fb_watch_field(w, i, n, &f);
        fb_view_table_add(&t, f.name);
        fb_view_table_add(&t, f.value);
        fb_view_table_add(&t, domain_name(w, f.domain));
        add_age(f.fresh_ns, now_ns, &t.text);
        fb_buffer_add_text(&t.text, " ago");
        fb_view_table_next(&t);
        cell_others(&t, w, i, &f);
    }
    fb_buffer_add_char(to, '\n');
    fb_view_table_print(&t, style, true, to);
    fb_view_table_fini(&t);
}

/* ---- sources ---- */

static const struct view_column LINKS[] = {
    {.title = "source", .keep = 99},
    {.title = "calls it", .keep = 9},
    {.title = "said", .keep = 10, .is_right = true},
    {.title = "failed", .keep = 7},
    {.title = "next", .keep = 8, .is_right = true},
    {.title = "why", .keep = 6},
};

static void row_of(struct view_table *t, const struct watch *w, const struct watch_link_view *l,
                   int64_t now_ns)
{
    fb_view_table_add(t, domain_name(w, l->domain));
    fb_view_table_add(t, l->domain_id);
    add_age(l->fresh_ns ? l->fresh_ns : l->static_ns, now_ns, &t->text);
    fb_view_table_next(t);
    fb_view_table_add(t, l->failure == FAIL_NONE ? "" : fb_failure_name(l->failure));
    if (l->next_ns == FB_NEVER || l->next_ns <= now_ns) {
        fb_buffer_add_text(&t->text, l->next_ns == FB_NEVER ? "-" : "now");
    } else {
        fb_buffer_add_text(&t->text, "in ");
        fb_view_add_short(l->next_ns - now_ns, &t->text);
    }
    fb_view_table_next(t);
    fb_view_table_add(t, fb_watch_why_says(l->why));
}

static void print_links(const struct watch *w, const struct watch_item *i, size_t count,
                        const struct view_style *style, int64_t now_ns, struct buffer *to)
{
    struct view_table t;

    fb_view_table_init(&t, LINKS, COLUMNS_OF(LINKS));
    for (size_t n = 0; n < count; n++) {
        struct watch_link_view l;

        fb_watch_link(w, i, n, &l);
        row_of(&t, w, &l, now_ns);
    }
    fb_buffer_add_char(to, '\n');
    fb_view_table_print(&t, style, true, to);
    fb_view_table_fini(&t);
}

/* ---- versions ---- */

/* What a version changed of the one before it: "minute 62 to 63". */
static void print_change(const struct watch_version *before, const struct watch_version *v,
                         struct buffer *to)
{
    bool has_one = false;

    for (size_t n = 0; n < v->says.count; n++) {
        const char *name = v->says.field[n].name;
        const char *old = fb_snapshot_find(&before->says, name);
        const char *value = v->says.field[n].value;

        if (old && strcmp(old, value) == 0)
            continue;
        fb_buffer_add_text(to, has_one ? ", " : "  ");
        has_one = true;
        fb_buffer_add_text(to, name);
        fb_buffer_add_char(to, ' ');
        if (old) {
            fb_buffer_add_text(to, old);
            fb_buffer_add_text(to, " to ");
        }
        fb_buffer_add_text(to, value);
    }
}

static void print_versions(const struct watch *w, const struct watch_item *i, size_t kept,
                           const struct view_style *style, struct buffer *to)
{
    struct watch_version v;
    struct watch_version before;

    if (kept > 1)
        fb_buffer_add_text(to, "\nversions:\n");
    for (size_t n = 0; n + 1 < kept; n++) {
        fb_watch_version(w, i, n, &v);
        fb_watch_version(w, i, n + 1, &before);
        fb_buffer_add_text(to, "  ");
        fb_buffer_add_int(to, (int64_t)v.seq);
        fb_buffer_add_text(to, "  ");
        fb_words_clock(v.at_ns / FB_NS_PER_S + style->zone_s, to);
        print_change(&before, &v, to);
        fb_buffer_add_char(to, '\n');
    }
}

/* ---- what is next ---- */

static void print_next(const struct watch *w, const struct watch_item_view *v,
                       const struct view_style *style, int64_t now_ns, struct buffer *to)
{
    fb_buffer_add_text(to, "\nnext: ");
    if (v->next_ns == FB_NEVER)
        fb_buffer_add_text(to, "never");
    else if (v->next_ns <= now_ns)
        fb_buffer_add_text(to, "now");
    else
        fb_words_when(v->next_ns, now_ns, style->zone_s, to);
    if (v->next_domain >= 0) {
        fb_buffer_add_text(to, " at ");
        fb_buffer_add_text(to, domain_name(w, (uint32_t)v->next_domain));
    }
    fb_buffer_add_text(to, ": ");
    fb_buffer_add_text(to, fb_watch_why_says(v->why));
    fb_buffer_add_char(to, '\n');
}

void fb_say_item_text(const struct watch *w, const struct watch_item *i,
                      const struct view_style *style, int64_t now_ns, struct buffer *to)
{
    struct watch_item_view v;

    fb_watch_item(w, i, &v);
    print_head(&v, style, now_ns, to);
    if (v.fields > 0)
        print_fields(w, i, v.fields, style, now_ns, to);
    if (v.links > 0)
        print_links(w, i, v.links, style, now_ns, to);
    print_versions(w, i, v.kept, style, to);
    print_next(w, &v, style, now_ns, to);
}
