/* SPDX-License-Identifier: MIT */
/*
 * news.h - what happened lately, numbered, for those who follow it and those who come back.
 *
 * Two rings of the latest, each item a kind and a line of JSON: events of the daemon, and what
 * changed about items that are watched, of which there is so much more that it would push the
 * others out. They are numbered together. Any thread may add; readers have a cursor of their own.
 * Numbers begin with 1 at every start; an id carries the start as well ("1763300000-42"), so that
 * who comes back after a restart is told of a gap instead of missing what happened in between.
 *
 * Of the engine's events only those that a person would want to hear of are news: not each request
 * and answer, and no pace that changes: limits that moved are told by the daemon (moves.h). More
 * than NEWS_PER_SECOND are counted and left out.
 */
#ifndef FLYBALL_DAEMON_NEWS_H
#define FLYBALL_DAEMON_NEWS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/event.h"
#include "signal/slice.h"
#include "util/buffer.h"

#define NEWS_MAX        1024
#define NEWS_CHANGES    16384 /* of watched items */
#define NEWS_PER_SECOND 100
#define NEWS_ITEM_BYTES 2048

struct news_item {
    uint64_t number;
    uint64_t about; /* fb_news_about() of the watched item; 0: of none */
    char kind[16];
    struct buffer data; /* a line of JSON, without its end */
};

/* The latest `max`; numbers rise, with gaps where an item went to the other ring. */
struct news_ring {
    struct news_item *item; /* of which there may be none */
    size_t max;
    uint64_t count;   /* added so far: the next one goes to count % max */
    uint64_t dropped; /* the number of the newest that was overwritten; 0: none */
};

enum { NEWS_EVENTS, NEWS_ITEMS, NEWS_RINGS };

/* What a reader wants. */
struct news_want {
    bool items;     /* changes of watched items, too */
    uint64_t about; /* those of this one alone; 0: of all */
};

struct news {
    pthread_mutex_t lock;
    uint64_t start;    /* seconds since 1970: half of every id */
    uint64_t last;     /* the number of the newest; 0: none */
    int64_t anchor_ns; /* added to an event's time gives the time since 1970 */
    int64_t second;    /* for which so many were let in: */
    int64_t in_second;
    uint64_t skipped;
    struct news_ring ring[NEWS_RINGS];
    void (*wake)(void *context); /* there is something new; from any thread. NULL: nobody waits */
    void *context;
};

/* 0 or -ENOMEM. */
int fb_news_init(struct news *n, uint64_t start, int64_t anchor_ns)
    __attribute__((warn_unused_result));
void fb_news_fini(struct news *n);

/* `data` is one line of JSON; longer than NEWS_ITEM_BYTES it is not taken. */
void fb_news_add(struct news *n, const char *kind, const char *data, size_t size);

/* The same of a watched item, by fb_news_about() of its id. False: it was not taken. */
bool fb_news_add_item(struct news *n, uint64_t about, const char *kind, struct slice data);

/* What stands for an item; never 0. */
uint64_t fb_news_about(const char *id);

/* As an observer: .on_event = fb_news_on_event, .self = the news. */
void fb_news_on_event(void *self, const struct event *e);

/* Whether an event is news at all. Pure. */
bool fb_news_is_news(const struct event *e);

/*
 * Where to go on: the number that the client had last. From "" it is what comes from now on; from
 * another start, or nonsense, *ret_gap is set and it is the oldest that there is.
 */
uint64_t fb_news_cursor(struct news *n, const struct news_want *want, struct slice last_id,
                        bool *ret_gap);

/* The number of the newest; 0: there is none. */
uint64_t fb_news_last(struct news *n);

/* Where to begin to get the last so many events of the daemon. */
uint64_t fb_news_recent(struct news *n, uint64_t count);

/*
 * Append the next wanted item after *cursor in the form of server-sent events, and move it. False:
 * there is none. Where items were overwritten before they could be read, an event "gap" comes
 * first.
 */
bool fb_news_next(struct news *n, const struct news_want *want, uint64_t *cursor,
                  struct buffer *out);

/* An event of that form without a number. */
void fb_news_write(struct buffer *out, const char *kind, struct slice data);

#endif
