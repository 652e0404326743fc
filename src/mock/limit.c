/* SPDX-License-Identifier: MIT */
/* limit.c - from words to gates, and from gates to what can be told of them. */
#include "mock/limit.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/instant.h"
#include "core/spec.h"

#define WINDOW_LIMIT_MAX INT64_C(10000000) /* stamps that an exact window keeps */

/* The mock's own words. */
struct extra {
    struct rate fixed[FB_GATES_MAX];
    int32_t fixed_count;
    int64_t penalty_ns;
};

static enum value_error read_fixed(const char *value, void *into)
{
    struct extra *x = into;
    struct rate r;
    enum value_error error = fb_value_rate(value, &r);

    if (error != VALUE_OK)
        return error;
    if (memchr(value, '.', strcspn(value, "/")))
        return VALUE_MALFORMED;
    if (x->fixed_count == FB_GATES_MAX)
        return VALUE_TOO_MANY;
    x->fixed[x->fixed_count++] = r;
    return VALUE_OK;
}

static enum value_error read_penalty(const char *value, void *into)
{
    return fb_value_span(value, &((struct extra *)into)->penalty_ns);
}

static const struct spec_word words[] = {
    {"fixed", "a count and a length such as 100/10s", read_fixed, true},
    {"penalty", "a time such as 30s", read_penalty, false},
};

/* ---- gates ---- */

static struct gate bucket(const struct spec *s)
{
    int64_t burst = s->burst > 0 ? s->burst : FB_BURST_DEFAULT;

    return (struct gate){
        .kind = &fb_gate_bucket,
        .rate = fb_rate_per_second(&s->rate),
        .burst = (double)burst,
        .limit = burst,
    };
}

static struct gate window(const struct gate_kind *kind, int64_t limit, int64_t length_ns)
{
    return (struct gate){.kind = kind, .limit = limit, .window_ns = length_ns};
}

static int say(struct fly_error *err, const char *text)
{
    if (err)
        snprintf(err->text, sizeof(err->text), "%s", text);
    return -EINVAL;
}

static int add_gate(struct provider *p, struct gate g, struct fly_error *err)
{
    if (p->gate_count == FB_GATES_MAX)
        return say(err, "more limits at once than the mock knows, expected at most 8");
    if (g.kind == &fb_gate_log && g.limit > WINDOW_LIMIT_MAX)
        return say(err, "window: too large for the mock, expected at most 10000000 in a window");
    p->gate[p->gate_count++] = g;
    return 0;
}

static int add_gates(struct provider *p, const struct spec *s, const struct extra *x,
                     struct fly_error *err)
{
    int64_t crowd = s->own[FB_CONSTRAINT_concurrency];
    int rc = 0;

    for (int64_t i = 0; i < s->window_count && rc == 0; i++)
        rc = add_gate(p, window(&fb_gate_log, s->window[i].limit, s->window[i].length_ns), err);
    for (int32_t i = 0; i < x->fixed_count && rc == 0; i++)
        rc = add_gate(p, window(&fb_gate_fixed, x->fixed[i].permits, x->fixed[i].period_ns), err);
    if (s->rate.permits > 0 && rc == 0)
        rc = add_gate(p, bucket(s), err);
    if (crowd > 0 && rc == 0)
        rc = add_gate(p, (struct gate){.kind = &fb_gate_crowd, .limit = crowd}, err);
    return rc;
}

int fb_mock_limit_read(const char *text, int32_t status, struct provider *ret_provider,
                       struct fly_error *err)
{
    struct extra x = {0};
    struct spec s;
    struct provider p = {.manners = {.status = status, .retry_after = fb_retry_honest}};

    static_assert(FB_GATES_MAX == 8, "as the sentence above says");
    int rc = fb_spec_read_with(text, words, sizeof(words) / sizeof(words[0]), &x, &s, err);
    if (rc == 0)
        rc = add_gates(&p, &s, &x, err);
    if (rc < 0)
        return rc;
    /* Every refusal shuts the door for the same time; who knocks meanwhile does not lengthen it. */
    if (x.penalty_ns > 0)
        p.box = (struct box){
            .row = 1, .ban_ns = x.penalty_ns, .ban_max_ns = x.penalty_ns, .growth = 1.0};
    rc = fb_provider_init(&p, 1);
    if (rc < 0)
        fb_provider_fini(&p);
    else
        *ret_provider = p;
    return rc;
}

/* ---- what is told ---- */

static int64_t whole_seconds(int64_t ns)
{
    return fb_max64(1, ns / FB_NS_PER_S);
}

/* When it is worth asking again, as such providers say it. */
static int64_t reset_at(struct gate *g, int64_t now_ns, int64_t room)
{
    if (room >= g->limit)
        return now_ns;
    return g->kind->opens_at(g, now_ns, g->kind == &fb_gate_bucket ? g->limit : room + 1);
}

static struct mock_pool pool_of(struct gate *g, int64_t now_ns, int64_t banned_until_ns)
{
    int64_t room = g->kind->room(g, now_ns);
    int64_t reset_ns = fb_max64(reset_at(g, now_ns, room), banned_until_ns) - now_ns;
    int64_t window_ns = g->window_ns > 0 ? g->window_ns : fb_span((double)g->limit / g->rate);

    return (struct mock_pool){
        .limit = g->limit,
        .remaining = banned_until_ns > now_ns ? 0 : room,
        .window_s = whole_seconds(window_ns),
        /* The nanosecond that a gate adds to be sure must not become a second. */
        .reset_ns = reset_ns - reset_ns % 1000,
    };
}

/* a has a smaller share left than b. */
static bool is_tighter(const struct mock_pool *a, const struct mock_pool *b)
{
    return (double)a->remaining / (double)a->limit < (double)b->remaining / (double)b->limit;
}

void fb_mock_tell(struct provider *p, int64_t now_ns, const struct verdict *v,
                  struct mock_told *ret_told)
{
    struct mock_told *t = ret_told;

    *t = (struct mock_told){.refused = v->refused, .retry_ns = FB_NS_PER_S};
    if (v->retry_after_ns != FLY_ABSENT)
        t->retry_ns = v->retry_after_ns;
    for (int32_t i = 0; i < p->gate_count; i++) {
        if (p->gate[i].kind == &fb_gate_crowd)
            continue; /* there is no quota to tell of */
        t->pool[t->pools] = pool_of(&p->gate[i], now_ns, p->banned_until_ns);
        if (is_tighter(&t->pool[t->pools], &t->pool[t->tightest]))
            t->tightest = t->pools;
        t->pools++;
    }
}
