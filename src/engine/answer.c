/* SPDX-License-Identifier: MIT */
/*
 * answer.c - what an answer says about limits, for the limiter of its key.
 *
 * A limiter counts one pool. Where an answer tells of several, the one of the key's own name
 * counts, else the one of which the smallest part is left: it decides anyway.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "engine/inside.h"
#include "util/text.h"

static double left_of(const struct fly_pool *p)
{
    if (p->remaining == FLY_ABSENT)
        return 2.0;
    return p->limit > 0 ? (double)p->remaining / (double)p->limit : 1.0;
}

static size_t pool_of(const struct key *k, const struct fly_signal *s)
{
    size_t best = 0;

    for (size_t i = 0; i < s->pool_count; i++) {
        if (strcasecmp(s->pool[i].name, k->pool) == 0)
            return i;
        if (left_of(&s->pool[i]) < left_of(&s->pool[best]))
            best = i;
    }
    return best;
}

static void read_headers(struct fly_signal_reader *r, const struct attempt_end *end)
{
    for (size_t i = 0; i < end->header_count; i++) {
        const struct engine_header *h = &end->header[i];

        fly_signal_header(r, h->name, strlen(h->name), h->value, strlen(h->value));
    }
}

/* For people who ask; the limiter has its own books. */
static void remember(struct engine_told *told, const struct fly_outcome *o, int64_t window_ns,
                     int64_t now_ns)
{
    if (o->limit == FLY_ABSENT || o->remaining == FLY_ABSENT)
        return;
    told->limit = o->limit;
    told->remaining = o->remaining;
    told->reset_ns = o->reset_ns == FLY_ABSENT ? 0 : o->reset_ns;
    told->window_ns = window_ns == FLY_ABSENT ? 0 : window_ns;
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

void fb_answer_read(struct key *k, const struct attempt_end *end, int64_t now_ns,
                    struct fly_outcome *o)
{
    struct fly_signal s = {.size = sizeof(s)};
    struct fly_signal_reader r;
    struct fly_response about = {
        .size = sizeof(about),
        .now_ns = now_ns,
        .status = end->status,
        .preset = k->preset,
        .habit = &k->habit,
    };

    if (end->failure != FAIL_NONE || fly_signal_begin(&r, &about) < 0)
        return;
    read_headers(&r, end);
    fly_signal_body(&r, end->body, end->body_size);
    if (fly_signal_end(&r, &s) == 0) {
        size_t pool = pool_of(k, &s);

        fly_signal_outcome(&s, pool, now_ns, o);
        if (o->remaining != FLY_ABSENT && !k->told.header[0])
            remember_header(&k->told, end);
        remember(&k->told, o, pool < s.pool_count ? s.pool[pool].window_ns : FLY_ABSENT, now_ns);
    }
}

void fb_answer_refused(struct key *k, const struct job *j, const struct fly_outcome *o)
{
    struct text t;

    k->refused++;
    k->told.retry_after_ns = o->retry_after_ns == FLY_ABSENT ? 0 : o->retry_after_ns;
    k->told.refused_ns = j->engine->now_ns;
    k->told.status = o->status;
    fb_text_init(&t, k->told.item, sizeof(k->told.item));
    fb_text_add(&t, j->id);
}
