/* SPDX-License-Identifier: MIT */
/*
 * daemon.c - from the beginning to the end.
 *
 * The end has three steps: nothing new is begun and what is under way may end; then the doors are
 * closed; then the engine, the handles and the loop. A second signal makes each of them short.
 */
#include "daemon/daemon.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/instant.h"
#include "daemon/notify.h"
#include "daemon/parts.h"
#include "daemon/place.h"
#include "util/alloc.h"

#define DOORS_MS 1000

int64_t fb_daemon_now(const struct daemon *d)
{
    struct timespec now = {0};

    if (d->engine)
        return fb_engine_now(d->engine);
    if (d->loaded_ns > 0) /* there was one: its clock is the library's */
        return fly_now();
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * FB_NS_PER_S + now.tv_nsec;
}

static int64_t clock_of(const void *d)
{
    return fb_daemon_now(d);
}

void fb_daemon_notify(struct daemon *d, const char *line)
{
    char text[128];
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    (void)snprintf(text, sizeof text, "%s\nMONOTONIC_USEC=%lld", line,
                   (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
    int rc = fb_notify(text);
    if (rc < 0)
        fb_log(&d->log, LEVEL_warning, "notify", "%s", strerror(-rc));
}

void fb_daemon_audit(struct daemon *d, enum log_level level, const struct view_audit_event *e)
{
    const struct audit_entry *kept = fb_audit_add(&d->audit, fb_daemon_now(d), e);
    struct buffer b = BUFFER_INIT;

    fb_audit_json(kept, &b);
    if (!b.failed)
        fb_news_add(&d->news, "audit", b.bytes, b.size);
    fb_buffer_fini(&b);
    const struct log_field fields[] = {{"cause", kept->cause},
                                       {"outcome", kept->outcome},
                                       {"provider", kept->provider},
                                       {"item", kept->item}};
    fb_log_with(&d->log, level, kept->kind, fields, sizeof fields / sizeof fields[0], kept->text);
}

int fb_daemon_reopen(struct daemon *d, const char *cause, struct fly_error *err)
{
    struct fly_error of_rows = {""};
    int rc = fb_log_reopen(&d->log, d->config->log.file, err);
    int rows = fb_csv_open(&d->csv, d->config->metrics.csv, &of_rows);

    if (rc == 0 && rows < 0) {
        *err = of_rows;
        rc = rows;
    }
    fb_daemon_audit(d, rc < 0 ? LEVEL_error : LEVEL_info,
                    &(struct view_audit_event){
                        .kind = "reopen",
                        .cause = cause,
                        .text = rc < 0 ? err->text : "the log and the rows of figures are anew"});
    return rc;
}

/* -------------------------------------------------------------------------------------- the end */

static void close_handle(uv_handle_t *h, void *context)
{
    (void)context;
    if (!uv_is_closing(h))
        uv_close(h, NULL);
}

static void home_closed(void *arg)
{
    struct daemon *d = arg;

    d->home = NULL;
    d->engine = NULL;
    fb_alarms_end(d);
    uv_walk(&d->loop, close_handle, NULL);
}

void fb_daemon_maybe_over(struct daemon *d)
{
    if (d->terms == 0 || fb_batches_running(d) > 0 || d->live || d->is_closing)
        return;
    if (!d->doors_told) {
        d->doors_told = true;
        fb_doors_close(d, d->terms > 1 ? 0 : DOORS_MS);
    }
    if (d->doors_open > 0)
        return;
    d->is_closing = true;
    if (d->home)
        fb_host_close(d->home, home_closed, d);
    else
        home_closed(d);
}

void fb_daemon_end(struct daemon *d, int64_t within_ms)
{
    if (d->terms++ == 0) {
        fb_daemon_notify(d, "STOPPING=1");
        fb_log(&d->log, LEVEL_info, "stopping", "what is under way may end; again: at once");
    }
    fb_batches_stop(d, (int)within_ms);
    fb_watching_end(d);
    if (d->doors_told)
        fb_doors_close(d, 0);
    fb_daemon_maybe_over(d);
}

/* -------------------------------------------------------------------------------------- signals */

static void on_signal(uv_signal_t *handle, int number)
{
    struct daemon *d = handle->data;
    struct fly_error err = {""};

    if (number == SIGHUP) {
        (void)fb_reload(d, "SIGHUP", &err);
        fb_reload_watch(d);
    } else if (number == SIGUSR1) {
        (void)fb_daemon_reopen(d, "SIGUSR1", &err);
    } else {
        fb_daemon_end(d, d->terms == 0 ? DRAIN_MS : 0);
    }
}

static void on_second(uv_timer_t *timer)
{
    struct daemon *d = timer->data;

    if (d->engine && !d->is_closing)
        fb_second(d);
}

static void on_watchdog(uv_timer_t *timer)
{
    fb_daemon_notify(timer->data, "WATCHDOG=1");
}

static void on_news(uv_async_t *wake)
{
    struct daemon *d = wake->data;

    fb_sse_flush(&d->sse);
}

static void wake(void *context)
{
    struct daemon *d = context;

    (void)uv_async_send(&d->wake);
}

static const int SIGNALS[] = {SIGHUP, SIGUSR1, SIGTERM, SIGINT};

/* Until somebody hears them they wait: what is told at the start is not lost and ends nobody. */
static void keep_signals(bool wait)
{
    sigset_t set;

    (void)sigemptyset(&set);
    for (size_t i = 0; i < sizeof SIGNALS / sizeof SIGNALS[0]; i++)
        (void)sigaddset(&set, SIGNALS[i]);
    (void)pthread_sigmask(wait ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

static void open_handles(struct daemon *d)
{
    int64_t every_ms = fb_notify_every_ms();

    (void)uv_async_init(&d->loop, &d->wake, on_news);
    (void)uv_timer_init(&d->loop, &d->second);
    (void)uv_timer_init(&d->loop, &d->watchdog);
    (void)uv_timer_init(&d->loop, &d->settle);
    (void)uv_fs_event_init(&d->loop, &d->watch);
    d->wake.data = d->second.data = d->watchdog.data = d->settle.data = d->watch.data = d;
    for (size_t i = 0; i < sizeof SIGNALS / sizeof SIGNALS[0]; i++) {
        (void)uv_signal_init(&d->loop, &d->signals[i]);
        d->signals[i].data = d;
        (void)uv_signal_start(&d->signals[i], on_signal, SIGNALS[i]);
    }
    keep_signals(false);
    (void)uv_timer_start(&d->second, on_second, 1000, 1000);
    if (every_ms > 0)
        (void)uv_timer_start(&d->watchdog, on_watchdog, (uint64_t)every_ms, (uint64_t)every_ms);
}

/* ------------------------------------------------------------------------------------ beginning */

static int load(struct daemon *d)
{
    struct config_report report = {0};

    if (d->o->file)
        fb_buffer_add_text(&d->file, d->o->file);
    else if (!d->o->no_file)
        (void)fb_config_find_file(&d->file, false);
    struct config_sources from = {.file = d->file.size > 0 ? fb_buffer_text(&d->file) : NULL,
                                  .environment = d->o->environment,
                                  .flags = d->o->flags};
    int rc = fb_config_load(&from, &report, &d->config);
    fputs(fb_config_report_text(&report), stderr);
    if (rc < 0 && report.mistakes == 0)
        fprintf(stderr, "flyball serve: %s\n", strerror(-rc));
    fb_config_report_fini(&report);
    if (rc == 0 && d->o->must_watch && !fb_config_watches(&d->config->watch)) {
        fputs("flyball watch: the configuration watches nothing: see 'watch' in flyball.yaml(5)\n",
              stderr);
        fb_config_free(d->config);
        rc = -EINVAL;
    }
    return rc;
}

static int take_place(struct daemon *d, struct fly_error *err)
{
    const char *said = d->config->listeners.admin.socket;

    d->lock = -1;
    if (said && strcmp(said, "off") == 0)
        return 0;
    if (said)
        fb_buffer_add_text(&d->socket, said);
    else
        fb_control_place(&d->socket, true);
    d->lock = fb_control_lock(fb_buffer_text(&d->socket), err);
    return d->lock < 0 ? d->lock : 0;
}

static int open_parts(struct daemon *d, struct fly_error *err)
{
    int rc = fb_log_open(&d->log, d->config->log.file, err);

    if (rc == 0)
        rc = fb_audit_resize(&d->audit, AUDIT_MAX);
    if (d->config->store.folder)
        fb_buffer_add_text(&d->store, d->config->store.folder);
    if (rc == 0)
        rc = take_place(d, err);
    if (rc == 0)
        rc = fb_meters_init(&d->meters);
    if (rc == 0)
        rc = fb_news_init(&d->news, (uint64_t)(d->began_ns / FB_NS_PER_S), 0);
    if (rc < 0)
        return rc;
    d->news.wake = wake;
    d->news.context = d;
    fb_sse_init(&d->sse, &d->news);
    fb_history_init(&d->history);
    rc = fb_csv_open(&d->csv, d->config->metrics.csv, err);
    if (rc < 0)
        return rc;
    fb_reload_apply(d, d->config);
    rc = fb_home_open(d, err);
    return rc == 0 ? fb_doors_open(d, err) : rc;
}

static void say_where(const struct daemon *d)
{
    static const char *const NAMES[DOORS] = {"public", "internal", "control"};

    for (int i = 0; i < DOORS; i++) {
        if (!d->door[i].server || d->o->quiet)
            continue;
        printf("%s %s%s\n", NAMES[i], i == DOOR_CONTROL ? "" : "http://", d->door[i].where);
    }
    (void)fflush(stdout);
}

static void disable_some(struct daemon *d)
{
    for (size_t i = 0; i < d->config->provider_count; i++)
        if (!d->config->provider[i].enabled &&
            fb_engine_enable(d->engine, d->config->provider[i].name, false) < 0)
            fb_log(&d->log, LEVEL_error, "start", "out of memory");
}

static void begin_guest(struct daemon *d, const struct daemon_guest *g)
{
    struct fly_error err = {""};

    g->on_ready(g->to, &d->loop, d->door[DOOR_PUBLIC].where);
    if (fb_batches_guest(d, g, &err) == 0)
        return;
    fprintf(stderr, "flyball %s: %s\n", g->name, err.text);
    d->code = 1;
    fb_daemon_end(d, 0);
}

static void ready(struct daemon *d)
{
    d->loaded_ns = d->began_ns = fb_daemon_now(d);
    d->success_s = d->began_ns / FB_NS_PER_S;
    disable_some(d);
    fb_reload_watch(d);
    say_where(d);
    fb_log(&d->log, LEVEL_info, "start", "flyball %s, process %ld", fly_version(), (long)getpid());
    fb_batches_begin(d);
    if (d->o->guest)
        begin_guest(d, d->o->guest);
    fb_watching_begin(d);
    fb_daemon_notify(d, "READY=1");
}

static void give_back(struct daemon *d)
{
    fb_batches_free(d);
    fb_deferred_fini(d);
    fb_control_unlock(d->socket.size > 0 ? fb_buffer_text(&d->socket) : "", d->lock);
    fb_csv_close(&d->csv);
    fb_history_fini(&d->history);
    fb_news_fini(&d->news);
    fb_audit_fini(&d->audit);
    fb_meters_fini(&d->meters);
    fb_log(&d->log, LEVEL_info, "end", "exit code %d", d->code);
    fb_log_close(&d->log);
    for (int i = 0; i < DOORS; i++)
        fb_buffer_fini(&d->door[i].token);
    fb_config_free(d->config);
    fb_buffer_fini(&d->socket);
    fb_buffer_fini(&d->store);
    fb_buffer_fini(&d->file);
}

static void run(struct daemon *d)
{
    struct fly_error err = {""};

    d->began_ns = (int64_t)time(NULL) * FB_NS_PER_S;
    open_handles(d);
    int rc = open_parts(d, &err);
    if (rc < 0) {
        fprintf(stderr, "flyball serve: %s\n", err.text[0] ? err.text : strerror(-rc));
        d->code = rc == -EPERM || rc == -EINVAL ? 2 : 1;
        d->terms = 2;
        fb_daemon_maybe_over(d);
    } else {
        ready(d);
    }
    (void)uv_run(&d->loop, UV_RUN_DEFAULT);
}

int fb_daemon_run(const struct daemon_options *o)
{
    struct daemon *d = fb_alloc(sizeof *d);
    int code = 1;

    keep_signals(true);
    if (!d || uv_loop_init(&d->loop) < 0) {
        fputs("flyball serve: out of memory\n", stderr);
        fb_free(d);
        return 1;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    d->o = o;
    d->lock = -1;
    fb_csv_init(&d->csv);
    d->log.fd = STDERR_FILENO;
    d->log.level = LEVEL_info;
    d->log.now = clock_of;
    d->log.arg = d;
    if (load(d) < 0) {
        code = 2;
        fb_buffer_fini(&d->file);
        (void)uv_loop_close(&d->loop);
        fb_free(d);
        return code;
    }
    run(d);
    (void)uv_loop_close(&d->loop);
    code = d->code;
    give_back(d);
    fb_free(d);
    return code;
}
