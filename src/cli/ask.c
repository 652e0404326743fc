/* SPDX-License-Identifier: MIT */
/* ask.c - a client of one request: it writes, it reads to the end, it closes. */
#define _GNU_SOURCE /* struct ucred */
#include "cli/ask.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <jansson.h>

#include "cli/answer.h"
#include "cli/command.h"
#include "core/trace.h"
#include "daemon/place.h"
#include "util/json.h"

#define PATIENCE_S 60
#define ANSWER_MAX ((size_t)64 << 20)
#define ABSENT     "no daemon answers at %.*s (%s); start it with: flyball serve"

void fb_ask_fini(struct ask *a)
{
    fb_buffer_fini(&a->where);
    fb_buffer_fini(&a->body);
}

static void find_socket(struct ask *a)
{
    const char *said = a->socket ? a->socket : getenv("FLYBALL_LISTENERS__ADMIN__SOCKET");

    fb_buffer_clear(&a->where);
    if (said && *said)
        fb_buffer_add_text(&a->where, said);
    else
        fb_control_place(&a->where, false);
}

static int dial(const char *path)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    const struct timeval patience = {.tv_sec = PATIENCE_S};

    if (strlen(path) >= sizeof name.sun_path)
        return -ENAMETOOLONG;
    memcpy(name.sun_path, path, strlen(path));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(fd, (const struct sockaddr *)&name, sizeof name) == 0)
        return fd;
    int error = -errno;
    (void)close(fd);
    return error;
}

static int send_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);

        if (sent < 0 && errno != EINTR)
            return -errno;
        if (sent > 0) {
            bytes += sent;
            size -= (size_t)sent;
        }
    }
    return 0;
}

static int receive_all(int fd, struct buffer *to)
{
    for (;;) {
        char *room = fb_buffer_reserve(to, 16384);
        ssize_t got = room ? recv(fd, room, 16384, 0) : -1;

        if (!room || to->size > ANSWER_MAX)
            return -ENOMEM;
        if (got == 0)
            return 0;
        if (got < 0 && errno != EINTR)
            return errno == EAGAIN ? -ETIMEDOUT : -errno;
        to->size += got > 0 ? (size_t)got : 0;
    }
}

/* Status and body of what came. */
static int take_apart(struct ask *a, struct buffer *all)
{
    const char *text = fb_buffer_text(all);
    const char *body = text ? strstr(text, "\r\n\r\n") : NULL;

    if (!body || strncmp(text, "HTTP/1.1 ", 9) != 0)
        return -EPROTO;
    a->status = (int)strtol(text + 9, NULL, 10);
    fb_buffer_clear(&a->body);
    fb_buffer_add(&a->body, body + 4, all->size - (size_t)(body + 4 - text));
    return a->body.failed ? -ENOMEM : 0;
}

static int64_t pid_of(int fd)
{
    struct ucred there = {0};
    socklen_t size = sizeof there;

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &there, &size) == 0 ? (int64_t)there.pid : 0;
}

int fb_ask(struct ask *a, const char *method, const char *target, const void *body, size_t size)
{
    struct buffer out = BUFFER_INIT;
    struct buffer in = BUFFER_INIT;

    find_socket(a);
    int fd = fb_buffer_text(&a->where) ? dial(a->where.bytes) : -ENOMEM;
    if (fd < 0)
        return fd;
    a->pid = pid_of(fd);
    fb_buffer_add_text(&out, method);
    fb_buffer_add_char(&out, ' ');
    fb_buffer_add_text(&out, target);
    fb_buffer_add_text(&out, " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                             "Content-Length: ");
    fb_buffer_add_int(&out, (int64_t)size);
    if (a->trace) {
        fb_buffer_add_text(&out, "\r\n" FB_TRACE_HEADER ": ");
        fb_buffer_add_text(&out, a->trace);
    }
    fb_buffer_add_text(&out, "\r\n\r\n");
    if (size > 0)
        fb_buffer_add(&out, body, size);
    int rc = out.failed ? -ENOMEM : send_all(fd, out.bytes, out.size);
    if (rc == 0)
        rc = receive_all(fd, &in);
    if (rc == 0)
        rc = take_apart(a, &in);
    (void)close(fd);
    fb_buffer_fini(&out);
    fb_buffer_fini(&in);
    return rc;
}

int fb_ask_say_absent(const struct ask *a, const char *command, int error)
{
    fprintf(stderr, "flyball %s: " ABSENT "\n", command, (int)a->where.size,
            a->where.bytes ? a->where.bytes : "", strerror(-error));
    return EXIT_NO_DAEMON;
}

int fb_ask_say_nothing(const char *command)
{
    struct ask a = {0};

    find_socket(&a);
    fb_ask_say_absent(&a, command, -ENOENT);
    fb_ask_fini(&a);
    return EXIT_NO_DAEMON;
}

void fb_ask_escape(struct buffer *to, const char *value)
{
    static const char HEX[] = "0123456789ABCDEF";

    for (; *value; value++) {
        unsigned char c = (unsigned char)*value;

        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
            strchr("-._~", c))
            fb_buffer_add_char(to, (char)c);
        else
            fb_buffer_add(to, (char[]){'%', HEX[c >> 4], HEX[c & 15]}, 3);
    }
}

/* ---------------------------------------------------------------------------------- answers */

static void make_target(const char *name, const char *query, bool json,
                        const struct view_style *style, struct buffer *to)
{
    char text[160];

    (void)snprintf(text, sizeof text,
                   "?json=%d&width=%zu&rows=%zu&color=%d&ascii=%d&verbose=%d&zone=%lld", json,
                   style->width, style->rows, style->color, style->ascii, style->verbose,
                   (long long)style->zone_s);
    fb_buffer_add_text(to, "/view/");
    fb_buffer_add_text(to, name);
    fb_buffer_add_text(to, text);
    if (query && *query) {
        fb_buffer_add_char(to, '&');
        fb_buffer_add_text(to, query);
    }
}

int64_t fb_ask_view_into(const char *name, const char *query, bool json,
                         const struct view_style *style, struct buffer *to)
{
    struct ask a = {0};
    struct buffer target = BUFFER_INIT;

    make_target(name, query, json, style, &target);
    const char *text = fb_buffer_text(&target);
    bool answers = text && fb_ask(&a, "GET", text, NULL, 0) == 0 && a.status == 200;
    if (answers)
        fb_buffer_add(to, a.body.bytes, a.body.size);
    fb_buffer_fini(&target);
    fb_ask_fini(&a);
    return answers ? (a.pid > 0 ? a.pid : 1) : 0;
}

int fb_ask_view(const char *name, const char *query, bool json, const struct view_style *style)
{
    struct buffer b = BUFFER_INIT;
    bool answers = fb_ask_view_into(name, query, json, style, &b) > 0;

    if (answers && !b.failed)
        (void)fwrite(b.bytes, 1, b.size, stdout);
    fb_buffer_fini(&b);
    return answers ? fb_finish_output(stdout, "standard output") : -1;
}

int fb_ask_about(const char *command, const char *name, const char *value, bool json, bool verbose)
{
    struct view_style style;
    struct buffer query = BUFFER_INIT;

    fb_answer_style(&style);
    style.verbose = verbose;
    if (value) {
        fb_buffer_add_text(&query, name);
        fb_buffer_add_char(&query, '=');
        fb_ask_escape(&query, value);
    }
    int code = fb_ask_view(command, value ? fb_buffer_text(&query) : NULL, json, &style);
    fb_buffer_fini(&query);
    return code;
}

/* What the daemon has to say about it: "text" or "error". */
static void print_said(const char *command, const struct ask *a)
{
    json_error_t wrong;
    json_t *o = json_loadb(a->body.bytes ? a->body.bytes : "", a->body.size, 0, &wrong);
    const char *text = json_string_value(json_object_get(o, "text"));
    const char *error = json_string_value(json_object_get(o, "error"));

    if (text)
        puts(text);
    else
        fprintf(stderr, "flyball %s: %s\n", command, error ? error : "the daemon refuses");
    json_decref(o);
}

int fb_ask_only(const char *command, const char *name, const char *query, bool json, bool verbose)
{
    struct ask a = {0};
    struct view_style style;
    struct buffer target = BUFFER_INIT;
    int code = EXIT_FAILED;

    fb_answer_style(&style);
    style.verbose = verbose;
    make_target(name, query, json, &style, &target);
    const char *text = fb_buffer_text(&target);
    int rc = text ? fb_ask(&a, "GET", text, NULL, 0) : -ENOMEM;
    if (rc < 0) {
        code = fb_ask_say_absent(&a, command, rc);
    } else if (a.status == 200) {
        (void)fwrite(a.body.bytes, 1, a.body.size, stdout);
        code = fb_finish_output(stdout, "standard output");
    } else {
        print_said(command, &a);
        code = a.status == 404 ? EXIT_UNKNOWN : EXIT_FAILED;
    }
    fb_buffer_fini(&target);
    fb_ask_fini(&a);
    return code;
}

/* The daemon's own object; of what is none of its answers to an action, one that says so. */
static void print_json(const struct ask *a, const char *error)
{
    struct buffer b = BUFFER_INIT;

    if (!error) {
        (void)fwrite(a->body.bytes, 1, a->body.size, stdout);
        return;
    }
    fb_buffer_add_char(&b, '{');
    fb_json_text(&b, "schema", "flyball.admin/1");
    fb_json_bool(&b, "ok", false);
    fb_json_text(&b, "error", error);
    fb_buffer_add_text(&b, "}\n");
    if (!b.failed)
        (void)fwrite(b.bytes, 1, b.size, stdout);
    fb_buffer_fini(&b);
}

static void print_refusal(const struct ask *a)
{
    json_error_t wrong;
    json_t *o = json_loadb(a->body.bytes ? a->body.bytes : "", a->body.size, 0, &wrong);
    const char *error = json_string_value(json_object_get(o, "error"));

    print_json(a, error ? error : "the daemon refuses");
    json_decref(o);
}

/* A configuration with a mistake is one here as everywhere. */
static int act_code(int status)
{
    if (status < 300)
        return EXIT_DONE;
    return status == 422 || status == 400 || status == 404 ? EXIT_USAGE : EXIT_FAILED;
}

int fb_ask_act(const char *command, const char *socket, const char *target, bool json)
{
    struct ask a = {.socket = socket};
    int rc = fb_ask(&a, "POST", target, NULL, 0);
    int code = rc < 0 ? EXIT_NO_DAEMON : act_code(a.status);
    char absent[512];

    if (rc < 0 && json) {
        (void)snprintf(absent, sizeof absent, ABSENT, (int)a.where.size,
                       a.where.bytes ? a.where.bytes : "", strerror(-rc));
        print_json(&a, absent);
    } else if (rc < 0) {
        (void)fb_ask_say_absent(&a, command, rc);
    } else if (!json) {
        print_said(command, &a);
    } else if (code == EXIT_DONE) {
        print_json(&a, NULL);
    } else {
        print_refusal(&a);
    }
    int written = fb_finish_output(stdout, "standard output");
    fb_ask_fini(&a);
    return code != EXIT_DONE ? code : written;
}
