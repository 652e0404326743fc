/* SPDX-License-Identifier: MIT */
/*
 * accountant.c - ask all, start at the latest, take from all.
 *
 * The constraints are a table of rows with their slots side by side; the accountant knows none of
 * them by name but the bucket, which a plain limiter takes from directly. A controller, if there
 * is one, hears of every grant and answer and hands the constraints a new pace.
 */
#include "core/accountant.h"

#include <assert.h>
#include <stddef.h>

#include "core/bucket.h"
#include "core/instant.h"
#include "core/quota.h"
#include "core/spec.h"
#include "core/window.h"
#include "util/text.h"

#define X(name, slots) {&fb_constraint_##name, FB_SLOT_##name},
static const struct {
    const struct constraint *ops;
    int first; /* slot */
} rows[] = {FB_CONSTRAINTS(X)};
#undef X

#define REFUSAL_HOLD (60 * FB_NS_PER_S) /* where a refusal tells no time and nothing learns */

/* Every row in force: `i` is its number. Unrolled, so that what a row does is called directly. */
#define FOR_EACH_IN_FORCE(a, i)                                                                 \
    _Pragma("GCC unroll 8") for (unsigned i = 0, left = (a)->in_force; i < FB_CONSTRAINT_COUNT; \
                                 i++, left >>= 1) if (left & 1)

void fb_accountant_repace(struct accountant *a)
{
    assert(a->learner != 0);

    FOR_EACH_IN_FORCE (a, i)
        if (rows[i].ops->repace)
            rows[i].ops->repace(&a->slot[rows[i].first], &a->pace, a->now_ns);
}

/* Besides the bucket there are only constraints that can be idle. */
static bool can_be_plain(const struct accountant *a)
{
    FOR_EACH_IN_FORCE (a, i)
        if (i != FB_CONSTRAINT_bucket && !rows[i].ops->idle)
            return false;
    return a->learner == 0 && (a->in_force >> FB_CONSTRAINT_bucket & 1);
}

/* How many grants may well be out at once. */
static int64_t most_at_once(const struct spec *s)
{
    int64_t most = fb_max64(s->burst, s->own[FB_CONSTRAINT_concurrency]);

    for (int64_t i = 0; i < s->window_count; i++)
        most = fb_max64(most, s->window[i].effective);
    assert(most >= 0);
    return most;
}

size_t fb_accountant_bytes(const struct spec *s)
{
    return fb_tickets_bytes(most_at_once(s)) + fb_window_bytes(s);
}

size_t fb_accountant_undo_bytes(const struct spec *s)
{
    return sizeof(struct accountant) + fb_tickets_bytes(most_at_once(s)) + fb_window_head_bytes(s);
}

void fb_accountant_init(struct accountant *a, const struct spec *s, void *memory, uint64_t seed,
                        int64_t now_ns)
{
    *a = (struct accountant){
        .learner = fb_controller_number(s->controller) & 0x1fu,
        .even = s->pacing == PACING_EVEN,
        .rng.state = seed,
        .now_ns = now_ns,
        .key = fb_ticket_key(seed),
    };
    assert(memory || fb_accountant_bytes(s) == 0);
    assert(a->learner <= FB_CONTROLLER_COUNT);
    size_t ring_bytes = fb_tickets_bytes(most_at_once(s));
    fb_tickets_init(&a->tickets, memory, ring_bytes);
    if (ring_bytes > 0)
        memory = (unsigned char *)memory + ring_bytes;
    for (int i = 0; i < FB_CONSTRAINT_COUNT; i++)
        if (rows[i].ops->init(&a->slot[rows[i].first], s, memory, now_ns))
            a->in_force |= (uint16_t)(1u << i);
    if (s->controller) {
        a->pace = (struct pace){
            .burst = 1.0f,
            .not_before_ns = FB_LONG_AGO,
            .in_flight_max = FB_NO_CAP,
            .limit_share = 1.0f,
        };
        s->controller->init(&a->learned, &a->pace, s, now_ns);
        fb_accountant_repace(a);
    }
    a->plain = can_be_plain(a);
    assert(!(a->plain && a->learner));
}

void fb_accountant_mend(struct accountant *a)
{
    assert(a->in_force >> FB_CONSTRAINT_COUNT == 0);
    if (a->in_force >> FB_CONSTRAINT_window & 1)
        fb_window_mend(&a->slot[FB_SLOT_window]);
}

/* -1: nobody knows, or it does not matter. */
static int64_t backlog_of(const struct accountant *a)
{
    return a->even ? -1 : fb_quota_backlog(&a->slot[FB_SLOT_quota]);
}

static struct ask ask_of(const struct accountant *a, int64_t cost, int64_t now_ns)
{
    assert(a->in_flight >= 0 && a->units_out >= 0);

    return (struct ask){
        .now_ns = now_ns,
        .cost = cost,
        .in_flight = a->in_flight,
        .units_out = a->units_out,
        .to_come = fb_max64(0, backlog_of(a)),
    };
}

/* A clock that lags behind the books is told what they would say at their own time. */
static inline struct verdict ask_all(const struct accountant *a, const struct ask *q,
                                     int64_t now_ns)
{
    struct verdict latest = {.at_ns = q->now_ns};

    assert(q->cost >= 1 && q->now_ns >= now_ns);
    FOR_EACH_IN_FORCE (a, i) {
        int64_t at_ns = rows[i].ops->ready_at(&a->slot[rows[i].first], q);
        if (at_ns > latest.at_ns)
            latest = (struct verdict){.at_ns = at_ns, .cause = rows[i].ops};
    }
    return latest.cause ? latest : (struct verdict){.at_ns = now_ns};
}

/* The books' time is that of `q` from now on. */
static inline uint64_t take_from_all(struct accountant *a, struct ask *q)
{
    a->now_ns = q->now_ns;
    assert(q->cost >= 1 && q->cost <= UINT32_MAX);
    q->id = fb_tickets_next(&a->tickets);
    FOR_EACH_IN_FORCE (a, i)
        if (rows[i].ops->take)
            rows[i].ops->take(&a->slot[rows[i].first], q);
    a->in_flight++;
    a->units_out += q->cost;
    fb_quota_count_down(&a->slot[FB_SLOT_quota], q->cost);
    const struct controller *c = fb_accountant_controller(a);
    if (c && c->on_grant && c->on_grant(&a->learned, &a->pace, q))
        fb_accountant_repace(a);
    struct ticket t = {
        .cost = (uint32_t)q->cost,
        .id = (uint16_t)q->id,
        .in_flight = (uint8_t)fb_min64(a->in_flight, FB_TICKET_IN_FLIGHT),
        .counted = true,
    };
    return fb_ticket_seal(t, a->key);
}

struct verdict fb_accountant_ask(const struct accountant *a, int64_t cost, int64_t now_ns)
{
    struct ask q = ask_of(a, cost, fb_max64(now_ns, a->now_ns));
    struct verdict v = ask_all(a, &q, now_ns);

    assert((v.cause == NULL) == (v.at_ns <= now_ns));
    return v;
}

uint64_t fb_accountant_take(struct accountant *a, int64_t cost, int64_t now_ns)
{
    struct ask q = ask_of(a, cost, fb_max64(now_ns, a->now_ns));

    assert(a->in_flight < INT64_MAX && a->units_out <= INT64_MAX - cost);
    return take_from_all(a, &q);
}

struct verdict fb_accountant_try(struct accountant *a, int64_t cost, int64_t now_ns,
                                 uint64_t *ret_ticket)
{
    struct ask q = ask_of(a, cost, fb_max64(now_ns, a->now_ns));
    struct verdict v = ask_all(a, &q, now_ns);

    if (v.at_ns <= now_ns)
        *ret_ticket = take_from_all(a, &q);
    return v;
}

void fb_accountant_backlog(struct accountant *a, int64_t units, int64_t now_ns)
{
    a->now_ns = fb_max64(a->now_ns, now_ns);
    fb_quota_say_backlog(&a->slot[FB_SLOT_quota], units, a->now_ns);
}

bool fb_accountant_is_ample(const struct accountant *a, int64_t limit, int64_t remaining)
{
    const int64_t *quota = &a->slot[FB_SLOT_quota];
    int64_t to_come = backlog_of(a);

    assert(limit >= 1);
    if (remaining <= 0)
        return false;
    if (to_come < 0)
        return !quota[FB_QUOTA_EVEN];
    return fb_quota_fits(quota, limit, remaining, fb_after(a->units_out, to_come));
}

/* What the grant is charged with by now. */
static int64_t charged(const struct accountant *a, uint64_t word, struct ticket t)
{
    assert(t.cost >= 1);

    return a->settled == word ? a->settled_cost : (int64_t)t.cost;
}

/* `units` of a grant return, or that many more were used when negative. */
static void refund(struct accountant *a, struct ticket t, int64_t units)
{
    struct ask q = ask_of(a, units, a->now_ns);

    assert(units >= -(int64_t)UINT32_MAX && units <= UINT32_MAX);
    q.id = t.id;
    FOR_EACH_IN_FORCE (a, i)
        if (rows[i].ops->refund)
            rows[i].ops->refund(&a->slot[rows[i].first], &q);
}

/* Close the books on a ticket that is out. Unknown ones change nothing. */
static enum ticket_end close_ticket(struct accountant *a, uint64_t word, struct ticket *ret_ticket)
{
    if (!fb_ticket_open(word, a->key, ret_ticket))
        return TICKET_UNKNOWN;
    enum ticket_end end = fb_tickets_end(&a->tickets, ret_ticket->id);
    if (end != TICKET_UNKNOWN) {
        /* As it was counted: a true cost changes what was spent, not what is out. */
        int64_t units = a->units_out - (ret_ticket->counted ? ret_ticket->cost : 1);
        a->in_flight = fb_max64(0, a->in_flight - 1);
        a->units_out = fb_max64(a->in_flight, units);
    }
    return end;
}

void fb_accountant_cancel(struct accountant *a, uint64_t ticket, int64_t now_ns)
{
    struct ticket t;

    a->now_ns = fb_max64(a->now_ns, now_ns);
    enum ticket_end end = close_ticket(a, ticket, &t);
    if (end == TICKET_UNKNOWN)
        return;
    /* Whether an old one really was out is not known: its permit stays spent. */
    if (end == TICKET_RECENT)
        refund(a, t, charged(a, ticket, t));

    struct ask q = ask_of(a, t.cost, a->now_ns);
    q.id = t.id;
    const struct controller *c = fb_accountant_controller(a);
    if (c && c->on_cancel && c->on_cancel(&a->learned, &a->pace, &q))
        fb_accountant_repace(a);
}

void fb_accountant_settle(struct accountant *a, uint64_t ticket, uint32_t cost, int64_t now_ns)
{
    struct ticket t;

    a->now_ns = fb_max64(a->now_ns, now_ns);
    if (!fb_ticket_open(ticket, a->key, &t))
        return;
    enum ticket_end end = fb_tickets_find(&a->tickets, t.id);
    if (end == TICKET_UNKNOWN)
        return;

    /* Whether an old one really is out is not known: it may cost more, but not less. */
    int64_t unused = charged(a, ticket, t) - (int64_t)cost;
    if (unused < 0 || end == TICKET_RECENT)
        refund(a, t, unused);
    assert(t.cost >= 1);
    a->settled = ticket;
    a->settled_cost = cost;
}

/* A refusal without a stated time holds the key for as long as whoever learns says. */
static int64_t default_hold(const struct accountant *a)
{
    const struct controller *c = fb_accountant_controller(a);

    assert(!c || c->default_hold);
    return c ? c->default_hold(&a->learned) : REFUSAL_HOLD;
}

static struct answer answer_of(const struct accountant *a, const struct fly_outcome *o,
                               struct ticket t)
{
    bool throttled = o->status == 429 || (o->flags & FLY_THROTTLED) != 0;

    assert(a->in_flight >= 0);
    return (struct answer){
        .outcome = o,
        .now_ns = a->now_ns,
        .id = t.id,
        .cost = charged(a, o->ticket, t),
        .granted = t.cost,
        .in_flight = a->in_flight,
        .units_out = a->units_out,
        .in_flight_then = t.in_flight,
        .default_hold_ns = throttled ? default_hold(a) : 0,
        .ample = o->limit > 0 && fb_accountant_is_ample(a, o->limit, o->remaining),
        .throttled = throttled,
        .accepted = !throttled && o->status >= 200 && o->status < 400,
    };
}

void fb_accountant_report(struct accountant *a, const struct fly_outcome *o, int64_t now_ns)
{
    struct ticket t;

    a->now_ns = fb_max64(a->now_ns, now_ns);
    if (close_ticket(a, o->ticket, &t) == TICKET_UNKNOWN)
        return;

    struct answer answer = answer_of(a, o, t);
    assert(answer.granted >= 1 && answer.default_hold_ns >= 0);
    FOR_EACH_IN_FORCE (a, i)
        if (rows[i].ops->report)
            rows[i].ops->report(&a->slot[rows[i].first], &answer, &a->rng);
    const struct controller *c = fb_accountant_controller(a);
    if (c && c->on_outcome(&a->learned, &a->pace, &answer))
        fb_accountant_repace(a);
    if (a->settled == o->ticket)
        a->settled = 0;
}

struct learned fb_accountant_learned(const struct accountant *a)
{
    const struct controller *c = fb_accountant_controller(a);
    struct learned x = {.recovery_ns = REFUSAL_HOLD, .changed_ns = FB_LONG_AGO};

    if (c)
        c->learned(&a->learned, &a->pace, &x);
    assert(x.recovery_ns >= 0);
    return x;
}

void fb_accountant_merge(struct accountant *a, int64_t level, uint64_t grants)
{
    assert(a->plain && level >= a->slot[FB_SLOT_bucket + FB_BUCKET_LEVEL]);
    a->slot[FB_SLOT_bucket + FB_BUCKET_LEVEL] = level;
    fb_tickets_add(&a->tickets, grants);
    /* What each cost is not known here; it was at least one. */
    assert(grants >= 1);
    a->in_flight += (int64_t)grants;
    a->units_out += (int64_t)grants;
    assert(a->units_out >= a->in_flight);
}

bool fb_accountant_is_rested(const struct accountant *a, int64_t now_ns)
{
    return a->learner == 0 && fb_accountant_is_idle(a, now_ns);
}

bool fb_accountant_is_idle(const struct accountant *a, int64_t now_ns)
{
    assert(a->in_flight >= 0);

    if (a->in_flight > 0)
        return false;
    FOR_EACH_IN_FORCE (a, i)
        if (!rows[i].ops->rested(&a->slot[rows[i].first], now_ns))
            return false;
    return true;
}

void fb_accountant_forget(struct accountant *a, int64_t grants)
{
    assert(grants >= 0 && a->in_flight >= 0 && a->units_out >= 0);

    a->in_flight = fb_max64(0, a->in_flight - grants);
    /* Each of those that are left is at least one unit. */
    a->units_out = a->in_flight > 0 ? fb_max64(a->in_flight, a->units_out - grants) : 0;
    assert(a->units_out >= a->in_flight);
}

void fb_accountant_exhaust(struct accountant *a, int64_t now_ns)
{
    a->now_ns = fb_max64(a->now_ns, now_ns);
    assert(a->now_ns >= now_ns);
    FOR_EACH_IN_FORCE (a, i)
        if (rows[i].ops->exhaust)
            rows[i].ops->exhaust(&a->slot[rows[i].first], a->now_ns);
}

void fb_accountant_skip_id(struct accountant *a)
{
    uint16_t none = (uint16_t)fb_tickets_next(&a->tickets);

    assert(fb_tickets_find(&a->tickets, none) == TICKET_RECENT);
    (void)fb_tickets_end(&a->tickets, none);
}

bool fb_accountant_is_plain(const struct accountant *a, int64_t now_ns)
{
    assert(!a->plain || a->learner == 0);
    if (!a->plain || a->watched)
        return false;
    FOR_EACH_IN_FORCE (a, i)
        if (rows[i].ops->idle && !rows[i].ops->idle(&a->slot[rows[i].first], now_ns))
            return false;
    return true;
}
