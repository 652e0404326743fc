/* SPDX-License-Identifier: MIT */
/* say_status.c - how fresh all of it is, who is asked, and what is wrong, as JSON. */
#include <math.h>
#include <string.h>

#include "core/instant.h"
#include "util/json.h"
#include "view/words.h"
#include "watch/say.h"
#include "watch/say_parts.h"

void fb_say_spreads(const struct watch_figures *f, struct buffer *to)
{
    fb_json_name(to, "freshness");
    fb_buffer_add_char(to, '{');
    for (int state = 0; state < ITEM_STATES; state++) {
        const struct freshness_spread *s = &f->spread[state];

        fb_json_name(to, fb_item_state_name((enum item_state)state));
        fb_buffer_add_char(to, '{');
        fb_json_int(to, "items", f->items[state]);
        fb_json_int(to, "counted", (int64_t)s->count);
        fb_words_json_latency(to, "p50_s", s->p50_ns);
        fb_words_json_latency(to, "p95_s", s->p95_ns);
        fb_words_json_latency(to, "oldest_s", s->oldest_ns);
        fb_buffer_add_char(to, '}');
    }
    fb_buffer_add_char(to, '}');
}

/* Of nothing there is no share: NAN. */
static double share(int64_t hits, int64_t all)
{
    return all > 0 ? (double)hits / (double)all : (double)NAN;
}

double fb_say_hit_rate(const struct watch_figures *f)
{
    int64_t hits = 0;
    int64_t all = 0;

    for (int state = 0; state < ITEM_STATES; state++) {
        hits += f->hits[state];
        all += f->hits[state] + f->misses[state];
    }
    return share(hits, all);
}

double fb_say_hit_rate_of(const struct watch_figures *f, enum item_state state)
{
    return share(f->hits[state], f->hits[state] + f->misses[state]);
}

static double failure_rate(const int64_t *ended)
{
    int64_t all = ended[LOOK_OK] + ended[LOOK_SAME] + ended[LOOK_ABSENT] + ended[LOOK_FAILED];

    return all > 0 ? (double)ended[LOOK_FAILED] / (double)all : 0.0;
}

static void add_ends(const int64_t *ended, struct buffer *to)
{
    fb_json_int(to, "ok", ended[LOOK_OK]);
    fb_json_int(to, "same", ended[LOOK_SAME]);
    fb_json_int(to, "absent", ended[LOOK_ABSENT]);
    fb_json_int(to, "failed", ended[LOOK_FAILED]);
    fb_json_real(to, "failure_ratio", failure_rate(ended), 4);
}

static void add_work(const struct watch_figures *f, const struct watch_plan *p, struct buffer *to)
{
    fb_json_name(to, "queue");
    fb_buffer_add_char(to, '{');
    fb_json_int(to, "length", f->queued);
    for (int state = 0; state < ITEM_STATES; state++)
        fb_json_int(to, fb_item_state_name((enum item_state)state), f->queued_by[state]);
    fb_json_int(to, "most", f->queued_most);
    fb_json_int(to, "max", p->queue_max);
    fb_json_int(to, "deferred", f->deferred);
    fb_json_int(to, "deferred_lately", f->deferred_lately);
    fb_json_int(to, "active", f->in_flight);
    fb_json_int(to, "active_most", f->in_flight_most);
    fb_json_int(to, "active_max", p->concurrency);
    fb_json_int(to, "violations", f->violations);
    fb_buffer_add_char(to, '}');
    fb_json_name(to, "looks");
    fb_buffer_add_char(to, '{');
    fb_json_int(to, "begun", f->looks);
    add_ends(f->ended, to);
    fb_json_int(to, "retries", f->retries);
    fb_json_int(to, "given_up", f->given_up);
    fb_json_int(to, "free", f->was_free);
    fb_json_int(to, "changes", f->changes);
    fb_buffer_add_char(to, '}');
}

static void add_cache(const struct watch_figures *f, struct buffer *to)
{
    fb_json_name(to, "cache");
    fb_buffer_add_char(to, '{');
    for (int state = 0; state < ITEM_STATES; state++) {
        fb_json_name(to, fb_item_state_name((enum item_state)state));
        fb_buffer_add_char(to, '{');
        fb_json_int(to, "hits", f->hits[state]);
        fb_json_int(to, "misses", f->misses[state]);
        fb_json_real(to, "hit_ratio", fb_say_hit_rate_of(f, (enum item_state)state), 4);
        fb_buffer_add_char(to, '}');
    }
    fb_json_int(to, "unknown", f->misses_unknown);
    fb_json_real(to, "hit_ratio", fb_say_hit_rate(f), 4);
    fb_buffer_add_char(to, '}');
}

/* ------------------------------------------------------------------------------------ sources */

enum view_state fb_say_source_state(const struct watch_domain_view *v, const char **ret_word)
{
    static const struct {
        enum view_state state;
        const char *word;
    } ROWS[] = {
        {VIEW_idle, "off"}, {VIEW_critical, "down"}, {VIEW_warning, "demoted"}, {VIEW_ok, "ok"}};
    int row = !v->is_enabled ? 0 : v->is_down ? 1 : v->is_demoted ? 2 : 3;

    *ret_word = ROWS[row].word;
    return ROWS[row].state;
}

static void add_failures(const struct watch_domain_view *v, int64_t now_ns, struct buffer *to)
{
    fb_json_name(to, "failures");
    fb_buffer_add_char(to, '{');
    for (int kind = 0; kind < FAIL_KINDS; kind++)
        if (v->failed[kind] > 0)
            fb_json_int(to, fb_failure_name((enum failure)kind), v->failed[kind]);
    fb_buffer_add_char(to, '}');
    fb_json_int(to, "failures_in_a_row", v->failures);
    fb_words_json_instant(to, "succeeded", v->success_ns, now_ns);
    fb_words_json_instant(to, "failed_at", v->failure_ns, now_ns);
}

static void add_source(const struct watch *w, uint32_t index, int64_t now_ns, struct buffer *to)
{
    struct watch_domain_view v;
    const char *word;

    fb_watch_domain(w, index, &v);
    (void)fb_say_source_state(&v, &word);
    fb_buffer_add_text(to, index > 0 ? ",{" : "{");
    fb_json_text(to, "source", v.name);
    fb_json_text(to, "state", word);
    fb_json_bool(to, "enabled", v.is_enabled);
    fb_json_bool(to, "demoted", v.is_demoted);
    fb_json_bool(to, "down", v.is_down);
    fb_json_real(to, "weight", v.weight, 3);
    fb_json_real(to, "reliability", v.reliability.score, 4);
    fb_json_real(to, "precedence", v.rank, 4);
    fb_json_real(to, "failure_rate", v.reliability.failure_rate, 4);
    fb_words_json_latency(to, "latency_s", v.reliability.latency_ns);
    fb_json_int(to, "concurrency", v.concurrency);
    fb_json_int(to, "active", v.in_flight);
    fb_json_int(to, "queued", v.queued);
    fb_json_int(to, "items", v.items);
    fb_json_int(to, "unmapped", v.unmapped);
    fb_json_int(to, "looks", v.looks);
    add_ends(v.ended, to);
    add_failures(&v, now_ns, to);
    fb_json_int(to, "retries", v.retries);
    fb_json_int(to, "free", v.was_free);
    fb_json_int(to, "killed", v.was_killed);
    fb_json_int(to, "waits", v.waits);
    fb_json_int(to, "fields", v.wins);
    fb_json_int(to, "odd", v.odd);
    fb_json_int(to, "warnings", v.warnings);
    if (v.ready_ns > now_ns && v.ready_ns != FB_NEVER)
        fb_words_json_end(to, "ready", v.ready_ns, now_ns);
    fb_buffer_add_char(to, '}');
}

/* ----------------------------------------------------------------------- warnings and settings */

static void add_warnings(const struct watch *w, int64_t now_ns, struct buffer *to)
{
    const struct watch_warning *g;
    struct watch_domain_view v;

    fb_json_name(to, "warnings");
    fb_buffer_add_char(to, '[');
    for (size_t n = 0; n < SAY_WARNINGS && (g = fb_watch_warning(w, n)) != NULL; n++) {
        fb_buffer_add_text(to, n > 0 ? ",{" : "{");
        fb_json_text(to, "kind", fb_watch_warning_name(g->kind));
        if (g->domain >= 0) {
            fb_watch_domain(w, (uint32_t)g->domain, &v);
            fb_json_text(to, "source", v.name);
        }
        fb_json_text(to, "id", g->id);
        fb_json_text(to, "source_id", g->domain_id);
        fb_json_int(to, "count", g->count);
        fb_words_json_instant(to, "first", g->first_ns, now_ns);
        fb_words_json_instant(to, "last", g->last_ns, now_ns);
        fb_json_text(to, "text", g->text);
        fb_buffer_add_char(to, '}');
    }
    fb_buffer_add_char(to, ']');
    fb_json_name(to, "warned");
    fb_buffer_add_char(to, '{');
    for (int kind = 0; kind < WATCH_WARNING_KINDS; kind++)
        fb_json_int(to, fb_watch_warning_name((enum watch_warning_kind)kind),
                    fb_watch_warned(w, (enum watch_warning_kind)kind));
    fb_buffer_add_char(to, '}');
}

static void add_settings(const struct watch_plan *p, struct buffer *to)
{
    const struct {
        const char *name;
        int64_t span_ns;
    } spans[] = {
        {"interval_s", p->interval_ns},
        {"idle_s", p->idle_ns},
        {"list_s", p->list_ns},
        {"aim_live_s", p->aims.aim_ns[ITEM_live]},
        {"aim_imminent_s", p->aims.aim_ns[ITEM_imminent]},
        {"aim_completed_s", p->aims.aim_ns[ITEM_completed]},
        {"degraded_s", p->health.degraded_ns},
        {"failing_s", p->health.failing_ns},
        {"stall_s", p->health.stall_ns},
        {"recovery_s", p->health.recovery_ns},
        {"ttl_live_s", p->ttl_ns[ITEM_live]},
        {"ttl_static_s", p->static_ns},
        {"ttl_absent_s", p->absent_ns},
        {"ttl_final_s", p->final_ns},
        {"pause_s", p->pause_ns},
        {"recycle_s", p->recycle_ns},
    };

    fb_json_name(to, "config");
    fb_buffer_add_char(to, '{');
    for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++)
        fb_words_json_span(to, spans[i].name, spans[i].span_ns);
    fb_json_int(to, "concurrency", p->concurrency);
    fb_json_int(to, "queue_max", p->queue_max);
    fb_json_int(to, "items_max", p->items_max);
    fb_json_int(to, "history", p->history);
    fb_json_int(to, "attempts", p->attempts);
    fb_json_int(to, "pause_failures", p->pause_failures);
    fb_json_int(to, "recycle_looks", p->recycle_looks);
    fb_json_real(to, "demote_below", p->reliability.demote, 3);
    fb_json_real(to, "restore_from", p->reliability.restore, 3);
    fb_buffer_add_char(to, '}');
}

/* --------------------------------------------------------------------------------------- items */

/* Live ones, and whoever is paused; each with its age and whose its fields are. */
static void add_items(const struct watch *w, int64_t now_ns, struct buffer *to)
{
    size_t count = fb_watch_count(w);
    size_t found = 0;
    struct watch_item_view v;

    fb_json_name(to, "items");
    fb_buffer_add_char(to, '[');
    for (size_t n = 0; n < count; n++) {
        const struct watch_item *i = fb_watch_item_at(w, n);

        fb_watch_item(w, i, &v);
        if ((v.state != ITEM_live && !v.paused_ns) || found++ >= SAY_STATUS_ITEMS)
            continue;
        fb_buffer_add_text(to, found > 1 ? ",{" : "{");
        fb_say_age_members(&v, now_ns, to);
        fb_say_provenance(w, i, v.fields, to);
        fb_buffer_add_char(to, '}');
    }
    fb_buffer_add_char(to, ']');
    fb_json_int(to, "items_total", (int64_t)found);
    fb_json_bool(to, "truncated", found > SAY_STATUS_ITEMS);
}

/* -------------------------------------------------------------------------------- all of it */

static void add_grade(const struct watch_figures *f, int64_t now_ns, struct buffer *to)
{
    fb_json_text(to, "grade", fb_health_name(f->grade));
    fb_words_json_instant(to, "grade_since", f->grade_since_ns, now_ns);
    fb_json_text(to, "grade_text", f->grade_text);
    fb_json_bool(to, "idle", f->is_idle);
    fb_json_int(to, "intervals", (int64_t)f->intervals);
    fb_words_json_instant(to, "interval", f->interval_ns, now_ns);
    fb_words_json_instant(to, "succeeded", f->success_ns, now_ns);
    fb_words_json_instant(to, "listed", f->list_ns, now_ns);
    fb_json_int(to, "paused", f->paused);
    fb_json_int(to, "absent", f->absent);
    fb_json_int(to, "unmapped", f->unmapped);
    fb_json_int(to, "recoveries", f->recoveries);
    fb_json_int(to, "recycles", f->recycles);
    fb_words_json_instant(to, "recycled", f->recycled_ns, now_ns);
    fb_words_json_instant(to, "recovery", f->recovery_ns, now_ns);
    fb_json_int(to, "memory_bytes", f->memory_bytes);
    fb_json_int(to, "payload_bytes", f->payload_bytes);
}

void fb_say_status_members(const struct watch *w, int64_t now_ns, bool items, struct buffer *to)
{
    const struct watch_plan *p = fb_watch_plan(w);
    struct watch_figures f;

    fb_watch_figures(w, &f);
    fb_watch_spreads(w, f.spread);
    add_grade(&f, now_ns, to);
    fb_say_spreads(&f, to);
    add_work(&f, p, to);
    add_cache(&f, to);
    fb_json_name(to, "sources");
    fb_buffer_add_char(to, '[');
    for (uint32_t i = 0; i < p->domain_count; i++)
        add_source(w, i, now_ns, to);
    fb_buffer_add_char(to, ']');
    add_warnings(w, now_ns, to);
    fb_json_int(to, "audited", (int64_t)fb_watch_audits(w));
    add_settings(p, to);
    if (items)
        add_items(w, now_ns, to);
}

void fb_say_status_json(const struct watch *w, int64_t now_ns, struct buffer *to)
{
    fb_view_json_begin("watch", now_ns, to);
    fb_say_status_members(w, now_ns, true, to);
    fb_buffer_add_text(to, "}\n");
}
