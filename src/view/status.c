/* SPDX-License-Identifier: MIT */
/* status.c - one batch with all there is to say, or a table of several; and the daemon's keys. */
#include "view/status.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/json.h"
#include "util/text.h"
#include "view/rows.h"
#include "view/words.h"

#define LABEL 12 /* columns */

/* ---------------------------------------------------------------------------------- one batch */

static void begin(struct buffer *to, const char *name)
{
    fb_buffer_add_text(to, "  ");
    fb_buffer_add_text(to, name);
    for (size_t i = strlen(name) + 2; i < LABEL; i++)
        fb_buffer_add_char(to, ' ');
}

static void add_line(struct buffer *to, const char *name, const char *text)
{
    if (!text[0])
        return;
    begin(to, name);
    fb_buffer_add_text(to, text);
    fb_buffer_add_char(to, '\n');
}

static void add_counted(int64_t n, const char *what, bool always, bool *is_first, struct buffer *to)
{
    if (n == 0 && !always)
        return;
    fb_buffer_add_text(to, *is_first ? "" : ", ");
    fb_words_count(n, to);
    fb_buffer_add_char(to, ' ');
    fb_buffer_add_text(to, what);
    *is_first = false;
}

static void add_items(const struct view_batch *b, struct buffer *to)
{
    bool is_first = true;

    begin(to, "items");
    fb_view_batch_progress(b, to);
    fb_buffer_add_text(to, ": ");
    add_counted(b->done, "ok", true, &is_first, to);
    add_counted(b->failed, "failed", false, &is_first, to);
    add_counted(b->deferred, "deferred", false, &is_first, to);
    add_counted(b->skipped, "skipped", false, &is_first, to);
    add_counted(b->unknown, "unknown", false, &is_first, to);
    add_counted(b->bad_lines, b->bad_lines == 1 ? "line is no request" : "lines are no requests",
                false, &is_first, to);
    fb_buffer_add_char(to, '\n');
}

/* Items are those of all runs, as the journal has them; nothing else is. */
static void add_earlier(const struct view_batch *b, struct buffer *to)
{
    if (b->earlier == 0)
        return;
    begin(to, "before");
    fb_words_count(b->earlier, to);
    fb_buffer_add_text(to, " of them, in earlier runs; all below is of this run alone\n");
}

/* "9.70 items/s over the run: 412 in 42 s", as its summary has it */
static void add_mean(const struct view_batch *b, struct buffer *to)
{
    int64_t ended_ns = b->ended_ns > 0 ? b->ended_ns : b->updated_ns;
    char span[48];
    struct text t;

    fb_text_init(&t, span, sizeof span);
    fb_text_add_span(&t, ended_ns - b->began_ns);
    fb_buffer_add_text(to, " items/s over the run: ");
    fb_words_count(fb_view_batch_ended(b) - b->earlier, to);
    fb_buffer_add_text(to, " in ");
    fb_buffer_add_text(to, span);
    fb_buffer_add_char(to, '\n');
}

static void add_pace(const struct view_batch *b, const struct view_style *style, int64_t now_ns,
                     struct buffer *to)
{
    begin(to, "rate");
    fb_words_rate(b->rate, to);
    if (!b->running) {
        add_mean(b, to);
        return;
    }
    fb_buffer_add_text(to, " items/s now, ");
    fb_words_count(b->in_flight, to);
    fb_buffer_add_text(to, " in flight, ");
    fb_words_count(b->queued, to);
    fb_buffer_add_text(to, " queued\n");
    if (b->eta_ns <= 0)
        return;
    begin(to, "ETA");
    fb_words_when(b->eta_ns, now_ns, style->zone_s, to);
    fb_buffer_add_text(to, b->bound[0] ? ", bound by " : "");
    fb_buffer_add_text(to, b->bound);
    fb_buffer_add_char(to, '\n');
}

static void add_requests(const struct view_batch *b, struct buffer *to)
{
    bool is_first = true;

    begin(to, "requests");
    add_counted(b->requests, "sent", true, &is_first, to);
    add_counted(b->throttled, "throttled", true, &is_first, to);
    add_counted(b->retries, b->retries == 1 ? "retry" : "retries", false, &is_first, to);
    fb_buffer_add_char(to, '\n');
    if (b->latency_p50_ns <= 0)
        return;
    begin(to, "answers");
    fb_buffer_add_text(to, "after ");
    fb_view_add_short(b->latency_p50_ns, to);
    fb_buffer_add_text(to, " (p50), ");
    fb_view_add_short(b->latency_p95_ns, to);
    fb_buffer_add_text(to, " (p95), ");
    fb_view_add_short(b->latency_p99_ns, to);
    fb_buffer_add_text(to, " (p99)\n");
}

static void add_waits(const struct view_batch *b, struct buffer *to)
{
    if (b->wait_count == 0)
        return;
    begin(to, "waited");
    fb_view_waits(b->wait, b->wait_count, to);
    fb_buffer_add_char(to, '\n');
}

static void add_life(const struct view_batch *b, const struct view_style *style, int64_t now_ns,
                     struct buffer *to)
{
    begin(to, "began");
    fb_words_when(b->began_ns, now_ns, style->zone_s, to);
    fb_buffer_add_char(to, '\n');
    if (b->running)
        return;
    begin(to, "ended");
    if (b->ended_ns > 0) {
        fb_words_when(b->ended_ns, now_ns, style->zone_s, to);
        fb_buffer_add_text(to, ", exit ");
        fb_buffer_add_int(to, b->exit_code);
    } else {
        fb_buffer_add_text(to, "without saying so; last heard of ");
        fb_words_when(b->updated_ns, now_ns, style->zone_s, to);
    }
    fb_buffer_add_char(to, '\n');
    size_t size = to->size;
    begin(to, "go on");
    size_t label = to->size;
    fb_view_batch_next(b, to);
    if (to->size > label)
        fb_buffer_add_char(to, '\n');
    else
        to->size = size;
}

static void add_one(const struct view_batch *b, const struct view_style *style, int64_t now_ns,
                    struct buffer *to)
{
    enum view_state s = fb_view_batch_state(b, now_ns);
    size_t began = to->size;

    fb_buffer_add_text(to, b->name);
    fb_buffer_add_text(to, "  ");
    fb_view_color_begin(s, style, to);
    fb_buffer_add_text(to, fb_view_state_shape(s, style->ascii));
    fb_buffer_add_char(to, ' ');
    fb_buffer_add_text(to, b->running ? fb_view_state_name(s) : "not running");
    fb_view_color_end(style, to);
    if (b->running && b->pid > 0) {
        fb_buffer_add_text(to, "  process ");
        fb_buffer_add_int(to, b->pid);
    }
    fb_buffer_add_char(to, '\n');
    add_line(to, "list", b->list);
    add_line(to, "output", b->output[0] ? b->output : "standard output");
    add_items(b, to);
    add_earlier(b, to);
    add_pace(b, style, now_ns, to);
    add_requests(b, to);
    add_waits(b, to);
    add_life(b, style, now_ns, to);
    fb_view_fold(to, began, LABEL, style);
    if (b->key_count == 0)
        return;
    fb_buffer_add_char(to, '\n');
    const struct view_key *keys = b->key;
    size_t count = fb_view_batch_keys(b);
    fb_view_keys_table(&keys, 1, &count, style, now_ns, to);
}

/* ---------------------------------------------------------------------------------- the whole */

/* The grade is about requests; what came of the items of those that run is said beside it. */
static void add_grade(const struct view_status *v, struct buffer *to)
{
    int64_t failed = 0;
    int64_t ended = 0;

    for (size_t i = 0; i < v->batch_count; i++) {
        const struct view_batch *b = v->batch[i];

        failed += b->running ? b->failed + b->unknown : 0;
        ended += b->running ? fb_view_batch_ended(b) : 0;
    }
    fb_buffer_add_text(to, failed > 0 ? ": providers " : ": ");
    fb_buffer_add_text(to, v->daemon->grade);
    if (failed == 0)
        return;
    fb_buffer_add_text(to, ", ");
    fb_words_count(failed, to);
    fb_buffer_add_text(to, " of ");
    fb_words_count(ended, to);
    fb_buffer_add_text(to, ended == 1 ? " item failed" : " items failed");
}

static void add_daemon(const struct view_status *v, const struct view_style *style, int64_t now_ns,
                       struct buffer *to)
{
    const struct view_daemon *d = v->daemon;

    fb_buffer_add_text(to, "flyball ");
    fb_buffer_add_text(to, d->version);
    fb_buffer_add_text(to, d->host ? " on " : "");
    fb_buffer_add_text(to, d->host ? d->host : "");
    fb_buffer_add_text(to, ", process ");
    fb_buffer_add_int(to, d->pid);
    fb_buffer_add_text(to, ", began ");
    fb_words_when(d->began_ns, now_ns, style->zone_s, to);
    if (d->grade)
        add_grade(v, to);
    fb_buffer_add_char(to, '\n');
    if (d->note) {
        fb_buffer_add_text(to, d->note);
        fb_buffer_add_char(to, '\n');
    }
    fb_buffer_add_char(to, '\n');
}

static bool is_told_before(const struct view_status *v, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (v->key[j].flags & VIEW_KEY_DISABLED &&
            strcmp(v->key[j].provider, v->key[i].provider) == 0)
            return true;
    return false;
}

/* Who is switched off, each once, and what turns him on again. */
static void add_disabled(const struct view_status *v, struct buffer *to)
{
    for (size_t i = 0; i < v->key_count; i++) {
        if (!(v->key[i].flags & VIEW_KEY_DISABLED) || is_told_before(v, i))
            continue;
        fb_buffer_add_text(to, v->key[i].provider);
        fb_buffer_add_text(to, " is switched off; turn it on with: flyball provider enable ");
        fb_buffer_add_text(to, v->key[i].provider);
        fb_buffer_add_char(to, '\n');
    }
}

void fb_view_status_text(const struct view_status *v, const struct view_style *style,
                         int64_t now_ns, struct buffer *to)
{
    if (v->daemon)
        add_daemon(v, style, now_ns, to);
    if (v->key_count > 0)
        fb_view_keys_table(&v->key, 1, &v->key_count, style, now_ns, to);
    add_disabled(v, to);
    if (v->key_count > 0 && v->batch_count > 0)
        fb_buffer_add_char(to, '\n');
    if (v->batch_count == 1)
        add_one(v->batch[0], style, now_ns, to);
    else
        fb_view_batches_table(v->batch, v->batch_count, style, now_ns, to);
    if (v->batch_count + v->key_count == 0)
        fb_buffer_add_text(to, v->daemon ? "It has no batch. Try: flyball fetch --submit urls.txt\n"
                                         : "No batch is known. Try: flyball fetch urls.txt\n");
}

/* ------------------------------------------------------------------------------------- as JSON */

/* A key of a batch, and the how manieth of all it is. */
struct placed {
    const struct view_key *key;
    size_t at;
};

/* Alike ones together; of those what was seen last first, and of two seen at once the first. */
static int by_name(const void *a, const void *b)
{
    const struct placed *x = a;
    const struct placed *y = b;
    int order = strcmp(x->key->provider, y->key->provider);

    if (order == 0)
        order = strcmp(x->key->pool, y->key->pool);
    if (order == 0)
        order = strcmp(x->key->credential, y->key->credential);
    if (order == 0 && x->key->seen_ns != y->key->seen_ns)
        order = x->key->seen_ns > y->key->seen_ns ? -1 : 1;
    return order != 0 ? order : x->at < y->at ? -1 : 1;
}

static int by_place(const void *a, const void *b)
{
    return ((const struct placed *)a)->at < ((const struct placed *)b)->at ? -1 : 1;
}

static bool is_same(const struct view_key *a, const struct view_key *b)
{
    return strcmp(a->provider, b->provider) == 0 && strcmp(a->pool, b->pool) == 0 &&
           strcmp(a->credential, b->credential) == 0;
}

/* The keys of all batches, each once, as it was seen last, in their order. NULL: out of memory. */
static struct placed *newest_keys(const struct view_status *v, size_t *ret_count)
{
    size_t count = 0, kept = 0;

    for (size_t b = 0; b < v->batch_count; b++)
        count += fb_view_batch_keys(v->batch[b]);
    struct placed *all = fb_alloc_raw((count + 1) * sizeof *all);
    if (!all)
        return NULL;
    count = 0;
    for (size_t b = 0; b < v->batch_count; b++)
        for (size_t i = 0; i < fb_view_batch_keys(v->batch[b]); i++, count++)
            all[count] = (struct placed){&v->batch[b]->key[i], count};
    qsort(all, count, sizeof *all, by_name);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || !is_same(all[kept - 1].key, all[i].key))
            all[kept++] = all[i];
    qsort(all, kept, sizeof *all, by_place);
    *ret_count = kept;
    return all;
}

/* A daemon has keys of its own; of files they are those of the batches, each once. */
static void add_keys_json(const struct view_status *v, int64_t now_ns, struct buffer *to)
{
    bool has_own = v->daemon || v->key_count > 0;
    const char *between = "";

    for (size_t i = 0; i < v->key_count; i++, between = ",") {
        fb_buffer_add_text(to, between);
        fb_view_key_json(&v->key[i], now_ns, to);
    }
    size_t count = 0;
    struct placed *keys = has_own ? NULL : newest_keys(v, &count);
    to->failed |= !has_own && !keys;
    for (size_t i = 0; i < count; i++, between = ",") {
        fb_buffer_add_text(to, between);
        fb_view_key_json(keys[i].key, now_ns, to);
    }
    fb_free(keys);
}

static void add_json(const char *command, const struct view_status *v, int64_t now_ns,
                     struct buffer *to)
{
    const struct view_daemon *d = v->daemon;

    fb_view_json_begin(command, now_ns, to);
    fb_json_text(to, "source", d ? "daemon" : "files");
    if (d) {
        if (d->version)
            fb_json_text(to, "version", d->version);
        fb_json_text(to, "host", d->host);
        if (d->pid > 0)
            fb_json_int(to, "pid", d->pid);
        fb_words_json_instant(to, "began", d->began_ns, now_ns);
        fb_json_text(to, "grade", d->grade);
        fb_json_text(to, "note", d->note);
    }
    fb_json_name(to, "keys");
    fb_buffer_add_char(to, '[');
    add_keys_json(v, now_ns, to);
    fb_buffer_add_char(to, ']');
    fb_json_name(to, "batches");
    fb_buffer_add_char(to, '[');
    for (size_t i = 0; i < v->batch_count; i++) {
        fb_buffer_add_text(to, i > 0 ? "," : "");
        fb_view_batch_json(v->batch[i], now_ns, to);
    }
    fb_buffer_add_text(to, "]}\n");
}

void fb_view_status_json(const struct view_status *v, int64_t now_ns, struct buffer *to)
{
    add_json("status", v, now_ns, to);
}

void fb_view_top_json(const struct view_status *v, int64_t now_ns, struct buffer *to)
{
    add_json("top", v, now_ns, to);
}
