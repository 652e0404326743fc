/* SPDX-License-Identifier: MIT */
/* say_json.c - items, their history and what happens to them, as JSON. */
#include <string.h>

#include "core/instant.h"
#include "util/json.h"
#include "view/words.h"
#include "watch/say.h"
#include "watch/say_parts.h"

/* "name":"value" of a name that may need escapes. */
static void add_pair(struct buffer *to, const char *name, const char *value)
{
    char last = to->size > 0 ? to->bytes[to->size - 1] : '{';

    if (last != '{')
        fb_buffer_add_char(to, ',');
    fb_json_add_string(to, name, strlen(name));
    fb_buffer_add_char(to, ':');
    if (value)
        fb_json_add_string(to, value, strlen(value));
    else
        fb_buffer_add_text(to, "null");
}

static void add_snapshot(struct buffer *to, const char *name, const struct snapshot *s)
{
    fb_json_name(to, name);
    fb_buffer_add_char(to, '{');
    for (size_t i = 0; i < s->count; i++)
        add_pair(to, s->field[i].name, s->field[i].value);
    fb_buffer_add_char(to, '}');
}

static void add_changes(struct buffer *to, const struct delta_change *change, size_t count)
{
    fb_json_name(to, "changes");
    fb_buffer_add_char(to, '{');
    for (size_t i = 0; i < count; i++)
        add_pair(to, change[i].name, change[i].value);
    fb_buffer_add_char(to, '}');
}

static const char *domain_name(const struct watch *w, uint32_t domain)
{
    struct watch_domain_view v;

    fb_watch_domain(w, domain, &v);
    return v.name;
}

/* ------------------------------------------------------------------------------------ an item */

void fb_say_age_members(const struct watch_item_view *v, int64_t now_ns, struct buffer *to)
{
    fb_json_text(to, "id", v->id);
    fb_json_text(to, "state", fb_item_state_name(v->state));
    fb_json_int(to, "seq", (int64_t)v->seq);
    fb_words_json_latency(to, "age_s", v->age_ns);
    fb_json_bool(to, "stale", v->is_stale);
    fb_words_json_instant(to, "fresh", v->fresh_ns, now_ns);
    if (v->next_ns != FB_NEVER)
        fb_words_json_end(to, "next", v->next_ns, now_ns);
    fb_json_text(to, "why", fb_watch_why_name(v->why));
    if (v->paused_ns)
        fb_words_json_end(to, "paused_until", v->paused_ns, now_ns);
    fb_json_int(to, "failures", v->failures);
}

static void add_fields(const struct watch *w, const struct watch_item *i, size_t count,
                       struct buffer *to)
{
    struct watch_field f;

    fb_json_name(to, "fields");
    fb_buffer_add_char(to, '{');
    for (size_t n = 0; n < count; n++) {
        fb_watch_field(w, i, n, &f);
        add_pair(to, f.name, f.value);
    }
    fb_buffer_add_char(to, '}');
}

void fb_say_provenance(const struct watch *w, const struct watch_item *i, size_t count,
                       struct buffer *to)
{
    struct watch_field f;

    fb_json_name(to, "provenance");
    fb_buffer_add_char(to, '{');
    for (size_t n = 0; n < count; n++) {
        fb_watch_field(w, i, n, &f);
        add_pair(to, f.name, domain_name(w, f.domain));
    }
    fb_buffer_add_char(to, '}');
}

static void add_names(const struct watch *w, const char *name, uint32_t domains, struct buffer *to)
{
    bool has_one = false;

    fb_json_name(to, name);
    fb_buffer_add_char(to, '[');
    for (uint32_t d = 0; d < WATCH_DOMAINS_MAX; d++) {
        if (!(domains >> d & 1))
            continue;
        const char *text = domain_name(w, d);

        if (has_one)
            fb_buffer_add_char(to, ',');
        has_one = true;
        fb_json_add_string(to, text, strlen(text));
    }
    fb_buffer_add_char(to, ']');
}

/* Who says otherwise, and what. */
static void add_others(const struct watch *w, const struct watch_item *i,
                       const struct watch_field *f, struct buffer *to)
{
    fb_json_name(to, "disagree");
    fb_buffer_add_char(to, '{');
    for (uint32_t d = 0; d < WATCH_DOMAINS_MAX; d++)
        if (f->disagree >> d & 1)
            add_pair(to, domain_name(w, d), fb_watch_says(w, i, d, f->name));
    fb_buffer_add_char(to, '}');
}

static void add_provenance(const struct watch *w, const struct watch_item *i, size_t count,
                           int64_t now_ns, struct buffer *to)
{
    struct watch_field f;

    fb_json_name(to, "provenance");
    fb_buffer_add_char(to, '{');
    for (size_t n = 0; n < count; n++) {
        fb_watch_field(w, i, n, &f);
        if (n > 0)
            fb_buffer_add_char(to, ',');
        fb_json_add_string(to, f.name, strlen(f.name));
        fb_buffer_add_text(to, ":{");
        fb_json_text(to, "source", domain_name(w, f.domain));
        fb_words_json_instant(to, "asked", f.fresh_ns, now_ns);
        add_names(w, "agree", f.agree, to);
        add_others(w, i, &f, to);
        fb_buffer_add_char(to, '}');
    }
    fb_buffer_add_char(to, '}');
}

static void add_link(const struct watch *w, const struct watch_item *i, size_t n, int64_t now_ns,
                     struct buffer *to)
{
    struct watch_link_view l;

    fb_watch_link(w, i, n, &l);
    fb_buffer_add_text(to, n > 0 ? ",{" : "{");
    fb_json_text(to, "source", domain_name(w, l.domain));
    fb_json_text(to, "source_id", l.domain_id);
    fb_words_json_instant(to, "fresh", l.fresh_ns, now_ns);
    fb_words_json_instant(to, "static", l.static_ns, now_ns);
    fb_json_bool(to, "stale", l.is_stale);
    fb_json_bool(to, "in_flight", l.in_flight);
    if (l.next_ns != FB_NEVER)
        fb_words_json_end(to, "next", l.next_ns, now_ns);
    fb_json_text(to, "why", fb_watch_why_name(l.why));
    fb_json_int(to, "failures", l.failures);
    if (l.failure != FAIL_NONE)
        fb_json_text(to, "failure", fb_failure_name(l.failure));
    fb_words_json_instant(to, "failed", l.failure_ns, now_ns);
    fb_words_json_end(to, "absent_until", l.absent_ns, now_ns);
    fb_words_json_instant(to, "odd_since", l.odd_ns, now_ns);
    fb_buffer_add_char(to, '}');
}

static void add_links(const struct watch *w, const struct watch_item *i, size_t count,
                      int64_t now_ns, struct buffer *to)
{
    fb_json_name(to, "sources");
    fb_buffer_add_char(to, '[');
    for (size_t n = 0; n < count; n++)
        add_link(w, i, n, now_ns, to);
    fb_buffer_add_char(to, ']');
}

void fb_say_item_json(const struct watch *w, const struct watch_item *i, const char *event,
                      int64_t now_ns, struct buffer *to)
{
    struct watch_item_view v;

    fb_watch_item(w, i, &v);
    fb_view_json_begin("item", now_ns, to);
    if (event)
        fb_json_text(to, "event", event);
    fb_say_age_members(&v, now_ns, to);
    fb_json_text(to, "why_text", fb_watch_why_says(v.why));
    if (v.next_domain >= 0)
        fb_json_text(to, "next_source", domain_name(w, (uint32_t)v.next_domain));
    fb_words_json_instant(to, "known", v.known_ns, now_ns);
    fb_words_json_instant(to, "state_since", v.state_ns, now_ns);
    add_fields(w, i, v.fields, to);
    add_provenance(w, i, v.fields, now_ns, to);
    add_links(w, i, v.links, now_ns, to);
    fb_json_int(to, "kept", (int64_t)v.kept);
    fb_buffer_add_text(to, "}\n");
}

/* -------------------------------------------------------------------------------- all of them */

bool fb_say_is_wanted(const struct say_which *which, const struct watch_item_view *v)
{
    return (which->state == ITEM_STATES || which->state == v->state) &&
           (!which->stale || v->is_stale);
}

void fb_say_items_json(const struct watch *w, const struct say_which *which, const char *event,
                       int64_t now_ns, struct buffer *to)
{
    size_t count = fb_watch_count(w);
    size_t wanted = 0;
    size_t told = 0;
    struct watch_item_view v;

    fb_view_json_begin("items", now_ns, to);
    if (event)
        fb_json_text(to, "event", event);
    fb_json_name(to, "items");
    fb_buffer_add_char(to, '[');
    for (size_t n = 0; n < count; n++) {
        const struct watch_item *i = fb_watch_item_at(w, n);

        fb_watch_item(w, i, &v);
        if (!fb_say_is_wanted(which, &v) || wanted++ < which->skip || told >= which->most)
            continue;
        fb_buffer_add_text(to, told++ > 0 ? ",{" : "{");
        fb_say_age_members(&v, now_ns, to);
        if (!which->bare)
            add_fields(w, i, v.fields, to);
        fb_buffer_add_char(to, '}');
    }
    fb_buffer_add_char(to, ']');
    fb_json_int(to, "total", (int64_t)wanted);
    fb_json_int(to, "skipped", (int64_t)which->skip);
    fb_buffer_add_text(to, "}\n");
}

/* ------------------------------------------------------------------------- versions and deltas */

void fb_say_delta_json(struct watch *w, const struct watch_item *i, uint64_t since, int64_t now_ns,
                       struct buffer *to)
{
    static const char *const NEEDS[] = {
        [DELTA_NOTHING] = "nothing", [DELTA_CHANGES] = "changes", [DELTA_WHOLE] = "whole"};
    struct watch_item_view v;
    struct watch_delta d;

    fb_watch_item(w, i, &v);
    fb_watch_delta(w, i, since, &d);
    fb_view_json_begin("delta", now_ns, to);
    fb_say_age_members(&v, now_ns, to);
    fb_json_text(to, "need", NEEDS[d.need]);
    fb_json_int(to, "from", d.need == DELTA_WHOLE ? 0 : (int64_t)d.from);
    fb_json_int(to, "to", (int64_t)d.to);
    add_changes(to, d.change, d.count);
    fb_buffer_add_text(to, "}\n");
}

void fb_say_history_json(const struct watch *w, const struct watch_item *i, int64_t now_ns,
                         struct buffer *to)
{
    struct watch_item_view v;
    struct watch_version version;

    fb_watch_item(w, i, &v);
    fb_view_json_begin("history", now_ns, to);
    fb_say_age_members(&v, now_ns, to);
    fb_json_name(to, "versions");
    fb_buffer_add_char(to, '[');
    for (size_t n = 0; n < v.kept; n++) {
        fb_watch_version(w, i, n, &version);
        fb_buffer_add_text(to, n > 0 ? ",{" : "{");
        fb_json_int(to, "seq", (int64_t)version.seq);
        fb_words_json_instant(to, "at", version.at_ns, now_ns);
        add_snapshot(to, "fields", &version.says);
        fb_buffer_add_char(to, '}');
    }
    fb_buffer_add_text(to, "]}\n");
}

/* --------------------------------------------------------------------------------- an event */

static void add_text(struct buffer *to, const char *name, const char *text)
{
    if (text && text[0])
        fb_json_text(to, name, text);
}

static void add_event(const struct watch *w, const struct watch_event *e, struct buffer *to)
{
    const struct watch_item *i = e->id[0] ? fb_watch_find(w, e->id) : NULL;
    struct watch_item_view v;

    fb_words_json_instant(to, "at", e->at_ns, e->at_ns);
    add_text(to, "id", e->id);
    if (i) {
        fb_watch_item(w, i, &v);
        fb_json_text(to, "state", fb_item_state_name(v.state));
    }
    if (e->seq)
        fb_json_int(to, "seq", (int64_t)e->seq);
    add_text(to, "source", e->domain);
    add_text(to, "trigger", e->trigger);
    add_text(to, "outcome", e->outcome);
    if (e->attempt)
        fb_json_int(to, "attempt", e->attempt);
    if (e->count)
        fb_json_int(to, "count", e->count);
    fb_words_json_end(to, "until", e->until_ns, e->at_ns);
    if (e->took_ns)
        fb_words_json_latency(to, "took_s", e->took_ns);
    if (e->kind != WATCH_CHANGED) /* which says it all */
        add_text(to, "text", e->text);
}

static void add_figures(const struct watch *w, struct buffer *to)
{
    struct watch_figures f;

    fb_watch_figures(w, &f);
    fb_json_text(to, "grade", fb_health_name(f.grade));
    fb_say_spreads(&f, to);
    fb_json_int(to, "queued", f.queued);
    fb_json_int(to, "in_flight", f.in_flight);
    fb_json_int(to, "deferred", f.deferred_lately);
    fb_json_int(to, "paused", f.paused);
}

void fb_say_event_json(const struct watch *w, const struct watch_event *e, size_t most,
                       struct buffer *to)
{
    size_t begin = to->size;

    fb_buffer_add_char(to, '{');
    add_event(w, e, to);
    if (e->kind == WATCH_INTERVAL)
        add_figures(w, to);
    size_t before = to->size;
    if (e->kind == WATCH_CHANGED)
        add_changes(to, e->change, e->change_count);
    if (!to->failed && to->size - begin >= most) {
        to->size = before;
        fb_json_bool(to, "whole", true);
    }
    fb_buffer_add_char(to, '}');
}
