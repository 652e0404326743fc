/* SPDX-License-Identifier: MIT */
/*
 * engine.h - the inside of a run, shared by run.c (clock, server side) and client.c (client side).
 *
 * A request is a flight: a slot that lives from the grant until its last pending event is over.
 * Slots are reused and grow in number only with the requests under way at a time, so nothing is
 * allocated per request.
 */
#ifndef FLYBALL_SIM_ENGINE_H
#define FLYBALL_SIM_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/agenda.h"
#include "sim/fifo.h"
#include "sim/run.h"

enum event_kind {
    EVENT_ARRIVE,  /* a flight reaches the provider */
    EVENT_FINISH,  /* the provider is done with it */
    EVENT_ANSWER,  /* the answer reaches the client */
    EVENT_GIVE_UP, /* the client waits no longer */
    EVENT_TIMER,   /* a client asks its governor again */
    EVENT_DEMAND,  /* new work for a client */
    EVENT_RESTART, /* a client's limiter forgets everything */
    EVENT_KINDS
};

struct flight {
    struct work work;
    struct verdict verdict;
    int64_t sent_ns;
    uint64_t ticket;
    uint32_t life; /* of the client when it was sent */
    uint16_t client;
    uint16_t next_free;
    uint8_t pending; /* events that still refer to it */
    bool at_server;  /* it passed and EVENT_FINISH is pending */
    bool given_up;
};

struct client {
    struct governor *governor;
    struct fifo queue[2]; /* by rank */
    struct rng rng;       /* draws its demand */
    int64_t timer_ns;     /* the earliest pending EVENT_TIMER, or INT64_MAX */
    int64_t in_flight;
    uint32_t life;    /* rises with every restart */
    double mean_cost; /* of the answers so far, where only they tell */
    uint16_t index;
};

struct run {
    const struct setup *setup;
    const struct run_options *options;
    struct tally *tally;
    struct provider provider;
    struct net net;
    struct truth truth;
    struct agenda agenda;
    struct client client[FB_CLIENTS_MAX];
    struct flight *flight;
    uint32_t flight_room;
    uint16_t flight_free; /* head of the free list, or NO_FLIGHT */
    bool has_crowd;
    int64_t now_ns;
    int64_t idle_wakes; /* timers in a row that led to nothing */
    int error;          /* the first failure; the run ends */
};

#define FB_NO_FLIGHT UINT16_MAX

/* client.c: the client's side. */
int fb_client_init(struct client *c, struct run *r, uint16_t index);
void fb_client_fini(struct client *c);
void fb_client_try(struct run *r, struct client *c); /* send while governor and workers allow */
void fb_client_answer(struct run *r, struct flight *f);
void fb_client_give_up(struct run *r, struct flight *f);
void fb_client_timer(struct run *r, struct client *c);
void fb_client_demand(struct run *r, struct client *c);
void fb_client_restart(struct run *r, struct client *c);
void fb_client_finish(struct run *r, struct client *c); /* count what still waits */

/* run.c: send a flight for this work now; put an event on the agenda. */
void fb_run_send(struct run *r, struct client *c, const struct work *w, uint64_t ticket);
void fb_run_at(struct run *r, int64_t at_ns, enum event_kind kind, uint16_t slot);

#endif
