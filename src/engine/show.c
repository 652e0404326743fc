/* SPDX-License-Identifier: MIT */
/*
 * show.c - what a limiter keeps, believes and waits for, in one plain struct.
 *
 * Nothing changes: the limiter's books are read under its lock, as for any other question.
 */
#include "engine/show.h"

#include <string.h>

#include <flyball/flyball.h>

#include "core/accountant.h"
#include "core/bucket.h"
#include "core/quota.h"
#include "core/spec.h"
#include "core/window.h"
#include "ledger/body.h"
#include "util/text.h"

/* Of the limit that is told: what is believed is about that. */
#define TOLD_LEAST 0.85
#define TOLD_MOST  1.2
#define LONG_NS    (60 * FB_NS_PER_S)
#define LATE_NS    (10 * FB_NS_PER_S) /* so long an answer may be under way */

/* A stated window: what of it is left. */
static void show_window(struct fly_limiter *l, const struct accountant *a, int64_t inner_ns,
                        struct view_key *v)
{
    if (!(a->in_force >> FB_CONSTRAINT_window & 1))
        return;
    struct window_use u = fb_window_fullest(&a->slot[FB_SLOT_window], inner_ns);

    v->window_limit = u.limit;
    v->window_stated = u.stated;
    v->window_left = fb_max64(0, u.limit - u.used);
    v->window_ns = u.length_ns;
    v->window_frees_ns = fb_outer(l, u.frees_ns);
}

/* What the quota that is told means to the limiter. */
enum told_use {
    TOLD_PACES, /* it is spread, as ever */
    TOLD_UNMET, /* nothing is asked for, and the last time all fitted: it is what is known */
    TOLD_AMPLE, /* all that is to come fits: it sets no pace */
};

static enum told_use use_of(const struct accountant *a, const struct engine_told *t)
{
    bool learns = fb_accountant_controller(a) == &fb_controller_probe;
    bool is_idle = a->in_flight == 0 && fb_quota_backlog(&a->slot[FB_SLOT_quota]) <= 0;

    if (!is_idle && t->limit > 0 && fb_accountant_is_ample(a, t->limit, t->remaining))
        return TOLD_AMPLE;
    return learns && fb_probe_is_unmet(&a->learned.probe) ? TOLD_UNMET : TOLD_PACES;
}

static enum told_use show_books(struct fly_limiter *l, const struct engine_told *t, int64_t now_ns,
                                struct view_key *v)
{
    struct body *b = fb_enter(l);

    if (!b)
        return TOLD_PACES;
    enum told_use use = use_of(&b->books, t);
    int64_t inner_ns = fb_max64(fb_inner(l, now_ns), b->books.now_ns);
    if (fb_accountant_controller(&b->books) == &fb_controller_probe) {
        const struct probe *p = &b->books.learned.probe;

        v->limit = (double)fb_probe_limit_shown(p);
        if (p->phase == PROBE_FIRST && fb_probe_kept_s(p) <= 0.0f)
            v->flags |= VIEW_KEY_LEARNING | VIEW_KEY_CLIMBING;
        v->flags |= fb_probe_is_near(p) ? VIEW_KEY_NEAR : 0;
    }
    v->permits = fb_bucket_available(fb_accountant_bucket(&b->books), inner_ns);
    show_window(l, &b->books, inner_ns, v);
    v->bound = fb_accountant_amounts(&b->books, inner_ns);
    enum pace_wait wait = fb_accountant_pace_wait(&b->books, inner_ns);
    v->flags |= wait == PACE_FREE ? 0 : VIEW_KEY_PACED;
    v->flags |= wait == PACE_SPENT ? VIEW_KEY_SPENT : 0;
    if (b->books.in_force >> FB_CONSTRAINT_quota & 1)
        v->reserve_ppm = (uint32_t)b->books.slot[FB_SLOT_quota + FB_QUOTA_RESERVE];
    fb_leave(l);
    return use;
}

static enum told_use show_limiter(struct fly_limiter *l, const struct engine_told *t,
                                  int64_t now_ns, struct view_key *v)
{
    struct fly_learned known = {.size = sizeof(known)};

    v->limit = fly_limiter_rate(l);
    v->permits = -1.0;
    if (fly_limiter_learned(l, now_ns, &known) == 0 && strcmp(known.by, "off") != 0) {
        v->flags |= VIEW_KEY_LEARNED;
        v->confidence = known.confidence;
        v->changed_ns = known.changed_ns == FLY_ABSENT ? 0 : known.changed_ns;
    }
    v->pace = v->limit;
    enum told_use use = show_books(l, t, now_ns, v);
    if (v->pace <= 0.0)
        v->permits = -1.0;
    return use;
}

/* Few say how long it is. Most have one of these, and no reset is further away. */
static int64_t usual_window(int64_t reset_most_ns)
{
    static const int64_t usual_s[] = {1, 2, 5, 10, 15, 20, 30, 60, 300, 900, 3600, 86400};

    for (size_t i = 0; i < sizeof(usual_s) / sizeof(usual_s[0]); i++) {
        if (reset_most_ns <= (usual_s[i] + 1) * FB_NS_PER_S) /* told in whole seconds */
            return usual_s[i] * FB_NS_PER_S;
    }
    return reset_most_ns;
}

int64_t fb_show_told_window(const struct engine_told *t)
{
    int64_t usual_ns = usual_window(t->reset_most_ns);

    if (t->window_ns > 0)
        return t->window_ns;
    /* Of a short one it may be the rest, until the first has ended and another was told of. */
    return usual_ns < LONG_NS && t->told_ns <= t->first_reset_ns ? 0 : usual_ns;
}

static bool is_about(double limit, double told)
{
    return limit >= TOLD_LEAST * told && limit <= TOLD_MOST * told;
}

/* What is left until a reset is believed, and nobody knows yet of how long a window that is. */
static bool is_of_a_rest(const struct engine_told *t, const struct view_key *v)
{
    double rest = (double)v->quota_limit * 1e9 / (double)usual_window(t->reset_most_ns);

    return v->quota_limit > 0 && t->reset_most_ns > 0 && fb_show_told_window(t) == 0 &&
           t->refused_ns == 0 && v->flags & VIEW_KEY_LEARNED && is_about(v->limit, rest);
}

/*
 * What is believed of a short window wavers about what is told. Where the two are far apart it was
 * found out that the server means something else: not before two windows have passed.
 */
static bool is_believed(const struct engine_told *t, const struct view_key *v, double told,
                        int64_t now_ns)
{
    bool is_new = t->window_ns > 0 && t->refused_ns == 0 &&
                  now_ns < t->first_reset_ns + fb_min64(t->window_ns, LONG_NS);

    return is_new || is_about(v->limit, told);
}

/* So many in so long a time is what the server says, as long as it says it with its answers. */
static void limit_as_told(const struct engine_key_state *s, struct view_key *v, int64_t now_ns,
                          enum told_use use)
{
    const struct engine_told *t = s->told;
    int64_t window_ns = fb_show_told_window(t);
    double told = (double)v->quota_limit * 1e9 / (double)fb_max64(1, window_ns);
    bool is_silent = s->left_ns > t->told_ns + 2 * window_ns + LATE_NS;

    if (v->quota_limit == 0 || t->reset_most_ns <= 0 || window_ns == 0 || is_silent ||
        !(v->flags & VIEW_KEY_LEARNED) || (use != TOLD_UNMET && !is_believed(t, v, told, now_ns)))
        return;
    if (v->bound.by == BOUND_WINDOW && v->bound.rate < told)
        return; /* whoever states less knows why */
    v->flags = (v->flags | VIEW_KEY_TOLD) & ~VIEW_KEY_LEARNING;
    v->limit = told;
}

/*
 * What is left above the reserve, over the time until there is more. Of a short window that says
 * something else every second, and nobody could act on it.
 */
static void bound_by_quota(const struct engine_told *t, struct view_key *v, int64_t now_ns)
{
    int64_t reserve = v->quota_limit * (int64_t)v->reserve_ppm / FB_MILLION;
    int64_t spend = fb_max64(1, v->quota_left - reserve);

    if (fb_view_key_has_quota(v, now_ns) && !fb_view_key_resets_soon(v, now_ns) &&
        fb_show_told_window(t) >= LONG_NS)
        fb_bound_tighten(&v->bound, (double)spend * 1e9 / (double)(v->quota_reset_ns - now_ns),
                         BOUND_QUOTA);
}

static void tighten(const struct engine_key_state *s, int64_t now_ns, struct view_key *v,
                    enum told_use use)
{
    if (!(v->flags & VIEW_KEY_LEARNING))
        fb_bound_tighten(&v->bound, v->limit,
                         v->flags & VIEW_KEY_LEARNED ? BOUND_LEARNED : BOUND_STATED);
    if (use != TOLD_AMPLE)
        bound_by_quota(s->told, v, now_ns);
    if (v->bound.by == BOUND_QUOTA && (v->pace <= 0.0 || v->bound.rate < v->pace))
        v->pace = v->bound.rate;
}

static void show_told(const struct engine_key_state *s, int64_t now_ns, struct view_key *v,
                      enum told_use use)
{
    const struct engine_told *t = s->told;

    v->quota_limit = t->limit > 0 ? t->limit : 0;
    v->quota_left = t->remaining;
    v->quota_window_ns = t->window_ns;
    v->quota_reset_ns = t->reset_ns;
    v->told_ns = t->told_ns;
    v->quota_most_s = (int32_t)fb_min64(t->reset_most_ns / FB_NS_PER_S, INT32_MAX);
    v->refused_ns = t->refused_ns;
    v->retry_after_ns = t->retry_after_ns;
    v->refused_status = t->status;
    fb_view_put(v->refused_item, sizeof(v->refused_item), t->item);
    fb_view_put(v->told_by, sizeof(v->told_by), t->header);
    /* What is told with every answer is no search in the dark. */
    if (use != TOLD_AMPLE && fb_view_key_has_quota(v, now_ns) && fb_show_told_window(t) > 0)
        v->flags &= ~VIEW_KEY_LEARNING;
    if (use != TOLD_AMPLE && is_of_a_rest(t, v))
        v->flags |= VIEW_KEY_LEARNING;
    if (use != TOLD_AMPLE)
        limit_as_told(s, v, now_ns, use);
    tighten(s, now_ns, v, use);
}

void fb_show_limits(const struct engine_key_state *s, int64_t now_ns, struct view_key *ret_key)
{
    memset(ret_key, 0, sizeof(*ret_key));
    show_told(s, now_ns, ret_key, show_limiter(s->limiter, s->told, now_ns, ret_key));
}

/* Whether anything was refused since it is known: how long that lasts is a guess before. */
static bool has_refused(const struct engine_key_state *s, const struct fly_learned *known)
{
    struct body *b = fb_enter(s->limiter);

    if (!b)
        return false;
    bool is_seen = fb_accountant_controller(&b->books) == &fb_controller_probe &&
                   b->books.learned.probe.refused_ns != FB_LONG_AGO;
    fb_leave(s->limiter);
    return is_seen || s->refused > 0 || s->told->refused_ns > 0 ||
           (strcmp(known->by, "probe") != 0 && known->reduction > 0.0);
}

int fb_show_learned(const struct engine_key_state *s, int64_t now_ns,
                    struct fly_learned *ret_learned)
{
    int error = fly_limiter_learned(s->limiter, now_ns, ret_learned);
    struct view_key v;

    if (error < 0)
        return error;
    fb_show_limits(s, now_ns, &v);
    if (v.flags & VIEW_KEY_LEARNED)
        ret_learned->rate = v.flags & VIEW_KEY_LEARNING ? 0.0 : v.limit;
    if (!has_refused(s, ret_learned))
        ret_learned->recovery_ns = 0;
    else if (strcmp(ret_learned->by, "probe") == 0 && s->told->retry_after_ns > 0)
        ret_learned->recovery_ns = s->told->retry_after_ns; /* who tells it need not be guessed */
    return 0;
}

static void begin_why(struct text *t, struct view_key *v, int64_t now_ns)
{
    fb_text_init(t, v->why, sizeof(v->why));
    if (v->ready_ns == VIEW_NEVER) {
        fb_text_add(t, "Waits: ");
        return;
    }
    fb_text_add(t, "Next start in ");
    fb_text_add_span(t, v->ready_ns - now_ns);
    fb_text_add(t, ": ");
}

/* Of a hold the server's own words tell more than that there is one. */
static void say_retry_after(struct view_key *v, int64_t now_ns)
{
    struct text t;

    begin_why(&t, v, now_ns);
    fb_text_add(&t, "Retry-After ");
    fb_text_add_int(&t, (v->retry_after_ns + FB_NS_PER_S - 1) / FB_NS_PER_S);
    fb_text_add(&t, ", told with a ");
    fb_text_add_int(&t, v->refused_status);
    fb_text_add(&t, " ");
    fb_text_add_span(&t, now_ns - v->refused_ns);
    fb_text_add(&t, " ago.");
}

/* "; the last 5 answers were 500" */
static void say_failures(struct text *t, const struct view_key *v)
{
    struct buffer b = BUFFER_INIT;

    fb_view_key_failures(v, &b);
    if (b.size > 0 && fb_buffer_text(&b)) {
        fb_text_add(t, "; ");
        fb_text_add(t, b.bytes);
    }
    fb_buffer_fini(&b);
}

/* What the limiter knows nothing of: it would say that a request may start. */
static void say_engine(struct view_key *v, int64_t now_ns)
{
    static const struct {
        const char *cause;
        const char *says;
    } rows[] = {
        {"breaker", "too many failures in a row, only trials leave"},
        {"pause", "too many failures in a row, it is left alone for a while"},
        {"concurrency", "as many requests as allowed are under way"},
        {"disabled", "it is switched off"},
    };
    struct text t;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].cause, v->cause) != 0)
            continue;
        begin_why(&t, v, now_ns);
        fb_text_add(&t, rows[i].says);
        if (fb_view_key_is_down(v, now_ns))
            say_failures(&t, v);
        fb_text_add(&t, ".");
    }
}

/* What it waits for: as the engine has it while something is queued, else as the limiter says. */
static void show_wait(const struct engine_key_state *s, int64_t now_ns, struct view_key *v)
{
    struct fly_why why = {.size = sizeof(why)};

    if (!s->is_enabled) { /* whatever its limiter would say */
        v->ready_ns = VIEW_NEVER;
        fb_view_put(v->cause, sizeof(v->cause), "disabled");
        return;
    }
    if (fly_limiter_why(s->limiter, now_ns, 1, &why) < 0)
        why = (struct fly_why){.until_ns = now_ns};
    v->ready_ns = s->queued > 0 ? s->ready_at_ns : why.until_ns;
    if (v->ready_ns > now_ns)
        fb_view_put(v->cause, sizeof(v->cause), s->queued > 0 ? s->cause : why.cause);
    fb_view_put(v->why, sizeof(v->why), why.text);
    if (strcmp(fb_view_key_because(v, now_ns), "Retry-After") == 0)
        say_retry_after(v, now_ns);
    else if (v->ready_ns > now_ns &&
             (strcmp(why.cause, "go") == 0 || fb_view_key_is_down(v, now_ns)))
        say_engine(v, now_ns);
}

void fb_show_key(const struct engine_key_state *s, int64_t now_ns, struct view_key *ret_key)
{
    struct view_key *v = ret_key;

    memset(v, 0, sizeof(*v));
    fb_view_put(v->provider, sizeof(v->provider), s->key.provider);
    fb_view_put(v->pool, sizeof(v->pool), s->key.pool);
    fb_view_put(v->credential, sizeof(v->credential), s->key.credential);
    v->seen_ns = now_ns;
    v->queued = s->queued;
    memcpy(v->queued_by, s->queued_by, sizeof(v->queued_by));
    v->oldest_ns = s->oldest_ns;
    v->since_ns = s->queued > 0 ? fb_max64(s->left_ns, s->oldest_ns) : 0;
    v->in_flight = s->in_flight;
    v->requests = s->requests;
    v->refused = s->refused;
    v->refused_hour = -1;
    v->broken_ns = s->broken_until_ns == FLY_NEVER ? 0 : s->broken_until_ns;
    v->flags = (s->is_enabled ? 0 : VIEW_KEY_DISABLED) | (s->is_broken ? VIEW_KEY_BROKEN : 0);
    v->failed_count = s->failures.count;
    v->failed_status = s->failures.status;
    fb_view_put(v->failed, sizeof(v->failed), s->failures.says);
    show_told(s, now_ns, v, show_limiter(s->limiter, s->told, now_ns, v));
    show_wait(s, now_ns, v);
}
