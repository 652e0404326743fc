/* SPDX-License-Identifier: MIT */
/* second.c - what happens once a second: look, remember, judge, tell. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "core/instant.h"
#include "daemon/parts.h"
#include "engine/observers/log.h"
#include "util/json.h"
#include "watch/show.h"

/* The last minute of the ring of seconds, over all sets. */
static void last_minute(const struct daemon *d, double *ret_answers, double *ret_failed)
{
    size_t length = fb_history_form[0].length;
    uint64_t count = d->history.count[0];
    uint64_t from = count > 60 ? count - 60 : 0;

    *ret_answers = *ret_failed = 0.0;
    for (size_t s = 0; s < METER_SETS; s++) {
        for (uint64_t i = from; d->history.sample[s] && i < count; i++) {
            const struct figures *f = &d->history.sample[s][i % length];

            *ret_answers +=
                isnan(f->value[FIGURE_answers]) ? 0.0 : (double)f->value[FIGURE_answers];
            *ret_failed += isnan(f->value[FIGURE_errors]) ? 0.0 : (double)f->value[FIGURE_errors];
        }
    }
}

/* Silence counts while something is tried: who waits for a limit is not failing. */
static int64_t silence(struct daemon *d, const struct figures *now, int64_t second)
{
    double good = 0.0;
    double tried = 0.0;

    for (size_t i = 0; i < d->gauges.sets; i++) {
        good += (double)(now[i].value[FIGURE_answers] - now[i].value[FIGURE_errors]);
        tried += (double)now[i].value[FIGURE_answers] + (double)now[i].value[FIGURE_in_flight];
    }
    if (good > 0.0 || tried <= 0.0)
        d->success_s = second;
    return second - d->success_s;
}

/* The four words are the same, in the same order. */
static enum grade watched(const struct daemon *d)
{
    struct watch_figures f;

    static_assert((int)HEALTH_failing == (int)GRADE_failing && (int)HEALTHS == (int)GRADES,
                  "grades of the daemon and of what is watched");
    if (!d->watcher)
        return GRADE_healthy;
    fb_watch_figures(d->watcher, &f);
    return (enum grade)f.grade;
}

static void judge(struct daemon *d, const struct figures *now, int64_t second)
{
    struct grade_facts f = {0};
    enum grade before = d->grader.grade;

    last_minute(d, &f.answers, &f.errors);
    for (size_t i = 0; i < d->gauges.sets; i++) {
        f.broken += d->gauges.set[i].broken;
        /* A site may know nothing yet of what is watched; the watcher has a grade of its own. */
        f.wrong += !d->watcher && d->gauges.set[i].wrong_row > 0;
    }
    f.silent_s = silence(d, now, second);
    f.watched = watched(d);
    if (fb_grade(&d->grader, &f))
        fb_alarm_grade(d, before);
}

static void write_figures(struct daemon *d, enum sse_figures which, struct buffer *out)
{
    if (which == SSE_TICK)
        fb_status_tick(d, out);
    else
        fb_status_write(d, which == SSE_STATUS_PUBLIC, STATUS_SETS | STATUS_USAGE, out);
    while (!out->failed && out->size > 0 && out->bytes[out->size - 1] == '\n')
        out->size--;
}

static void tell(struct daemon *d)
{
    for (enum sse_figures which = 0; which < SSE_FIGURES; which++) {
        struct buffer figures = BUFFER_INIT;

        if (!fb_sse_wants(&d->sse, which))
            continue;
        write_figures(d, which, &figures);
        fb_sse_tick(&d->sse, which,
                    (struct slice){figures.bytes, figures.failed ? 0 : figures.size});
        fb_buffer_fini(&figures);
    }
}

/* How fresh what is watched is. False: nothing is. */
static bool look_at_items(struct daemon *d, struct figures *ret_figures)
{
    struct watch_figures w;

    if (!d->watcher)
        return false;
    fb_watch_figures(d->watcher, &w);
    const struct freshness_spread *live = &w.spread[ITEM_live];

    *ret_figures = fb_figures_none();
    if (live->count > 0) {
        ret_figures->value[WATCHED_p50_s] = (float)((double)live->p50_ns / 1e9);
        ret_figures->value[WATCHED_p95_s] = (float)((double)live->p95_ns / 1e9);
    }
    ret_figures->value[WATCHED_grade] = (float)w.grade;
    ret_figures->value[WATCHED_recoveries] = (float)fb_max64(0, w.recoveries - d->recoveries);
    d->recoveries = w.recoveries;
    return true;
}

/* As the engine's events are, and with what it was before. */
static void tell_move(struct daemon *d, size_t set, double before)
{
    struct event e = {.at_ns = fb_engine_now(d->engine),
                      .until_ns = INT64_MIN,
                      .kind = FB_EVENT_RATE,
                      .rate = d->gauges.set[set].learned};
    struct buffer line = BUFFER_INIT;

    (void)pthread_mutex_lock(&d->meters.lock);
    memcpy(e.provider, d->meters.set[set].provider, sizeof e.provider);
    memcpy(e.pool, d->meters.set[set].pool, sizeof e.pool);
    (void)pthread_mutex_unlock(&d->meters.lock);
    fb_log_line(&line, LOG_JSON, d->news.anchor_ns, NULL, &e);
    if (!line.failed)
        line.size -= 2; /* the end of the object, and of the line */
    if (before > 0.0)
        fb_json_real(&line, "before", before, 4);
    fb_buffer_add_char(&line, '}');
    if (!line.failed)
        fb_news_add(&d->news, fb_event_name(FB_EVENT_RATE), line.bytes, line.size);
    fb_buffer_fini(&line);
}

static void tell_moves(struct daemon *d, int64_t second)
{
    double before;

    for (size_t i = 1; i < d->gauges.sets; i++)
        if (fb_move(&d->moves[i], d->gauges.set[i].learned, second, &before))
            tell_move(d, i, before);
}

void fb_second(struct daemon *d)
{
    struct figures now[METER_SETS];
    struct figures watched;
    int64_t second = fb_daemon_now(d) / FB_NS_PER_S;

    fb_gauges_read(&d->gauges, d->engine, &d->meters, fb_engine_now(d->engine), now);
    fb_history_add(&d->history, second, now, d->gauges.sets,
                   look_at_items(d, &watched) ? &watched : NULL);
    if (!fb_csv_add(&d->csv, second, now, &d->meters, d->gauges.sets))
        fb_log(&d->log, LEVEL_error, "metrics", "cannot write %s", d->config->metrics.csv);
    judge(d, now, second);
    tell_moves(d, second);
    fb_alarm_look(d);
    tell(d);
}
