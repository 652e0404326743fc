/* SPDX-License-Identifier: MIT */
/*
 * live.c - the batch as others see it.
 *
 * What a key waits for is looked at four times a second: so much time was waited as there was
 * between two looks. Rates and latencies are those of a second.
 */
#include "fetch/live.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/spans.h"
#include "engine/control.h"
#include "fetch/fetch_parts.h"
#include "fetch/metrics.h"
#include "fetch/paths.h"
#include "store/runs.h"
#include "util/alloc.h"
#include "util/hash.h"
#include "view/report.h"

#define NS_PER_S INT64_C(1000000000)
#define ROW_NS   NS_PER_S
#define LATE_NS  (2 * NS_PER_S) /* a longer time between two looks was spent asleep */

struct live {
    struct view_batch batch;
    struct run *run; /* NULL: there is no folder for it */
    FILE *csv;       /* NULL: nobody wants it */
    bool has_csv_failed;
    struct view_series *series; /* NULL: no report is wanted */
    struct spans answers;
    struct spans lately; /* of this row */

    int64_t beat_ns;
    int64_t row_began_ns;
    int64_t wait_ns[VIEW_BATCH_CAUSES]; /* of this row */
    struct {
        int64_t sent;
        int64_t refused;
    } before[VIEW_BATCH_KEYS]; /* this row */
    int64_t sent_before;
    int64_t throttled_before;
};

/* ----------------------------------------------------------------------------------- who it is */

/* "fetch-0123456789abcdef": as its journal, or by what no other process has. */
static void name_record(const struct fetch *f, char *name, size_t size)
{
    const char *slash = f->journal_path ? strrchr(f->journal_path, '/') : NULL;
    uint64_t hash = fb_hash_add_int(FB_HASH_INIT, (uint64_t)f->began_ns);
    struct buffer path = BUFFER_INIT;

    if (slash && !f->o->journal && strlen(slash + 1) < size) {
        fb_view_put(name, size, slash + 1);
        name[strlen(name) - strlen(JOURNAL_TAIL)] = '\0';
        return;
    }
    hash = fb_hash_add_int(hash, (uint64_t)getpid());
    if (f->journal_path && fb_path_from_root(&path, f->journal_path) == 0)
        hash = fb_hash_add(FB_HASH_INIT, path.bytes, path.size);
    fb_buffer_fini(&path);
    (void)snprintf(name, size, "fetch-%016llx", (unsigned long long)fb_hash_end(hash));
}

static void put_path(char *field, size_t size, const char *path)
{
    struct buffer whole = BUFFER_INIT;

    if (path && fb_path_from_root(&whole, path) == 0 && fb_buffer_text(&whole))
        fb_view_put(field, size, whole.bytes);
    fb_buffer_fini(&whole);
}

static void add_option(struct buffer *to, bool is_set, const char *option)
{
    fb_buffer_add_text(to, is_set ? option : "");
}

/* What goes on with a batch that a daemon was handed, of paths that a shell takes as they are. */
static void say_submit(const struct fetch_options *o, const struct view_batch *b, char *field,
                       size_t size)
{
    static const char PLAIN[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-";
    struct buffer line = BUFFER_INIT;

    if (o->journal || o->provider || b->list[strspn(b->list, PLAIN)] ||
        b->output[strspn(b->output, PLAIN)])
        return;
    fb_buffer_add_text(&line, "flyball fetch --submit ");
    fb_buffer_add_text(&line, b->list);
    fb_buffer_add_text(&line, o->output ? " --jsonl " : " -o ");
    fb_buffer_add_text(&line, b->output);
    add_option(&line, o->request_id, " --request-id");
    add_option(&line, o->no_bodies, " --no-bodies");
    add_option(&line, o->conditional, " --conditional");
    add_option(&line, o->robots, " --robots");
    add_option(&line, o->paginate, " --paginate");
    add_option(&line, o->keep_going, " --keep-going");
    if (fb_buffer_text(&line) && line.size < size)
        fb_view_put(field, size, line.bytes);
    fb_buffer_fini(&line);
}

static void introduce(struct fetch *f, struct view_batch *b)
{
    b->pid = (int64_t)getpid();
    b->running = 1;
    b->began_ns = f->began_ns;
    b->total = -1;
    name_record(f, b->name, sizeof b->name);
    if (f->o->name)
        fb_view_put(b->name, sizeof b->name, f->o->name);
    if (f->o->list && strcmp(f->o->list, "-") != 0)
        put_path(b->list, sizeof b->list, f->o->list);
    else
        fb_view_put(b->list, sizeof b->list, f->o->list ? "standard input" : "command line");
    put_path(b->output, sizeof b->output, f->o->output ? f->o->output : f->o->folder);
    put_path(b->journal, sizeof b->journal, f->journal_path);
    /* URLs may hold what is secret; and half a command would do something else. */
    if (f->journal_path && f->o->command && f->o->list) {
        if (strlen(f->o->command) < sizeof b->command)
            fb_view_put(b->command, sizeof b->command, f->o->command);
        else
            b->command_is_long = 1;
    } else if (f->journal_path && f->o->is_submitted && f->o->list)
        say_submit(f->o, b, b->command, sizeof b->command);
}

/* Whether all that there is to do was done in earlier runs. */
static bool is_done(struct fetch *f)
{
    int64_t total = f->found.resumed ? fb_fetch_total(f) : -1;

    return total >= 0 && fb_report_earlier(f, NULL) >= total;
}

/* Whether the record of the run that did it is there, and says so. */
static bool is_recorded(const struct live *v, const char *folder)
{
    struct runs all = {0};
    bool is_there = false;

    if (fb_runs_read(folder, &all) < 0)
        return false;
    for (size_t i = 0; i < all.count; i++)
        is_there |= strcmp(all.batch[i]->name, v->batch.name) == 0 && !all.batch[i]->running &&
                    fb_view_batch_is_over(all.batch[i]);
    fb_runs_free(&all);
    return is_there;
}

/* What a run waited for is not forgotten because the same command was given once more. */
static void open_run(struct fetch *f, struct live *v)
{
    char name[VIEW_NAME];
    struct buffer folder = BUFFER_INIT;
    struct fly_error err = {""};

    name_record(f, name, sizeof name);
    if (fb_state_folder_named(f->o->store, &folder, &err) == 0 && fb_buffer_text(&folder) &&
        fb_state_folder_make(folder.bytes, &err) == 0 &&
        !(is_done(f) && is_recorded(v, folder.bytes)) &&
        fb_run_open(folder.bytes, name, &v->run) < 0)
        v->run = NULL; /* answers will know less; the batch needs nothing of it */
    fb_buffer_fini(&folder);
}

/* --------------------------------------------------------------------------------------- files */

static int open_csv(struct live *v, const char *path, struct fly_error *err)
{
    struct buffer head = BUFFER_INIT;

    v->csv = fopen(path, "we");
    if (!v->csv)
        return fb_path_cannot_write(path, errno, err);
    fb_metrics_head(&head);
    (void)fwrite(head.bytes, 1, head.size, v->csv);
    fb_buffer_fini(&head);
    return 0;
}

/* That a report can be written is seen before the first request. */
static int open_report(struct live *v, const char *path, struct fly_error *err)
{
    FILE *out = fopen(path, "ae");

    if (!out)
        return fb_path_cannot_write(path, errno, err);
    (void)fclose(out);
    v->series = fb_alloc_raw(sizeof *v->series);
    if (!v->series)
        return -ENOMEM;
    fb_view_series_init(v->series, ROW_NS);
    return 0;
}

int fb_live_open(struct fetch *f, struct fly_error *err)
{
    struct live *v = fb_alloc(sizeof *v);
    int error = 0;

    if (!v)
        return -ENOMEM;
    f->live = v;
    fb_spans_init(&v->answers);
    fb_spans_init(&v->lately);
    if (f->o->metrics_csv)
        error = open_csv(v, f->o->metrics_csv, err);
    if (error == 0 && f->o->report)
        error = open_report(v, f->o->report, err);
    return error;
}

void fb_live_begin(struct fetch *f)
{
    struct live *v = f->live;

    if (!v)
        return;
    introduce(f, &v->batch);
    v->beat_ns = v->row_began_ns = f->began_ns;
    open_run(f, v);
    (void)fb_run_write(v->run, &v->batch);
}

const struct view_batch *fb_fetch_view(const struct fetch *f)
{
    return f->live && f->live->batch.updated_ns > 0 ? &f->live->batch : NULL;
}

void fb_live_close(struct fetch *f)
{
    struct live *v = f->live;

    if (!v)
        return;
    f->live = NULL;
    if (v->csv)
        (void)fclose(v->csv);
    fb_run_close(v->run);
    fb_free(v->series);
    fb_free(v);
}

/* --------------------------------------------------------------------------------------- a look */

void fb_live_answer(struct fetch *f, const struct engine_result *r)
{
    struct live *v = f->live;

    if (!v || r->status == 0 || r->sent_ns == 0 || r->ended_ns < r->sent_ns)
        return;
    fb_spans_add(&v->answers, r->ended_ns - r->sent_ns);
    fb_spans_add(&v->lately, r->ended_ns - r->sent_ns);
}

static bool is_same(const struct view_key *a, const struct view_key *b)
{
    return strcmp(a->provider, b->provider) == 0 && strcmp(a->pool, b->pool) == 0 &&
           strcmp(a->credential, b->credential) == 0;
}

/* Where a key is in the batch; a new one takes a free place, or that of one that is idle. */
static struct view_key *place_of(struct live *v, const struct view_key *k)
{
    struct view_batch *b = &v->batch;
    size_t count = fb_view_batch_keys(b);
    size_t i = 0;

    while (i < count && !is_same(&b->key[i], k))
        i++;
    if (i < count)
        return &b->key[i];
    b->key_count++;
    if (i == VIEW_BATCH_KEYS) {
        for (i = VIEW_SERIES_KEYS; i < count && b->key[i].queued + b->key[i].in_flight > 0;)
            i++;
        if (i == count || k->queued == 0)
            return NULL;
    }
    v->before[i].sent = v->before[i].refused = 0;
    b->key[i] = (struct view_key){.rate = 0.0};
    return &b->key[i];
}

/* The index of a cause in the batch's table; the last place is for all that do not fit. */
static size_t cause_of(struct view_batch *b, const char *cause)
{
    size_t i = 0;

    while (i < (size_t)b->wait_count && strcmp(b->wait[i].cause, cause) != 0)
        i++;
    if (i < (size_t)b->wait_count)
        return i;
    if (i == VIEW_BATCH_CAUSES)
        return VIEW_BATCH_CAUSES - 1;
    fb_view_put(b->wait[i].cause, sizeof b->wait[i].cause,
                i == VIEW_BATCH_CAUSES - 1 ? "other" : cause);
    b->wait_count++;
    return i;
}

/* It had something to send and could not: since the last look. */
static void note_wait(struct live *v, const struct view_key *k, int64_t now_ns, int64_t span_ns)
{
    struct view_batch *b = &v->batch;
    bool was_short = fb_view_key_wait_ns(&b->held) < NS_PER_S;

    if (k->queued == 0 || k->ready_ns <= now_ns || !k->cause[0])
        return;
    size_t i = cause_of(b, k->cause);
    b->wait[i].span_ns += span_ns;
    v->wait_ns[i] += span_ns;
    if (fb_view_key_wait_ns(k) >= NS_PER_S || was_short) {
        b->held = *k;
        b->held_ns = now_ns;
    }
}

static void note_keys(struct live *v, const struct look *l)
{
    int64_t span_ns = l->now_ns - v->beat_ns;

    if (span_ns > LATE_NS)
        span_ns = LATE_NS;
    v->batch.queued = 0;
    for (size_t i = 0; i < l->count; i++) {
        struct view_key *to = place_of(v, &l->shown[i]);

        v->batch.queued += l->shown[i].queued;
        if (!to)
            continue;
        double rate = to->rate;
        *to = l->shown[i];
        to->rate = rate;
        note_wait(v, to, l->now_ns, span_ns);
    }
    v->beat_ns = l->now_ns;
}

static void note_progress(struct fetch *f, const struct look *l, const struct progress *p)
{
    struct view_batch *b = &f->live->batch;
    struct engine_client_stats s = fb_engine_client_stats(f->client);

    b->updated_ns = l->now_ns;
    b->total = p->total_grows && p->total <= 0 ? -1 : p->total;
    b->total_grows = p->total_grows;
    b->bad_lines = (uint32_t)f->bad_lines;
    b->done = (int64_t)f->found.items[ENTRY_done] + f->count[ENTRY_done];
    b->failed = (int64_t)f->found.items[ENTRY_failed] + f->count[ENTRY_failed];
    b->deferred = (int64_t)f->found.items[ENTRY_deferred] + f->count[ENTRY_deferred];
    b->skipped = (int64_t)(f->found.items[ENTRY_skipped] + f->found.items[ENTRY_barred]) +
                 f->count[ENTRY_skipped];
    b->unknown = (int64_t)f->found.items[ENTRY_unknown] + f->count[ENTRY_unknown];
    b->earlier = fb_report_earlier(f, NULL);
    b->in_flight = s.in_flight;
    b->requests = s.requests;
    b->throttled = s.throttled;
    b->retries = s.retries;
    b->rate = p->rate;
    b->eta_ns = p->eta.span_ns != FB_ETA_UNKNOWN && p->eta.bound != ETA_BOUND_NOTHING
                    ? l->now_ns + p->eta.span_ns
                    : 0;
    b->latency_p50_ns = fb_spans_share(&f->live->answers, 0.50);
    b->latency_p95_ns = fb_spans_share(&f->live->answers, 0.95);
    b->latency_p99_ns = fb_spans_share(&f->live->answers, 0.99);
    struct buffer bound = BUFFER_INIT;
    fb_progress_bound(p, &bound);
    if (fb_buffer_text(&bound))
        fb_view_put(b->bound, sizeof b->bound, bound.bytes);
    fb_buffer_fini(&bound);
}

/* ---------------------------------------------------------------------------------- a row */

/* The key that decides, or the busiest. */
static const struct view_key *leader(const struct live *v, const struct progress *p)
{
    const struct view_key *found = NULL;

    for (size_t i = 0; i < fb_view_batch_keys(&v->batch); i++) {
        const struct view_key *k = &v->batch.key[i];

        if (strcmp(k->provider, p->provider) == 0 && strcmp(k->pool, p->pool) == 0)
            return k;
        if (!found || k->requests > found->requests)
            found = k;
    }
    return found;
}

static void write_csv(struct fetch *f, const struct progress *p, int64_t now_ns)
{
    struct live *v = f->live;
    const struct view_key *k = leader(v, p);
    int64_t span_ns = now_ns - v->row_began_ns;
    struct buffer name = BUFFER_INIT;
    struct buffer line = BUFFER_INIT;

    if (k)
        fb_view_key_name(k, &name);
    struct metrics_row row = {
        .at_ns = now_ns,
        .elapsed_ns = now_ns - f->began_ns,
        .done = fb_view_batch_ended(&v->batch),
        .limit = k && !(k->flags & VIEW_KEY_LEARNING) ? k->limit : 0.0,
        .tokens = k ? k->permits : -1.0,
        .sent = v->batch.requests - v->sent_before,
        .throttled = v->batch.throttled - v->throttled_before,
        .in_flight = v->batch.in_flight,
        .queued = v->batch.queued,
        .answers = v->lately.count,
        .p50_ns = fb_spans_share(&v->lately, 0.50),
        .p95_ns = fb_spans_share(&v->lately, 0.95),
        .p99_ns = fb_spans_share(&v->lately, 0.99),
        .key = fb_buffer_text(&name),
    };
    row.rate = span_ns > 0 ? (double)row.sent / (double)span_ns * 1e9 : 0.0;
    for (int64_t i = 0; i < v->batch.wait_count; i++)
        row.wait_ns[fb_metrics_wait(v->batch.wait[i].cause)] += v->wait_ns[i];
    fb_metrics_line(&row, &line);
    bool is_written = !line.failed && fwrite(line.bytes, 1, line.size, v->csv) == line.size &&
                      fflush(v->csv) == 0;
    if (!is_written && !v->has_csv_failed)
        fb_say(f, "flyball fetch: cannot write %s: %s", f->o->metrics_csv, strerror(errno));
    v->has_csv_failed = !is_written;
    fb_buffer_fini(&name);
    fb_buffer_fini(&line);
}

static void add_to_series(struct live *v, int64_t now_ns)
{
    struct view_row row = {.began_ns = v->row_began_ns, .span_ns = now_ns - v->row_began_ns};

    memcpy(row.wait_ns, v->wait_ns, sizeof row.wait_ns);
    for (size_t i = 0; i < fb_view_batch_keys(&v->batch) && i < VIEW_SERIES_KEYS; i++) {
        const struct view_key *k = &v->batch.key[i];

        row.key[i] = (struct view_series_key){
            .sent = (int32_t)(k->requests - v->before[i].sent),
            .refused = (int32_t)(k->refused - v->before[i].refused),
            .limit = (float)k->bound.rate,
        };
    }
    fb_view_series_add(v->series, &row);
}

static void end_row(struct fetch *f, const struct progress *p, int64_t now_ns)
{
    struct live *v = f->live;
    int64_t span_ns = now_ns - v->row_began_ns;

    if (v->csv)
        write_csv(f, p, now_ns);
    if (v->series)
        add_to_series(v, now_ns);
    for (size_t i = 0; i < fb_view_batch_keys(&v->batch); i++) {
        struct view_key *k = &v->batch.key[i];

        k->rate = (double)(k->requests - v->before[i].sent) / (double)span_ns * 1e9;
        v->before[i].sent = k->requests;
        v->before[i].refused = k->refused;
    }
    v->sent_before = v->batch.requests;
    v->throttled_before = v->batch.throttled;
    memset(v->wait_ns, 0, sizeof v->wait_ns);
    fb_spans_init(&v->lately);
    v->row_began_ns = now_ns;
}

void fb_live_beat(struct fetch *f, const struct look *l, const struct progress *p)
{
    if (!f->live)
        return;
    note_keys(f->live, l);
    note_progress(f, l, p);
    if (l->now_ns - f->live->row_began_ns >= ROW_NS)
        end_row(f, p, l->now_ns);
    (void)fb_run_write(f->live->run, &f->live->batch);
}

/* ------------------------------------------------------------------------------------- the end */

static void write_report(struct fetch *f)
{
    const char *path = f->o->report;
    struct view_report r = {
        .batch = &f->live->batch, .series = f->live->series, .answers = &f->live->answers};
    struct buffer b = BUFFER_INIT;

    if (fb_view_report_is_svg(path))
        fb_view_report_svg(&r, &b);
    else
        fb_view_report_html(&r, &b);
    FILE *out = b.failed ? NULL : fopen(path, "we");
    bool is_written = out && fwrite(b.bytes, 1, b.size, out) == b.size;
    if (out && fclose(out) != 0)
        is_written = false;
    if (!is_written) {
        fb_say(f, "flyball fetch: cannot write %s: %s", path, strerror(b.failed ? ENOMEM : errno));
        fb_end_worse(f, FETCH_BROKEN);
    }
    fb_buffer_fini(&b);
}

void fb_live_end(struct fetch *f)
{
    struct view_batch *b;
    struct progress p;
    struct look l;

    if (!f->live)
        return;
    fb_look(f, &l, &p);
    b = &f->live->batch;
    note_keys(f->live, &l);
    note_progress(f, &l, &p);
    if (l.now_ns > f->live->row_began_ns)
        end_row(f, &p, l.now_ns);
    b->running = 0;
    b->ended_ns = l.now_ns;
    b->exit_code = f->worst;
    b->eta_ns = 0;
    b->rate = p.spent_ns > 0 ? (double)fb_pulse_ended(f) / (double)p.spent_ns * 1e9 : 0.0;
    if (f->live->series)
        write_report(f);
    (void)fb_run_write(f->live->run, b);
    if (f->is_void)
        fb_run_drop(f->live->run);
}
