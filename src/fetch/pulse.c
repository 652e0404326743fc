/* SPDX-License-Identifier: MIT */
/*
 * pulse.c - four times a second: how far is it, how long will it take, and is that worth a line?
 *
 * What the limiters keep and what was told is read from the engine's keys; what has not been read
 * from the list yet is taken to be like what has.
 */
#include <string.h>
#include <time.h>

#include "core/accountant.h"
#include "core/window.h"
#include "fetch/fetch_parts.h"
#include "ledger/body.h"
#include "util/text.h"
#include "view/words.h"

#define NS_PER_S     INT64_C(1000000000)
#define KEYS_MAX     64
#define LINE_NS      (30 * NS_PER_S)
#define JSON_NS      NS_PER_S
#define HOLD_TOLD_NS (2 * NS_PER_S) /* shorter ones are over before they are read */

/* The keys as they are now, and whose they are. */
struct look {
    struct fetch *fetch;
    int64_t now_ns;
    size_t count;
    struct eta_key key[KEYS_MAX];
    struct engine_key_state state[KEYS_MAX];
    double limit[KEYS_MAX];
    bool learned[KEYS_MAX];
    double confidence[KEYS_MAX];
};

int64_t fb_pulse_ended(const struct fetch *f)
{
    int64_t sum = 0;

    for (int s = ITEM_done; s < ITEM_STATES; s++)
        sum += f->count[s];
    return sum;
}

/* ------------------------------------------------------------------------------------- looking */

/* A stated window: what of it is left, and when there is more. */
static void read_window(const struct look *l, const struct accountant *a, int64_t inner_ns,
                        struct eta_key *k)
{
    if (!(a->in_force >> FB_CONSTRAINT_window & 1))
        return;
    struct window_use u = fb_window_fullest(&a->slot[FB_SLOT_window], inner_ns);
    int64_t since_ns = l->now_ns - l->fetch->began_ns;

    k->window =
        (struct eta_budget){.limit = u.limit, .left = u.limit - u.used, .window_ns = u.length_ns};
    if (k->window.left <= 0 && k->wait_ns > 0)
        k->window.more_ns = k->wait_ns;
    else
        k->window.more_ns = u.length_ns > since_ns ? u.length_ns - since_ns : 0;
}

static void read_limiter(struct look *l, const struct engine_key_state *s, size_t i)
{
    struct eta_key *k = &l->key[i];
    struct fly_learned known = {.size = sizeof known};

    k->rate = fly_limiter_rate(s->limiter);
    l->limit[i] = k->rate;
    if (fly_limiter_learned(s->limiter, l->now_ns, &known) == 0) {
        l->confidence[i] = known.confidence;
        l->learned[i] = strcmp(known.by, "off") != 0;
    }
    struct body *b = fb_enter(s->limiter);
    if (!b)
        return;
    const struct probe *p = &b->books.learned.probe;
    if (fb_accountant_controller(&b->books) == &fb_controller_probe) {
        k->learning = p->phase == PROBE_FIRST;
        l->limit[i] = (double)p->limit;
    }
    read_window(l, &b->books, fb_max64(fb_inner(s->limiter, l->now_ns), b->books.now_ns), k);
    fb_leave(s->limiter);
}

/* Few say how long their window is. Most have one of these, and no reset is further away. */
static int64_t window_of(const struct engine_told *t)
{
    static const int64_t USUAL_S[] = {1, 10, 60, 300, 900, 3600, 86400};

    for (size_t i = 0; t->window_ns == 0 && i < sizeof USUAL_S / sizeof USUAL_S[0]; i++) {
        if (t->reset_most_ns <= (USUAL_S[i] + 1) * NS_PER_S) /* told in whole seconds */
            return USUAL_S[i] * NS_PER_S;
    }
    return t->window_ns > 0 ? t->window_ns : t->reset_most_ns;
}

static void read_quota(const struct look *l, const struct engine_told *t, struct eta_key *k)
{
    if (t->limit <= 0 || t->reset_ns <= l->now_ns)
        return;
    int64_t more_ns = t->reset_ns - l->now_ns;

    k->quota = (struct eta_budget){
        .limit = t->limit, .left = t->remaining, .window_ns = window_of(t), .more_ns = more_ns};
}

static void look_at(void *arg, const struct engine_key_state *s)
{
    struct look *l = arg;
    size_t i = l->count;

    if (i == KEYS_MAX || s->queued + s->in_flight == 0)
        return;
    l->state[i] = *s;
    l->key[i] = (struct eta_key){.todo = s->queued};
    if (s->queued > 0 && s->ready_at_ns != FLY_NEVER && s->ready_at_ns > l->now_ns)
        l->key[i].wait_ns = s->ready_at_ns - l->now_ns;
    read_limiter(l, s, i);
    read_quota(l, s->told, &l->key[i]);
    /* What is told with every answer is no search in the dark. */
    if (l->key[i].quota.limit > 0)
        l->key[i].learning = false;
    l->count++;
}

/* What is still in the list is spread over the keys as what is queued is. */
static void spread(struct look *l, int64_t unread)
{
    int64_t sum = 0;

    for (size_t i = 0; i < l->count; i++)
        sum += l->key[i].todo;
    for (size_t i = 0; sum > 0 && i < l->count; i++)
        l->key[i].todo += (int64_t)((double)unread * (double)l->key[i].todo / (double)sum + 0.5);
}

/* ------------------------------------------------------------------------------------ the facts */

static double measure(struct meter *m, int64_t began_ns, int64_t now_ns, int64_t done)
{
    size_t newest = m->count % METER_SAMPLES;

    if (m->count == 0) { /* nothing had ended when it began */
        m->sample[0].at_ns = began_ns;
        newest = m->count = 1;
    }
    m->sample[newest].at_ns = now_ns;
    m->sample[newest].done = done;
    m->count++;
    size_t oldest = m->count > METER_SAMPLES ? m->count % METER_SAMPLES : 0;
    int64_t span_ns = now_ns - m->sample[oldest].at_ns;
    return span_ns > 0 ? (double)(done - m->sample[oldest].done) / (double)span_ns * 1e9 : 0.0;
}

static void put_text(char *to, size_t size, const char *text)
{
    struct text t;

    fb_text_init(&t, to, size);
    fb_text_add(&t, text);
}

static void put_key(const struct look *l, size_t i, struct progress *p)
{
    put_text(p->provider, sizeof p->provider, l->state[i].key.provider);
    put_text(p->pool, sizeof p->pool, l->state[i].key.pool);
    p->limit = l->limit[i];
    p->limit_learned = l->learned[i];
    p->learning = l->key[i].learning;
    p->confidence = l->confidence[i];
    p->quota = l->key[i].quota;
    p->window_limit = l->key[i].window.limit;
    p->window_ns = l->key[i].window.window_ns;
    p->waits_ns = l->key[i].wait_ns;
    p->retry_after_ns = l->state[i].told->retry_after_ns;
}

static void put_time(struct progress *p)
{
    time_t now = time(NULL);
    struct tm here;

    p->now_s = (int64_t)now;
    p->zone_s = localtime_r(&now, &here) ? (int64_t)here.tm_gmtoff : 0;
}

static void read_all(struct fetch *f, struct look *l, struct progress *p)
{
    struct engine_stats s;
    int64_t ended = fb_pulse_ended(f);
    int64_t total = f->list_ended ? f->seen : fb_fetch_total(f);

    *l = (struct look){.fetch = f, .now_ns = fb_engine_now(f->engine)};
    fb_engine_stats(f->engine, &s);
    *p = (struct progress){
        .done = f->earlier + ended,
        .total = fb_max64(total, f->seen),
        .total_grows = total < 0,
        .failed = f->count[ITEM_failed] + f->count[ITEM_unknown],
        .deferred = f->count[ITEM_deferred],
        .throttled = s.throttled,
        .in_flight = s.in_flight,
        .spent_ns = l->now_ns - f->began_ns,
        .rate = measure(&f->meter, f->began_ns, l->now_ns, ended),
    };
    put_time(p);
    fb_engine_keys(f->engine, look_at, l);
    spread(l, p->total - f->seen);
    p->eta = fb_eta(l->key, l->count, p->rate, s.in_flight >= f->o->engine.concurrency);
    if (l->count > 0)
        put_key(l, p->eta.key, p);
}

void fb_pulse_read(struct fetch *f, struct progress *ret_progress)
{
    struct look l;

    read_all(f, &l, ret_progress);
}

/* ------------------------------------------------------------------------------------- a hold */

static void add_reason(const struct look *l, const struct engine_key_state *s, struct buffer *to)
{
    const struct engine_told *t = s->told;
    struct fly_why why = {.size = sizeof why};

    if (t->refused_ns > 0 && t->retry_after_ns > 0 &&
        t->refused_ns + t->retry_after_ns + NS_PER_S >= l->now_ns) {
        fb_buffer_add_text(to, "server said Retry-After ");
        fb_buffer_add_int(to, (t->retry_after_ns + NS_PER_S - 1) / NS_PER_S);
        fb_buffer_add_text(to, " (");
        fb_buffer_add_int(to, t->status);
        fb_buffer_add_text(to, " on item ");
        fb_buffer_add_text(to, t->item);
        fb_buffer_add_text(to, ")");
    } else if (fly_limiter_why(s->limiter, l->now_ns, 1, &why) == 0) {
        const char *reason = strstr(why.text, ": ");

        fb_buffer_add_text(to, s->cause);
        fb_buffer_add_text(to, reason ? reason : "");
        if (to->size > 0 && to->bytes[to->size - 1] == '.')
            to->size--;
    }
}

static void tell_hold(struct fetch *f, const struct look *l, size_t i, int64_t done)
{
    const struct engine_key_state *s = &l->state[i];
    struct buffer b = BUFFER_INIT;

    fb_buffer_add_text(&b, "holding ");
    fb_buffer_add_text(&b, s->key.provider);
    fb_buffer_add_char(&b, '/');
    fb_buffer_add_text(&b, s->key.pool);
    fb_buffer_add_text(&b, " for ");
    fb_words_span(l->key[i].wait_ns, &b);
    fb_buffer_add_text(&b, ": ");
    add_reason(l, s, &b);
    fb_buffer_add_text(&b, ". Nothing lost; ");
    fb_words_count(done, &b);
    fb_buffer_add_text(&b, " done. Ctrl-C stops safely.");
    if (fb_buffer_text(&b))
        fb_screen_say(&f->screen, b.bytes, true);
    fb_buffer_fini(&b);
}

/* Once for each hold that is longer than what was told before. */
static void look_for_holds(struct fetch *f, const struct look *l, int64_t done)
{
    for (size_t i = 0; i < l->count; i++) {
        int64_t until_ns = l->now_ns + l->key[i].wait_ns;

        if (l->key[i].wait_ns < HOLD_TOLD_NS || until_ns <= f->meter.hold_until_ns + HOLD_TOLD_NS)
            continue;
        f->meter.hold_until_ns = until_ns;
        tell_hold(f, l, i, done);
    }
}

/* ------------------------------------------------------------------------------------- showing */

static void print(struct fetch *f, const struct progress *p)
{
    struct buffer b = BUFFER_INIT;

    if (f->screen.mode == SCREEN_json)
        fb_progress_json(p, &b);
    else if (f->screen.is_terminal)
        fb_progress_line(p, fb_screen_width(), &b);
    else
        fb_progress_plain(p, &b);
    if (fb_buffer_text(&b))
        fb_screen_print(&f->screen, b.bytes);
    fb_buffer_fini(&b);
}

static void draw(struct fetch *f, const struct progress *p)
{
    struct buffer b = BUFFER_INIT;

    fb_progress_line(p, fb_screen_width(), &b);
    if (!b.failed)
        fb_screen_draw(&f->screen, b.bytes, b.size);
    fb_buffer_fini(&b);
}

/* A limit was met, a hold is over: worth a line before its time. */
static bool has_changed(struct meter *m, const struct progress *p)
{
    bool waits = p->waits_ns >= HOLD_TOLD_NS;
    bool changed =
        (m->was_learning && !p->learning && p->limit > 0.0) || (m->was_waiting && !waits);

    m->was_learning = p->learning;
    m->was_waiting = waits;
    return changed;
}

static void show(struct fetch *f, const struct look *l, const struct progress *p)
{
    struct meter *m = &f->meter;
    bool changed = has_changed(m, p);
    int64_t every_ns = f->screen.mode == SCREEN_json ? JSON_NS : LINE_NS;

    look_for_holds(f, l, p->done);
    if (f->screen.mode == SCREEN_bar) {
        draw(f, p);
    } else if (changed || l->now_ns - (m->line_ns ? m->line_ns : f->began_ns) >= every_ns) {
        m->line_ns = l->now_ns;
        print(f, p);
    }
}

void fb_pulse(struct fetch *f)
{
    struct progress p;
    struct look l;

    if (f->screen.mode == SCREEN_none && !f->o->on_progress)
        return;
    read_all(f, &l, &p);
    if (f->o->on_progress)
        f->o->on_progress(f->o->to, &p, false);
    else
        show(f, &l, &p);
}

void fb_pulse_now(struct fetch *f)
{
    struct progress p;
    struct look l;

    read_all(f, &l, &p);
    print(f, &p);
}
