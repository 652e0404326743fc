/* SPDX-License-Identifier: MIT */
/*
 * pool.c - a libcurl multi handle, and its sockets in our epoll.
 *
 * Invariant: a socket is registered for what libcurl wanted of it last, or for reading while it
 * wants nothing. If something comes then (the server closed an idle connection), it is taken out,
 * because nobody would read it and epoll would tell it for ever.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/instant.h"
#include "engine/address.h"
#include "engine/net.h"
#include "util/alloc.h"

/* -------------------------------------------------------------------------------------- sockets */

static struct net_socket *socket_get(struct net *n, int fd)
{
    size_t room = n->socket_room ? n->socket_room : 64;
    struct net_socket *more;

    assert(fd >= 0);
    if ((size_t)fd < n->socket_room)
        return &n->socket[fd];
    while (room <= (size_t)fd)
        room *= 2;
    more = fb_alloc(room * sizeof(*more));
    if (!more)
        return NULL;
    if (n->socket_room)
        memcpy(more, n->socket, n->socket_room * sizeof(*more));
    fb_free(n->socket);
    n->socket = more;
    n->socket_room = room;
    return &n->socket[fd];
}

/*
 * Make epoll know what is wanted; nothing is done where it does already. A descriptor that was
 * closed and opened again behind our back is known or unknown against what we believe: then the
 * other call is right. If neither works, a deadline ends the transfer.
 */
static void socket_register(struct net *n, int fd, struct net_socket *s, uint8_t events)
{
    struct epoll_event ev = {
        .events = events,
        .data.u64 = (uint64_t)s->age << 32 | (uint32_t)fd,
    };
    int op = s->registered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    int other = s->registered ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;

    if (events == s->registered)
        return;
    s->registered = events;
    if (events == 0)
        (void)epoll_ctl(n->epoll_fd, EPOLL_CTL_DEL, fd, &ev);
    else if (epoll_ctl(n->epoll_fd, op, fd, &ev) < 0)
        (void)epoll_ctl(n->epoll_fd, other, fd, &ev);
}

/* Never an error: libcurl would give up all transfers of the pool. */
static int on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *unused)
{
    struct net_pool *p = arg;
    struct net_socket *s = socket_get(p->net, fd);
    uint8_t events = 0;

    (void)easy;
    (void)unused;
    if (!s)
        return 0;
    if (what != CURL_POLL_REMOVE)
        events =
            (uint8_t)((what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0));
    s->pool = p;
    s->wanted = events;
    /* One that we do not hear the end of must not stay; the others do, while they are quiet. */
    if (events == 0 && s->is_ours)
        events = s->registered ? EPOLLIN : 0;
    socket_register(p->net, fd, s, events);
    return 0;
}

curl_socket_t fb_net_open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *a)
{
    struct transfer *t = arg;
    struct net *n = t->pool->net;
    struct net_socket *s;
    int fd;

    (void)purpose;
    if (t->refuses_private && fb_address_is_private(&a->addr)) {
        t->was_refused = true;
        return CURL_SOCKET_BAD;
    }
    fd = socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
    if (fd < 0) {
        t->lacks_fds = errno == EMFILE || errno == ENFILE;
        return CURL_SOCKET_BAD;
    }
    s = socket_get(n, fd);
    if (!s) {
        close(fd);
        return CURL_SOCKET_BAD;
    }
    *s = (struct net_socket){.age = s->age + 1, .is_ours = true};
    n->connections++;
    n->connections_open++;
    return fd;
}

int fb_net_close_socket(void *arg, curl_socket_t fd)
{
    struct net *n = arg;
    struct net_socket *s = &n->socket[fd];

    assert((size_t)fd < n->socket_room);
    n->connections_open--;
    *s = (struct net_socket){.age = s->age + 1};
    return close(fd); /* and so out of epoll */
}

void fb_net_pool_event(struct net *n, int fd, uint32_t age, uint32_t events)
{
    struct net_socket *s = &n->socket[fd];
    int mask = (events & (EPOLLIN | EPOLLHUP) ? CURL_CSELECT_IN : 0) |
               (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
               (events & EPOLLERR ? CURL_CSELECT_ERR : 0);
    int running;

    if (s->age != age)
        return;
    if (s->wanted == 0)
        socket_register(n, fd, s, 0);
    else
        (void)curl_multi_socket_action(s->pool->multi, fd, mask, &running);
}

/* --------------------------------------------------------------------------------------- a pool */

static int on_timer(CURLM *multi, long timeout_ms, void *arg)
{
    struct net_pool *p = arg;

    (void)multi;
    p->due_ns = timeout_ms < 0 ? FB_NEVER : fb_net_now(p->net) + timeout_ms * FB_NS_PER_MS;
    return 0;
}

void fb_net_pool_tune(struct net_pool *p)
{
    curl_multi_setopt(p->multi, CURLMOPT_MAXCONNECTS, (long)p->net->options.concurrency + 8);
}

int fb_net_pool_new(struct net *n)
{
    struct net_pool *p = fb_alloc(sizeof(*p));

    if (!p)
        return -ENOMEM;
    p->net = n;
    p->due_ns = FB_NEVER;
    p->multi = curl_multi_init();
    if (!p->multi) {
        fb_free(p);
        return -ENOMEM;
    }
    curl_multi_setopt(p->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(p->multi, CURLMOPT_SOCKETDATA, p);
    curl_multi_setopt(p->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(p->multi, CURLMOPT_TIMERDATA, p);
    fb_net_pool_tune(p);
    p->next = n->pool;
    n->pool = p;
    return 0;
}

void fb_net_pool_free(struct net_pool *p)
{
    struct net_pool **at = &p->net->pool;

    assert(p->running == 0);
    while (p->all)
        fb_transfer_free(p->all);
    curl_multi_cleanup(p->multi);
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    fb_free(p);
}

void fb_net_pool_time(struct net_pool *p)
{
    int running;

    p->due_ns = FB_NEVER;
    (void)curl_multi_socket_action(p->multi, CURL_SOCKET_TIMEOUT, 0, &running);
}

void fb_net_pool_collect(struct net_pool *p)
{
    CURLMsg *m;
    int left;

    while ((m = curl_multi_info_read(p->multi, &left))) {
        struct transfer *t = NULL;
        CURLcode code = m->data.result;

        if (m->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &t);
        fb_transfer_done(t, code);
    }
}
