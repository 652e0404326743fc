/* SPDX-License-Identifier: MIT */
/*
 * run.c - the virtual clock and the provider's side of it.
 *
 * The loop takes the earliest event, sets the clock to it and calls the function of its kind;
 * all else follows. The way of a flight: send -> ARRIVE (judged here) -> [FINISH] -> ANSWER, or
 * GIVE_UP where the client does not wait that long.
 */
#include "sim/run.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "core/instant.h"
#include "sim/draw.h"
#include "sim/engine.h"

enum { FIRST_FLIGHTS = 128 };

/* A governor that is woken so often without sending anything will never get anywhere. */
static const int64_t IDLE_WAKES_MAX = 2000000;

void fb_run_at(struct run *r, int64_t at_ns, enum event_kind kind, uint16_t slot)
{
    if (fb_agenda_push(&r->agenda, at_ns, (uint16_t)kind, slot) < 0)
        r->error = -ENOMEM;
}

/* Put `from` and all slots behind it on the free list. */
static void chain_free(struct run *r, uint32_t from)
{
    for (uint32_t i = r->flight_room; i-- > from;) {
        r->flight[i].next_free = r->flight_free;
        r->flight_free = (uint16_t)i;
    }
}

static int grow_flights(struct run *r)
{
    uint32_t room = r->flight_room ? 2 * r->flight_room : FIRST_FLIGHTS;

    if (room >= FB_NO_FLIGHT)
        return -ENOMEM;

    struct flight *flight = realloc(r->flight, room * sizeof *flight);
    if (!flight)
        return -ENOMEM;

    uint32_t from = r->flight_room;
    r->flight = flight;
    r->flight_room = room;
    chain_free(r, from);
    return 0;
}

static void flight_at(struct run *r, struct flight *f, int64_t at_ns, enum event_kind kind)
{
    f->pending++;
    fb_run_at(r, at_ns, kind, (uint16_t)(f - r->flight));
}

/* One of its events is over; the last one frees the slot. */
static void flight_done(struct run *r, struct flight *f)
{
    if (--f->pending == 0) {
        f->next_free = r->flight_free;
        r->flight_free = (uint16_t)(f - r->flight);
    }
}

void fb_run_send(struct run *r, struct client *c, const struct work *w, uint64_t ticket)
{
    if (r->flight_free == FB_NO_FLIGHT && grow_flights(r) < 0) {
        r->error = -ENOMEM;
        return;
    }

    struct flight *f = &r->flight[r->flight_free];
    r->flight_free = f->next_free;
    f->work = *w;
    f->sent_ns = r->now_ns;
    f->ticket = ticket;
    f->life = c->life;
    f->client = c->index;
    f->pending = 0;
    f->at_server = f->given_up = false;
    r->truth.transit[w->pool] += w->cost;
    r->idle_wakes = 0;
    flight_at(r, f, r->now_ns + fb_net_delay_ns(&r->net, r->now_ns), EVENT_ARRIVE);
}

static void on_arrive(struct run *r, uint16_t slot)
{
    struct flight *f = &r->flight[slot];
    const struct setup *s = r->setup;

    r->truth.transit[f->work.pool] -= f->work.cost;
    fb_provider_admit(&r->provider, r->now_ns, &f->work, &f->verdict);

    int64_t finish_ns = r->now_ns + f->verdict.service_ns;
    if (r->has_crowd && f->verdict.passed) {
        f->at_server = true;
        flight_at(r, f, finish_ns, EVENT_FINISH);
    }

    int64_t answer_ns = finish_ns + fb_net_delay_ns(&r->net, finish_ns);
    int64_t patience_ns = f->sent_ns + fb_span(s->timeout_s);
    if (s->timeout_s > 0.0 && answer_ns > patience_ns)
        flight_at(r, f, fb_max64(patience_ns, r->now_ns), EVENT_GIVE_UP);
    else
        flight_at(r, f, answer_ns, EVENT_ANSWER);
    flight_done(r, f);
}

static void on_finish(struct run *r, uint16_t slot)
{
    struct flight *f = &r->flight[slot];

    f->at_server = false;
    r->truth.ghosts -= f->given_up;
    fb_provider_leave(&r->provider, &f->work);
    flight_done(r, f);
}

static void on_answer(struct run *r, uint16_t slot)
{
    struct flight *f = &r->flight[slot];
    struct flight answered = *f;

    /* The slot is free before the client sends again, so that it is the next to be used. */
    flight_done(r, f);
    fb_client_answer(r, &answered);
}

static void on_give_up(struct run *r, uint16_t slot)
{
    struct flight *f = &r->flight[slot];

    f->given_up = true;
    r->truth.ghosts += f->at_server;

    struct flight abandoned = *f;
    flight_done(r, f);
    fb_client_give_up(r, &abandoned);
}

static void on_timer(struct run *r, uint16_t slot)
{
    fb_client_timer(r, &r->client[slot]);
}

static void on_demand(struct run *r, uint16_t slot)
{
    fb_client_demand(r, &r->client[slot]);
}

static void on_restart(struct run *r, uint16_t slot)
{
    fb_client_restart(r, &r->client[slot]);
}

static void (*const ON_EVENT[EVENT_KINDS])(struct run *r, uint16_t slot) = {
    [EVENT_ARRIVE] = on_arrive,   [EVENT_FINISH] = on_finish, [EVENT_ANSWER] = on_answer,
    [EVENT_GIVE_UP] = on_give_up, [EVENT_TIMER] = on_timer,   [EVENT_DEMAND] = on_demand,
    [EVENT_RESTART] = on_restart,
};

static void loop(struct run *r)
{
    struct event e;

    while (!r->error && fb_agenda_pop(&r->agenda, &e) && e.at_ns <= r->setup->duration_ns) {
        assert(e.at_ns >= r->now_ns);
        r->now_ns = e.at_ns;
        ON_EVENT[e.kind](r, e.slot);
        if (r->idle_wakes > IDLE_WAKES_MAX) {
            r->tally->stuck = true;
            break;
        }
    }
    r->now_ns = r->setup->duration_ns;
}

static int begin(struct run *r)
{
    const struct setup *s = r->setup;

    fb_tally_init(r->tally, s->duration_ns);
    r->flight_free = FB_NO_FLIGHT;
    r->provider = s->provider;
    r->net = s->net;
    r->truth.provider = &r->provider;
    r->has_crowd = fb_provider_has_crowd(&s->provider);
    fb_net_init(&r->net, s->seed);
    if (fb_provider_init(&r->provider, s->seed) < 0 || fb_agenda_init(&r->agenda) < 0)
        return -ENOMEM;
    for (int32_t i = 0; i < s->clients; i++) {
        int error = fb_client_init(&r->client[i], r, (uint16_t)i);
        if (error < 0)
            return error;
    }
    return 0;
}

static void end(struct run *r)
{
    for (int32_t i = 0; i < r->setup->clients; i++)
        fb_client_fini(&r->client[i]);
    fb_agenda_fini(&r->agenda);
    fb_provider_fini(&r->provider);
    free(r->flight);
}

int fb_run(const struct setup *s, const struct run_options *o, struct tally *ret_tally)
{
    struct run *r = calloc(1, sizeof *r);

    if (!r)
        return -ENOMEM;
    r->setup = s;
    r->options = o;
    r->tally = ret_tally;

    int error = begin(r);
    if (error == 0) {
        for (int32_t i = 0; i < s->clients; i++)
            fb_client_try(r, &r->client[i]);
        loop(r);
        for (int32_t i = 0; i < s->clients; i++)
            fb_client_finish(r, &r->client[i]);
        ret_tally->bans = r->provider.bans;
        error = r->error;
    }
    end(r);
    free(r);
    return error;
}
