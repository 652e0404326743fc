/* SPDX-License-Identifier: MIT */
/*
 * router.h - requests by method and path, each with its whole body, each answered by a function.
 *
 * A router is a table of routes and a guard, as the handler of a server. In this order it refuses:
 * a Host that is not ours (403), a path that is not there (404), a method that is not its (405),
 * and for actions what comes from another site (403) or without the right to act (403). Whatever is
 * answered carries the fields that keep a browser from doing anything with it but showing it.
 *
 * A route may answer later, or go on writing for as long as it likes: it sets on_room and on_close.
 */
#ifndef FLYBALL_SERVE_ROUTER_H
#define FLYBALL_SERVE_ROUTER_H

#include "serve/guard.h"
#include "serve/server.h"
#include "util/buffer.h"

struct router;

/* One request; it lives until on_close. */
struct call {
    struct exchange *x;
    const struct router *router;
    const struct route *route;
    struct slice path;  /* without the query */
    struct slice query; /* without the "?" */
    struct buffer body;

    /* Of a route that goes on. */
    void *data;
    void (*on_room)(struct call *c);
    void (*on_close)(struct call *c);
};

struct route {
    const char *method; /* "GET", HEAD included, or "POST" */
    const char *path;   /* "/status"; "/assets/" is everything below it */
    bool is_action;     /* only for those who may act */
    void (*answer)(struct call *c);
};

struct router {
    const struct route *const *tables; /* each ended by a route without a path; ended by NULL */
    struct guard guard;
    size_t body_max;
    void *context; /* the routes' own */
};

/* Handler of servers whose context is a router. */
extern const struct handler fb_router_handler;

/* Begin an answer: status, Content-Type, and what every answer carries. */
void fb_call_begin(struct call *c, int status, const char *type);

/* A whole answer, as gzip where it is long and the client takes that. */
void fb_call_send(struct call *c, int status, const char *type, struct slice body);

/* A whole answer of JSON; a buffer that failed is a 500. The buffer is freed. */
void fb_call_send_json(struct call *c, int status, struct buffer *json);

/* {"error":"..."} */
void fb_call_refuse(struct call *c, int status, const char *sentence);

/* A part of a path, escapes undone. False: it is none, or too long. */
bool fb_call_unescape(struct slice part, char *to, size_t size);

/* The value of `name` in the query, escapes undone. False: it is not there, or too long. */
bool fb_call_query(const struct call *c, const char *name, char *to, size_t size);

/* The same, but true where it is not there: then `to` stays as it is. */
bool fb_call_option(const struct call *c, const char *name, char *to, size_t size);

#endif
