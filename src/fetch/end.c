/* SPDX-License-Identifier: MIT */
/* end.c - what came of an item: counted, told, written, committed. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fetch/fetch_parts.h"
#include "fetch/live.h"
#include "fetch/pages.h"
#include "fetch/place.h"
#include "util/alloc.h"
#include "util/buffer.h"

#define NS_PER_S INT64_C(1000000000)

/* Exit codes from the worst to the best. */
void fb_end_worse(struct fetch *f, int code)
{
    static const int ORDER[] = {FETCH_INTERRUPTED, FETCH_BROKEN,   FETCH_USAGE, FETCH_REFUSED,
                                FETCH_FAILED,      FETCH_DEFERRED, FETCH_DONE};

    for (size_t i = 0; i < sizeof ORDER / sizeof ORDER[0]; i++) {
        if (ORDER[i] == code || ORDER[i] == f->worst) {
            f->worst = ORDER[i];
            return;
        }
    }
}

/* What was left out after it had failed is not done; what robots.txt does not allow is. */
static bool is_failure(enum entry_state state)
{
    return state == ENTRY_failed || state == ENTRY_unknown || state == ENTRY_skipped;
}

static int code_of(enum entry_state state)
{
    return is_failure(state) ? FETCH_FAILED : state == ENTRY_deferred ? FETCH_DEFERRED : FETCH_DONE;
}

static bool is_named(const struct result_facts *facts, const char *failure)
{
    return facts->failure && strcmp(facts->failure, failure) == 0;
}

void fb_end_found(struct fetch *f)
{
    for (int s = ENTRY_done; s < ENTRY_STATES; s++) {
        if (f->found.items[s] > 0)
            fb_end_worse(f, code_of((enum entry_state)s));
    }
}

/* What it takes until it is written; files count, so that there are never many of them open. */
static size_t weight_of(const struct result *r)
{
    return r->size + (r->fd > 0 ? FETCH_FILE_BYTES : 0);
}

static void committed(struct journal_entry *e, int error)
{
    struct result *r = (struct result *)(void *)e; /* its first member */
    struct fetch *f = r->owner;

    f->out--;
    f->writing--;
    f->bytes -= weight_of(r);
    if (error < 0)
        fb_end_worse(f, f->is_pipe_gone ? FETCH_DONE : FETCH_BROKEN);
    else if (e->state != ENTRY_pending && !e->next)
        f->count[e->state == ENTRY_barred ? ENTRY_skipped : e->state]++;
    fb_result_free(&f->maker, r);
    fb_fetch_go_on(f);
}

static void hand_over(struct fetch *f, struct result *r, const struct errand *e,
                      enum entry_state state)
{
    r->owner = f;
    r->entry.item = e->item.number;
    r->entry.check = e->check;
    r->entry.state = state;
    r->entry.done = committed;
    f->out++;
    f->writing++;
    f->bytes += weight_of(r);
    /* The last one, this one's errand being all that is left: nothing comes to be gathered. */
    r->entry.job.urgent = f->list_ended && f->out - f->writing <= 1;
    /* There is always room: far less is under way than the store takes. */
    int error = fb_journal_put(f->journal, &r->entry);
    if (error < 0)
        committed(&r->entry, error);
}

/* Where to, for those who look at what is deferred; or where the next page is. */
static void add_place(const struct errand *e, enum entry_state state, struct result_facts *facts,
                      struct buffer *place)
{
    if (state == ENTRY_deferred)
        fb_place_add(place, e->item.url);
    else if (e->next_url && facts->more)
        fb_pages_strip(e->item.url, e->next_url, place);
    else
        return;
    facts->place = fb_buffer_text(place);
}

void fb_end_item(struct fetch *f, const struct errand *e, enum entry_state state,
                 const struct result_facts *facts)
{
    struct buffer place = BUFFER_INIT;
    struct buffer id = BUFFER_INIT;
    struct result_facts all = *facts;

    if (e->page > 1) {
        fb_errand_id(e, &id);
        all.id = fb_buffer_text(&id);
    }
    all.page = e->page;
    add_place(e, state, &all, &place);
    struct result *r = fb_result_new(&f->maker, &all);
    fb_buffer_fini(&place);
    fb_buffer_fini(&id);
    if (!r) {
        fb_say(f, "flyball fetch: out of memory");
        fb_end_worse(f, FETCH_BROKEN);
        return;
    }
    bool is_policy = is_named(facts, fb_failure_name(FAIL_POLICY));
    fb_end_worse(f, is_policy ? FETCH_REFUSED : code_of(state));
    if (is_failure(state))
        fb_report_failure(f, facts, state);
    hand_over(f, r, e, state);
}

/* Rounded up: what is deferred is never sent earlier. */
static int64_t seconds_up(int64_t at_ns)
{
    return at_ns / NS_PER_S + (at_ns % NS_PER_S > 0);
}

static struct result_facts facts_of(const struct errand *e, const struct engine_result *r)
{
    return (struct result_facts){
        .id = e->item.id,
        .url = e->item.url,
        .final_url = r->status > 0 ? r->url : NULL,
        .method = r->method,
        .failure = r->failure != FAIL_NONE ? fb_failure_name(r->failure) : NULL,
        .sentence = r->sentence,
        .header = r->header,
        .header_count = r->header_count,
        .body = r->body,
        .body_size = r->body_size,
        .body_fd = r->body_fd,
        .status = r->status,
        .attempts = r->attempts,
        .requests = r->requests,
        .throttled = r->throttled,
        .source = r->source,
        .waited_ns = r->waited_ns,
        .duration_ns = r->sent_ns > 0 && r->ended_ns > r->sent_ns ? r->ended_ns - r->sent_ns : 0,
        .not_before_s = r->end == ENGINE_DEFERRED ? seconds_up(r->ready_at_ns) : 0,
        .has_answer = r->status > 0,
    };
}

static enum entry_state state_of(enum engine_end end)
{
    static const enum entry_state STATES[ENGINE_ENDS] = {
        [ENGINE_OK] = ENTRY_done,           [ENGINE_FAILED] = ENTRY_failed,
        [ENGINE_DEFERRED] = ENTRY_deferred, [ENGINE_SKIPPED] = ENTRY_skipped,
        [ENGINE_UNKNOWN] = ENTRY_unknown,   [ENGINE_CANCELLED] = ENTRY_pending,
    };

    return STATES[end];
}

/* It was stopped before it was sent: in the journal it is as if it had never begun. */
static void take_back(struct fetch *f, const struct errand *e)
{
    const struct result_facts nothing = {.id = e->item.id};
    struct result *r = e->is_started ? fb_result_new(&f->maker, &nothing) : NULL;

    if (!r)
        return;
    r->entry.format = NULL;
    hand_over(f, r, e, ENTRY_pending);
}

/* The answer of robots.txt opens or closes the gate for those who wait there. */
static void end_robots(struct errand *e, const struct engine_result *r)
{
    struct gate *g = e->gate;
    bool is_answer = r->end == ENGINE_OK || (r->end == ENGINE_FAILED && r->status > 0);

    fb_gate_answer(g, is_answer ? r->status : 0, r->body, r->body_size);
    fb_errand_end(e);
}

void fb_end_page(struct errand *e, struct result_facts *facts)
{
    facts->more = true;
    fb_end_item(e->fetch, e, ENTRY_done, facts);
    e->page++;
    e->is_started = false;
    fb_errand_go(e);
}

static void end_errand(struct errand *e, const struct engine_result *r)
{
    struct fetch *f = e->fetch;
    struct result_facts facts = facts_of(e, r);

    if (r->end == ENGINE_OK && r->status == 304 && e->is_conditional) {
        fb_free(e->linked);
        e->linked = fb_page_linked(r->url, r->header, r->header_count);
        fb_conditional_unchanged(e);
        return;
    }
    if (r->end == ENGINE_OK && r->source == 0 && fb_conditional_applies(e))
        fb_conditional_keep(e, &facts);
    if (r->end == ENGINE_OK && fb_errand_find_next(e, r)) {
        fb_end_page(e, &facts);
        return;
    }
    if (r->end == ENGINE_CANCELLED)
        take_back(f, e);
    else
        fb_end_item(f, e, state_of(r->end), &facts);
    fb_errand_end(e);
}

void fb_end_result(void *user, const struct engine_result *r)
{
    struct fetch *f = user;
    struct errand *e = r->user;

    fb_live_answer(f, r);
    if (f->is_one_of_many && r->provider && r->pool)
        fb_uses_note(&f->uses, r->provider, r->pool);
    if (e->is_robots)
        end_robots(e, r);
    else
        end_errand(e, r);
    if (r->escalated && f->o->engine.mode == MODE_STRICT && !f->stopping) {
        fb_say(f, "flyball fetch: strict: one has failed, so nothing more is begun");
        fb_fetch_stop(f, FETCH_DRAIN_MS);
    }
    fb_fetch_go_on(f);
}

/* ---------------------------------------------------------------- requests that leave only once */

struct start {
    struct journal_entry entry;
    struct errand *errand;
    struct job *job;
};

static void started(struct journal_entry *e, int error)
{
    struct start *s = (struct start *)(void *)e; /* its first member */
    struct fetch *f = s->errand->fetch;

    f->out--;
    s->errand->is_started = error == 0;
    fb_engine_go(f->engine, s->job, error);
    fb_free(s);
    fb_fetch_go_on(f);
}

void fb_end_start(void *user, struct job *j, void *task_user, int32_t attempt)
{
    struct fetch *f = user;
    struct errand *e = task_user;
    struct start *s = fb_alloc(sizeof *s);

    (void)attempt;
    if (!s) {
        fb_engine_go(f->engine, j, -ENOMEM);
        return;
    }
    s->errand = e;
    s->job = j;
    s->entry.item = e->item.number;
    s->entry.check = e->check;
    s->entry.state = ENTRY_started;
    s->entry.done = started;
    f->out++;
    int error = fb_journal_put(f->journal, &s->entry);
    if (error < 0)
        started(&s->entry, error);
}
