/* SPDX-License-Identifier: MIT */
/*
 * mock.c - the loop: listen, hand requests to visits, end well.
 */
#include "mock/mock.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/instant.h"
#include "mock/visit.h"
#include "util/json.h"

#define DRAIN_MS 1000
#define TICK_MS  100

/* ---- about itself ---- */

static bool is_control(const struct exchange *x)
{
    return fb_slice_begins(fb_http_path(x->request->target), "/__");
}

static void send_stats(struct mock *m, struct exchange *x)
{
    struct server_stats s = fb_server_stats(m->server);
    struct buffer b = BUFFER_INIT;

    fb_buffer_add_text(&b, "{");
    fb_json_text(&b, "schema", "flyball.mock/1");
    fb_mock_stats_json(&m->log.stats, &b);
    fb_json_int(&b, "connections", (int64_t)s.accepted);
    fb_json_int(&b, "malformed", (int64_t)s.bad);
    fb_buffer_add_text(&b, "}\n");
    fb_answer_field(x, "Content-Type", FB_SLICE("application/json"));
    fb_answer_send(x, (struct slice){b.bytes, b.size});
    fb_buffer_fini(&b);
}

void fb_mock_answer_control(struct mock *m, struct exchange *x)
{
    struct slice path = fb_http_path(x->request->target);

    fb_mock_log_flush(&m->log);
    if (fb_slice_is(path, "/__stats")) {
        fb_answer_begin(x, 200);
        send_stats(m, x);
    } else if (fb_slice_is(path, "/__log")) {
        fb_answer_begin(x, 200);
        fb_answer_field(x, "Content-Type", FB_SLICE("text/plain"));
        fb_answer_send(x, (struct slice){m->log.recent.bytes, m->log.recent.size});
    } else {
        fb_answer_begin(x, 404);
        fb_answer_send(x, FB_SLICE("{\"error\":\"there are /__stats and /__log\"}\n"));
    }
}

/* ---- the handler ---- */

static void on_request(void *context, struct exchange *x)
{
    if (!is_control(x))
        fb_visit_begin(context, x);
}

static void on_end(void *context, struct exchange *x)
{
    if (x->data)
        fb_visit_answer(x->data);
    else
        fb_mock_answer_control(context, x);
}

static void on_room(void *context, struct exchange *x)
{
    (void)context;
    fb_visit_go_on(x->data);
}

static void on_close(void *context, struct exchange *x, bool complete)
{
    (void)context;
    if (x->data)
        fb_visit_end(x->data, complete);
}

static const struct handler HANDLER = {
    .on_request = on_request,
    .on_end = on_end,
    .on_room = on_room,
    .on_close = on_close,
};

/* ---- the loop ---- */

/* The end is certain: a signal that comes now must not turn it into a failure. */
static void block_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void on_drained(void *context)
{
    struct mock *m = context;

    m->server = NULL;
    block_signals();
    uv_close((uv_handle_t *)&m->on_int, NULL);
    uv_close((uv_handle_t *)&m->on_term, NULL);
    uv_close((uv_handle_t *)&m->tick, NULL);
    uv_close((uv_handle_t *)&m->end, NULL);
}

/* The first time well, the second time at once. */
static void end(struct mock *m)
{
    fb_server_drain(m->server, m->ending ? 0 : DRAIN_MS, on_drained);
    m->ending = true;
}

static void on_signal(uv_signal_t *signal, int number)
{
    (void)number;
    end(signal->data);
}

static void on_lifetime(uv_timer_t *timer)
{
    end(timer->data);
}

static void on_tick(uv_timer_t *timer)
{
    struct mock *m = timer->data;

    fb_mock_log_flush(&m->log);
}

static void start_handles(struct mock *m)
{
    uv_signal_init(&m->loop, &m->on_int);
    uv_signal_init(&m->loop, &m->on_term);
    uv_timer_init(&m->loop, &m->tick);
    uv_timer_init(&m->loop, &m->end);
    m->on_int.data = m->on_term.data = m->tick.data = m->end.data = m;
    uv_signal_start(&m->on_int, on_signal, SIGINT);
    uv_signal_start(&m->on_term, on_signal, SIGTERM);
    uv_timer_start(&m->tick, on_tick, TICK_MS, TICK_MS);
    if (m->options->lifetime_ns > 0)
        uv_timer_start(&m->end, on_lifetime,
                       (uint64_t)((m->options->lifetime_ns + FB_NS_PER_MS - 1) / FB_NS_PER_MS), 0);
}

static int say(struct fly_error *err, int rc, const char *what, const char *which)
{
    snprintf(err->text, sizeof(err->text), "cannot %s %s: %s", what, which, strerror(-rc));
    return rc;
}

static int serve(struct mock *m, struct fly_error *err)
{
    char text[FB_ADDRESS_TEXT];
    union address where;

    fb_address_write(&m->options->listen, text);
    int rc = uv_loop_init(&m->loop);
    if (rc < 0)
        return say(err, rc, "listen on", text);
    start_handles(m);
    rc = fb_server_new(&m->loop, &fb_server_usual, &HANDLER, m, &m->server);
    if (rc == 0)
        rc = fb_server_listen(m->server, &m->options->listen, &where);
    if (rc == 0)
        m->options->on_listening(m->options->to, &where);
    else
        say(err, rc, "listen on", text);
    if (rc < 0 && m->server)
        end(m);
    else if (rc < 0)
        on_drained(m);
    uv_run(&m->loop, UV_RUN_DEFAULT);
    uv_loop_close(&m->loop);
    return rc;
}

int fb_mock_run(const struct mock_options *o, struct mock_stats *ret_stats, struct fly_error *err)
{
    struct mock m = {.options = o, .rng = {o->seed}};

    fb_mock_fill(m.filler);
    int rc = fb_mock_limit_read(o->limit, o->status, &m.provider, err);
    if (rc < 0)
        return rc == -EINVAL ? rc : say(err, rc, "set up", "the limit");
    rc = fb_mock_log_open(&m.log, o->log);
    if (rc < 0) {
        say(err, rc, "write", o->log);
    } else {
        rc = serve(&m, err);
        *ret_stats = m.log.stats;
        int log_rc = fb_mock_log_close(&m.log);
        if (rc == 0 && log_rc < 0)
            rc = say(err, log_rc, "write", o->log);
    }
    fb_provider_fini(&m.provider);
    return rc;
}
