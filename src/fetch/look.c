/* SPDX-License-Identifier: MIT */
/* look.c - from the engine's keys to numbers. */
#include "fetch/look.h"

#include <string.h>
#include <time.h>

#include <flyball/flyball.h>

#include "core/instant.h"
#include "core/quota.h"
#include "core/spec.h"
#include "engine/control.h"
#include "engine/show.h"
#include "fetch/fetch_parts.h"
#include "fetch/host.h"
#include "util/hash.h"

#define NS_PER_S  INT64_C(1000000000)
#define KEYS_MANY 4096 /* of more keys only those with something to do are looked at */

/* -------------------------------------------------------------------------------------- keys */

/* A stated window: when there is more of it. */
static void read_window(const struct look *l, const struct view_key *v, struct eta_key *k)
{
    int64_t since_ns = l->now_ns - l->fetch->began_ns;

    k->window = (struct eta_budget){
        .limit = v->window_limit, .left = v->window_left, .window_ns = v->window_ns};
    if (k->window.left <= 0 && k->wait_ns > 0)
        k->window.more_ns = k->wait_ns;
    else
        k->window.more_ns = v->window_ns > since_ns ? v->window_ns - since_ns : 0;
}

/* As core/quota.c spends it; where nothing is said about that, the prober does. */
static void read_spending(const char *text, struct eta_budget *q)
{
    struct fly_error err;
    struct spec s;

    if (fb_spec_read(text, &s, &err) < 0 ||
        (s.pacing == PACING_UNSAID && s.controller == &fb_controller_probe))
        return;
    int64_t unsaid_ppm = s.pacing == PACING_DEMAND ? 0 : FB_QUOTA_RESERVE_PPM;
    int64_t ppm = s.reserve_ppm >= 0 ? s.reserve_ppm : unsaid_ppm;

    q->kept = (int64_t)((double)q->limit * (double)ppm / FB_MILLION);
    q->spending = s.pacing == PACING_DEMAND ? ETA_AT_ONCE : ETA_EVEN;
    q->is_spread = s.pacing == PACING_EVEN;
}

static void read_quota(const struct look *l, const struct engine_told *t, const char *spec,
                       struct eta_key *k)
{
    if (t->limit <= 0 || t->reset_ns <= l->now_ns)
        return;
    int64_t more_ns = t->reset_ns - l->now_ns;

    k->quota = (struct eta_budget){.limit = t->limit,
                                   .left = t->remaining,
                                   .window_ns = fb_show_told_window(t),
                                   .more_ns = more_ns};
    read_spending(spec, &k->quota);
}

/* Of a key that has no answer yet: as an earlier batch saw it last. NULL: none did. */
static const struct view_key *seen_earlier(const struct look *l, const struct view_key *v)
{
    const struct view_key *last = NULL;

    for (size_t b = 0; b < l->fetch->runs.count; b++) {
        const struct view_batch *from = l->fetch->runs.batch[b];

        for (size_t i = 0; i < fb_view_batch_keys(from); i++) {
            const struct view_key *k = &from->key[i];

            if (k->quota_limit > 0 && strcmp(k->provider, v->provider) == 0 &&
                strcmp(k->pool, v->pool) == 0 && strcmp(k->credential, v->credential) == 0 &&
                (!last || k->seen_ns > last->seen_ns))
                last = k;
        }
    }
    return last;
}

static double pace_of(int64_t units, int64_t span_ns)
{
    return span_ns > 0 ? (double)units / (double)span_ns * 1e9 : 0.0;
}

/* Whether it keeps the pace of a whole quota over its window, or of what is left of it. */
static bool is_mean(const struct eta_key *k)
{
    const struct eta_budget *q = &k->quota;
    double mean = pace_of(q->limit, q->window_ns);
    double rest = pace_of(q->left, q->more_ns);

    return (k->rate > 0.8 * mean && k->rate < 1.2 * mean) ||
           (q->spending == ETA_AT_ONCE && k->rate > 0.8 * rest && k->rate < 1.2 * rest);
}

/*
 * The pace that will be kept. One that still rises will be that of what is left, and so will one
 * that was learned from the mean of this quota; but what little is left of one window says nothing
 * of the next.
 */
static double pace_under(const struct eta_key *k)
{
    const struct eta_budget *q = &k->quota;
    double mean = pace_of(q->limit, q->window_ns);
    double rest = pace_of(q->left, q->more_ns);

    if (q->spending != ETA_SPREAD)
        return k->climbs ? 0.0 : k->rate;
    return k->climbs || is_mean(k) ? (rest > mean ? rest : mean) : k->rate;
}

/* A quota whose reset has passed since is full again; its window begins with the first request. */
static void read_earlier(const struct look *l, const struct view_key *v, struct eta_key *k)
{
    const struct view_key *seen = seen_earlier(l, v);

    if (!seen)
        return;
    struct engine_told t = {.limit = seen->quota_limit,
                            .remaining = seen->quota_left,
                            .window_ns = seen->quota_window_ns,
                            .reset_ns = seen->quota_reset_ns,
                            .reset_most_ns = seen->quota_most_s * NS_PER_S};

    /* Nobody knows any more when it began to be told: `first_reset_ns` is 0, and it is believed. */
    if (t.reset_ns <= l->now_ns) {
        t.remaining = t.limit;
        t.reset_ns = l->now_ns + fb_show_told_window(&t);
    }
    read_quota(l, &t, v->spec, k);
    k->rate = pace_under(k);
    /* What is told with every answer is no search in the dark. */
    k->learning = k->climbs = false;
}

static void show(struct look *l, const struct engine_key_state *s)
{
    struct view_key *v = &l->shown[l->count++];
    const char *said_by = "";
    const char *spec = fb_provider_spec(l->fetch, &s->key, &said_by);

    struct engine_key_state asked = *s;
    char other[FB_SPEC_BYTES];
    bool is_alone;

    if (l->fetch->o->plan)
        asked.queued = 0; /* the engine is paused: its limiter alone knows from when on it may */
    fb_show_key(&asked, l->now_ns, v);
    v->queued = s->queued;
    if (!l->fetch->o->plan && fb_host_other_limit(s->limiter, spec, other, &is_alone)) {
        spec = other;
        said_by = "another process";
    }
    fb_view_put(v->spec, sizeof v->spec, spec ? spec : "");
    fb_view_put(v->said_by, sizeof v->said_by, said_by);
}

/* Of an engine with other work as well, only what this batch has to do with. */
static bool is_ours(const struct look *l, const struct engine_key_state *s)
{
    return !l->fetch->is_one_of_many || fb_uses(&l->fetch->uses, s->key.provider, s->key.pool);
}

/* After idling a pace may be far above what was learned, until what was stored is used up. */
static double lasting_pace(const struct view_key *v, double pace)
{
    bool is_known = fb_view_key_is_guess(v) && v->limit > 0.0 && !(v->flags & VIEW_KEY_LEARNING);

    return is_known && pace > v->limit ? v->limit : pace;
}

/* It was refused and slowed down: what goes through meanwhile is nearly the limit. */
static void read_near(struct eta_key *k, const struct view_key *v)
{
    if (!(v->flags & VIEW_KEY_NEAR) || k->measured <= 0.0)
        return;
    k->rate = k->measured;
    k->learning = k->climbs = false;
}

/* What ended of a key lately, whoever asked for it; an engine of its own began with the batch. */
static double measure(const struct look *l, const struct engine_key_state *s, bool waits)
{
    const struct fetch *f = l->fetch;
    bool is_begun = f->meter.looked_ns > 0 || f->is_one_of_many;
    const char *const part[] = {s->key.provider, s->key.pool, s->key.credential};
    uint64_t name = FB_HASH_INIT;

    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++)
        name = fb_hash_add(name, part[i], strlen(part[i]) + 1);
    name = fb_hash_end(name) | 1; /* 0 is a free place */
    return fb_meter_key(&l->fetch->meter, name, is_begun ? l->now_ns : f->began_ns, l->now_ns,
                        s->requests - s->refused - s->in_flight, waits);
}

static void look_at_busy(void *arg, const struct engine_key_state *s)
{
    struct look *l = arg;
    size_t i = l->count;

    if (i == LOOK_KEYS || s->queued + s->in_flight == 0 || !is_ours(l, s))
        return;
    show(l, s);
    struct eta_key *k = &l->key[i];
    uint32_t flags = l->shown[i].flags;
    bool climbs = flags & VIEW_KEY_CLIMBING;
    bool is_told = flags & VIEW_KEY_TOLD; /* it climbs to what is told, and is there soon */
    double pace = climbs && is_told ? l->shown[i].limit : fly_limiter_rate(s->limiter);
    *k = (struct eta_key){.todo = s->queued,
                          .rate = lasting_pace(&l->shown[i], pace),
                          .learning = flags & VIEW_KEY_LEARNING,
                          .climbs = climbs && !is_told};
    if (s->queued > 0 && l->shown[i].ready_ns != VIEW_NEVER && l->shown[i].ready_ns > l->now_ns)
        k->wait_ns = l->shown[i].ready_ns - l->now_ns;
    k->measured = measure(l, s, k->wait_ns >= NS_PER_S);
    read_near(k, &l->shown[i]);
    read_window(l, &l->shown[i], k);
    read_quota(l, s->told, l->shown[i].spec, k);
    if (k->quota.limit == 0)
        read_earlier(l, &l->shown[i], k);
    l->busy = l->count;
}

static void look_at_idle(void *arg, const struct engine_key_state *s)
{
    struct look *l = arg;

    if (l->count < LOOK_KEYS && s->queued + s->in_flight == 0 && is_ours(l, s))
        show(l, s);
}

/* What is still in the list is spread over the keys as what is queued is. */
static void spread(struct look *l, int64_t unread)
{
    int64_t sum = 0;

    for (size_t i = 0; i < l->busy; i++)
        sum += l->key[i].todo;
    for (size_t i = 0; sum > 0 && i < l->busy; i++)
        l->key[i].todo += (int64_t)((double)unread * (double)l->key[i].todo / (double)sum + 0.5);
}

/*
 * All that is left to do fits into what is left of a quota: it is not spread (core/quota.h), and
 * neither what is left nor the mean of it is a pace.
 */
static void find_ample(struct look *l, bool is_known)
{
    for (size_t i = 0; is_known && i < l->busy; i++) {
        struct eta_key *k = &l->key[i];
        struct eta_budget *q = &k->quota;
        int64_t left = q->left - q->kept - l->shown[i].in_flight;

        if (q->limit == 0 || q->is_spread || k->todo > left)
            continue;
        q->spending = ETA_AT_ONCE;
        k->is_free = l->shown[i].flags & VIEW_KEY_LEARNED &&
                     (l->shown[i].flags & VIEW_KEY_CLIMBING || is_mean(k));
        if (!k->is_free)
            continue;
        k->rate = 0.0;
        k->learning = k->climbs = false;
    }
}

/* ------------------------------------------------------------------------------------ the facts */

/*
 * Where nothing of a key has ended yet it is taken to have its share of what the batch does: all
 * that is left then ends when that pace is through with it.
 */
static void share_out(struct look *l, const struct progress *p)
{
    double left = (double)(p->total - p->done);

    for (size_t i = 0; i < l->busy; i++) {
        struct eta_key *k = &l->key[i];
        double share = left > (double)k->todo ? (double)k->todo / left : 1.0;

        if (k->measured <= 0.0)
            k->measured = share * p->rate;
    }
}

static void put_key(const struct look *l, size_t i, struct progress *p)
{
    const struct view_key *v = &l->shown[i];
    bool is_near = v->flags & VIEW_KEY_NEAR && !l->key[i].learning;

    fb_view_put(p->provider, sizeof p->provider, v->provider);
    fb_view_put(p->pool, sizeof p->pool, v->pool);
    p->limit = is_near ? l->key[i].rate : v->limit;
    if (l->key[i].is_free)
        p->limit = 0.0;
    p->limit_learned = fb_view_key_is_guess(v);
    p->learning = l->key[i].learning || (l->key[i].climbs && p->eta.span_ns == FB_ETA_UNKNOWN);
    p->confidence = v->confidence;
    p->quota = l->key[i].quota;
    p->window_limit = v->window_stated;
    p->window_ns = v->window_ns;
    p->waits_ns = l->key[i].wait_ns;
    p->is_down = fb_view_key_is_down(v, l->now_ns) && v->failed_count > 0;
    p->failed_status = v->failed_status;
    p->retry_after_ns = v->retry_after_ns;
}

static void put_time(struct progress *p)
{
    struct timespec now;
    struct tm here;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    p->now_ns = now.tv_sec * NS_PER_S + now.tv_nsec;
    p->zone_s = localtime_r(&now.tv_sec, &here) ? (int64_t)here.tm_gmtoff : 0;
}

void fb_look(struct fetch *f, struct look *ret_look, struct progress *ret_progress)
{
    struct look *l = ret_look;
    struct progress *p = ret_progress;
    struct engine_stats s;
    int64_t ended = fb_pulse_ended(f);
    int64_t total = f->list_ended ? f->seen : fb_fetch_total(f);

    l->fetch = f;
    l->now_ns = fb_engine_now(f->engine);
    l->count = l->busy = 0;
    fb_engine_stats(f->engine, &s);
    struct engine_client_stats own = fb_engine_client_stats(f->client);
    *p = (struct progress){
        .done = f->earlier + ended,
        .total = fb_max64(total, f->seen),
        .total_grows = total < 0,
        .failed = f->count[ENTRY_failed] + f->count[ENTRY_unknown],
        .deferred = f->count[ENTRY_deferred],
        .throttled = own.throttled,
        .in_flight = own.in_flight,
        .spent_ns = l->now_ns - f->began_ns,
        .rate = fb_meter_batch(&f->meter, f->began_ns, l->now_ns, ended),
    };
    put_time(p);
    fb_engine_keys(f->engine, look_at_busy, l);
    if (s.keys <= KEYS_MANY)
        fb_engine_keys(f->engine, look_at_idle, l);
    f->meter.looked_ns = l->now_ns;
    spread(l, p->total - f->seen);
    find_ample(l, fb_engine_expected(f->engine) >= 0);
    share_out(l, p);
    p->eta = fb_eta(l->key, l->busy, s.in_flight >= f->o->engine.concurrency);
    if (l->busy > 0)
        put_key(l, p->eta.key, p);
}
