/* SPDX-License-Identifier: MIT */
/*
 * plan.c - what a batch would take, said before anything is sent.
 *
 * The list is read and queued as ever, but the engine is paused: then the same question is asked
 * that the live line answers, how long the budget needs for what is queued.
 */
#include <stdio.h>
#include <string.h>

#include "core/instant.h"
#include "fetch/fetch_parts.h"
#include "fetch/look.h"
#include "fetch/paths.h"
#include "util/buffer.h"
#include "util/json.h"
#include "view/view.h"
#include "view/words.h"

#define NS_PER_S INT64_C(1000000000)

static void add_row(struct buffer *to, const char *name)
{
    if (to->size > 0)
        fb_buffer_add_char(to, '\n');
    fb_buffer_add_text(to, name);
}

static void add_requests(const struct progress *p, struct buffer *to)
{
    add_row(to, "requests  ");
    fb_buffer_add_text(to, p->total_grows ? "at least " : "");
    fb_words_count(p->total - p->done, to);
    if (p->done > 0) {
        fb_buffer_add_text(to, " (");
        fb_words_count(p->done, to);
        fb_buffer_add_text(to, " are done)");
    }
}

static void add_unknown(const struct progress *p, struct buffer *to)
{
    add_row(to, "bound by  ");
    fb_buffer_add_text(to, p->learning ? "a limit that nobody knows yet: it will be learned"
                                       : "no limit: as fast as answers come");
    add_row(to, "duration  not known before the first answers");
}

/* A time is no better than the limit that it comes from: that of one refusal may be far off. */
static bool is_guess(const struct progress *p)
{
    return p->limit_learned && p->eta.bound == ETA_BOUND_RATE;
}

static void add_bound(const struct progress *p, struct buffer *to)
{
    add_row(to, "bound by  ");
    fb_progress_bound(p, to);
    fb_buffer_add_text(to, " (");
    fb_buffer_add_text(to, p->provider);
    fb_buffer_add_char(to, ')');
    if (!is_guess(p))
        return;
    fb_buffer_add_text(to, ", learned, confidence ");
    fb_buffer_add_int(to, (int64_t)(p->confidence * 100.0 + 0.5));
    fb_buffer_add_text(to, " %");
}

static void add_times(const struct progress *p, struct buffer *to)
{
    int64_t now_ns = p->now_ns;
    int64_t end_ns = fb_after(now_ns, p->eta.span_ns);

    add_bound(p, to);
    add_row(to, "duration  ");
    fb_words_span(p->eta.span_ns, to);
    if (end_ns == FB_NEVER) /* no clock shows it */
        return;
    add_row(to, "finish    ");
    fb_words_moment(end_ns, now_ns, p->zone_s, to);
}

/* The key that may begin last, of those that may not now: a hold that an earlier run has left. */
static const struct view_key *waiting(const struct look *l)
{
    const struct view_key *last = NULL;

    for (size_t i = 0; i < l->busy; i++) {
        if (fb_view_key_waits(&l->shown[i], l->now_ns) &&
            (!last || l->shown[i].ready_ns > last->ready_ns))
            last = &l->shown[i];
    }
    return last;
}

static void add_wait(const struct view_key *v, const struct progress *p, struct buffer *to)
{
    add_row(to, "waits     until ");
    fb_words_moment(v->ready_ns, v->seen_ns, p->zone_s, to);
    fb_buffer_add_text(to, ", ");
    fb_words_span(v->ready_ns - v->seen_ns, to);
    fb_buffer_add_text(to, " from now: ");
    fb_buffer_add_text(to, strcmp(v->cause, "hold") == 0 ? "a refusal holds " : v->cause);
    fb_buffer_add_text(to, strcmp(v->cause, "hold") == 0 ? "" : " of ");
    fb_view_key_name(v, to);
}

static void add_text(const struct progress *p, const struct view_key *v, struct buffer *to)
{
    add_requests(p, to);
    if (p->total <= p->done)
        return;
    if (v)
        add_wait(v, p, to);
    if (p->eta.span_ns == FB_ETA_UNKNOWN)
        add_unknown(p, to);
    else
        add_times(p, to);
}

/* {"type":"plan","requests":600,"now":{...}} */
static void add_json(const struct progress *p, struct buffer *to)
{
    fb_buffer_add_char(to, '{');
    fb_json_text(to, "type", "plan");
    fb_json_int(to, "requests", p->total - p->done);
    fb_json_name(to, "now");
    fb_progress_json(p, to);
    fb_buffer_add_char(to, '}');
}

/* The answer with --json, flyball.plan/1. */
static void add_answer(const struct progress *p, const struct view_key *v, struct buffer *to)
{
    int64_t now_ns = p->now_ns;
    bool is_known = p->eta.span_ns != FB_ETA_UNKNOWN && p->total > p->done;

    fb_view_json_begin("plan", now_ns, to);
    fb_json_int(to, "requests", p->total - p->done);
    fb_json_bool(to, "at_least", p->total_grows);
    fb_json_int(to, "done", p->done);
    fb_json_bool(to, "learning", p->learning);
    if (v) {
        fb_json_name(to, "waits");
        fb_buffer_add_char(to, '{');
        fb_json_text(to, "provider", v->provider);
        fb_json_text(to, "pool", v->pool);
        fb_json_text(to, "cause", v->cause);
        fb_words_json_end(to, "until", v->ready_ns, v->seen_ns);
        fb_buffer_add_char(to, '}');
    }
    if (is_known && p->eta.bound != ETA_BOUND_NOTHING)
        fb_progress_bound_json(p, to);
    if (is_known && is_guess(p))
        fb_json_real(to, "confidence", p->confidence, 3);
    if (is_known)
        fb_words_json_span(to, "duration_s", p->eta.span_ns);
    if (is_known && fb_after(now_ns, p->eta.span_ns) != FB_NEVER)
        fb_words_json_end(to, "finish", fb_after(now_ns, p->eta.span_ns), now_ns);
    fb_buffer_add_char(to, '}');
}

/* What earlier batches were told: nothing has answered this one. Without it the plan knows less. */
static void read_runs(struct fetch *f)
{
    struct buffer folder = BUFFER_INIT;
    struct fly_error err;

    if (fb_state_folder(&folder, &err) < 0 || !fb_buffer_text(&folder) ||
        fb_runs_read(folder.bytes, &f->runs) < 0)
        f->runs = (struct runs){0};
    fb_buffer_fini(&folder);
}

void fb_plan_print(struct fetch *f)
{
    struct buffer b = BUFFER_INIT;
    struct progress p;
    struct look l;

    read_runs(f);
    fb_look(f, &l, &p);
    fb_runs_free(&f->runs);
    if (f->o->json)
        add_answer(&p, waiting(&l), &b);
    else if (f->screen.mode == SCREEN_json)
        add_json(&p, &b);
    else
        add_text(&p, waiting(&l), &b);
    if (fb_buffer_text(&b))
        puts(b.bytes);
    (void)fflush(stdout);
    fb_buffer_fini(&b);
}
