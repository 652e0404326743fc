/* SPDX-License-Identifier: MIT */
/*
 * child.c - a process, three pipes and a timer.
 *
 * It is over when the process is gone and its output has ended; once it was killed nobody waits for
 * the latter. `done` is called then, and the memory goes with the last handle.
 */
#include "watch/sources/child.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <flyball/flyball.h>

#include "util/alloc.h"
#include "util/buffer.h"

#define HANDLES   5
#define WORDS_MAX 512
#define CHUNK     65536

struct child {
    uv_process_t process;
    uv_pipe_t in, out, err;
    uv_timer_t timer;
    uv_write_t write;
    int handles; /* not closed yet */
    child_done *done;
    void *user;
    struct buffer input, output;
    char complaint[FB_CHILD_STDERR];
    size_t complained;
    size_t output_max;
    int error;
    int64_t code;
    int sig;
    bool has_exited, has_ended, is_over;
};

/* -------------------------------------------------------------------------------------- the end */

static void closed(uv_handle_t *h)
{
    struct child *c = h->data;

    if (--c->handles > 0)
        return;
    fb_buffer_fini(&c->input);
    fb_buffer_fini(&c->output);
    fb_free(c);
}

static void close_all(struct child *c)
{
    uv_handle_t *const handles[HANDLES] = {(uv_handle_t *)&c->process, (uv_handle_t *)&c->in,
                                           (uv_handle_t *)&c->out, (uv_handle_t *)&c->err,
                                           (uv_handle_t *)&c->timer};

    for (int i = 0; i < HANDLES; i++) {
        if (!uv_is_closing(handles[i]))
            uv_close(handles[i], closed);
    }
}

/* In words: what it said itself comes first. */
static void describe(const struct child *c, char *to, size_t size)
{
    if (c->error == -ETIMEDOUT)
        (void)snprintf(to, size, "it took too long and was killed");
    else if (c->error == -E2BIG)
        (void)snprintf(to, size, "it printed more than %zu bytes and was killed", c->output_max);
    else if (c->error == -ECANCELED)
        (void)snprintf(to, size, "nobody wanted it any more");
    else if (c->complained > 0)
        (void)snprintf(to, size, "%s", c->complaint);
    else if (c->sig != 0)
        (void)snprintf(to, size, "it was ended by signal %d", c->sig);
    else
        (void)snprintf(to, size, "it ended with exit code %lld", (long long)c->code);
}

static void maybe_over(struct child *c)
{
    char sentence[FB_CHILD_STDERR + 64];
    struct child_end end;

    if (c->is_over || !c->has_exited || (!c->has_ended && c->error == 0))
        return;
    c->is_over = true;
    if (c->error == 0 && (c->code != 0 || c->sig != 0))
        c->error = -EPROTO;
    if (c->error == 0 && c->output.failed)
        c->error = -ENOMEM;
    describe(c, sentence, sizeof sentence);
    end = (struct child_end){.error = c->error,
                             .sentence = c->error < 0 ? sentence : "",
                             .output = {c->output.bytes, c->output.size}};
    (void)kill(-c->process.pid, SIGKILL); /* what it left behind */
    c->done(c->user, &end);
    close_all(c);
}

static void end_by_force(struct child *c, int error)
{
    if (c->error == 0)
        c->error = error;
    (void)uv_read_stop((uv_stream_t *)&c->out);
    if (kill(-c->process.pid, SIGKILL) < 0 && !c->has_exited)
        (void)uv_process_kill(&c->process, SIGKILL);
    maybe_over(c);
}

void fb_child_cancel(struct child *c)
{
    end_by_force(c, -ECANCELED);
}

/* --------------------------------------------------------------------------------- what happens */

static void exited(uv_process_t *process, int64_t code, int sig)
{
    struct child *c = process->data;

    c->has_exited = true;
    c->code = code;
    c->sig = sig;
    maybe_over(c);
}

static void timed_out(uv_timer_t *timer)
{
    end_by_force(timer->data, -ETIMEDOUT);
}

static void written(uv_write_t *write, int status)
{
    struct child *c = write->data;

    (void)status; /* a program need not read all of it */
    if (!uv_is_closing((uv_handle_t *)&c->in))
        uv_close((uv_handle_t *)&c->in, closed);
}

static void make_room(uv_handle_t *h, size_t size, uv_buf_t *buf)
{
    struct child *c = h->data;
    char *room = fb_buffer_reserve(&c->output, CHUNK);

    (void)size;
    *buf = uv_buf_init(room, room ? CHUNK : 0);
}

static void printed(uv_stream_t *out, ssize_t size, const uv_buf_t *buf)
{
    struct child *c = out->data;

    (void)buf;
    if (size > 0)
        c->output.size += (size_t)size;
    if (c->output.size > c->output_max) {
        end_by_force(c, -E2BIG);
    } else if (size < 0) {
        (void)uv_read_stop(out);
        if (size == UV_ENOBUFS)
            end_by_force(c, -ENOMEM);
        c->has_ended = true;
        maybe_over(c);
    }
}

/* What it complains of goes where there is still room, the rest nowhere. */
static void room_for_complaint(uv_handle_t *h, size_t size, uv_buf_t *buf)
{
    static char nowhere[1024];
    struct child *c = h->data;
    size_t left = sizeof c->complaint - 1 - c->complained;

    (void)size;
    *buf = left > 0 ? uv_buf_init(c->complaint + c->complained, (unsigned)left)
                    : uv_buf_init(nowhere, sizeof nowhere);
}

static void complained(uv_stream_t *err, ssize_t size, const uv_buf_t *buf)
{
    struct child *c = err->data;

    if (size < 0)
        (void)uv_read_stop(err);
    else if (buf->base == c->complaint + c->complained)
        c->complained += (size_t)size;
    c->complaint[strcspn(c->complaint, "\r\n")] = '\0'; /* its first line is enough */
}

/* ------------------------------------------------------------------------------------ beginning */

/* Pointers to texts that stand one after another. */
static size_t point(struct slice texts, char **to, size_t most)
{
    size_t count = 0;

    for (size_t at = 0; at < texts.length && count < most; count++) {
        to[count] = (char *)(uintptr_t)(texts.at + at);
        at += strlen(texts.at + at) + 1;
    }
    return count;
}

/* Of our own environment only what a program may need to run at all. */
static void add_usual(struct buffer *to)
{
    static const char *const NAMES[] = {"PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR"};

    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        const char *value = getenv(NAMES[i]);

        if (value) {
            fb_buffer_add_text(to, NAMES[i]);
            fb_buffer_add_char(to, '=');
            fb_buffer_add(to, value, strlen(value) + 1);
        }
    }
}

/* `usual`: texts that stand before those of the order. */
static int spawn(struct child *c, const struct child_order *o, const struct buffer *usual)
{
    uv_stdio_container_t stdio[3] = {
        {.flags = UV_CREATE_PIPE | UV_READABLE_PIPE, .data.stream = (uv_stream_t *)&c->in},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&c->out},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&c->err}};
    char *words[WORDS_MAX + 8] = {(char *)(uintptr_t)o->program, (char *)(uintptr_t)FB_CHILD_WORD};
    char *environment[64] = {NULL};
    char memory[24], seconds[24];
    size_t count = point((struct slice){usual->bytes, usual->size}, environment, 63);

    (void)snprintf(memory, sizeof memory, "%lld", (long long)o->memory_bytes);
    (void)snprintf(seconds, sizeof seconds, "%lld", (long long)(o->timeout_ns / 1000000000 + 1));
    words[2] = memory;
    words[3] = seconds;
    (void)point(o->words, words + 4, WORDS_MAX);
    (void)point(o->environment, environment + count, 63 - count);
    uv_process_options_t options = {.file = o->program,
                                    .args = words,
                                    .env = environment,
                                    .stdio = stdio,
                                    .stdio_count = 3,
                                    .flags = UV_PROCESS_DETACHED,
                                    .exit_cb = exited};
    return uv_spawn(c->process.loop, &c->process, &options);
}

static int spawn_as_usual(struct child *c, const struct child_order *o)
{
    struct buffer usual = BUFFER_INIT;

    add_usual(&usual);
    int rc = usual.failed ? -ENOMEM : spawn(c, o, &usual);
    fb_buffer_fini(&usual);
    return rc;
}

static void open_handles(uv_loop_t *loop, struct child *c)
{
    c->process.loop = loop;
    (void)uv_pipe_init(loop, &c->in, 0);
    (void)uv_pipe_init(loop, &c->out, 0);
    (void)uv_pipe_init(loop, &c->err, 0);
    (void)uv_timer_init(loop, &c->timer);
    c->in.data = c->out.data = c->err.data = c->timer.data = c->process.data = c->write.data = c;
    c->handles = HANDLES;
}

static void feed(struct child *c, int64_t timeout_ns)
{
    uv_buf_t buf = uv_buf_init(c->input.bytes, (unsigned)c->input.size);

    (void)uv_timer_start(&c->timer, timed_out, (uint64_t)(timeout_ns / 1000000 + 1), 0);
    (void)uv_read_start((uv_stream_t *)&c->out, make_room, printed);
    (void)uv_read_start((uv_stream_t *)&c->err, room_for_complaint, complained);
    if (c->input.size == 0 || uv_write(&c->write, (uv_stream_t *)&c->in, &buf, 1, written) < 0)
        uv_close((uv_handle_t *)&c->in, closed);
}

int fb_child_begin(uv_loop_t *loop, const struct child_order *o, child_done *done, void *user,
                   struct child **ret_child, struct fly_error *err)
{
    struct child *c = fb_alloc(sizeof *c);

    if (!c)
        return -ENOMEM;
    fb_buffer_add(&c->input, o->input.at, o->input.length);
    if (c->input.failed) {
        fb_free(c);
        return -ENOMEM;
    }
    c->done = done;
    c->user = user;
    c->output_max = o->output_max;
    open_handles(loop, c);
    int rc = spawn_as_usual(c, o);
    if (rc < 0) {
        (void)snprintf(err->text, sizeof err->text, "cannot start a process: %s", strerror(-rc));
        close_all(c);
        return rc;
    }
    feed(c, o->timeout_ns);
    *ret_child = c;
    return 0;
}
