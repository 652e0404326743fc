/* SPDX-License-Identifier: MIT */
/*
 * origin.h - an HTTP origin on loopback that answers with given bytes and keeps count.
 *
 * A page is a path, the bytes to send for it, and what happens to the connection then. Each
 * connection has a thread, which ends when the other side closes: origin_fini() waits for all of
 * them, so a client that leaves a socket open hangs the test instead of passing it.
 */
#ifndef FLYBALL_TESTS_ORIGIN_H
#define FLYBALL_TESTS_ORIGIN_H

#include "unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

enum then {
    THEN_KEEP,  /* the next request may come */
    THEN_CLOSE, /* FIN */
    THEN_RESET, /* RST */
    THEN_HANG,  /* nothing, until the client leaves */
    THEN_STALE, /* the next request is answered with RST */
    THEN_FLOOD, /* the same bytes for ever */
};

struct page {
    const char *path;
    const char *bytes;
    enum then then;
    size_t size; /* 0: bytes end with NUL */
};

struct origin {
    const struct page *page;
    size_t page_count;
    int fd;
    int port;
    pthread_t thread;
    _Atomic int arrivals;      /* requests */
    _Atomic int posts;         /* of those */
    _Atomic int connections;   /* accepted */
    _Atomic int open;          /* connections now */
    _Atomic int largest;       /* open at a time */
    pthread_mutex_t lock;      /* of what follows */
    char head[4096], body[64]; /* of the last request */
};

#define OK_HEAD "HTTP/1.1 200 OK\r\n"
#define OK_PAGE OK_HEAD "Content-Length: 3\r\nX-A: b\r\n\r\nok\n"

struct connection {
    struct origin *origin;
    int fd;
};

static inline void origin_reset(int fd)
{
    struct linger now = {.l_onoff = 1};

    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
}

static inline bool origin_send(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);

        if (sent <= 0)
            return false;
        bytes += sent;
        size -= (size_t)sent;
    }
    return true;
}

static inline void origin_wait_for_end(int fd)
{
    char rest[4096];

    while (recv(fd, rest, sizeof(rest), 0) > 0)
        continue;
}

/* One request: its head, and a body where Content-Length says so. False: the client has left. */
static inline bool origin_read(struct origin *o, int fd, char *path, size_t path_size)
{
    char head[4096], body[64] = "";
    size_t size = 0;
    const char *length;

    do {
        ssize_t got = recv(fd, head + size, 1, 0);

        if (got <= 0)
            return false;
        size += (size_t)got;
        head[size] = '\0';
    } while (size < sizeof(head) - 1 && !(size >= 4 && strcmp(head + size - 4, "\r\n\r\n") == 0));
    length = strstr(head, "Content-Length: ");
    for (long left = length ? strtol(length + 16, NULL, 10) : 0; left > 0;) {
        char piece[4096];
        ssize_t got = recv(fd, piece, left < 4096 ? (size_t)left : 4096, 0);

        if (got <= 0)
            return false;
        snprintf(body, sizeof(body), "%.*s", (int)(got < 60 ? got : 60), piece);
        left -= got;
    }
    snprintf(path, path_size, "%.*s", (int)strcspn(strchr(head, ' ') + 1, " "),
             strchr(head, ' ') + 1);
    pthread_mutex_lock(&o->lock);
    snprintf(o->head, sizeof(o->head), "%s", head);
    snprintf(o->body, sizeof(o->body), "%s", body);
    pthread_mutex_unlock(&o->lock);
    atomic_fetch_add(&o->arrivals, 1);
    atomic_fetch_add(&o->posts, strncmp(head, "POST ", 5) == 0);
    return true;
}

static inline const struct page *origin_find(const struct origin *o, const char *path)
{
    for (size_t i = 0; i < o->page_count; i++)
        if (strcmp(o->page[i].path, path) == 0)
            return &o->page[i];
    return &o->page[0];
}

/* Whether the connection goes on. */
static inline bool origin_answer(struct origin *o, int fd, const char *path, bool *stale)
{
    const struct page *p = origin_find(o, path);
    size_t size = p->size ? p->size : strlen(p->bytes);

    if (*stale) {
        origin_reset(fd);
        return false;
    }
    if (!origin_send(fd, p->bytes, size))
        return false;
    while (p->then == THEN_FLOOD)
        if (!origin_send(fd, p->bytes, size))
            return false;
    if (p->then == THEN_HANG)
        origin_wait_for_end(fd);
    if (p->then == THEN_RESET)
        origin_reset(fd);
    *stale = p->then == THEN_STALE;
    return p->then == THEN_KEEP || p->then == THEN_STALE;
}

static inline void *origin_serve(void *arg)
{
    struct connection c = *(struct connection *)arg;
    char path[256];
    bool stale = false;

    free(arg);
    while (origin_read(c.origin, c.fd, path, sizeof(path)) &&
           origin_answer(c.origin, c.fd, path, &stale))
        continue;
    close(c.fd);
    atomic_fetch_sub(&c.origin->open, 1);
    return NULL;
}

static inline void *origin_accept(void *arg)
{
    struct origin *o = arg;
    int fd;

    while ((fd = accept(o->fd, NULL, NULL)) >= 0) {
        struct connection *c = malloc(sizeof(*c));
        pthread_t thread;
        int open = atomic_fetch_add(&o->open, 1) + 1;

        *c = (struct connection){o, fd};
        atomic_fetch_add(&o->connections, 1);
        if (open > atomic_load(&o->largest))
            atomic_store(&o->largest, open);
        pthread_create(&thread, NULL, origin_serve, c);
        pthread_detach(thread);
    }
    return NULL;
}

static inline void origin_init(struct origin *o, const struct page *page, size_t count)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);

    memset(o, 0, sizeof(*o));
    o->page = page;
    o->page_count = count;
    pthread_mutex_init(&o->lock, NULL);
    o->fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(o->fd >= 0);
    assert_int_equal(bind(o->fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(o->fd, 256), 0);
    assert_int_equal(getsockname(o->fd, (struct sockaddr *)&address, &size), 0);
    o->port = ntohs(address.sin_port);
    assert_int_equal(pthread_create(&o->thread, NULL, origin_accept, o), 0);
}

/* Every connection must have ended: the client has closed all of its sockets. */
static inline void origin_fini(struct origin *o)
{
    shutdown(o->fd, SHUT_RDWR);
    pthread_join(o->thread, NULL);
    close(o->fd);
    while (atomic_load(&o->open) > 0)
        usleep(1000);
    pthread_mutex_destroy(&o->lock);
}

#endif
