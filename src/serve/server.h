/* SPDX-License-Identifier: MIT */
/*
 * server.h - a small HTTP/1.1 server on a libuv loop: requests in, answers out, by callback.
 *
 * It does: strict reading (http1/), keep-alive, pipelined requests in order, deadlines for slow
 * clients, caps on connections, backpressure both ways, a notice when a client leaves, a graceful
 * end. It does not: TLS, routing, files, compression, HTTP/2.
 *
 * All calls belong to the loop's thread. An `exchange` is one request and its answer; a connection
 * has at most one at a time. A client that closes its side before it has its answer has left.
 */
#ifndef FLYBALL_SERVE_SERVER_H
#define FLYBALL_SERVE_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <uv.h>

#include "http1/request.h"
#include "serve/address.h"

struct server;

struct exchange {
    const struct http_request *request;
    const union address *peer;
    uint64_t connection; /* its number, from 1 on */
    void *data;          /* the handler's own; NULL at first */
};

/* What to do about requests. `context` is what the server was made with. */
struct handler {
    /* The head is there. The answer may begin here or at any later time. */
    void (*on_request)(void *context, struct exchange *x);
    /* A piece of the body, valid during the call. NULL: bodies are dropped. */
    void (*on_body)(void *context, struct exchange *x, struct slice piece);
    /* The request is complete. Not called when the answer was complete before. */
    void (*on_end)(void *context, struct exchange *x);
    /* After fb_answer_write() said that it is enough: there is room again. NULL: never mind. */
    void (*on_room)(void *context, struct exchange *x);
    /*
     * The last call for this exchange, one for each on_request: the answer is complete, or it
     * never will be, since the client left, was too slow, or the server cut it. NULL: never mind.
     */
    void (*on_close)(void *context, struct exchange *x, bool complete);
};

struct server_options {
    int64_t head_ms;        /* from the first byte of a request to the end of its head */
    int64_t idle_ms;        /* between requests; without progress in writing */
    int64_t body_rate_min;  /* bytes a second that a body must bring, after idle_ms of grace */
    int64_t body_bytes_max; /* of a request */
    int connections_max;
    int client_max; /* connections from one address */
    /*
     * Where there is no room, the oldest that has been without a request for so long makes some, so
     * that clients who bring their heads a byte at a time keep nobody out. 0: none does.
     */
    int64_t patience_ms;
};

/* 10 s, 60 s, 1 KiB/s, 1 GiB, 4096 connections, as many from one address, nobody makes room. */
extern const struct server_options fb_server_usual;

struct server_stats {
    uint64_t accepted; /* connections */
    uint64_t turned_away;
    uint64_t made_room; /* closed in favour of another */
    uint64_t requests;
    uint64_t bad; /* requests that were refused as malformed or too slow */
    int open;     /* connections now */
};

/*
 * A server that listens nowhere yet. 0 or -ENOMEM. From here on the process ignores SIGPIPE, since
 * libuv writes without asking the system to be silent about clients that are gone.
 */
int fb_server_new(uv_loop_t *loop, const struct server_options *options,
                  const struct handler *handler, void *context, struct server **ret_server)
    __attribute__((warn_unused_result));

/* Listen. 0 or a negative errno; *ret_actual is where, the port filled in. Once a server. */
int fb_server_listen(struct server *s, const union address *where, union address *ret_actual)
    __attribute__((warn_unused_result));

/*
 * The same on a socket in the file system, with this mode; it goes away with the server. 0 or a
 * negative errno, -EADDRINUSE where something is there already: whose it is only the caller knows.
 */
int fb_server_listen_path(struct server *s, const char *path, mode_t mode)
    __attribute__((warn_unused_result));

/*
 * End well: no new connections, idle ones are closed, the others after their answer, or cut after
 * `within_ms`. Then `done` is called, once, and the server is gone. A second call may only make
 * the time shorter.
 */
void fb_server_drain(struct server *s, int64_t within_ms, void (*done)(void *context));

struct server_stats fb_server_stats(const struct server *s);

/* ---- the answer: begin, fields, then send; or stream, write..., end ---- */

/* Status and fields are kept until the head is sent. */
void fb_answer_begin(struct exchange *x, int status);
void fb_answer_field(struct exchange *x, const char *name, struct slice value);
void fb_answer_number(struct exchange *x, const char *name, int64_t value);

/* The whole answer at once. Calls on_close; the exchange is over. */
void fb_answer_send(struct exchange *x, struct slice body);

/* The head alone. `length` of the body to come, or -1: not known (chunked). */
void fb_answer_stream(struct exchange *x, int64_t length);

/* A piece of the body; copied if need be. False: enough for now, go on at on_room. */
bool fb_answer_write(struct exchange *x, struct slice piece);

/* The body is complete. Calls on_close; the exchange is over. */
void fb_answer_end(struct exchange *x);

/*
 * No more of this answer: close the connection once what was written is out, or reset it at once.
 * The client must see that it is cut. Calls on_close; the exchange is over.
 */
void fb_answer_cut(struct exchange *x, bool reset);

/* Stop and go on reading the body. While it is paused a leaving client is noticed later. */
void fb_request_pause(struct exchange *x);
void fb_request_resume(struct exchange *x);

#endif
