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
#include <stdio.h>
#include <string.h>

#include "core/instant.h"
#include "engine/control.h"
#include "fetch/fetch_parts.h"
#include "fetch/host.h"
#include "fetch/live.h"
#include "util/alloc.h"

#define NS_PER_MS      INT64_C(1000000)
#define STORE_CLOSE_MS 10000
#define ERRAND_BYTES   512 /* of most; the others have memory of their own */
#define RESULT_BYTES   1024

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
    if (f->client)
        fb_engine_client_stop(f->client, fb_engine_now(f->engine) + wait_ms * NS_PER_MS);
    fb_fetch_go_on(f);
}

void fb_fetch_cut_off(struct fetch *f, int wait_ms)
{
    f->is_cut_off = true;
    fb_fetch_stop(f, wait_ms);
}

void fb_fetch_progress(struct fetch *f, struct progress *ret_progress)
{
    fb_pulse_read(f, ret_progress);
}

/* -------------------------------------------------------------------------------------- the end */

/* Whether nothing is left that this command could do again. */
static bool is_complete(const struct fetch *f)
{
    if (f->o->plan)
        return false;
    return f->worst == FETCH_DONE && f->list_ended && !f->stopping && !f->o->output &&
           !f->o->folder;
}

static void fetch_free(struct fetch *f)
{
    if (f->is_void)
        fb_batch_forget(f, f->worst == FETCH_USAGE);
    fb_journal_close(f->journal, is_complete(f));
    fb_list_close(f->list);
    fb_gates_free(f);
    fb_count_forget(f);
    fb_live_close(f);
    fb_credentials_free(f);
    fb_free(f->journal_path);
    fb_result_maker_fini(&f->maker);
    fb_blocks_fini(&f->errands);
    fb_free(f);
}

/* All handles are closed: nothing is called any more. */
static void end(struct fetch *f)
{
    void (*on_end)(void *user, int code) = f->on_end;
    void *user = f->user;
    int code = f->worst;

    fb_engine_client_free(f->client);
    /* A worker that hangs in a write keeps all that it uses: nothing can be freed under it. */
    if (fb_store_close(f->store, STORE_CLOSE_MS) != -ETIMEDOUT)
        fetch_free(f);
    on_end(user, code);
}

static void handle_closed(uv_handle_t *h)
{
    struct fetch *f = h->data;

    if (--f->handles_open == 0)
        end(f);
}

static void close_handles(struct fetch *f)
{
    uv_handle_t *all[] = {(uv_handle_t *)&f->wake, (uv_handle_t *)&f->feeder,
                          (uv_handle_t *)&f->pulse, (uv_handle_t *)&f->input};

    f->closing = true;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (all[i]->data)
            uv_close(all[i], handle_closed);
    }
}

/*
 * A list in which there was nothing, or nothing before its first mistake: who asked is told. And
 * one that is not at its end is not done.
 */
static void judge_list(struct fetch *f)
{
    bool is_empty = f->list_ended && f->seen == 0;
    bool is_wrong = f->bad_lines > 0 && !f->o->keep_going;

    f->is_void = (is_empty || is_wrong) && !f->found.resumed && fb_pulse_ended(f) == 0 &&
                 fb_engine_client_stats(f->client).requests == 0;
    if (is_empty && f->bad_lines == 0 && f->o->list_unsaid)
        fb_end_worse(f, FETCH_USAGE);
    if (f->is_cut_off && (!f->list_ended || f->seen > f->earlier + fb_pulse_ended(f)))
        fb_end_worse(f, FETCH_INTERRUPTED);
}

/* Nothing is left: the loop may end. */
static void finish(struct fetch *f)
{
    if (!f->o->plan)
        judge_list(f);
    if (f->o->plan && !f->is_planned)
        fb_plan_print(f); /* there was nothing to queue */
    if (!f->o->plan)
        fb_live_end(f);
    if (f->o->on_progress) {
        struct progress p;

        fb_pulse_read(f, &p);
        f->o->on_progress(f->o->to, &p, true);
    }
    if (!f->o->plan)
        fb_report_end(f);
    close_handles(f);
}

void fb_fetch_drop(struct fetch *f, int code)
{
    f->worst = code;
    close_handles(f);
}

/* ------------------------------------------------------------------------------------- going on */

static void feed_turn(uv_idle_t *idle)
{
    struct fetch *f = idle->data;

    fb_feed(f);
    fb_fetch_go_on(f);
}

bool fb_fetch_has_room(const struct fetch *f)
{
    return f->out - f->writing < f->room && f->writing < FETCH_ITEMS_MAX &&
           f->bytes < FETCH_BYTES_MAX;
}

void fb_fetch_go_on(struct fetch *f)
{
    if (f->closing || !f->engine)
        return;
    bool more = !f->list_ended && !f->stopping;
    bool room = more && !f->input_waits && fb_fetch_has_room(f);

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
    (void)uv_async_init(f->loop, &f->wake, store_turn);
    (void)uv_idle_init(f->loop, &f->feeder);
    (void)uv_timer_init(f->loop, &f->pulse);
    f->wake.data = f->feeder.data = f->pulse.data = f;
    f->handles_open = 3;
    (void)uv_timer_start(&f->pulse, pulse, PULSE_MS, PULSE_MS);
}

static int open_list(struct fetch *f, struct fly_error *err)
{
    int error = f->o->list ? fb_list_open(f->o->list, &f->list, err)
                           : fb_list_of(f->o->urls, f->o->url_count, &f->list);

    if (error < 0)
        return error;
    if (fb_list_fd(f->list) >= 0 && uv_poll_init(f->loop, &f->input, fb_list_fd(f->list)) == 0) {
        f->input.data = f;
        f->handles_open++;
    }
    return 0;
}

struct fetch *fb_fetch_new(uv_loop_t *loop, const struct fetch_options *o,
                           void (*on_end)(void *user, int code), void *user)
{
    struct fetch *f = fb_alloc(sizeof *f);

    if (!f)
        return NULL;
    f->loop = loop;
    f->o = o;
    f->on_end = on_end;
    f->user = user;
    fb_screen_open(&f->screen, o->quiet ? SCREEN_none : o->progress, o->color);
    f->room = fb_max64(FETCH_ITEMS_MIN, (int64_t)4 * o->engine.concurrency);
    f->total = TOTAL_NOT_COUNTED;
    f->errands.bytes = ERRAND_BYTES;
    f->maker.blocks.bytes = RESULT_BYTES;
    f->maker.form = (struct result_form){.folder = o->folder, .no_bodies = o->no_bodies};
    open_handles(f);
    return f;
}

int fb_fetch_prepare(struct fetch *f)
{
    struct store_options so = {
        .wake = wake, .trouble = trouble, .context = f, .jobs_max = (size_t)4 * FETCH_ITEMS_MAX};
    struct fly_error err = {""};
    int error = open_list(f, &err);

    if (error < 0)
        return complain(f, &err, error, FETCH_USAGE);
    error = fb_store_open(&so, &f->store);
    if (error == 0)
        error = fb_batch_open(f, &err);
    if (error < 0)
        return complain(f, &err, error, error == -EINVAL ? FETCH_USAGE : FETCH_BROKEN);
    if (f->o->conditional || f->o->engine.mode == MODE_OFFLINE)
        fb_conditional_open(f);
    return FETCH_DONE;
}

int fb_fetch_start(struct fetch *f, struct host *h)
{
    struct engine_caller caller = {f, fb_end_result, fb_end_start, room_again};

    if (fb_engine_client_new(fb_host_engine(h), &caller, &f->client) < 0)
        return complain(f, &(struct fly_error){""}, -ENOMEM, FETCH_BROKEN);
    f->engine = fb_host_engine(h);
    f->began_ns = fb_engine_now(f->engine);
    if (f->o->plan) {
        fb_engine_pause(f->engine);
    } else {
        fb_live_begin(f);
        fb_end_found(f);
        fb_report_begin(f);
    }
    fb_fetch_go_on(f);
    return FETCH_DONE;
}

static void dropped(void *user, int code)
{
    (void)user;
    (void)code;
}

int fb_fetch_begin(struct host *h, const struct fetch_options *o,
                   void (*on_end)(void *user, int code), void *user, struct fetch **ret_fetch)
{
    struct fetch *f = fb_fetch_new(fb_host_loop(h), o, on_end, user);
    int code = f ? fb_fetch_prepare(f) : FETCH_BROKEN;
    struct fly_error err = {""};

    if (f)
        f->is_one_of_many = true;
    if (code == FETCH_DONE && fb_live_open(f, &err) < 0)
        code = complain(f, &err, -ENOMEM, FETCH_BROKEN);
    if (code == FETCH_DONE)
        code = fb_fetch_start(f, h);
    if (f && code != FETCH_DONE) {
        f->on_end = dropped; /* whoever began it knows by now */
        fb_fetch_drop(f, code);
    }
    if (code == FETCH_DONE)
        *ret_fetch = f;
    return code;
}
