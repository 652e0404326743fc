/* SPDX-License-Identifier: MIT */
/*
 * test_probe_hand.h - the probe in the hand: its state to look into, grants and answers one by one.
 */
#ifndef FLYBALL_TESTS_TEST_PROBE_HAND_H
#define FLYBALL_TESTS_TEST_PROBE_HAND_H

#include "unit.h"

#include <math.h>
#include <stdbool.h>

#include "core/adapt/probe_parts.h"
#include "core/controller.h"
#include "core/field.h"
#include "core/spec.h"
#include "util/text.h"

struct hand {
    union controller_state c;
    struct pace pace;
    int64_t now_ns;
    uint64_t latest;        /* id of the latest grant ... */
    uint64_t id;            /* ... and of the one that is answered or cancelled next */
    struct fly_outcome o;   /* what the next answer tells */
    int64_t cost;           /* of the next */
    int64_t in_flight;      /* when the next answer comes, without it */
    int64_t in_flight_then; /* when it was granted, with it */
    float refused_at;       /* the pace that was refused last ... */
    float limit_then;       /* ... and what the limit was believed to be */
    bool ample;             /* all that is to come fits into what the next answer tells */
};

static inline struct hand hand_of(const char *text)
{
    struct hand h = {.cost = 1, .in_flight_then = 1};
    struct spec s;

    assert_int_equal(fb_spec_read(text, &s, NULL), 0);
    h.o = outcome(1, 200, 0);
    fb_controller_probe.init(&h.c, &h.pace, &s, 0);
    return h;
}

static inline bool cancel(struct hand *h)
{
    struct ask q = {.now_ns = h->now_ns, .cost = 1, .id = h->id};

    return fb_controller_probe.on_cancel(&h->c, &h->pace, &q);
}

/* In the hand and settled at `limit` a second since long, with `accepted` units counted. */
static inline struct hand settled(float limit, float accepted)
{
    struct hand h = hand_of("");
    struct probe *p = &h.c.probe;

    h.now_ns = 10000 * S;
    p->answered = true;
    p->phase = PROBE_SETTLED;
    p->limit = limit;
    p->lean = -MARGIN;
    p->rate = limit * (1.0f - MARGIN);
    p->look_ns = h.now_ns + 1000 * S;
    p->accepted = accepted;
    p->evidence = 200.0f;
    p->empty_ns = h.now_ns - fb_span((double)(accepted / p->rate));
    p->ahead_ns = h.now_ns;
    p->next_ns = h.now_ns;
    p->since_refusal = (int32_t)accepted;
    p->opened_ns = p->empty_ns;
    (void)cancel(&h); /* the pace follows */
    return h;
}

/* In the first climb at `rate` a second, right after its beginning. */
static inline struct hand first_climb(float rate)
{
    struct hand h = hand_of("");
    struct probe *p = &h.c.probe;

    h.now_ns = 1000 * S;
    p->answered = true;
    p->limit = 0.5f * rate;
    p->rate = rate;
    p->total_ns = p->empty_ns = p->ahead_ns = p->next_ns = p->step_ns = h.now_ns;
    (void)cancel(&h); /* the pace follows */
    return h;
}

/* Settled, and looking upward by `lean`. */
static inline struct hand looking(float limit, float lean, float accepted)
{
    struct hand h = settled(limit, accepted);
    struct probe *p = &h.c.probe;

    p->lean = lean;
    p->held = 0.0f;
    p->rate = limit * (1.0f + lean);
    p->look_ns = h.now_ns - 100 * S;
    p->step_ns = h.now_ns;
    (void)cancel(&h);
    return h;
}

static inline bool grant(struct hand *h)
{
    struct ask q = {.now_ns = h->now_ns, .cost = h->cost, .in_flight = h->in_flight};

    q.id = h->id = ++h->latest;
    h->o.sent_ns = h->now_ns;
    return fb_controller_probe.on_grant(&h->c, &h->pace, &q);
}

/* The answer of what was granted last; whether the pace changed. */
static inline bool reply(struct hand *h, int32_t status)
{
    bool throttled = status == 429 || (h->o.flags & FLY_THROTTLED) != 0;

    h->o.status = status;
    struct answer a = {
        .outcome = &h->o,
        .now_ns = h->now_ns,
        .cost = h->cost,
        .granted = h->cost,
        .in_flight = h->in_flight,
        .in_flight_then = h->in_flight_then,
        .id = (uint16_t)h->id,
        .ample = h->ample,
        .throttled = throttled,
        .accepted = !throttled && status >= 200 && status < 400,
    };
    return fb_controller_probe.on_outcome(&h->c, &h->pace, &a);
}

/* A request now, with its answer 10 ms later. */
static inline void request(struct hand *h, int32_t status)
{
    grant(h);
    h->now_ns += 10 * MS;
    reply(h, status);
}

/* As soon as it may. */
static inline void ping(struct hand *h, int32_t status)
{
    if (h->pace.not_before_ns > h->now_ns)
        h->now_ns = h->pace.not_before_ns;
    request(h, status);
}

/* Requests at the pace (at most 100 a second), all served. */
static inline void serve(struct hand *h, int times)
{
    for (int i = 0; i < times; i++) {
        int64_t each_ns = (int64_t)(1e9 * (double)h->cost / h->pace.rate);
        h->now_ns += each_ns > 10 * MS ? each_ns - 10 * MS : 0;
        request(h, 200);
    }
}

static inline void refuse(struct hand *h)
{
    h->limit_then = h->c.probe.limit;
    h->refused_at = h->c.probe.rate;
    request(h, 429);
    assert_int_equal(h->c.probe.episode, EPISODE_WAITING);
    assert_true(h->pace.not_before_ns > h->now_ns);
}

static inline void sentence(const struct hand *h, char *buffer, size_t size)
{
    struct text t;

    fb_text_init(&t, buffer, size);
    fb_probe_explain(&h->c, &h->pace, h->now_ns, &t);
}

static inline void assert_says(const struct hand *h, const char *part)
{
    char text[256];

    sentence(h, text, sizeof(text));
    assert_contains(text, part);
}

/* The ping goes through at `at_ns`: the episode is over, and was read like this (NULL: anyhow). */
static inline void recover_at(struct hand *h, int64_t at_ns, const char *reading)
{
    h->now_ns = at_ns;
    request(h, 200);
    assert_int_equal(h->c.probe.episode, EPISODE_NONE);
    if (reading) {
        assert_string_equal(fb_probe_reading_says(&h->c.probe), reading);
        if (h->c.probe.phase != PROBE_FIRST && h->c.probe.told_until_ns < h->now_ns)
            assert_says(h, reading);
    }
    assert_true(h->c.probe.limit > 0.0f && h->pace.rate > 0.0);
}

static inline void recover(struct hand *h, const char *reading)
{
    recover_at(h, h->pace.not_before_ns, reading);
}

/* As another process, or one under another spec, goes on with it. */
static inline void go_on_elsewhere(struct hand *h)
{
    const struct controller *c = &fb_controller_probe;
    struct hand next = hand_of("");
    uint64_t word[128];

    assert_true(fb_fields_words(c->fields, c->field_count) <= COUNT_OF(word));
    fb_fields_write(c->fields, c->field_count, &h->c, h->now_ns, word);
    assert_null(fb_fields_read(c->fields, c->field_count, word, h->now_ns, 0, &next.c));
    h->c = next.c;
    c->resume(&h->c, &h->pace, h->now_ns);
}

/* No reading raises the limit above what was refused. */
static inline void assert_no_raise(const struct hand *h)
{
    assert_true(h->c.probe.limit <= 1.0001f * fb_maxf(h->refused_at, h->limit_then));
}

#define READ_SHUT     "counted in a quota window that was seen to close and open"
#define READ_CROWD    "refused only when many were in flight, so that is bounded instead"
#define READ_WINDOW   "counted from one opening of its window to the next"
#define READ_TRIAL    "measured after a higher pace was refused"
#define READ_NOISE    "kept, because it refuses now and then whatever the pace"
#define READ_SAVED    "kept, because only what left at once after idling was refused"
#define READ_SURPRISE "counted between two refusals"
#define READ_CLIMB    "counted between the refusals that ended the climb"
#define READ_BEYOND   "on trial: more was accepted than it can have stored"
#define READ_EXPECTED "confirmed by a look upward that was refused"
#define READ_CHANCE   "kept, because one refusal in a noisy place proves nothing"

#endif
