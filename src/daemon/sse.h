/* SPDX-License-Identifier: MIT */
/*
 * sse.h - /events: news as server-sent events, to a bounded number of clients.
 *
 * Who comes back with Last-Event-ID gets what it missed, or "gap" where that is no longer known.
 * Once a second come the figures of now, without an id: "tick", or "status" with all of /status for
 * those who ask with ?with=status; after 15 s of silence a comment. A client that does not read is
 * given no more until it has, and is cut by the server's own deadline.
 */
#ifndef FLYBALL_DAEMON_SSE_H
#define FLYBALL_DAEMON_SSE_H

#include "daemon/news.h"
#include "serve/router.h"

#define SSE_CLIENTS_MAX 256

/* Which figures a client gets once a second: a few, or those of /status at its door. */
enum sse_figures { SSE_TICK, SSE_STATUS_PUBLIC, SSE_STATUS, SSE_FIGURES };

struct sse_client;

struct sse {
    struct news *news;
    struct sse_client *first;
    int count;
    int max;
};

void fb_sse_init(struct sse *s, struct news *news);

/*
 * The answer to a call for events, which goes on; 503 when there are too many. `full` are the
 * figures of those who want all. Without Last-Event-ID the query's last_event_id counts, or its
 * recent=N: the last N events come first. items=none leaves out what changes about watched items,
 * items=ID all but what changes about this one.
 */
void fb_sse_answer(struct sse *s, struct call *c, enum sse_figures full);

/* Whether a client wants these. */
bool fb_sse_wants(const struct sse *s, enum sse_figures figures);

/* There is something new. */
void fb_sse_flush(struct sse *s);

/* A second has passed for those who want these: `figures` is a line of JSON, or nothing. */
void fb_sse_tick(struct sse *s, enum sse_figures which, struct slice figures);

/* The end: every client is told and its answer completed. */
void fb_sse_end(struct sse *s);

#endif
