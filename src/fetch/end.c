/* SPDX-License-Identifier: MIT */
/* end.c - what came of an item: counted, told, written, committed. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fetch/fetch_parts.h"
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

static int code_of(enum item_state state, bool is_policy)
{
    if (is_policy)
        return FETCH_REFUSED;
    return state == ITEM_failed || state == ITEM_unknown ? FETCH_FAILED
           : state == ITEM_deferred                      ? FETCH_DEFERRED
                                                         : FETCH_DONE;
}

void fb_end_found(struct fetch *f)
{
    for (int s = ITEM_done; s < ITEM_STATES; s++) {
        if (f->found.items[s] > 0)
            fb_end_worse(f, code_of((enum item_state)s, false));
    }
}

static void committed(struct journal_entry *e, int error)
{
    struct result *r = (struct result *)(void *)e; /* its first member */
    struct fetch *f = r->owner;

    f->out--;
    f->bytes -= r->size;
    if (error < 0)
        fb_end_worse(f, f->is_pipe_gone ? FETCH_DONE : FETCH_BROKEN);
    else if (e->state != ITEM_pending)
        f->count[e->state]++;
    fb_result_free(r);
    fb_fetch_go_on(f);
}

static void hand_over(struct fetch *f, struct result *r, uint64_t number, uint16_t check,
                      enum item_state state)
{
    r->owner = f;
    r->entry.item = number;
    r->entry.check = check;
    r->entry.state = state;
    r->entry.done = committed;
    f->out++;
    f->bytes += r->size;
    /* There is always room: far less is under way than the store takes. */
    int error = fb_journal_put(f->journal, &r->entry);
    if (error < 0)
        committed(&r->entry, error);
}

void fb_end_item(struct fetch *f, uint64_t number, uint16_t check, enum item_state state,
                 const struct result_facts *facts)
{
    struct buffer place = BUFFER_INIT;
    struct result_facts all = *facts;

    if (state == ITEM_deferred) {
        fb_place_add(&place, facts->url);
        all.place = fb_buffer_text(&place);
    }
    struct result *r = fb_result_new(&all, &f->form);
    fb_buffer_fini(&place);
    if (!r) {
        fputs("flyball fetch: out of memory\n", stderr);
        fb_end_worse(f, FETCH_BROKEN);
        return;
    }
    bool is_policy = facts->failure && strcmp(facts->failure, fb_failure_name(FAIL_POLICY)) == 0;
    fb_end_worse(f, code_of(state, is_policy));
    fb_report_failure(f, facts, state);
    hand_over(f, r, number, check, state);
}

static struct result_facts facts_of(const struct errand *e, const struct engine_result *r)
{
    return (struct result_facts){
        .id = e->id,
        .url = e->url,
        .final_url = r->status > 0 ? r->url : NULL,
        .method = r->method,
        .failure = r->failure != FAIL_NONE ? fb_failure_name(r->failure) : NULL,
        .sentence = r->sentence,
        .header = r->header,
        .header_count = r->header_count,
        .body = r->body,
        .body_size = r->body_size,
        .status = r->status,
        .attempts = r->attempts,
        .requests = r->requests,
        .throttled = r->throttled,
        .source = r->source,
        .page = e->page,
        .waited_ns = r->waited_ns,
        .duration_ns = r->sent_ns > 0 && r->ended_ns > r->sent_ns ? r->ended_ns - r->sent_ns : 0,
        .not_before_s = r->end == ENGINE_DEFERRED ? r->ready_at_ns / NS_PER_S : 0,
        .has_answer = r->status > 0,
    };
}

static enum item_state state_of(enum engine_end end)
{
    static const enum item_state STATES[ENGINE_ENDS] = {
        [ENGINE_OK] = ITEM_done,           [ENGINE_FAILED] = ITEM_failed,
        [ENGINE_DEFERRED] = ITEM_deferred, [ENGINE_SKIPPED] = ITEM_skipped,
        [ENGINE_UNKNOWN] = ITEM_unknown,   [ENGINE_CANCELLED] = ITEM_pending,
    };

    return STATES[end];
}

/* It was stopped before it was sent: in the journal it is as if it had never begun. */
static void take_back(struct fetch *f, const struct errand *e)
{
    const struct result_facts nothing = {.id = e->id};
    struct result *r = e->is_started ? fb_result_new(&nothing, &f->form) : NULL;

    if (!r)
        return;
    r->entry.format = NULL;
    hand_over(f, r, e->number, e->check, ITEM_pending);
}

void fb_end_result(void *user, const struct engine_result *r)
{
    struct fetch *f = user;
    struct errand *e = r->user;
    struct result_facts facts = facts_of(e, r);

    if (r->end == ENGINE_CANCELLED)
        take_back(f, e);
    else
        fb_end_item(f, e->number, e->check, state_of(r->end), &facts);
    fb_feed_free_errand(e);
    f->out--;
    if (r->escalated && f->o->engine.mode == MODE_STRICT && !f->stopping) {
        fputs("flyball fetch: strict: one has failed, so nothing more is begun\n", stderr);
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
    s->entry.item = e->number;
    s->entry.check = e->check;
    s->entry.state = ITEM_started;
    s->entry.done = started;
    f->out++;
    int error = fb_journal_put(f->journal, &s->entry);
    if (error < 0)
        started(&s->entry, error);
}
