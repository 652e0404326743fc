/* SPDX-License-Identifier: MIT */
/*
 * visit.c - the verdict on a request, and its answer or its fault.
 *
 * Invariant: every visit is logged once when it begins and once when it ends, and leaves the gates
 * that it has passed.
 */
#include "mock/visit.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "core/instant.h"
#include "util/alloc.h"

static const struct work ONE = {.cost = 1};

static int64_t wall_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * FB_NS_PER_S + t.tv_nsec;
}

/* ---- the verdict ---- */

static void judge(struct visit *v, int64_t now_ns)
{
    struct mock *m = v->mock;
    struct verdict verdict;

    fb_provider_admit(&m->provider, now_ns, &ONE, &verdict);
    fb_mock_tell(&m->provider, now_ns, &verdict, &v->told);
    v->passed = verdict.passed;
    v->status = verdict.refused ? verdict.status : (int)v->ask.status;
    if (v->passed && m->options->fail_ppm > 0 &&
        fb_rng_unit(&m->rng) * 1e6 < (double)m->options->fail_ppm)
        v->status = 503;
}

static char letter(const struct visit *v)
{
    if (!v->passed)
        return 'R';
    return v->ask.fault != ASK_FINE || v->status >= 500 ? 'F' : 'A';
}

static void log_arrival(struct visit *v, int64_t now_ns)
{
    const struct http_request *q = v->x->request;
    bool silent = v->passed && v->ask.fault != ASK_FINE && v->ask.fault != ASK_CUT;
    struct mock_arrival a = {
        .mono_ns = now_ns,
        .wall_ns = v->wall_ns,
        .connection = v->x->connection,
        .method = q->method,
        .target = q->target,
        .id = fb_http_find(q->field, q->head_count, "x-request-id"),
        .verdict = letter(v),
        .status = silent ? 0 : v->status,
    };

    v->seq = fb_mock_log_arrival(&v->mock->log, &a);
}

/* A word of the query that is not understood is told in the answer. */
static void read_ask(struct visit *v)
{
    const char *expects = NULL;
    const char *wrong = fb_mock_ask_read(fb_http_path(v->x->request->target), &v->ask, &expects);

    if (!wrong)
        return;
    /* The path alone asks for nothing, and is always right. */
    fb_mock_ask_read(v->ask.path, &v->ask, &expects);
    v->ask.status = 400;
    fb_buffer_add_text(&v->body, "{\"error\":\"");
    fb_buffer_add_text(&v->body, wrong);
    fb_buffer_add_text(&v->body, ": expected ");
    fb_buffer_add_text(&v->body, expects);
    fb_buffer_add_text(&v->body, "\"}\n");
}

void fb_visit_begin(struct mock *m, struct exchange *x)
{
    int64_t now_ns = (int64_t)uv_hrtime();
    struct visit *v = fb_alloc(sizeof *v);

    if (!v) {
        fb_answer_cut(x, true);
        return;
    }
    v->mock = m;
    v->x = x;
    v->wall_ns = wall_ns();
    x->data = v;
    read_ask(v);
    judge(v, now_ns);
    fb_visit_make_body(v);
    log_arrival(v, now_ns);
}

/* ---- the answer ---- */

static void add_field(void *to, const char *name, const char *value)
{
    fb_answer_field(to, name, fb_slice_of(value));
}

static void add_links(struct visit *v)
{
    const struct mock_ask *a = &v->ask;
    char link[200];

    if (!v->is_page || a->page >= a->of)
        return;
    snprintf(link, sizeof(link),
             "</pages?page=%" PRId64 "&of=%" PRId64 ">; rel=\"next\", "
             "</pages?page=%" PRId64 "&of=%" PRId64 ">; rel=\"last\"",
             a->page + 1, a->of, a->of, a->of);
    fb_answer_field(v->x, "Link", fb_slice_of(link));
}

static void add_fields(struct visit *v)
{
    const struct dialect *d = v->mock->options->dialect;
    const struct site *site = v->mock->options->site;
    bool is_told = site && (v->status == 200 || v->status == 304);
    struct field_sink sink = {add_field, v->x};

    fb_answer_field(v->x, "Content-Type", fb_slice_of(is_told ? site->type : "application/json"));
    if (v->status == 200 || v->status == 304)
        fb_answer_field(v->x, "ETag", fb_slice_of(v->etag));
    if (d->tell)
        d->tell(&v->told, v->wall_ns, &sink);
    if (v->passed && v->ask.retry_s >= 0)
        fb_answer_number(v->x, "Retry-After", v->ask.retry_s);
    add_links(v);
}

static void finish(struct visit *v)
{
    v->cut = v->body_stop < v->body_length;
    if (v->cut)
        fb_answer_cut(v->x, false);
    else
        fb_answer_end(v->x);
}

void fb_visit_go_on(struct visit *v)
{
    if (v->ask.drip_ns > 0)
        return; /* its clock decides */
    while (v->body_sent < v->body_stop) {
        struct slice piece = fb_visit_next_piece(v, FB_MOCK_PIECE_MAX);

        v->body_sent += (int64_t)piece.length;
        if (!fb_answer_write(v->x, piece))
            return;
    }
    finish(v);
}

static void on_drip(uv_timer_t *timer)
{
    struct visit *v = timer->data;

    if (v->body_sent < v->body_stop) {
        fb_answer_write(v->x, fb_visit_next_piece(v, 1));
        v->body_sent++;
    } else {
        finish(v);
    }
}

static uint64_t milliseconds(int64_t ns)
{
    return (uint64_t)((ns + FB_NS_PER_MS - 1) / FB_NS_PER_MS);
}

static void set_timer(struct visit *v, uv_timer_cb call, int64_t ns, int64_t again_ns)
{
    if (!v->waiting) {
        uv_timer_init(&v->mock->loop, &v->timer);
        v->timer.data = v;
        v->waiting = true;
    }
    /* The loop's clock has whole milliseconds: one more, and it is never early. */
    uv_timer_start(&v->timer, call, milliseconds(ns) + 1, milliseconds(again_ns));
}

/* Piece by piece, whatever that takes. */
static void stream(struct visit *v)
{
    fb_answer_stream(v->x, v->status == 304 ? -1 : v->body_length);
    if (v->ask.drip_ns > 0)
        set_timer(v, on_drip, v->ask.drip_ns, v->ask.drip_ns);
    else
        fb_visit_go_on(v);
}

static void send_answer(struct visit *v)
{
    if (v->body.failed) {
        v->cut = true;
        fb_answer_cut(v->x, true);
        return;
    }
    fb_answer_begin(v->x, v->status);
    add_fields(v);
    if (v->passed && (v->ask.drip_ns > 0 || v->ask.bytes >= 0 || v->ask.fault == ASK_CUT))
        stream(v);
    else
        fb_answer_send(v->x, (struct slice){v->body.bytes, v->body.size});
}

static void answer_now(struct visit *v)
{
    enum ask_fault fault = v->passed ? v->ask.fault : ASK_FINE;

    if (fault == ASK_HANG)
        return;
    if (fault == ASK_CLOSE || fault == ASK_RESET) {
        v->cut = true;
        fb_answer_cut(v->x, fault == ASK_RESET);
        return;
    }
    send_answer(v);
}

static void on_delay(uv_timer_t *timer)
{
    answer_now(timer->data);
}

void fb_visit_answer(struct visit *v)
{
    const struct mock_options *o = v->mock->options;
    int64_t delay_ns = 0;

    if (v->passed)
        delay_ns = v->ask.delay_ns + o->latency_ns +
                   (int64_t)(fb_rng_unit(&v->mock->rng) * (double)o->jitter_ns);
    if (delay_ns > 0)
        set_timer(v, on_delay, delay_ns, 0);
    else
        answer_now(v);
}

/* ---- the end ---- */

static void on_timer_closed(uv_handle_t *timer)
{
    fb_free(timer->data);
}

void fb_visit_end(struct visit *v, bool complete)
{
    struct mock *m = v->mock;

    if (v->passed)
        fb_provider_leave(&m->provider, &ONE);
    fb_mock_log_end(&m->log, (int64_t)uv_hrtime(), v->seq,
                    v->cut     ? "cut"
                    : complete ? "sent"
                               : "aborted");
    fb_buffer_fini(&v->body);
    if (v->waiting)
        uv_close((uv_handle_t *)&v->timer, on_timer_closed);
    else
        fb_free(v);
}
