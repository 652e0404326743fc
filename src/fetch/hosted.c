/* SPDX-License-Identifier: MIT */
/*
 * hosted.c - a batch inside a daemon: one of several on one loop and one engine.
 *
 * It has a store of its own, so that a disk that is full for one output stops no other batch.
 * Files are closed by a thread of libuv's, since that may wait for a disk.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine/control.h"
#include "fetch/fetch_parts.h"
#include "util/alloc.h"

static void room_again(void *user)
{
    fb_fetch_go_on(user);
}

int fb_hosted_join(struct fetch *f, struct fly_error *err)
{
    const struct engine_caller caller = {
        .user = f, .on_result = fb_end_result, .on_start = fb_end_start, .on_room = room_again};

    (void)err;
    f->engine = f->host->engine;
    return fb_engine_client_new(f->engine, &caller, &f->client);
}

/* ---------------------------------------------------------------------------------- the end */

static void give_back(uv_work_t *work)
{
    fb_fetch_give_back(work->data);
}

static void over(struct fetch *f)
{
    const struct fetch_host *host = f->host;
    int code = f->worst;

    fb_free(f);
    if (host->on_over)
        host->on_over(host->user, code);
}

static void after_give_back(uv_work_t *work, int status)
{
    (void)status;
    over(work->data);
}

static void handle_closed(uv_handle_t *handle)
{
    struct fetch *f = handle->data;

    if (--f->handles > 0)
        return;
    f->closing_work.data = f;
    if (uv_queue_work(f->loop, &f->closing_work, give_back, after_give_back) < 0) {
        fb_fetch_give_back(f);
        over(f);
    }
}

static void close_handles(struct fetch *f)
{
    uv_close((uv_handle_t *)&f->wake, handle_closed);
    uv_close((uv_handle_t *)&f->feeder, handle_closed);
    uv_close((uv_handle_t *)&f->clock, handle_closed);
    uv_close((uv_handle_t *)&f->pulse, handle_closed);
    if (f->has_input)
        uv_close((uv_handle_t *)&f->input, handle_closed);
}

void fb_hosted_finish(struct fetch *f)
{
    fb_engine_client_free(f->client);
    f->client = NULL;
    f->engine = NULL;
    close_handles(f);
}

/* -------------------------------------------------------------------------------- the beginning */

static void nothing(void *user, int code)
{
    (void)user;
    (void)code;
}

/* It could not begin: it goes the same way, and tells nobody. */
static void abandon(struct fetch *f)
{
    static const struct fetch_host NOBODY = {.on_over = nothing};

    f->closing = true;
    f->host = &NOBODY;
    if (f->handles > 0) {
        fb_hosted_finish(f);
        return;
    }
    fb_list_close(f->list);
    fb_free(f);
}

int fb_fetch_begin(const struct fetch_options *o, const struct fetch_host *host,
                   struct fetch **ret_fetch, struct fly_error *err)
{
    struct fetch *f = fb_alloc(sizeof *f);

    if (!f) {
        (void)snprintf(err->text, sizeof err->text, "out of memory");
        return -ENOMEM;
    }
    f->o = o;
    f->host = host;
    f->loop = host->loop;
    f->room = FETCH_ITEMS_MIN;
    f->form = (struct result_form){.folder = o->folder, .no_bodies = o->no_bodies};
    fb_screen_open(&f->screen, SCREEN_none, SCREEN_COLOR_never);
    f->worst = fb_fetch_set_up(f, err);
    if (f->worst != FETCH_DONE) {
        int error = f->worst == FETCH_USAGE ? -EINVAL : -EIO;

        abandon(f);
        return error;
    }
    f->began_ns = fb_engine_now(f->engine);
    fb_end_found(f);
    fb_report_begin(f);
    fb_fetch_go_on(f);
    *ret_fetch = f;
    return 0;
}

void fb_fetch_sums(const struct fetch *f, struct fetch_sums *ret_sums)
{
    *ret_sums = (struct fetch_sums){
        .total = f->list_ended || f->total < f->seen ? f->seen : f->total,
        .earlier = f->earlier,
        .under_way = f->out,
        .requests = f->requests,
        .throttled = f->throttled,
        .began_ns = f->began_ns,
        .journal = f->journal_path,
    };
    memcpy(ret_sums->state, f->count, sizeof ret_sums->state);
}
