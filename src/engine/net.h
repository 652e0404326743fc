/* SPDX-License-Identifier: MIT */
/*
 * net.h - the real world behind the engine's ports: a libuv loop, one timer, libcurl transfers.
 *
 * All descriptors are in one epoll instance of our own, which the loop watches: sockets stay
 * registered while their connection lives, so that a request on a connection in use costs no
 * system call but its own. One absolute timerfd serves the engine's wake-up and libcurl's.
 *
 * A pool is one libcurl multi handle: connections, name lookups, easy handles. To recycle is to
 * begin a new pool; the old one ends with its last transfer.
 */
#ifndef FLYBALL_ENGINE_NET_H
#define FLYBALL_ENGINE_NET_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <uv.h>

#include "engine/engine.h"
#include "engine/ports.h"
#include "engine/target.h"
#include "http1/answer.h"
#include "util/buffer.h"

struct net;
struct watchdog;

/* By descriptor: what libcurl wants of it and what epoll knows. */
struct net_socket {
    struct net_pool *pool;
    uint32_t
        age; /* rises when it is closed: events that were for the old one are not for the new */
    uint8_t wanted, registered; /* EPOLLIN, EPOLLOUT */
    bool is_ours;               /* opened for a connection, so that we hear when it is closed */
};

struct net_pool {
    struct net *net;
    struct net_pool *next;
    CURLM *multi;
    struct transfer *idle; /* with their easy handles */
    struct transfer *all;
    int64_t due_ns;  /* libcurl wants to be called; FLY_NEVER: it does not */
    int64_t running; /* transfers */
};

/* One request with its easy handle, both used again and again. */
struct transfer {
    struct net_pool *pool;
    struct transfer *next;            /* idle ones */
    struct transfer *before, *behind; /* all of the pool */
    CURL *easy;
    struct target target;
    struct attempt *attempt;
    struct curl_slist *headers;
    struct http_answer answer;
    struct buffer head; /* lines of the latest head, as they came */
    struct buffer body; /* all of it, or its beginning where it is spilled */
    int64_t body_size;  /* of all of it */
    int spill_fd;       /* has all of it; 0: it is in memory */
    char *folder;       /* for that; owned; of this or an earlier request */
    struct engine_header *header;
    size_t header_room;
    enum http_fault fault;
    curl_off_t uploaded;
    int64_t connect_ns; /* as the handle was told */
    bool wants_file;    /* for a large body, and has none yet */
    bool refuses_private;
    bool was_refused;  /* by policy */
    bool lacks_fds;    /* no socket could be opened: too many files are */
    bool was_not_paid; /* a re-send that found no permit */
    bool is_too_large;
    bool from_public;
    bool is_running;
    bool waits;    /* as the handle was told: for a connection to share */
    bool is_usual; /* the handle is set up for a GET with nothing added; only the URL differs */
    char error[CURL_ERROR_SIZE];
};

struct net {
    uv_loop_t *loop;
    uv_poll_t poll;
    uv_idle_t soon;
    uv_prepare_t before; /* with a watchdog: the loop is about to wait, */
    uv_check_t after;    /* and has waited */
    struct engine *engine;
    struct engine_options options; /* with copies of what engine_connect points to */
    char **text;                   /* those copies */
    size_t text_count;
    struct curl_slist *resolve;
    struct curl_slist *usual; /* headers of requests that have none of their own; or NULL */
    struct net_pool *pool;    /* the newest; older ones follow */
    struct net_socket *socket;
    size_t socket_room;
    struct watchdog *watchdog;
    int64_t anchor_ns;
    int64_t wake_ns;          /* the engine's */
    int64_t armed_ns;         /* what the timerfd is set to; FLY_NEVER: it is not */
    int64_t connections;      /* opened */
    int64_t connections_open; /* of these, now */
    char agent[32];
    char address[48]; /* that was asked about last; empty: none was */
    bool address_is_private;
    int epoll_fd, timer_fd;
    int handles_open;
    bool is_soon;
    void (*on_closed)(void *arg);
    void *on_closed_arg;
};

#define FB_NET_TIMER UINT64_MAX /* the timerfd among epoll's events */

/* net.c */
extern const struct engine_ports fb_net_ports;
int64_t fb_net_clock(clockid_t id);
int64_t fb_net_now(const struct net *n);
void fb_net_on_events(uv_poll_t *handle, int status, int what);

/* net_open.c */
void fb_net_close(void *net, void (*done)(void *arg), void *arg);

/* pool.c */
int fb_net_pool_new(struct net *n);
void fb_net_pool_free(struct net_pool *p);
void fb_net_pool_tune(struct net_pool *p); /* the options have changed */
void fb_net_pool_event(struct net *n, int fd, uint32_t age, uint32_t events);
void fb_net_pool_time(struct net_pool *p); /* libcurl's own timeouts */
void fb_net_pool_collect(struct net_pool *p);

/* transfer.c */
int fb_transfer_start(struct net *n, struct attempt *a, const struct attempt_request *r,
                      struct transfer **ret_transfer);
void fb_transfer_abort(struct transfer *t);
void fb_transfer_done(struct transfer *t, CURLcode code);
void fb_transfer_free(struct transfer *t);

/* spill.c: a body in pieces, to memory or to a file. False: memory is out. */
bool fb_spill_begin(struct transfer *t, const char *folder);
bool fb_spill_add(struct transfer *t, const char *bytes, size_t size);
void fb_spill_end(struct transfer *t); /* it is not needed any more */

/* transfer_options.c: what stays the same for every request of an easy handle. */
int fb_transfer_setup(struct transfer *t);

/* pool.c: for libcurl's open and close callbacks. */
curl_socket_t fb_net_open_socket(void *transfer, curlsocktype purpose, struct curl_sockaddr *a);
int fb_net_close_socket(void *net, curl_socket_t fd);

#endif
