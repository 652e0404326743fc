/* SPDX-License-Identifier: MIT */
/* run.c - one batch as a command: a loop, a host, signals, and the exit code. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/configure.h"
#include "engine/observers/log.h"
#include "fetch/fetch_parts.h"
#include "fetch/host.h"
#include "fetch/live.h"
#include "fetch/paths.h"
#include "util/alloc.h"

static const int SIGNALS[] = {SIGINT, SIGTERM, SIGUSR1};

#define EVENTS_MAX 16384 /* that wait for the log; what it is too slow for is counted there */

enum { SIGNAL_COUNT = sizeof SIGNALS / sizeof SIGNALS[0] };

struct run {
    const struct fetch_options *o;
    uv_loop_t loop;
    uv_signal_t signals[SIGNAL_COUNT];
    struct host *host;
    struct fetch *fetch; /* NULL: it has ended */
    struct log_sink log;
    int interrupts;
    int code;
};

static void on_signal(uv_signal_t *handle, int number)
{
    struct run *r = handle->data;
    struct fetch *f = r->fetch;

    if (!f || !f->engine || f->closing)
        return;
    if (number == SIGUSR1) {
        fb_pulse_now(f);
        return;
    }
    fb_end_worse(f, FETCH_INTERRUPTED);
    if (r->interrupts++ == 0 && !f->o->quiet)
        fb_say(f, "flyball fetch: interrupted; what is under way may end. Again: at once.");
    fb_fetch_stop(f, r->interrupts == 1 ? FETCH_DRAIN_MS : 0);
}

static void open_signals(struct run *r)
{
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        (void)uv_signal_init(&r->loop, &r->signals[i]);
        r->signals[i].data = r;
        (void)uv_signal_start(&r->signals[i], on_signal, SIGNALS[i]);
    }
}

/* The batch is over: nothing is left to run. */
static void on_end(void *user, int code)
{
    struct run *r = user;

    r->fetch = NULL;
    r->code = code;
    for (int i = 0; i < SIGNAL_COUNT; i++)
        uv_close((uv_handle_t *)&r->signals[i], NULL);
    fb_host_close(r->host, NULL, NULL);
}

static void say(void *user, const char *sentence)
{
    const struct run *r = user;

    if (r->fetch)
        fb_say(r->fetch, "flyball fetch: %s", sentence);
    else
        fprintf(stderr, "flyball fetch: %s\n", sentence);
}

static const char *limit_of(void *user, const struct engine_key *k)
{
    return fb_provider_limit(((struct run *)user)->fetch, k);
}

static int open_log(struct run *r)
{
    r->log = (struct log_sink){.form = r->o->logs_logfmt ? LOG_LOGFMT : LOG_JSON, .fd = -1};
    if (!r->o->log || r->o->plan)
        return FETCH_DONE;
    r->log.fd = open(r->o->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    if (r->log.fd >= 0)
        return FETCH_DONE;
    struct fly_error err = {""};
    (void)fb_path_cannot_write(r->o->log, errno, &err);
    fb_say(r->fetch, "flyball fetch: %s", err.text);
    return FETCH_BROKEN;
}

/* Nobody writes to it any more. */
static void close_log(struct run *r)
{
    if (r->log.lines_lost > 0)
        fprintf(stderr, "flyball fetch: %s: %lld lines could not be written\n", r->o->log,
                (long long)r->log.lines_lost);
    if (r->log.fd >= 0)
        (void)close(r->log.fd);
}

static int open_host(struct run *r)
{
    struct observer to_log = {fb_log_on_event, &r->log};
    struct host_options o = {
        .user = r,
        .limit_of = limit_of,
        .say = say,
        .ledger = r->o->ledger,
        .folder = r->o->store,
        .forgets = r->o->plan, /* limits of other processes are not changed by a question */
        .engine = r->o->engine,
    };
    struct fly_error err = {""};

    if (r->log.fd >= 0) {
        o.engine.observer = &to_log;
        o.engine.observer_count = 1;
        o.engine.events_max = EVENTS_MAX;
    }
    int error = fb_host_open(&r->loop, &o, &r->host, &err);

    if (error == 0 && r->o->config)
        error = fb_engine_configure_providers(fb_host_engine(r->host), r->o->config, &err);
    if (error == 0)
        return FETCH_DONE;
    fb_say(r->fetch, "flyball fetch: %s", err.text[0] ? err.text : strerror(-error));
    return error == -EINVAL ? FETCH_USAGE : FETCH_BROKEN;
}

static int open_live(struct fetch *f)
{
    struct fly_error err = {""};
    int error = fb_live_open(f, &err);

    if (error == 0)
        return FETCH_DONE;
    fb_say(f, "flyball fetch: %s", err.text[0] ? err.text : strerror(-error));
    return FETCH_BROKEN;
}

static void begin(struct run *r)
{
    int code = fb_fetch_prepare(r->fetch);

    if (code == FETCH_DONE && !r->o->plan)
        code = open_live(r->fetch);
    if (code == FETCH_DONE)
        code = open_log(r);
    if (code == FETCH_DONE)
        code = open_host(r);
    if (code == FETCH_DONE)
        code = fb_fetch_start(r->fetch, r->host);
    if (code != FETCH_DONE)
        fb_fetch_drop(r->fetch, code);
}

int fb_fetch_run(const struct fetch_options *o)
{
    struct run r = {.o = o, .log.fd = -1};

    if (uv_loop_init(&r.loop) < 0) {
        fputs("flyball fetch: out of memory\n", stderr);
        return FETCH_BROKEN;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    open_signals(&r);
    r.fetch = fb_fetch_new(&r.loop, o, on_end, &r);
    if (r.fetch)
        begin(&r);
    else
        on_end(&r, FETCH_BROKEN);
    (void)uv_run(&r.loop, UV_RUN_DEFAULT);
    (void)uv_loop_close(&r.loop);
    close_log(&r);
    return r.code;
}
