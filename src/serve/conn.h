/* SPDX-License-Identifier: MIT */
/*
 * conn.h - one connection, inside the server: its states, its buffers, its one exchange.
 *
 *     IDLE -> HEAD -> BODY -> ANSWER -> IDLE ...      requests, one after another
 *       any of these -> FLUSH -> LINGER -> CLOSED     an end that the client can read
 *       any -> CLOSED                                 a client that left, a reset, a deadline
 *
 * In BODY the handler may already answer; in ANSWER the request is complete and nothing is read
 * from what follows it. FLUSH writes what is queued; LINGER drops what still comes in, since
 * closing on unread bytes would reset the connection and destroy the answer on its way.
 */
#ifndef FLYBALL_SERVE_CONN_H
#define FLYBALL_SERVE_CONN_H

#include <stddef.h>

#include "serve/head.h"
#include "serve/server.h"

#define FB_CONN_IN_MAX 16384

enum conn_state {
    CONN_IDLE,
    CONN_HEAD,
    CONN_BODY,
    CONN_ANSWER,
    CONN_FLUSH,
    CONN_LINGER,
    CONN_CLOSED
};

/* A TCP socket, or one in the file system. */
union wire {
    uv_handle_t handle;
    uv_stream_t stream;
    uv_tcp_t tcp;
    uv_pipe_t pipe;
};

struct conn {
    union wire wire;
    uv_timer_t timer;
    uv_shutdown_t shut;
    int handles; /* of these two that are not closed yet */
    struct server *server;
    struct conn *next;
    struct conn **link; /* what points here */
    union address peer;
    enum conn_state state;

    /* Reading. */
    struct http_reader reader;
    bool pumping;           /* fb_conn_pump() is at work further down the stack */
    bool paused;            /* by the handler */
    bool reading;           /* libuv reads */
    bool eof;               /* the client sends no more */
    bool used;              /* it brought a request before */
    bool body_left;         /* the request is not read to its end */
    uint64_t idle_since_ms; /* without a complete head */
    uint64_t body_since_ms;
    int64_t body_bytes;

    /* The exchange and its answer. */
    struct exchange exchange;
    bool open;     /* the handler knows of it */
    bool begun;    /* the head of the answer was sent */
    bool keep;     /* go on afterwards */
    bool chunked;  /* the answer is */
    bool bodiless; /* it must not have a body */
    bool wants_room;
    int64_t out_left; /* of a body of known length; -1: not known */

    /* Writing. */
    bool failed;       /* nothing can be written any more */
    size_t queue_then; /* how much was waiting when the deadline was set */
    size_t in_at;
    size_t in_end;

    /* From here on nothing is zeroed at the start: most of it is never touched. */
    struct head head;
    char in[FB_CONN_IN_MAX];
    struct http_field field[FB_HTTP_FIELDS_MAX];
    char store[FB_HTTP_HEAD_MAX];
};

/* ---- conn.c ---- */

static inline struct conn *fb_conn_of(struct exchange *x)
{
    return (struct conn *)(void *)((char *)x - offsetof(struct conn, exchange));
}

/* Take the connection that waits at the listener. 0 or a negative errno; it frees itself. */
int fb_conn_accept(struct server *s, uv_stream_t *listener) __attribute__((warn_unused_result));

/* Close now; an open exchange ends incomplete. Again: nothing. */
void fb_conn_close(struct conn *c, bool reset);

/* Close it if it waits for a request; for the others it is up to their answers. */
void fb_conn_retire(struct conn *c);

/* The answer is complete, or cut and to be followed by the end of the connection. */
void fb_conn_answered(struct conn *c, bool complete);

/* Read on from what has come in, as far as the state allows. */
void fb_conn_pump(struct conn *c);

/* ---- deadline.c ---- */

/* End it in so many milliseconds if nothing happens until then. */
void fb_conn_set_timer(struct conn *c, int64_t ms);

/* Something was queued: the client must take it, bit by bit, or be cut. */
void fb_conn_watch_writing(struct conn *c);

/* ---- answer.c ---- */

/* An answer of the server's own, in place of the handler's, and the end of the connection. */
void fb_conn_refuse(struct conn *c, int status, const char *reason);
void fb_conn_send_continue(struct conn *c);

/* ---- write.c ---- */

/* Write or queue. What cannot be written any more is dropped, and the connection ends soon. */
void fb_conn_write(struct conn *c, const uv_buf_t *bufs, unsigned count);

/* Bytes that wait to be taken by the system. */
size_t fb_conn_queued(const struct conn *c);

/* Whether so much waits that nothing should be added. */
bool fb_conn_is_full(const struct conn *c);

/* ---- server.c ---- */

struct server {
    uv_loop_t *loop;
    union wire listener;
    uv_timer_t timer; /* the end of draining, or the next try to accept */
    int handles;      /* of these that are not closed yet */
    bool has_listener;
    bool draining;
    struct server_options options;
    const struct handler *handler;
    void *context;
    void (*done)(void *context);
    struct conn *first;
    struct server_stats stats;
};

/* Whether there is room for one more connection from there; perhaps another one is closed. */
bool fb_server_has_room(struct server *s, const union address *peer);

/* A connection is gone for good, its memory given back. */
void fb_server_forget(struct server *s);

#endif
