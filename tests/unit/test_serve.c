/* SPDX-License-Identifier: MIT */
/*
 * The server with real sockets of this process, on one loop that is turned by hand.
 *
 * Nothing here waits for a clock, except where a deadline is the point; then it is a few
 * milliseconds, and only that it comes is asked, never when.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve/server.h"
#include "util/alloc.h"

#define PATIENCE_S 30                      /* for what must happen */
#define FLOOD      (INT64_C(1000) * 65536) /* more than any socket takes unread */

struct world {
    uv_loop_t loop;
    struct server *server;
    union address where;
    struct exchange *waiting; /* the one that asked for /wait or /flood */
    int requests;
    int complete;
    int cut;
    int rooms;
    int64_t flooded;
    bool done;
    char body[200000];
    size_t body_size;
};

/* ---- the handler ---- */

static bool asks_for(const struct exchange *x, const char *path)
{
    return fb_slice_is(x->request->target, path);
}

static void on_request(void *context, struct exchange *x)
{
    struct world *w = context;

    w->requests++;
    w->body_size = 0;
    if (asks_for(x, "/pause")) {
        w->waiting = x;
        fb_request_pause(x);
    }
    if (asks_for(x, "/early")) {
        fb_answer_begin(x, 403);
        fb_answer_send(x, FB_SLICE("no"));
    }
}

static void on_body(void *context, struct exchange *x, struct slice piece)
{
    struct world *w = context;

    (void)x;
    assert_true(w->body_size + piece.length <= sizeof(w->body));
    memcpy(w->body + w->body_size, piece.at, piece.length);
    w->body_size += piece.length;
}

/* Write until it is enough. */
static void flood(struct world *w, struct exchange *x)
{
    static char piece[65536];

    while (w->flooded < FLOOD) {
        w->flooded += (int64_t)sizeof(piece);
        if (!fb_answer_write(x, (struct slice){piece, sizeof(piece)}))
            return;
    }
    fb_answer_end(x);
}

static void on_end(void *context, struct exchange *x)
{
    struct world *w = context;

    if (asks_for(x, "/wait")) {
        w->waiting = x;
        return;
    }
    fb_answer_begin(x, asks_for(x, "/204") ? 204 : 200);
    if (asks_for(x, "/forged"))
        fb_answer_field(x, "X", FB_SLICE("a\r\nSet-Cookie: b"));
    if (asks_for(x, "/stream") || asks_for(x, "/short")) {
        fb_answer_stream(x, asks_for(x, "/short") ? 100 : -1);
        fb_answer_write(x, FB_SLICE("one "));
        fb_answer_write(x, FB_SLICE(""));
        fb_answer_write(x, FB_SLICE("two"));
        fb_answer_end(x);
    } else if (asks_for(x, "/flood")) {
        w->waiting = x;
        fb_answer_stream(x, FLOOD);
        flood(w, x);
    } else if (asks_for(x, "/cut")) {
        fb_answer_stream(x, 100);
        fb_answer_write(x, FB_SLICE("part"));
        fb_answer_cut(x, false);
    } else if (asks_for(x, "/echo")) {
        fb_answer_send(x, (struct slice){w->body, w->body_size});
    } else {
        fb_answer_send(x, asks_for(x, "/204") ? FB_SLICE("") : x->request->target);
    }
}

static void on_room(void *context, struct exchange *x)
{
    struct world *w = context;

    w->rooms++;
    flood(w, x);
}

static void on_close(void *context, struct exchange *x, bool complete)
{
    struct world *w = context;

    w->complete += complete;
    w->cut += !complete;
    if (w->waiting == x)
        w->waiting = NULL;
}

static const struct handler HANDLER = {on_request, on_body, on_end, on_room, on_close};

static void on_done(void *context)
{
    ((struct world *)context)->done = true;
}

/* ---- the rig ---- */

static void turn(struct world *w)
{
    uv_run(&w->loop, UV_RUN_NOWAIT);
}

static void turn_once(struct world *w, time_t end)
{
    assert_true(time(NULL) < end);
    turn(w);
}

/* Turn the loop until the fact holds. */
#define UNTIL(w, fact) for (time_t end_ = time(NULL) + PATIENCE_S; !(fact); turn_once(w, end_))

static struct world *open_world(const struct server_options *options)
{
    struct world *w = calloc(1, sizeof *w);

    uv_loop_init(&w->loop);
    assert_int_equal(fb_server_new(&w->loop, options, &HANDLER, w, &w->server), 0);
    assert_int_equal(fb_address_read("127.0.0.1:0", &w->where), 0);
    assert_int_equal(fb_server_listen(w->server, &w->where, &w->where), 0);
    return w;
}

static void close_world(struct world *w)
{
    if (!w->done)
        fb_server_drain(w->server, 0, on_done);
    UNTIL(w, w->done);
    assert_int_equal(uv_loop_close(&w->loop), 0);
    assert_int_equal(w->requests, w->complete + w->cut);
    free(w);
}

static int connect_to(struct world *w)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_int_equal(connect(fd, &w->where.any, sizeof(w->where.v4)), 0);
    assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    return fd;
}

static void say(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

/* More than a socket may take at once. */
static void say_long(struct world *w, int fd, const char *at, size_t size)
{
    UNTIL(w, size == 0)
    {
        ssize_t n = send(fd, at, size, MSG_NOSIGNAL);

        at += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
}

/* What the server says until it closes, or until `last` is there. NUL-terminated. */
static char *listen_to(struct world *w, int fd, const char *last)
{
    static char heard[300000];
    size_t size = 0;
    time_t end = time(NULL) + PATIENCE_S;

    for (;;) {
        ssize_t n = recv(fd, heard + size, sizeof(heard) - 1 - size, 0);

        size += n > 0 ? (size_t)n : 0;
        heard[size] = '\0';
        if (n == 0 || (n < 0 && errno != EAGAIN) || (last && strstr(heard, last)))
            return heard;
        assert_true(time(NULL) < end);
        turn(w);
    }
}

static int count_of(const char *text, const char *part)
{
    int count = 0;

    for (; (text = strstr(text, part)); text++)
        count++;
    return count;
}

#define GET(path) "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"

/* ---- requests ---- */

static void keeps_alive_and_in_order(void **state)
{
    struct world *w = open_world(&fb_server_usual);
    int fd = connect_to(w);

    (void)state;
    say(fd, GET("/1"));
    assert_contains(listen_to(w, fd, "\r\n\r\n/1"), "Content-Length: 2\r\n");
    say(fd, GET("/wait") GET("/2") GET("/3"));
    UNTIL(w, w->waiting);
    for (int i = 0; i < 10; i++)
        turn(w);
    assert_int_equal(w->requests, 2); /* the next ones wait for their turn */
    fb_answer_begin(w->waiting, 201);
    fb_answer_send(w->waiting, FB_SLICE("waited"));
    const char *heard = listen_to(w, fd, "\r\n\r\n/3");
    assert_true(strstr(heard, "waited") < strstr(heard, "/2"));
    assert_int_equal(count_of(heard, "HTTP/1.1 "), 3);
    assert_int_equal(count_of(heard, "Connection"), 0);
    assert_int_equal(fb_server_stats(w->server).accepted, 1);
    close(fd);
    close_world(w);
}

/* Many requests in one piece, more than the buffer holds. */
static void takes_a_long_pipeline(void **state)
{
    struct world *w = open_world(&fb_server_usual);
    int fd = connect_to(w);
    static char all[1500 * (sizeof(GET("/p")) - 1)];

    (void)state;
    for (size_t i = 0; i < 1500; i++)
        memcpy(all + i * (sizeof(GET("/p")) - 1), GET("/p"), sizeof(GET("/p")) - 1);
    say_long(w, fd, all, sizeof(all));
    say(fd, GET("/last"));
    assert_int_equal(count_of(listen_to(w, fd, "\r\n\r\n/last"), "HTTP/1.1 200 OK"), 1501);
    close(fd);
    close_world(w);
}

static void takes_bodies(void **state)
{
    struct world *w = open_world(&fb_server_usual);
    int fd = connect_to(w);
    static char big[100000];

    (void)state;
    say(fd, "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
            "3\r\nabc\r\n2\r\nde\r\n0\r\nX: y\r\n\r\n" GET("/next"));
    assert_contains(listen_to(w, fd, "\r\n\r\n/next"), "\r\n\r\nabcdeHTTP");
    say(fd, "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
            "Content-Length: 100000\r\n\r\n");
    assert_contains(listen_to(w, fd, "\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    memset(big, 'b', sizeof(big));
    say_long(w, fd, big, sizeof(big));
    assert_contains(listen_to(w, fd, "bbbb"), "Content-Length: 100000\r\n");
    UNTIL(w, w->complete == 3);
    close(fd);
    close_world(w);
}

/* A handler that cannot take more gets no more, and the client cannot send without end. */
static void a_handler_may_pause_a_body(void **state)
{
    struct server_options hasty = fb_server_usual;
    static char big[50000];
    struct world *w;

    (void)state;
    hasty.idle_ms = 20;
    hasty.body_rate_min = 1;
    w = open_world(&hasty);
    int fd = connect_to(w);
    memset(big, 'b', sizeof(big));
    say(fd, "POST /pause HTTP/1.1\r\nHost: a\r\nContent-Length: 50000\r\n\r\n");
    UNTIL(w, w->waiting);
    say_long(w, fd, big, sizeof(big));
    for (uint64_t end = uv_now(&w->loop) + 100; uv_now(&w->loop) < end;)
        turn(w);
    /* Nothing came, and nobody was blamed for it. */
    assert_int_equal(w->body_size, 0);
    assert_true(w->waiting != NULL);
    fb_request_resume(w->waiting);
    UNTIL(w, w->body_size == sizeof(big) && w->complete == 1);
    close(fd);
    close_world(w);
}

static void answers_have_right_framing(void **state)
{
    static const struct {
        const char *request;
        const char *heard;
        const char *not_heard;
    } rows[] = {
        {"HEAD /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "Content-Length: 2\r\n",
         "\r\n\r\n/x"},
        {"GET /204 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "204 No Content",
         "Content-Length"},
        {"GET /stream HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
         "\r\n\r\n4\r\none \r\n3\r\ntwo\r\n0\r\n\r\n", "Content-Length"},
        {"HEAD /stream HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "200 OK", "one"},
        {"GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
         "Connection: close\r\n\r\none two", "chunked"},
        {"GET /x HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /y HTTP/1.0\r\n\r\n",
         "Connection: keep-alive\r\n\r\n/xHTTP/1.1", "chunked"},
        {"GET /x HTTP/1.0\r\n\r\n", "Connection: close\r\n\r\n/x", "keep-alive"},
        {GET("/forged"), "500 Internal Server Error", "Set-Cookie"},
        {GET("/short"), "", "HTTP/1.1 400"},
        {GET("/cut"), "Content-Length: 100\r\n\r\npart", "partx"},
        {"POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", "403 Forbidden\r\n",
         "hello"},
        {GET("/early") "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
         "\r\n\r\nnoHTTP/1.1 200 OK", "400"},
        {GET("/ok") "BAD\r\n", "HTTP/1.1 400 Bad Request\r\n", "/nothing"},
        {"GET / HTTP/1.1\r\nHost: a\r\nX: y\n", "a LF without CR\n", "200"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct world *w = open_world(&fb_server_usual);
        int fd = connect_to(w);

        say(fd, rows[i].request);
        const char *heard = listen_to(w, fd, NULL);
        assert_contains(heard, rows[i].heard);
        if (strstr(heard, rows[i].not_heard))
            fail_msg("row %zu: %s", i, heard);
        close(fd);
        close_world(w);
    }
}

/* ---- clients that leave, or take their time ---- */

static void sees_a_client_leave(void **state)
{
    struct world *w = open_world(&fb_server_usual);
    int fd = connect_to(w);

    (void)state;
    say(fd, GET("/wait"));
    UNTIL(w, w->waiting);
    close(fd);
    UNTIL(w, !w->waiting);
    assert_int_equal(w->cut, 1);
    UNTIL(w, fb_server_stats(w->server).open == 0);
    close_world(w);
}

static void holds_back_until_the_client_reads(void **state)
{
    struct world *w = open_world(&fb_server_usual);
    int fd = connect_to(w);
    int64_t heard = 0;
    char bytes[65536];

    (void)state;
    say(fd, GET("/flood"));
    UNTIL(w, w->waiting && w->flooded > 0);
    for (int i = 0; i < 100; i++)
        turn(w);
    assert_true(w->waiting != NULL); /* not all of it: nobody reads */
    UNTIL(w, heard > FLOOD)
    {
        ssize_t n = recv(fd, bytes, sizeof(bytes), 0);

        heard += n > 0 ? n : 0;
    }
    assert_true(w->rooms > 0);
    UNTIL(w, w->complete == 1);
    close(fd);
    close_world(w);
}

/* What a client hears that says this and no more, until it is cut off. */
static bool hears_when_stalling(const char *request, const char *part)
{
    struct server_options hasty = fb_server_usual;

    hasty.head_ms = 20;
    hasty.idle_ms = 20;
    hasty.body_rate_min = 1000000;
    struct world *w = open_world(&hasty);
    int fd = connect_to(w);
    say(fd, request);
    bool heard = strstr(listen_to(w, fd, NULL), part) != NULL;
    close(fd);
    close_world(w);
    return heard;
}

/* On a busy machine a deadline may pass before the request is even read: then try again. */
static void deadlines_end_what_stalls(void **state)
{
    static const struct {
        const char *request;
        const char *heard;
    } rows[] = {
        {"", ""},
        {"GET / HT", "HTTP/1.1 408 Request Timeout\r\n"},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel",
         "the body of the request took too long"},
        {GET("/x"), "\r\n\r\n/x"}, /* then idle */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int tries = 50;

        while (!hears_when_stalling(rows[i].request, rows[i].heard))
            assert_true(--tries > 0);
    }
}

static void cuts_who_does_not_read(void **state)
{
    struct server_options hasty = fb_server_usual;
    struct world *w;

    (void)state;
    hasty.idle_ms = 20;
    w = open_world(&hasty);
    int fd = connect_to(w);
    say(fd, GET("/flood"));
    UNTIL(w, w->cut == 1);
    close(fd);
    close_world(w);
}

/* ---- caps, the end, memory ---- */

static void turns_away_what_is_too_much(void **state)
{
    (void)state;
    for (int per_client = 0; per_client < 2; per_client++) {
        struct server_options small = fb_server_usual;

        small.connections_max = per_client ? 10 : 1;
        small.client_max = per_client ? 1 : 10;
        struct world *w = open_world(&small);
        int first = connect_to(w);
        say(first, GET("/1"));
        assert_contains(listen_to(w, first, "/1"), "200 OK");
        int second = connect_to(w);
        assert_contains(listen_to(w, second, NULL), "HTTP/1.1 503 Service Unavailable\r\n");
        close(first);
        UNTIL(w, fb_server_stats(w->server).open == 0);
        int third = connect_to(w);
        say(third, GET("/3"));
        assert_contains(listen_to(w, third, "/3"), "200 OK");
        assert_int_equal(fb_server_stats(w->server).turned_away, 1);
        close(second);
        close(third);
        close_world(w);
    }
}

/* The oldest without a request makes room, but not one that has an answer to come. */
static void who_makes_room(void **state)
{
    struct server_options small = fb_server_usual;

    (void)state;
    small.client_max = 2;
    small.patience_ms = 1;
    struct world *w = open_world(&small);
    int busy = connect_to(w);
    say(busy, GET("/wait"));
    UNTIL(w, w->waiting);
    int slow = connect_to(w);
    say(slow, "GET / HT");
    UNTIL(w, fb_server_stats(w->server).open == 2);
    uint64_t then_ms = uv_now(&w->loop);
    UNTIL(w, uv_now(&w->loop) > then_ms + 1);
    int good = connect_to(w);
    say(good, GET("/3"));
    assert_contains(listen_to(w, good, "/3"), "200 OK");
    assert_int_equal(fb_server_stats(w->server).made_room, 1);
    fb_answer_begin(w->waiting, 200);
    fb_answer_send(w->waiting, FB_SLICE("bye"));
    assert_contains(listen_to(w, busy, "bye"), "200 OK");
    close(slow);
    close(busy);
    close(good);
    close_world(w);
}

static void drains(void **state)
{
    struct world *w = open_world(&fb_server_usual);
    int idle = connect_to(w);
    int busy = connect_to(w);

    (void)state;
    say(idle, GET("/1"));
    listen_to(w, idle, "/1");
    say(busy, GET("/wait"));
    UNTIL(w, w->waiting);
    fb_server_drain(w->server, 60000, on_done);
    assert_string_equal(listen_to(w, idle, NULL), ""); /* closed */
    assert_false(w->done);
    fb_answer_begin(w->waiting, 200);
    fb_answer_send(w->waiting, FB_SLICE("bye"));
    assert_contains(listen_to(w, busy, NULL), "Connection: close\r\n\r\nbye");
    close(busy);
    close(idle);
    UNTIL(w, w->done);
    close_world(w);
}

static void drains_in_time(void **state)
{
    struct world *w = open_world(&fb_server_usual);
    int fd = connect_to(w);

    (void)state;
    say(fd, GET("/wait"));
    UNTIL(w, w->waiting);
    fb_server_drain(w->server, 60000, on_done);
    fb_server_drain(w->server, 1, on_done); /* sooner, then */
    UNTIL(w, w->done);
    assert_int_equal(w->cut, 1);
    close(fd);
    close_world(w);
}

/* Whatever allocation fails, the server goes on, and the next client is served. */
static void survives_want_of_memory(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 6; n++) {
        struct world *w = open_world(&fb_server_usual);
        int fd = connect_to(w);

        fb_alloc_fail_at(n);
        say(fd, GET("/flood"));
        for (int i = 0; i < 50; i++)
            turn(w);
        fb_alloc_fail_at(0);
        close(fd);
        UNTIL(w, fb_server_stats(w->server).open == 0 && fb_server_stats(w->server).accepted > 0);
        fd = connect_to(w);
        say(fd, GET("/after"));
        assert_contains(listen_to(w, fd, "\r\n\r\n/after"), "200 OK");
        close(fd);
        close_world(w);
    }

    struct server *s = NULL;
    fb_alloc_fail_at(1);
    assert_int_equal(fb_server_new(NULL, &fb_server_usual, &HANDLER, NULL, &s), -ENOMEM);
    assert_null(s);
}

static void says_when_it_cannot_listen(void **state)
{
    struct world *w = open_world(&fb_server_usual);
    struct server *second;
    union address at;

    (void)state;
    assert_int_equal(fb_server_new(&w->loop, &fb_server_usual, &HANDLER, w, &second), 0);
    assert_int_equal(fb_server_listen(second, &w->where, &at), UV_EADDRINUSE);
    fb_server_drain(second, 0, on_done);
    UNTIL(w, w->done);
    w->done = false;
    close_world(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_alive_and_in_order),
        cmocka_unit_test(takes_a_long_pipeline),
        cmocka_unit_test(takes_bodies),
        cmocka_unit_test(a_handler_may_pause_a_body),
        cmocka_unit_test(answers_have_right_framing),
        cmocka_unit_test(sees_a_client_leave),
        cmocka_unit_test(holds_back_until_the_client_reads),
        cmocka_unit_test(deadlines_end_what_stalls),
        cmocka_unit_test(cuts_who_does_not_read),
        cmocka_unit_test(turns_away_what_is_too_much),
        cmocka_unit_test(who_makes_room),
        cmocka_unit_test(drains),
        cmocka_unit_test(drains_in_time),
        cmocka_unit_test(survives_want_of_memory),
        cmocka_unit_test(says_when_it_cannot_listen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
