/* SPDX-License-Identifier: MIT */
/*
 * Routes on real sockets of this process, TCP and in the file system, on one loop turned by hand.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "serve/router.h"
#include "util/alloc.h"

#define PATIENCE_S 30

struct world {
    uv_loop_t loop;
    struct router router;
    struct server *server;
    union address where;
    char folder[64];
    char path[96];
    bool done;
    int closed;
    struct call *waiting;
};

static void answer_hello(struct call *c)
{
    char name[8] = "you";

    (void)fb_call_query(c, "name", name, sizeof name);
    fb_call_send(c, 200, "text/plain", fb_slice_of(name));
}

static void answer_echo(struct call *c)
{
    fb_call_send(c, 200, "text/plain", (struct slice){c->body.bytes, c->body.size});
}

static void on_call_close(struct call *c)
{
    struct world *w = c->router->context;

    w->closed++;
    w->waiting = NULL;
}

static void answer_later(struct call *c)
{
    struct world *w = c->router->context;

    c->on_close = on_call_close;
    w->waiting = c;
}

static void answer_file(struct call *c)
{
    fb_call_send(c, 200, "text/plain", c->path);
}

static const struct route FIRST[] = {
    {"GET", "/hello", false, answer_hello},
    {"POST", "/echo", true, answer_echo},
    {NULL, NULL, false, NULL},
};
static const struct route SECOND[] = {
    {"GET", "/later", false, answer_later},
    {"GET", "/files/", false, answer_file},
    {NULL, NULL, false, NULL},
};
static const struct route *const TABLES[] = {FIRST, SECOND, NULL};

static void on_done(void *context)
{
    struct router *r = context;

    ((struct world *)r->context)->done = true;
}

static void begin(struct world *w, bool is_path)
{
    *w = (struct world){0};
    w->router = (struct router){.tables = TABLES, .body_max = 100, .context = w};
    w->router.guard.token = "s3cret";
    w->router.guard.is_trusted = is_path;
    assert_int_equal(uv_loop_init(&w->loop), 0);
    assert_int_equal(
        fb_server_new(&w->loop, &fb_server_usual, &fb_router_handler, &w->router, &w->server), 0);
    (void)snprintf(w->folder, sizeof w->folder, "/tmp/flyball-router-XXXXXX");
    assert_non_null(mkdtemp(w->folder));
    (void)snprintf(w->path, sizeof w->path, "%s/socket", w->folder);
    if (is_path) {
        assert_int_equal(fb_server_listen_path(w->server, w->path, 0600), 0);
    } else {
        union address any;

        assert_int_equal(fb_address_read("127.0.0.1:0", &any), 0);
        assert_int_equal(fb_server_listen(w->server, &any, &w->where), 0);
    }
}

static void end(struct world *w)
{
    fb_server_drain(w->server, 0, on_done);
    while (!w->done)
        uv_run(&w->loop, UV_RUN_ONCE);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->loop), 0);
    assert_int_equal(access(w->path, F_OK), -1);
    assert_int_equal(rmdir(w->folder), 0);
}

static int dial(struct world *w, bool is_path)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int fd = socket(is_path ? AF_UNIX : AF_INET, SOCK_STREAM, 0);

    (void)snprintf(name.sun_path, sizeof name.sun_path, "%s", w->path);
    if (is_path)
        assert_int_equal(connect(fd, (struct sockaddr *)&name, sizeof name), 0);
    else
        assert_int_equal(connect(fd, &w->where.any, sizeof w->where.v4), 0);
    (void)fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

/* Send it, turn the loop until the other side closes, and give all that came. */
static void ask_in(struct world *w, bool is_path, const char *request, char *answer, size_t size)
{
    int fd = dial(w, is_path);
    time_t end_s = time(NULL) + PATIENCE_S;
    size_t used = 0;

    assert_int_equal(send(fd, request, strlen(request), 0), (ssize_t)strlen(request));
    while (time(NULL) < end_s && used + 1 < size) {
        ssize_t got = recv(fd, answer + used, size - used - 1, 0);

        if (got == 0)
            break;
        used += got > 0 ? (size_t)got : 0;
        uv_run(&w->loop, UV_RUN_NOWAIT);
    }
    answer[used] = '\0';
    (void)close(fd);
}

static void expect(struct world *w, bool is_path, const char *request, const char *status,
                   const char *part)
{
    char answer[4096];
    char line[32];

    ask_in(w, is_path, request, answer, sizeof answer);
    (void)snprintf(line, sizeof line, "HTTP/1.1 %s ", status);
    if (strncmp(answer, line, strlen(line)) != 0 || !strstr(answer, part))
        fail_msg("%s\n...answered\n%s", request, answer);
}

#define H "Host: localhost\r\nConnection: close\r\n"

static void routes(void **state)
{
    struct world w;

    (void)state;
    begin(&w, false);
    expect(&w, false, "GET /hello HTTP/1.1\r\n" H "\r\n", "200", "\r\n\r\nyou");
    expect(&w, false, "GET /hello?a=b&name=%41+b HTTP/1.1\r\n" H "\r\n", "200", "\r\n\r\nA b");
    expect(&w, false, "GET /hello?name=%zz HTTP/1.1\r\n" H "\r\n", "200", "you");
    expect(&w, false, "GET /hello?name=%00 HTTP/1.1\r\n" H "\r\n", "200", "you");
    expect(&w, false, "GET /hello?name=muchtoolong HTTP/1.1\r\n" H "\r\n", "200", "you");
    expect(&w, false, "HEAD /hello HTTP/1.1\r\n" H "\r\n", "200", "nosniff");
    expect(&w, false, "GET /hello HTTP/1.1\r\n" H "\r\n", "200", "frame-ancestors 'none'");
    expect(&w, false, "GET /files/a/b.js?c HTTP/1.1\r\n" H "\r\n", "200", "\r\n\r\n/files/a/b.js");
    expect(&w, false, "GET /files HTTP/1.1\r\n" H "\r\n", "404", "nothing here");
    expect(&w, false, "GET /HELLO HTTP/1.1\r\n" H "\r\n", "404", "nothing here");
    expect(&w, false, "POST /hello HTTP/1.1\r\nContent-Length: 0\r\n" H "\r\n", "405",
           "Allow: GET");
    expect(&w, false, "GET /hello HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n", "403",
           "Host");
    end(&w);
}

static void actions(void **state)
{
    struct world w;
    static const char TOKEN[] = "POST /echo HTTP/1.1\r\nContent-Length: 2\r\n"
                                "Authorization: Bearer s3cret\r\n" H;
    char request[1024];

    (void)state;
    begin(&w, false);
    (void)snprintf(request, sizeof request, "%s\r\nhi", TOKEN);
    expect(&w, false, request, "200", "\r\n\r\nhi");
    (void)snprintf(request, sizeof request, "%sOrigin: http://evil\r\n\r\nhi", TOKEN);
    expect(&w, false, request, "403", "another site");
    expect(&w, false, "POST /echo HTTP/1.1\r\nContent-Length: 2\r\n" H "\r\nhi", "403", "token");
    expect(&w, false, "GET /echo HTTP/1.1\r\n" H "\r\n", "405", "Allow: POST");
    end(&w);
}

static void bodies_are_bounded(void **state)
{
    struct world w;
    char request[1024];
    char chunk[201];

    (void)state;
    begin(&w, true);
    expect(&w, true, "POST /echo HTTP/1.1\r\nContent-Length: 101\r\n" H "\r\n", "413", "large");
    memset(chunk, 'a', 200);
    chunk[200] = '\0';
    (void)snprintf(request, sizeof request,
                   "POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" H
                   "\r\nc8\r\n%s\r\n0\r\n\r\n",
                   chunk);
    expect(&w, true, request, "413", "large");
    end(&w);
}

/* Who can open the socket may act, whatever it calls itself. */
static void a_socket_in_the_file_system(void **state)
{
    struct world w;
    struct stat s;

    (void)state;
    begin(&w, true);
    assert_int_equal(stat(w.path, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0600);
    expect(&w, true,
           "POST /echo HTTP/1.1\r\nContent-Length: 2\r\nHost: x\r\nConnection: close\r\n\r\nhi",
           "200", "\r\n\r\nhi");
    end(&w);
}

static void a_path_that_is_too_long(void **state)
{
    struct world w;
    char path[200];
    struct server *other;

    (void)state;
    begin(&w, true);
    assert_int_equal(
        fb_server_new(&w.loop, &fb_server_usual, &fb_router_handler, &w.router, &other), 0);
    memset(path, 'a', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    assert_int_equal(fb_server_listen_path(other, path, 0600), -ENAMETOOLONG);
    fb_server_drain(other, 0, NULL);
    end(&w);
}

/* A call that is answered later, and one whose client does not wait. */
static void calls_that_go_on(void **state)
{
    struct world w;
    time_t end_s = time(NULL) + PATIENCE_S;

    (void)state;
    begin(&w, false);
    int fd = dial(&w, false);
    assert_true(send(fd, "GET /later HTTP/1.1\r\n" H "\r\n", 60, 0) > 0);
    while (!w.waiting && time(NULL) < end_s)
        uv_run(&w.loop, UV_RUN_NOWAIT);
    assert_non_null(w.waiting);
    fb_call_send(w.waiting, 200, "text/plain", FB_SLICE("late"));
    assert_int_equal(w.closed, 1);
    (void)close(fd);

    fd = dial(&w, false);
    assert_true(send(fd, "GET /later HTTP/1.1\r\n" H "\r\n", 60, 0) > 0);
    while (!w.waiting && time(NULL) < end_s)
        uv_run(&w.loop, UV_RUN_NOWAIT);
    (void)close(fd);
    while (w.closed < 2 && time(NULL) < end_s)
        uv_run(&w.loop, UV_RUN_NOWAIT);
    assert_int_equal(w.closed, 2);
    end(&w);
}

static void without_memory(void **state)
{
    struct world w;

    (void)state;
    begin(&w, false);
    int fd = dial(&w, false);
    while (fb_server_stats(w.server).open == 0)
        uv_run(&w.loop, UV_RUN_NOWAIT);
    assert_true(send(fd, "GET /hello HTTP/1.1\r\n" H "\r\n", 60, 0) > 0);
    fb_alloc_fail_at(1);
    while (fb_server_stats(w.server).requests == 0)
        uv_run(&w.loop, UV_RUN_NOWAIT);
    fb_alloc_fail_at(0);
    char answer[64] = "";
    while (recv(fd, answer, sizeof answer - 1, 0) <= 0)
        uv_run(&w.loop, UV_RUN_NOWAIT);
    assert_contains(answer, "503");
    (void)close(fd);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(routes),
        cmocka_unit_test(actions),
        cmocka_unit_test(bodies_are_bounded),
        cmocka_unit_test(a_socket_in_the_file_system),
        cmocka_unit_test(a_path_that_is_too_long),
        cmocka_unit_test(calls_that_go_on),
        cmocka_unit_test(without_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
