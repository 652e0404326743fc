/* SPDX-License-Identifier: MIT */
/*
 * answer.c - what an answer says about limits, for the limiters of its key.
 *
 * A limiter counts one pool. Where an answer tells of several, the key's own limiter hears of one
 * of them, always the same, and the others have limiters of their own (more_pools.c).
 */
#include <ctype.h>
#include <string.h>

#include "core/quota.h"
#include "engine/inside.h"
#include "util/text.h"

static void read_headers(struct fly_signal_reader *r, const struct attempt_end *end)
{
    for (size_t i = 0; i < end->header_count; i++) {
        const struct engine_header *h = &end->header[i];

        fly_signal_header(r, h->name, strlen(h->name), h->value, strlen(h->value));
    }
}

/* No larger than the limiter reads it, so that whoever shows it may reckon with it. */
void fb_told_remember(struct engine_told *told, const struct fly_outcome *o, int64_t window_ns,
                      int64_t now_ns)
{
    if (o->limit == FLY_ABSENT || o->remaining == FLY_ABSENT)
        return;
    told->told_ns = now_ns;
    told->limit = fb_min64(o->limit, FB_QUOTA_MAX);
    told->remaining = fb_min64(o->remaining, FB_QUOTA_MAX);
    told->reset_ns = o->reset_ns == FLY_ABSENT ? 0 : o->reset_ns;
    told->window_ns = window_ns == FLY_ABSENT ? 0 : window_ns;
    if (told->reset_ns > 0 && told->first_reset_ns == 0)
        told->first_reset_ns = told->reset_ns;
    if (told->reset_ns > 0)
        told->reset_most_ns = fb_max64(told->reset_most_ns, told->reset_ns - now_ns);
}

/* Which header that was, for people who ask: looked for once. */
static void remember_header(struct engine_told *told, const struct attempt_end *end)
{
    char name[sizeof(told->header)];

    for (size_t i = 0; i < end->header_count; i++) {
        size_t size = strlen(end->header[i].name);

        if (size >= sizeof(name))
            continue;
        for (size_t c = 0; c <= size; c++)
            name[c] = (char)tolower((unsigned char)end->header[i].name[c]);
        if (strstr(name, "remaining") || strncmp(name, "ratelimit", 9) == 0) {
            memcpy(told->header, name, size + 1);
            return;
        }
    }
    memcpy(told->header, "the body", sizeof("the body"));
}

/* False: there is no answer, or it says nothing that can be read. */
static bool read_signal(struct key *k, const struct attempt_end *end, int64_t now_ns,
                        struct fly_signal *ret_signal)
{
    struct fly_signal_reader r;
    struct fly_response about = {
        .size = sizeof(about),
        .now_ns = now_ns,
        .status = end->status,
        .preset = k->preset,
        .habit = &k->habit,
    };

    if (end->failure != FAIL_NONE || fly_signal_begin(&r, &about) < 0)
        return false;
    read_headers(&r, end);
    fly_signal_body(&r, end->body, end->body_fd > 0 ? end->beginning_size : end->body_size);
    return fly_signal_end(&r, ret_signal) == 0;
}

/* What the key's own limiter hears; returns which pool that is. */
static size_t read_own(struct key *k, const struct fly_signal *s, const struct attempt_end *end,
                       int64_t now_ns, struct fly_outcome *o)
{
    size_t pool = fb_pools_own(k, s);
    struct text t;

    fly_signal_outcome(s, pool, now_ns, o);
    if (pool == s->pool_count)
        return pool;
    if (s->pool_count > 1 && !k->has_own) {
        k->has_own = true;
        fb_text_init(&t, k->own, sizeof(k->own));
        fb_text_add(&t, s->pool[pool].name);
    }
    /* What a path told at the beginning, headers tell better. */
    if (o->remaining != FLY_ABSENT && (!k->told.header[0] || k->told.header[0] == '/'))
        remember_header(&k->told, end);
    fb_told_remember(&k->told, o, s->pool[pool].window_ns, now_ns);
    return pool;
}

static void note_refusal(struct key *k, const struct job *j, const struct fly_outcome *o)
{
    struct text t;

    k->refused++;
    k->told.retry_after_ns = o->retry_after_ns == FLY_ABSENT ? 0 : o->retry_after_ns;
    k->told.refused_ns = j->engine->now_ns;
    k->told.status = o->status;
    fb_text_init(&t, k->told.item, sizeof(k->told.item));
    fb_text_add(&t, j->id);
}

/* What cost nothing gives back what was taken for it. */
static void settle(const struct attempt *a, const struct attempt_end *end)
{
    const struct key *k = a->key;
    bool is_free = (a->job->flags & ENGINE_UNMODIFIED_FREE) != 0;

    if (!is_free || end->failure != FAIL_NONE || end->status != 304)
        return;
    fly_limiter_settle(k->limiter, a->engine->now_ns, a->tickets.at[0], 0);
    for (int i = 0; i < a->tickets.more && i < k->more_count; i++)
        fly_limiter_settle(k->more[i].limiter, a->engine->now_ns, a->tickets.at[1 + i], 0);
}

bool fb_answer_report(struct attempt *a, const struct attempt_end *end)
{
    struct engine *e = a->engine;
    struct fly_outcome o = FLY_OUTCOME_INIT;
    struct fly_signal s = {.size = sizeof(s)};
    bool is_read = read_signal(a->key, end, e->now_ns, &s);
    size_t own = is_read ? read_own(a->key, &s, end, e->now_ns, &o) : 0;

    o.sent_ns = a->sent_ns;
    o.latency_ns = e->now_ns - a->sent_ns;
    o.ticket = a->tickets.at[0];
    settle(a, end);
    fly_limiter_report(a->key->limiter, e->now_ns, &o);
    fb_pools_report(a, is_read ? &s : NULL, own);
    if (!(o.flags & FLY_THROTTLED))
        return false;
    fb_pools_state(e, a->key, &s);
    note_refusal(a->key, a->job, &o);
    return true;
}
