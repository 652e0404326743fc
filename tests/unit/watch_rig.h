/* SPDX-License-Identifier: MIT */
/*
 * watch_rig.h - the real watcher on virtual time, against sites of a few lines.
 *
 * Each site has a limit that it judges itself, answers late, fails now and then, can be dead, and
 * can lie. Whoever looks asks a real limiter, as the engine does. Nothing here reads a clock or
 * sleeps; chance comes from a seed.
 */
#ifndef FLYBALL_TESTS_WATCH_RIG_H
#define FLYBALL_TESTS_WATCH_RIG_H

#include "unit.h"

#include <errno.h>
#include <stdbool.h>

#include "core/instant.h"
#include "core/rng.h"
#include "watch/records.h"
#include "watch/show.h"
#include "watch/watch.h"

#define RIG_EPOCH   (INT64_C(1700000000) * S)
#define RIG_SITES   4
#define RIG_FLIGHTS 256
#define RIG_GRADES  64
#define RIG_FIELDS  4

struct site {
    struct watch_domain_plan plan;
    const char *limit;   /* of the limiter; NULL: none */
    double rate, burst;  /* what the site itself holds against it; 0: anything goes */
    double fault;        /* chance of a failure */
    int64_t latency_ns;  /* half of it to one and a half */
    bool is_dead;        /* nothing comes */
    bool is_lying;       /* another score */
    bool knows_nothing;  /* every item is absent */
    bool says_same;      /* not modified, where it can refer to something */
    int64_t skips;       /* every so manyth item is not known to it; 0: it knows all */
    const char *failing; /* this item fails, always */
    const char *answers; /* the id that it says each answer is about; NULL: none */
    /* What it sees. */
    struct fly_limiter *limiter;
    double tokens;
    int64_t tokens_ns;
    int64_t asked, refused; /* refused: above its limit */
    int64_t in_flight, in_flight_most;
};

struct flight_of {
    struct watch_look *look;
    uint64_t ticket;
    int64_t asked_ns, ends_ns;
    bool is_bad;
};

struct world {
    struct watch *watch;
    struct watch_plan plan;
    struct site site[RIG_SITES];
    struct watch_domain_plan domains[RIG_SITES];
    size_t sites;
    int64_t now_ns, wake_ns;
    int64_t step_ns; /* the clock is off by so much */
    int64_t turns;   /* at this instant */
    struct rng rng;
    struct flight_of flight[RIG_FLIGHTS];
    int64_t in_flight, in_flight_most, looks[3];
    /* The list. */
    size_t items;
    size_t live, imminent; /* the first of them; the rest is completed */
    bool list_is_dead;
    bool list_is_same; /* it is not modified since it came last */
    bool forgives;     /* a list may fail for want of memory */
    int64_t lists;
    /* What was told. */
    int64_t told[WATCH_EVENT_KINDS];
    enum health grades[RIG_GRADES];
    int64_t graded_ns[RIG_GRADES];
    size_t grade_count;
    char last_text[160], last_trigger[32], last_id[64];
    /* Consumers: each live item once a second, and what was seen of ages. */
    bool consumes;
    int64_t ages, ages_below, over; /* samples; below 60 s; intervals in a row with one of 120 s */
    int64_t over_most, without_origin;
    int64_t queued_over;
    /* A consumer of one item's changes, who has applied so many. */
    bool follows;
    uint64_t followed;
    struct snapshot_field has[8];
    size_t has_count;
    char texts[8][2][32];
    int64_t recycles;
    /* What must last. */
    bool keeps;
    void *records; /* of records.h, instead of what follows; or NULL */
    struct kept {
        char id[32];
        char *record;
        size_t size;
    } * kept;
    size_t kept_count;
};

/* ---- the truth ---- */

static inline int64_t true_score(const struct world *w, size_t item, int64_t at_ns)
{
    (void)w;
    return (at_ns - RIG_EPOCH) / (20 * S) + (int64_t)item;
}

static inline size_t number_of(const char *id)
{
    return (size_t)strtoull(id + strcspn(id, "0123456789"), NULL, 10);
}

/* ---- ports ---- */

static inline int64_t rig_now(void *self)
{
    struct world *w = self;

    return w->now_ns + w->step_ns;
}

static inline void rig_wake_at(void *self, int64_t at_ns)
{
    struct world *w = self;

    w->wake_ns = at_ns == FB_NEVER ? FB_NEVER : at_ns - w->step_ns;
}

/* The site's own account of its limit. */
static inline void judge_arrival(struct world *w, struct site *s)
{
    if (s->rate <= 0)
        return;
    s->tokens += (double)(w->now_ns - s->tokens_ns) / 1e9 * s->rate;
    s->tokens = s->tokens > s->burst ? s->burst : s->tokens;
    s->tokens_ns = w->now_ns;
    s->tokens -= 1;
    s->refused += s->tokens < -1e-6;
}

static inline struct flight_of *free_flight(struct world *w)
{
    for (size_t n = 0; n < RIG_FLIGHTS; n++)
        if (!w->flight[n].look)
            return &w->flight[n];
    fail_msg("more than %d looks", RIG_FLIGHTS);
    return NULL;
}

static inline int rig_look(void *self, struct watch_look *l)
{
    struct world *w = self;
    struct site *s = l->kind == LOOK_LIST ? NULL : &w->site[l->domain_index];
    uint64_t ticket = 0;

    if (s && s->limiter) {
        int64_t at_ns = fly_limiter_take(s->limiter, w->now_ns, 1, &ticket);
        if (at_ns > w->now_ns) {
            l->ready_ns = at_ns + w->step_ns;
            return -EAGAIN;
        }
    }
    w->looks[l->kind]++;
    struct flight_of *f = free_flight(w);
    int64_t latency_ns = s ? s->latency_ns : 100 * MS;
    double late = fb_rng_unit(&w->rng);
    double fault = fb_rng_unit(&w->rng);
    latency_ns = latency_ns / 2 + (int64_t)(late * (double)latency_ns);
    *f = (struct flight_of){
        .look = l, .ticket = ticket, .asked_ns = w->now_ns, .ends_ns = w->now_ns + latency_ns};
    if (s) {
        judge_arrival(w, s);
        s->asked++;
        s->in_flight++;
        s->in_flight_most = s->in_flight > s->in_flight_most ? s->in_flight : s->in_flight_most;
        f->is_bad =
            s->is_dead || fault < s->fault || (s->failing && strcmp(s->failing, l->id) == 0);
        if (s->is_dead)
            f->ends_ns = w->now_ns + 2 * S;
    }
    w->in_flight++;
    w->in_flight_most = w->in_flight > w->in_flight_most ? w->in_flight : w->in_flight_most;
    return 0;
}

static inline void rig_recycle(void *self)
{
    struct world *w = self;

    w->recycles++;
}

/* Apply a change to what the consumer has. */
static inline void follow_change(struct world *w, const struct watch_event *e)
{
    struct snapshot had = {.field = w->has, .count = w->has_count};
    struct snapshot_field next[16];
    char texts[8][2][32];

    assert_int_equal(e->seq, w->followed + 1);
    w->followed = e->seq;
    w->has_count = fb_delta_apply(&had, e->change, e->change_count, next);
    assert_true(w->has_count <= COUNT_OF(w->has));
    for (size_t n = 0; n < w->has_count; n++) {
        snprintf(texts[n][0], 32, "%s", next[n].name);
        snprintf(texts[n][1], 32, "%s", next[n].value);
    }
    memcpy(w->texts, texts, sizeof(texts));
    for (size_t n = 0; n < w->has_count; n++)
        w->has[n] = (struct snapshot_field){w->texts[n][0], w->texts[n][1]};
}

static inline void assert_has_all(struct world *w, const char *id)
{
    struct watch_version v;

    fb_watch_version(w->watch, fb_watch_find(w->watch, id), 0, &v);
    assert_int_equal(v.seq, w->followed);
    assert_int_equal(v.says.count, w->has_count);
    for (size_t n = 0; n < v.says.count; n++)
        assert_string_equal(v.says.field[n].value, w->has[n].value);
}

static inline void rig_tell(void *self, const struct watch_event *e)
{
    struct world *w = self;

    w->told[e->kind]++;
    if (e->kind == WATCH_CHANGED && w->follows) {
        follow_change(w, e);
        assert_has_all(w, e->id);
    }
    assert_non_null(e->text);
    if (e->kind == WATCH_GRADE) {
        struct watch_figures f;
        fb_watch_figures(w->watch, &f);
        assert_true(w->grade_count < RIG_GRADES);
        w->graded_ns[w->grade_count] = w->now_ns;
        w->grades[w->grade_count++] = f.grade;
    }
    if (e->kind != WATCH_LOOKED && e->kind != WATCH_INTERVAL && e->kind != WATCH_CHANGED) {
        snprintf(w->last_text, sizeof(w->last_text), "%s", e->text);
        snprintf(w->last_trigger, sizeof(w->last_trigger), "%s", e->trigger);
        snprintf(w->last_id, sizeof(w->last_id), "%s", e->id);
    }
    if (e->kind == WATCH_INTERVAL) {
        struct watch_figures f;
        fb_watch_figures(w->watch, &f);
        w->over = f.spread[ITEM_live].oldest_ns >= 120 * S ? w->over + 1 : 0;
        w->over_most = w->over > w->over_most ? w->over : w->over_most;
        w->queued_over += f.deferred_lately > w->plan.queue_max;
    }
}

static inline void rig_keep(void *self, const char *id, const void *record, size_t size)
{
    struct world *w = self;
    struct kept *k = &w->kept[number_of(id)];

    if (w->records) {
        fb_watch_records_keep(w->records, id, record, size);
        return;
    }
    assert_true(number_of(id) < w->kept_count);
    free(k->record);
    *k = (struct kept){.size = size, .record = size ? malloc(size) : NULL};
    snprintf(k->id, sizeof(k->id), "%s", id);
    if (size)
        memcpy(k->record, record, size);
}

/* ---- answers ---- */

static inline void answer_list(struct world *w, struct watch_look *l)
{
    struct watch_answer failed = {.end = LOOK_FAILED, .failure = FAIL_REFUSED};

    if (w->list_is_dead || w->list_is_same) {
        failed.end = w->list_is_dead ? LOOK_FAILED : LOOK_SAME;
        fb_watch_looked(w->watch, l, &failed);
        return;
    }
    struct watch_entry *e = calloc(w->items + 1, sizeof(*e));
    char(*id)[RIG_SITES + 1][32] = calloc(w->items + 1, sizeof(*id));
    const char *(*ids)[RIG_SITES] = calloc(w->items + 1, sizeof(*ids));
    for (size_t n = 0; n < w->items; n++) {
        snprintf(id[n][RIG_SITES], 32, "item-%zu", n);
        for (size_t d = 0; d < w->sites; d++) {
            const struct site *s = &w->site[d];
            snprintf(id[n][d], 32, "%s%zu", s->plan.name, n);
            ids[n][d] = s->skips && n % (size_t)s->skips == 0 ? NULL : id[n][d];
        }
        e[n] = (struct watch_entry){
            .id = id[n][RIG_SITES],
            .state = n < w->live                 ? ITEM_live
                     : n < w->live + w->imminent ? ITEM_imminent
                                                 : ITEM_completed,
            .domain_id = ids[n],
        };
    }
    w->lists++;
    int r = fb_watch_listed(w->watch, l, e, w->items);
    assert_true(r == 0 || (w->forgives && r == -ENOMEM));
    free(ids);
    free(id);
    free(e);
}

static inline void answer_item(struct world *w, const struct flight_of *f, struct site *s)
{
    size_t n = number_of(f->look->id);
    char score[24];
    char half[24];
    int64_t lie = s->is_lying ? 1000 : 0;
    struct snapshot_field live[] = {{"home", "a"}, {"score", score}, {"when", half}};
    struct snapshot_field fixed[] = {{"venue", "stadium"}};
    struct watch_answer a = {
        .asked_ns = f->asked_ns + w->step_ns,
        .latency_ns = f->ends_ns - f->asked_ns,
        .domain_id = s->answers,
    };

    snprintf(score, sizeof(score), "%lld", (long long)(true_score(w, n, f->asked_ns) + lie));
    snprintf(half, sizeof(half), "%lld", (long long)((f->asked_ns - RIG_EPOCH) / (600 * S)));
    a.says = (struct snapshot){.field = live, .count = COUNT_OF(live)};
    if (f->look->kind == LOOK_STATIC)
        a.says = (struct snapshot){.field = fixed, .count = COUNT_OF(fixed)};
    if (f->is_bad) {
        a.end = LOOK_FAILED;
        a.failure = s->is_dead ? FAIL_FIRST_BYTE_TIMEOUT : FAIL_5XX;
    } else if (s->knows_nothing) {
        a.end = LOOK_ABSENT;
    } else if (s->says_same && f->look->has_said) {
        a.end = LOOK_SAME;
        a.was_free = true;
    }
    fb_watch_looked(w->watch, f->look, &a);
}

static inline void answer(struct world *w, struct flight_of *at)
{
    struct flight_of f = *at;
    struct site *s = f.look->kind == LOOK_LIST ? NULL : &w->site[f.look->domain_index];

    at->look = NULL;
    w->in_flight--;
    if (!s) {
        answer_list(w, f.look);
        return;
    }
    s->in_flight--;
    if (s->limiter)
        report(s->limiter, w->now_ns, f.ticket, f.is_bad ? 0 : 200);
    answer_item(w, &f, s);
}

/* ---- consumers ---- */

static inline void see_origins(struct world *w, const struct watch_item *i,
                               const struct watch_item_view *v)
{
    for (size_t n = 0; n < v->fields; n++) {
        struct watch_field f;
        fb_watch_field(w->watch, i, n, &f);
        const char *said = fb_watch_says(w->watch, i, f.domain, f.name);
        if (!said || strcmp(said, f.value) != 0 || !(f.agree >> f.domain & 1) || !f.fresh_ns)
            w->without_origin++;
    }
}

static inline void consume(struct world *w)
{
    for (size_t n = 0; n < fb_watch_count(w->watch); n++) {
        struct watch_item_view v;
        const struct watch_item *i = fb_watch_item_at(w->watch, n);
        fb_watch_item(w->watch, i, &v);
        if (v.state != ITEM_live)
            continue;
        assert_ptr_equal(fb_watch_read(w->watch, v.id), i);
        w->ages++;
        w->ages_below += v.age_ns < 60 * S;
        see_origins(w, i, &v);
    }
}

/* ---- time ---- */

static inline void world_open(struct world *w)
{
    struct watch_ports ports = {
        .self = w,
        .now = rig_now,
        .wake_at = rig_wake_at,
        .look = rig_look,
        .tell = rig_tell,
        .recycle = rig_recycle,
        .keep = w->keeps || w->records ? rig_keep : NULL,
    };
    struct fly_error err = {""};

    for (size_t n = 0; n < w->sites; n++)
        w->domains[n] = w->site[n].plan;
    w->plan.domain = w->domains;
    w->plan.domain_count = w->sites;
    if (fb_watch_open(&ports, &w->plan, &w->watch, &err) < 0)
        fail_msg("%s", err.text);
}

/* A world in which nothing has happened: the sites are to be filled in, then world_open(). */
static inline struct world *world_new(uint64_t seed)
{
    struct world *w = calloc(1, sizeof(*w));

    fb_watch_plan_init(&w->plan);
    w->plan.has_list = true;
    w->plan.seed = seed;
    w->now_ns = RIG_EPOCH;
    w->wake_ns = RIG_EPOCH;
    w->rng.state = seed;
    return w;
}

static inline struct site *add_site(struct world *w, const char *name, double weight)
{
    struct site *s = &w->site[w->sites++];

    *s = (struct site){.latency_ns = 200 * MS};
    s->plan = (struct watch_domain_plan){
        .name = name, .weight = weight, .concurrency = 8, .enabled = true};
    return s;
}

/* The site holds this against it, and the limiter knows it. */
static inline void limit_site(struct world *w, struct site *s, const char *limit, double rate,
                              double burst)
{
    s->limit = limit;
    s->rate = rate;
    s->burst = s->tokens = burst;
    s->tokens_ns = w->now_ns;
    s->limiter = limiter(limit, w->now_ns);
}

/* As kill -9 would: what is not kept is gone. */
static inline void world_kill(struct world *w)
{
    fb_watch_close(w->watch);
    w->watch = NULL;
    memset(w->flight, 0, sizeof(w->flight));
    w->in_flight = 0;
    for (size_t n = 0; n < w->sites; n++)
        w->site[n].in_flight = 0;
}

static inline void world_free(struct world *w)
{
    fb_watch_close(w->watch);
    for (size_t n = 0; n < w->sites; n++)
        fly_limiter_free(w->site[n].limiter);
    for (size_t n = 0; n < w->kept_count; n++)
        free(w->kept[n].record);
    free(w->kept);
    free(w);
}

static inline struct flight_of *next_flight(struct world *w)
{
    struct flight_of *next = NULL;

    for (size_t n = 0; n < RIG_FLIGHTS; n++)
        if (w->flight[n].look && (!next || w->flight[n].ends_ns < next->ends_ns))
            next = &w->flight[n];
    return next;
}

/* Whatever happens in so many nanoseconds. */
static inline void pass(struct world *w, int64_t span_ns)
{
    int64_t end_ns = w->now_ns + span_ns;
    int64_t second_ns = w->now_ns - w->now_ns % S + S;

    for (;;) {
        struct flight_of *f = next_flight(w);
        int64_t at_ns = fb_min64(f ? f->ends_ns : FB_NEVER, w->wake_ns);
        if (w->consumes && second_ns < fb_min64(at_ns, end_ns + 1)) {
            w->now_ns = second_ns;
            second_ns += S;
            consume(w);
            continue;
        }
        if (at_ns > end_ns)
            break;
        /* A watcher that asks for its turn again and again at one instant would never sleep. */
        w->turns = at_ns > w->now_ns ? 0 : w->turns + 1;
        assert_true(w->turns < 100000);
        w->now_ns = fb_max64(w->now_ns, at_ns);
        if (f && f->ends_ns <= w->wake_ns) {
            answer(w, f);
            continue;
        }
        w->wake_ns = FB_NEVER;
        fb_watch_turn(w->watch);
    }
    w->now_ns = end_ns;
}

static inline struct watch_figures figures(const struct world *w)
{
    struct watch_figures f;

    fb_watch_figures(w->watch, &f);
    return f;
}

static inline struct watch_item_view item(const struct world *w, const char *id)
{
    struct watch_item_view v;
    const struct watch_item *i = fb_watch_find(w->watch, id);

    assert_non_null(i);
    fb_watch_item(w->watch, i, &v);
    return v;
}

/* The value of a field of an item now, or "". */
static inline const char *value(const struct world *w, const char *id, const char *name)
{
    const struct watch_item *i = fb_watch_find(w->watch, id);
    struct watch_version v;

    assert_non_null(i);
    if (item(w, id).kept == 0)
        return "";
    fb_watch_version(w->watch, i, 0, &v);
    const char *text = fb_snapshot_find(&v.says, name);
    return text ? text : "";
}

#endif
