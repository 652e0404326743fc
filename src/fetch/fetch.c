/* SPDX-License-Identifier: MIT */
/*
 * fetch.c - a batch from its beginning to its end.
 *
 * Everything happens on one loop. The batch is over when the list has ended (or nothing new is to
 * begin) and nothing is under way: neither a task in the engine nor a result on its way to the
 * disk.
 */
#include "fetch/fetch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fetch/fetch_parts.h"
#include "util/alloc.h"

#define NS_PER_MS      INT64_C(1000000)
#define TICK_MS        10000 /* what was learned is saved */
#define STORE_CLOSE_MS 10000

void fb_fetch_options_init(struct fetch_options *o)
{
    *o = (struct fetch_options){.pages_max = 1000};
    fb_engine_options_init(&o->engine);
    /* A batch waits for what a server asks it to wait for. */
    o->engine.hold_max_ns = 0;
}

void fb_fetch_stop(struct fetch *f, int wait_ms)
{
    f->stopping = true;
    if (f->engine)
        fb_engine_stop(f->engine, fb_engine_now(f->engine) + wait_ms * NS_PER_MS);
    fb_fetch_go_on(f);
}

static void close_handle(uv_handle_t *h, void *context)
{
    (void)context;
    if (!uv_is_closing(h))
        uv_close(h, NULL);
}

static void engine_closed(void *context)
{
    struct fetch *f = context;

    f->engine = NULL;
    uv_walk(&f->loop, close_handle, NULL);
}

/* Nothing is left: the loop may end. */
static void finish(struct fetch *f)
{
    f->closing = true;
    (void)uv_idle_stop(&f->feeder);
    if (f->o->plan && !f->is_planned)
        fb_plan_print(f); /* there was nothing to queue */
    if (f->o->on_progress) {
        struct progress p;

        fb_pulse_read(f, &p);
        f->o->on_progress(f->o->to, &p, true);
    }
    if (!f->o->plan) {
        fb_report_end(f);
        fb_memory_save(f);
    }
    fb_engine_close(f->engine, engine_closed, f);
}

static void feed_turn(uv_idle_t *idle)
{
    struct fetch *f = idle->data;

    fb_feed(f);
    fb_fetch_go_on(f);
}

void fb_fetch_go_on(struct fetch *f)
{
    if (f->closing || !f->engine)
        return;
    bool more = !f->list_ended && !f->stopping;
    bool room = more && !f->input_waits && f->out < f->room && f->bytes < FETCH_BYTES_MAX;

    if (room)
        (void)uv_idle_start(&f->feeder, feed_turn);
    else
        (void)uv_idle_stop(&f->feeder);
    if (!more && f->out == 0 && !f->is_over) {
        f->is_over = true;
        (void)uv_async_send(&f->wake); /* this may be a callback of the engine: end later */
    } else if (f->o->plan && !room && !f->input_waits && !f->is_planned) {
        f->is_planned = true;
        (void)uv_async_send(&f->wake);
    }
}

/* ------------------------------------------------------------------------------- the callbacks */

static void wake(void *context)
{
    struct fetch *f = context;

    (void)uv_async_send(&f->wake);
}

static void store_turn(uv_async_t *async)
{
    struct fetch *f = async->data;

    (void)fb_store_turn(f->store);
    if (f->is_planned && !f->stopping) {
        fb_plan_print(f);
        fb_fetch_stop(f, 0);
    }
    if (f->is_over && !f->closing)
        finish(f);
    else
        fb_fetch_go_on(f);
}

/* Results cannot be written: what is under way is of no use, and the same command goes on later. */
static void trouble(void *context, int error, const char *sentence)
{
    struct fetch *f = context;

    if (error == 0)
        return;
    if (error == -EPIPE)
        f->is_pipe_gone = true;
    else
        fb_say(f, "flyball fetch: %s", sentence);
    if (error == -EBUSY)
        return;
    if (error != -EPIPE)
        fb_end_worse(f, FETCH_BROKEN);
    fb_store_give_up(f->store);
    fb_fetch_stop(f, 0);
}

static void room_again(void *user)
{
    fb_fetch_go_on(user);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct fetch *f = handle->data;

    if (number == SIGUSR1) {
        if (f->engine && !f->closing)
            fb_pulse_now(f);
        return;
    }
    fb_end_worse(f, FETCH_INTERRUPTED);
    if (f->interrupts++ == 0 && !f->o->quiet)
        fb_say(f, "flyball fetch: interrupted; what is under way may end. Again: at once.");
    fb_fetch_stop(f, f->interrupts == 1 ? FETCH_DRAIN_MS : 0);
}

static void tick(uv_timer_t *timer)
{
    struct fetch *f = timer->data;

    if (!f->engine || f->closing)
        return;
    fb_memory_save(f);
}

static void pulse(uv_timer_t *timer)
{
    struct fetch *f = timer->data;

    if (f->engine && !f->closing && !f->o->plan)
        fb_pulse(f);
}

/* ------------------------------------------------------------------------------------- set up */

static int complain(struct fetch *f, const struct fly_error *err, int error, int code)
{
    fb_say(f, "flyball fetch: %s", err->text[0] ? err->text : strerror(-error));
    return code;
}

static void open_handles(struct fetch *f)
{
    static const int SIGNALS[] = {SIGINT, SIGTERM, SIGUSR1};

    (void)uv_async_init(&f->loop, &f->wake, store_turn);
    (void)uv_idle_init(&f->loop, &f->feeder);
    (void)uv_timer_init(&f->loop, &f->clock);
    (void)uv_timer_init(&f->loop, &f->pulse);
    f->wake.data = f->feeder.data = f->clock.data = f->pulse.data = f;
    for (size_t i = 0; i < sizeof SIGNALS / sizeof SIGNALS[0]; i++) {
        (void)uv_signal_init(&f->loop, &f->signals[i]);
        f->signals[i].data = f;
        (void)uv_signal_start(&f->signals[i], on_signal, SIGNALS[i]);
    }
    if (fb_list_fd(f->list) >= 0 && uv_poll_init(&f->loop, &f->input, fb_list_fd(f->list)) == 0)
        f->input.data = f;
    (void)uv_timer_start(&f->clock, tick, TICK_MS, TICK_MS);
    (void)uv_timer_start(&f->pulse, pulse, PULSE_MS, PULSE_MS);
}

static int open_list(struct fetch *f, struct fly_error *err)
{
    if (!f->o->list)
        return fb_list_of(f->o->urls, f->o->url_count, &f->list);
    return fb_list_open(f->o->list, &f->list, err);
}

static int open_engine(struct fetch *f, struct fly_error *err)
{
    struct engine_options e = f->o->engine;

    e.user = f;
    e.on_result = fb_end_result;
    e.on_start = fb_end_start;
    e.on_room = room_again;
    e.limiter_of = fb_provider_limiter;
    return fb_engine_open(&f->loop, &e, &f->engine, err);
}

/* Everything that can fail before the first request. FETCH_DONE or the exit code. */
static int set_up(struct fetch *f)
{
    struct store_options so = {.wake = wake, .trouble = trouble, .context = f};
    struct fly_error err = {""};
    int error = open_list(f, &err);

    if (error < 0)
        return complain(f, &err, error, FETCH_USAGE);
    f->total = f->o->list ? fb_list_count(f->o->list) : -1;
    open_handles(f);
    error = fb_store_open(&so, &f->store);
    if (error == 0)
        error = fb_batch_open(f, &err);
    if (error < 0)
        return complain(f, &err, error, error == -EINVAL ? FETCH_USAGE : FETCH_BROKEN);
    fb_memory_open(f);
    if (f->o->conditional || f->o->engine.mode == MODE_OFFLINE)
        fb_conditional_open(f);
    error = open_engine(f, &err);
    return error < 0 ? complain(f, &err, error, error == -EINVAL ? FETCH_USAGE : FETCH_BROKEN)
                     : FETCH_DONE;
}

/* Whether nothing is left that this command could do again. */
static bool is_complete(const struct fetch *f)
{
    if (f->o->plan)
        return false;
    return f->worst == FETCH_DONE && f->list_ended && !f->stopping && !f->o->output &&
           !f->o->folder;
}

static int tear_down(struct fetch *f)
{
    if (!f->engine)
        uv_walk(&f->loop, close_handle, NULL);
    (void)uv_run(&f->loop, UV_RUN_DEFAULT);
    if (fb_store_close(f->store, STORE_CLOSE_MS) == -ETIMEDOUT)
        _exit(f->worst); /* the worker hangs in a write: nothing can be freed under it */
    fb_journal_close(f->journal, is_complete(f));
    fb_list_close(f->list);
    fb_memory_forget(f);
    fb_gates_free(f);
    fb_free(f->journal_path);
    (void)uv_loop_close(&f->loop);
    return f->worst;
}

int fb_fetch_run(const struct fetch_options *o)
{
    struct fetch *f = fb_alloc(sizeof *f);

    if (!f || uv_loop_init(&f->loop) < 0) {
        fputs("flyball fetch: out of memory\n", stderr);
        fb_free(f);
        return FETCH_BROKEN;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    f->o = o;
    fb_screen_open(&f->screen, o->quiet ? SCREEN_none : o->progress, o->color);
    f->room = FETCH_ITEMS_MIN;
    f->form = (struct result_form){.folder = o->folder, .no_bodies = o->no_bodies};
    f->worst = set_up(f);
    if (f->worst == FETCH_DONE) {
        f->began_ns = fb_engine_now(f->engine);
        if (o->plan) {
            fb_engine_pause(f->engine);
        } else {
            fb_end_found(f);
            fb_report_begin(f);
        }
        fb_fetch_go_on(f);
        (void)uv_run(&f->loop, UV_RUN_DEFAULT);
    }
    int code = tear_down(f);
    fb_free(f);
    return code;
}
