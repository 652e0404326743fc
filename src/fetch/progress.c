/* SPDX-License-Identifier: MIT */
/*
 * progress.c - lines about how far a batch is.
 *
 * The live line is made of parts. Where they do not all fit, the least important one is left out,
 * then the next: at 40 columns the count and the time to go are still there.
 */
#include "fetch/progress.h"

#include <string.h>

#include "core/instant.h"
#include "util/json.h"
#include "view/words.h"

#define NS_PER_S INT64_C(1000000000)
#define BAR_WIDE 14
#define LOW_NS   (3 * NS_PER_S) /* a search begins with one a second, and is at eight by then */

#define NAME_KEEP_WAITING 9 /* while it waits, as long as what decides, and a little longer */

/* In the order in which they stand; a row's number is how soon it is left out. */
#define FB_PROGRESS_PARTS(X) \
    X(name, 2, "  ")         \
    X(bar, 6, "  ")          \
    X(count, 99, "  ")       \
    X(share, 7, "  ")        \
    X(rate, 11, "  ")        \
    X(limit, 4, " ")         \
    X(left, 3, "  ")         \
    X(few, 8, "  ")          \
    X(throttled, 10, "  ")   \
    X(sure, 0, "  ")         \
    X(eta, 12, "  ")         \
    X(phase, 5, ": ")        \
    X(clock, 1, " ")         \
    X(bound, 9, ", ")

/* --------------------------------------------------------------------------------- the parts */

static void add_name(const struct progress *p, struct buffer *to)
{
    fb_buffer_add_text(to, p->provider);
}

static void add_bar(const struct progress *p, struct buffer *to)
{
    if (p->total > 0 && !p->total_grows)
        fb_progress_bar(p, BAR_WIDE, to);
}

/* As wide from the beginning as at the end, so that nothing moves. */
static void add_count(const struct progress *p, struct buffer *to)
{
    struct buffer done = BUFFER_INIT;
    struct buffer total = BUFFER_INIT;

    fb_words_count(p->done, &done);
    fb_words_count(p->total, &total);
    for (size_t i = done.size; i < total.size; i++)
        fb_buffer_add_char(to, ' ');
    fb_buffer_add(to, done.bytes, done.size);
    fb_buffer_add_char(to, '/');
    fb_buffer_add(to, total.bytes, total.size);
    if (p->total_grows)
        fb_buffer_add_char(to, '+');
    fb_buffer_fini(&done);
    fb_buffer_fini(&total);
}

static void add_share(const struct progress *p, struct buffer *to)
{
    if (p->total <= 0 || p->total_grows)
        return;
    int64_t share = (int64_t)((double)p->done / (double)p->total * 100.0);
    fb_buffer_add_text(to, share < 10 ? " " : "");
    fb_buffer_add_int(to, share);
    fb_buffer_add_text(to, " %");
}

static void add_rate(const struct progress *p, struct buffer *to)
{
    fb_words_rate(p->rate, to);
    fb_buffer_add_text(to, "/s");
}

static void add_limit(const struct progress *p, struct buffer *to)
{
    if (p->learning) {
        fb_buffer_add_text(to, "of ?");
    } else if (p->limit > 0.0) {
        fb_buffer_add_text(to, p->limit_learned ? "of ~" : "of ");
        fb_words_rate(p->limit, to);
    }
}

static void add_left(const struct progress *p, struct buffer *to)
{
    if (p->quota.limit <= 0)
        return;
    if (strcmp(p->pool, "default") != 0) {
        fb_buffer_add_text(to, p->pool);
        fb_buffer_add_char(to, ' ');
    }
    fb_words_count(p->quota.left, to);
    fb_buffer_add_char(to, '/');
    fb_words_count(p->quota.limit, to);
    fb_buffer_add_text(to, " left");
}

/* The same in short, where that does not fit: what decides says of how many. */
static void add_few(const struct progress *p, struct buffer *to)
{
    if (p->quota.limit <= 0)
        return;
    fb_words_count(p->quota.left, to);
    fb_buffer_add_text(to, " left");
}

static void add_throttled(const struct progress *p, struct buffer *to)
{
    fb_buffer_add_text(to, "429s ");
    fb_words_count(p->throttled, to);
}

/* How sure it is of a limit that nobody told. */
static void add_sure(const struct progress *p, struct buffer *to)
{
    if (p->learning || !p->limit_learned || p->limit <= 0.0 || p->done >= p->total)
        return;
    fb_buffer_add_text(to, "confidence ");
    fb_buffer_add_int(to, (int64_t)(p->confidence * 100.0 + 0.5));
    fb_buffer_add_text(to, " %");
}

static bool has_eta(const struct progress *p)
{
    return p->eta.span_ns != FB_ETA_UNKNOWN && p->eta.bound != ETA_BOUND_NOTHING;
}

static bool is_waiting(const struct progress *p)
{
    return p->waits_ns >= NS_PER_S;
}

/* "waits 56 s (500)": the server is why, and not a limit. */
static void add_failure(const struct progress *p, struct buffer *to)
{
    if (!p->is_down)
        return;
    fb_buffer_add_text(to, " (");
    if (p->failed_status > 0)
        fb_buffer_add_int(to, p->failed_status);
    else
        fb_buffer_add_text(to, "no answer");
    fb_buffer_add_char(to, ')');
}

static void add_eta(const struct progress *p, struct buffer *to)
{
    bool is_learning = p->learning && p->done < p->total;

    if (is_waiting(p)) {
        fb_buffer_add_text(to, "waits ");
        fb_words_span(p->waits_ns, to);
        add_failure(p, to);
        fb_buffer_add_text(to, has_eta(p) || is_learning ? ", " : "");
    }
    if (has_eta(p)) {
        fb_buffer_add_text(to, p->total_grows ? "ETA at least " : "ETA ");
        fb_words_span(p->eta.span_ns, to);
    } else if (is_learning) {
        fb_buffer_add_text(to, "learning");
    }
}

static int64_t end_s(const struct progress *p)
{
    return fb_words_second(fb_after(p->now_ns, p->eta.span_ns), true);
}

/* Within a day: later ones have no clock. */
static void add_clock(const struct progress *p, struct buffer *to)
{
    if (!has_eta(p) || p->eta.span_ns >= 20 * 3600 * NS_PER_S || p->total_grows)
        return;
    fb_buffer_add_char(to, '(');
    fb_words_minute(end_s(p) + p->zone_s, to);
    fb_buffer_add_char(to, ')');
}

static void add_bound(const struct progress *p, struct buffer *to)
{
    if (!has_eta(p))
        return;
    fb_buffer_add_text(to, p->eta.bound == ETA_BOUND_HOLD ? "bound by a " : "bound by ");
    fb_progress_bound(p, to);
}

/* Where a search is that nothing has refused yet. */
static void add_phase(const struct progress *p, struct buffer *to)
{
    if (p->learning && p->done < p->total && !has_eta(p) && p->throttled == 0)
        fb_buffer_add_text(to, p->spent_ns < LOW_NS ? "starting low" : "no ceiling yet");
}

/* ---------------------------------------------------------------------------------- the line */

#define X(name, keep, before) PART_##name,
enum part { FB_PROGRESS_PARTS(X) PARTS };
#undef X

static const struct {
    void (*add)(const struct progress *p, struct buffer *to);
    int keep;
    const char *before;
} PART[PARTS] = {
#define X(name, keep, before) {add_##name, keep, before},
    FB_PROGRESS_PARTS(X)
#undef X
};

/* The parts that are in, one after another. */
static void join(const struct progress *p, const bool *in, struct buffer *to)
{
    size_t began = to->size;

    for (int i = 0; i < PARTS; i++) {
        struct buffer part = BUFFER_INIT;

        if (in[i] && !(i == PART_few && in[PART_left]))
            PART[i].add(p, &part);
        if (part.size > 0 && to->size > began)
            fb_buffer_add_text(to, PART[i].before);
        fb_buffer_add(to, part.bytes, part.size);
        fb_buffer_fini(&part);
    }
}

/* Who is waited for matters more than a bar. */
static int keep_of(const struct progress *p, int part)
{
    return part == PART_name && is_waiting(p) ? NAME_KEEP_WAITING : PART[part].keep;
}

static int least(const struct progress *p, const bool *in)
{
    int worst = -1;

    for (int i = 0; i < PARTS; i++) {
        if (in[i] && (worst < 0 || keep_of(p, i) <= keep_of(p, worst)))
            worst = i;
    }
    return worst;
}

void fb_progress_line(const struct progress *p, size_t width, struct buffer *to)
{
    size_t began = to->size;
    bool in[PARTS];

    for (int i = 0; i < PARTS; i++)
        in[i] = true;
    for (int left = PARTS; left > 0; left--) {
        to->size = began;
        join(p, in, to);
        if (to->size - began <= width)
            return;
        in[least(p, in)] = false;
    }
    to->size = began + width; /* not even the count fits: cut */
}

/* ----------------------------------------------------------------------------- for programs */

static void add_member(struct buffer *to, const char *name, int64_t value)
{
    fb_buffer_add_char(to, ' ');
    fb_buffer_add_text(to, name);
    fb_buffer_add_char(to, '=');
    fb_buffer_add_int(to, value);
}

/* "core:5000/h": one word. */
static void add_bound_word(const struct progress *p, struct buffer *to)
{
    size_t began = to->size;

    fb_progress_bound(p, to);
    for (size_t i = began; i < to->size; i++) {
        if (to->bytes[i] == ' ')
            to->bytes[i] = ':';
    }
}

void fb_progress_plain(const struct progress *p, struct buffer *to)
{
    fb_words_instant(fb_words_second(p->now_ns, false), to);
    fb_buffer_add_text(to, " fetch");
    add_member(to, "done", p->done);
    if (!p->total_grows)
        add_member(to, "total", p->total);
    fb_buffer_add_text(to, " rate=");
    fb_words_rate(p->rate, to);
    if (has_eta(p)) {
        fb_buffer_add_text(to, " bound=");
        add_bound_word(p, to);
        fb_buffer_add_text(to, p->total_grows ? " eta_at_least=" : " eta=");
        fb_words_instant(end_s(p), to);
    } else if (p->learning) {
        fb_buffer_add_text(to, " learning");
    }
    add_member(to, "in_flight", p->in_flight);
    add_member(to, "throttled", p->throttled);
    add_member(to, "failed", p->failed);
    add_member(to, "deferred", p->deferred);
}

void fb_progress_bound_json(const struct progress *p, struct buffer *to)
{
    bool is_quota = p->eta.bound == ETA_BOUND_QUOTA;
    bool is_window = is_quota || p->eta.bound == ETA_BOUND_WINDOW;
    struct buffer words = BUFFER_INIT;

    fb_progress_bound(p, &words);
    fb_json_name(to, "bound");
    fb_buffer_add_char(to, '{');
    fb_json_text(to, "by", fb_buffer_text(&words));
    fb_json_text(to, "provider", p->provider);
    fb_json_text(to, "pool", p->pool);
    if (is_window) {
        fb_json_int(to, "limit", is_quota ? p->quota.limit : p->window_limit);
        fb_json_int(to, "window_s", (is_quota ? p->quota.window_ns : p->window_ns) / NS_PER_S);
    }
    fb_buffer_add_char(to, '}');
    fb_buffer_fini(&words);
}

static void add_json_eta(const struct progress *p, struct buffer *to)
{
    struct buffer at = BUFFER_INIT;

    fb_words_instant(end_s(p), &at);
    fb_progress_bound_json(p, to);
    fb_json_text(to, "eta", fb_buffer_text(&at));
    fb_json_real(to, "eta_s", (double)p->eta.span_ns / 1e9, 1);
    fb_buffer_fini(&at);
}

/* At least two digits behind the point, and what is slow is not told as 0. */
static void add_json_rate(struct buffer *to, const char *name, double rate)
{
    int digits = fb_words_rate_digits(rate);

    fb_json_real(to, name, rate, digits > 2 ? digits : 2);
}

void fb_progress_json(const struct progress *p, struct buffer *to)
{
    fb_buffer_add_char(to, '{');
    fb_json_text(to, "type", "progress");
    fb_json_int(to, "done", p->done);
    if (p->total_grows)
        fb_json_int(to, "total_at_least", p->total);
    else
        fb_json_int(to, "total", p->total);
    add_json_rate(to, "rate", p->rate);
    if (p->limit > 0.0)
        add_json_rate(to, "limit", p->limit);
    fb_json_bool(to, "learning", p->learning);
    if (p->quota.limit > 0)
        fb_json_int(to, "remaining", p->quota.left);
    if (has_eta(p))
        add_json_eta(p, to);
    fb_json_int(to, "in_flight", p->in_flight);
    fb_json_int(to, "throttled", p->throttled);
    fb_json_int(to, "failed", p->failed);
    fb_json_int(to, "deferred", p->deferred);
    fb_buffer_add_char(to, '}');
}
