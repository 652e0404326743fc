/* SPDX-License-Identifier: MIT */
/* batch.c - a batch as one state, a few sums, and JSON. */
#include "view/batch.h"

#include <string.h>

#include "util/json.h"
#include "view/words.h"

size_t fb_view_batch_keys(const struct view_batch *b)
{
    return b->key_count < VIEW_BATCH_KEYS ? (size_t)b->key_count : VIEW_BATCH_KEYS;
}

int64_t fb_view_batch_ended(const struct view_batch *b)
{
    return b->done + b->failed + b->deferred + b->skipped + b->unknown;
}

const struct view_key *fb_view_batch_waiting(const struct view_batch *b)
{
    const struct view_key *found = NULL;

    for (size_t i = 0; i < fb_view_batch_keys(b); i++) {
        const struct view_key *k = &b->key[i];

        if (k->queued + k->in_flight > 0 && (!found || k->ready_ns > found->ready_ns))
            found = k;
    }
    return found;
}

bool fb_view_batch_is_over(const struct view_batch *b)
{
    return b->ended_ns > 0 && !b->total_grows && b->total == fb_view_batch_ended(b);
}

void fb_view_batch_next(const struct view_batch *b, struct buffer *to)
{
    const char *more = !fb_view_batch_is_over(b) ? ""
                       : b->failed > 0           ? " --retry-failed"
                       : b->deferred > 0         ? " --deferred"
                                                 : NULL;

    if (!more || !(b->command[0] || b->command_is_long))
        return;
    if (b->command_is_long) { /* whoever has given it has it */
        fb_buffer_add_text(to, "the same command again");
        fb_buffer_add_text(to, more[0] ? ", with" : "");
    }
    fb_buffer_add_text(to, b->command);
    if (!strstr(b->command, more))
        fb_buffer_add_text(to, more);
}

#define FEW 5 /* so few say nothing about a share */

static enum view_state state_of_items(const struct view_batch *b)
{
    int64_t ended = fb_view_batch_ended(b);
    int64_t failed = b->failed + b->unknown;

    if (ended < FEW || 5 * failed < ended)
        return VIEW_ok;
    return 5 * failed < 4 * ended ? VIEW_warning : VIEW_critical;
}

enum view_state fb_view_batch_state(const struct view_batch *b, int64_t now_ns)
{
    enum view_state worst = state_of_items(b);

    if (b->elsewhere > 0 && b->elsewhere - 1 < (int64_t)worst)
        worst = (enum view_state)(b->elsewhere - 1);
    for (size_t i = 0; b->running && i < fb_view_batch_keys(b); i++) {
        enum view_state s = fb_view_key_state(&b->key[i], now_ns);
        worst = s < worst ? s : worst;
    }
    return b->running ? worst : VIEW_idle;
}

void fb_view_batch_note(struct view_batch *b, const struct view_key *k, int64_t now_ns)
{
    enum view_state s = fb_view_key_state(k, now_ns);
    const char *because = fb_view_key_because(k, now_ns);
    struct buffer text = BUFFER_INIT;

    if (b->elsewhere > 0 && b->elsewhere - 1 <= (int64_t)s)
        return;
    b->elsewhere = (int64_t)s + 1;
    if (s >= VIEW_ok)
        return;
    fb_view_key_name(k, &text);
    fb_buffer_add_text(&text, because[0] ? ": " : "");
    fb_buffer_add_text(&text, because);
    fb_view_put(b->held_by, sizeof b->held_by, fb_buffer_text(&text) ? text.bytes : "");
    fb_buffer_fini(&text);
}

/* ------------------------------------------------------------------------------------- as JSON */

static void add_items_json(const struct view_batch *b, struct buffer *to)
{
    fb_json_name(to, "items");
    fb_buffer_add_char(to, '{');
    if (b->total >= 0)
        fb_json_int(to, b->total_grows ? "total_at_least" : "total", b->total);
    fb_json_int(to, "ended", fb_view_batch_ended(b));
    fb_json_int(to, "ok", b->done);
    fb_json_int(to, "failed", b->failed);
    fb_json_int(to, "deferred", b->deferred);
    fb_json_int(to, "skipped", b->skipped);
    fb_json_int(to, "unknown", b->unknown);
    fb_json_int(to, "earlier", b->earlier);
    if (b->bad_lines > 0)
        fb_json_int(to, "bad_lines", b->bad_lines);
    fb_buffer_add_char(to, '}');
}

static void add_run_json(const struct view_batch *b, int64_t now_ns, struct buffer *to)
{
    fb_json_int(to, "in_flight", b->in_flight);
    fb_json_int(to, "queued", b->queued);
    fb_json_int(to, "requests", b->requests);
    fb_json_int(to, "throttled", b->throttled);
    fb_json_int(to, "retries", b->retries);
    fb_json_real(to, "rate_per_s", b->rate, 3);
    fb_words_json_end(to, "eta", b->eta_ns, now_ns);
    if (b->bound[0])
        fb_json_text(to, "bound_by", b->bound);
    if (b->held_by[0])
        fb_json_text(to, "held_by", b->held_by);
    if (b->latency_p50_ns <= 0)
        return;
    fb_json_name(to, "latency");
    fb_buffer_add_char(to, '{');
    fb_words_json_latency(to, "p50_s", b->latency_p50_ns);
    fb_words_json_latency(to, "p95_s", b->latency_p95_ns);
    fb_words_json_latency(to, "p99_s", b->latency_p99_ns);
    fb_buffer_add_char(to, '}');
}

void fb_view_waits_json(const struct view_wait *wait, int64_t count, struct buffer *to)
{
    fb_buffer_add_char(to, '[');
    for (int64_t i = 0; i < count; i++) {
        fb_buffer_add_text(to, i > 0 ? ",{" : "{");
        fb_json_text(to, "cause", wait[i].cause);
        fb_words_json_span(to, "span_s", wait[i].span_ns);
        fb_buffer_add_char(to, '}');
    }
    fb_buffer_add_char(to, ']');
}

static void add_waits_json(const struct view_batch *b, int64_t now_ns, struct buffer *to)
{
    fb_json_name(to, "waits");
    fb_view_waits_json(b->wait, b->wait_count, to);
    if (b->held_ns == 0)
        return;
    fb_json_name(to, "last_wait");
    fb_view_key_json(&b->held, now_ns, to);
}

void fb_view_batch_json(const struct view_batch *b, int64_t now_ns, struct buffer *to)
{
    fb_buffer_add_char(to, '{');
    fb_json_text(to, "name", b->name);
    fb_json_text(to, "state", fb_view_state_name(fb_view_batch_state(b, now_ns)));
    fb_json_bool(to, "running", b->running != 0);
    if (b->pid > 0)
        fb_json_int(to, "pid", b->pid);
    if (b->ended_ns > 0)
        fb_json_int(to, "exit", b->exit_code);
    fb_json_text(to, "list", b->list[0] ? b->list : NULL);
    fb_json_text(to, "output", b->output[0] ? b->output : NULL);
    fb_json_text(to, "journal", b->journal[0] ? b->journal : NULL);
    if (b->command[0])
        fb_json_text(to, "command", b->command);
    fb_words_json_instant(to, "began", b->began_ns, now_ns);
    fb_words_json_instant(to, "ended", b->ended_ns, now_ns);
    fb_words_json_instant(to, "updated", b->updated_ns, now_ns);
    add_items_json(b, to);
    add_run_json(b, now_ns, to);
    add_waits_json(b, now_ns, to);
    fb_json_int(to, "key_count", b->key_count);
    fb_json_name(to, "keys");
    fb_buffer_add_char(to, '[');
    for (size_t i = 0; i < fb_view_batch_keys(b); i++) {
        fb_buffer_add_text(to, i > 0 ? "," : "");
        fb_view_key_json(&b->key[i], now_ns, to);
    }
    fb_buffer_add_text(to, "]}");
}
