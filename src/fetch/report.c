/* SPDX-License-Identifier: MIT */
/* report.c - what people are told while a batch runs: on stderr, a line at a time. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fetch/fetch_parts.h"
#include "fetch/place.h"
#include "util/buffer.h"
#include "util/json.h"
#include "util/text.h"
#include "view/words.h"

#define FAILURES_TOLD 10

void fb_say(struct fetch *f, const char *format, ...)
{
    char text[1024];
    va_list words;

    va_start(words, format);
    (void)vsnprintf(text, sizeof text, format, words);
    va_end(words);
    if (f->o->say)
        f->o->say(f->o->to, fb_screen_unnamed(text));
    else
        fb_screen_say(&f->screen, text, false);
}

static void say_resuming(struct fetch *f, int64_t done, int64_t total)
{
    if (total >= 0)
        fb_say(f, "resuming: %lld done, %lld to go", (long long)done,
               (long long)(total > done ? total - done : 0));
    else
        fb_say(f, "resuming: %lld done", (long long)done);
}

/* Of quiet ones only that there is nothing to do although something is wrong. */
void fb_report_begin(struct fetch *f)
{
    uint64_t failed = f->found.items[ENTRY_failed] + f->found.items[ENTRY_skipped];
    uint64_t deferred = f->found.items[ENTRY_deferred];
    int64_t done = 0;

    for (int s = ENTRY_started; s < ENTRY_STATES; s++)
        done += (int64_t)f->found.items[s];
    if (f->found.note.text[0])
        fb_say(f, "flyball fetch: %s", f->found.note.text);
    if (done == 0 || (f->o->quiet && failed + deferred == 0))
        return;
    int64_t total = fb_fetch_total(f);
    if (!f->o->quiet)
        say_resuming(f, done, total);
    if (total >= 0 && done >= total)
        fb_say(f, "nothing is left to do; %s%s--fresh would do %s again",
               failed > 0 ? "--retry-failed or " : "", deferred > 0 ? "--deferred or " : "",
               failed + deferred > 0 ? "some or all" : "all of it");
}

void fb_report_failure(struct fetch *f, const struct result_facts *facts, enum entry_state state)
{
    struct buffer place = BUFFER_INIT;
    char status[16] = "";

    if (f->told_failures > FAILURES_TOLD)
        return;
    if (f->told_failures++ == FAILURES_TOLD) {
        fb_say(f, "flyball fetch: more have failed; the results tell which");
        return;
    }
    fb_place_add(&place, facts->url);
    if (facts->status > 0)
        (void)snprintf(status, sizeof status, " (%d)", (int)facts->status);
    fb_say(f, "flyball fetch: %s: item %s (%s): %s%s", fb_journal_outcome(state), facts->id,
           fb_buffer_text(&place) ? place.bytes : "?", facts->sentence ? facts->sentence : "",
           status);
    fb_buffer_fini(&place);
}

/* The command that goes on. */
static void say_command(struct fetch *f)
{
    struct buffer line = BUFFER_INIT;

    fb_buffer_add_text(&line, "resume: ");
    fb_buffer_add_text(&line, f->o->command);
    const char *text = fb_buffer_text(&line);
    if (text && f->screen.mode == SCREEN_json)
        fb_screen_say(&f->screen, text, false);
    else if (text)
        fb_screen_print(&f->screen, text); /* one line, to be copied */
    fb_buffer_fini(&line);
}

/* ---------------------------------------------------------------------------- the summary */

int64_t fb_report_earlier(const struct fetch *f, int64_t *ret_failed)
{
    int64_t sum = 0;

    for (int s = ENTRY_done; s < ENTRY_STATES; s++)
        sum += (int64_t)f->found.items[s];
    if (ret_failed)
        *ret_failed = (int64_t)(f->found.items[ENTRY_failed] + f->found.items[ENTRY_unknown]);
    return sum;
}

/* "; 350 of 600 done" */
static void add_of_total(struct fetch *f, int64_t done, struct buffer *to)
{
    int64_t total = f->list_ended ? f->seen : fb_fetch_total(f);

    fb_buffer_add_text(to, "; ");
    fb_buffer_add_int(to, done);
    if (total >= done) { /* else the list is a shorter one than before */
        fb_buffer_add_text(to, " of ");
        fb_buffer_add_int(to, total);
    }
    fb_buffer_add_text(to, " done");
}

static void add_failed_before(int64_t failed, struct buffer *to)
{
    if (failed == 0)
        return;
    fb_buffer_add_text(to, ", where ");
    fb_buffer_add_int(to, failed);
    fb_buffer_add_text(to, " failed");
}

/* All runs together: "; 600 of 600 done, 350 of them before, where 2 failed". */
static void add_whole(struct fetch *f, struct buffer *to)
{
    int64_t failed;
    int64_t earlier = fb_report_earlier(f, &failed);

    if (earlier == 0)
        return;
    add_of_total(f, earlier + fb_pulse_ended(f), to);
    fb_buffer_add_text(to, ", ");
    fb_buffer_add_int(to, earlier);
    fb_buffer_add_text(to, " of them before");
    add_failed_before(failed, to);
}

/* Nothing was left, or it was stopped at once: only what was before is worth a word. */
static bool add_only_before(struct fetch *f, const struct engine_stats *s, struct buffer *to)
{
    int64_t failed;
    int64_t earlier = fb_report_earlier(f, &failed);

    if (earlier == 0 || s->requests > 0 || fb_pulse_ended(f) > 0)
        return false;
    fb_buffer_add_text(to, "0 done in this run");
    add_of_total(f, earlier, to);
    fb_buffer_add_text(to, " before");
    add_failed_before(failed, to);
    return true;
}

static void add_json_summary(const struct fetch *f, const struct engine_stats *s, int64_t spent_ns,
                             struct buffer *to)
{
    int64_t done = fb_pulse_ended(f);

    fb_buffer_add_char(to, '{');
    fb_json_text(to, "type", "summary");
    fb_json_int(to, "done", done);
    fb_json_int(to, "earlier", f->earlier);
    if (f->list_ended)
        fb_json_int(to, "total", f->seen);
    for (int i = ENTRY_done; i < ENTRY_barred; i++) /* which is counted with what was skipped */
        fb_json_int(to, fb_journal_outcome((enum entry_state)i), f->count[i]);
    fb_json_int(to, "requests", s->requests);
    fb_json_int(to, "throttled", s->throttled);
    fb_json_real(to, "seconds", (double)spent_ns / 1e9, 3);
    fb_json_real(to, "rate", spent_ns > 0 ? (double)done / (double)spent_ns * 1e9 : 0.0, 2);
    fb_json_int(to, "exit", f->worst);
    fb_buffer_add_char(to, '}');
}

/* The mean over the run: what the last seconds were does not matter any more. */
static void add_summary(const struct fetch *f, const struct engine_stats *s, int64_t spent_ns,
                        struct buffer *to)
{
    int64_t done = fb_pulse_ended(f);
    int64_t failed = f->count[ENTRY_failed] + f->count[ENTRY_unknown];
    char text[256];
    char span[48];
    struct text t;

    fb_text_init(&t, span, sizeof span);
    fb_text_add_span(&t, spent_ns);
    (void)snprintf(text, sizeof text, "%lld done in %s", (long long)done, span);
    fb_buffer_add_text(to, text);
    if (done > 1 && spent_ns > 0) { /* one is no pace */
        fb_buffer_add_text(to, " (");
        fb_words_rate((double)done / (double)spent_ns * 1e9, to);
        fb_buffer_add_text(to, "/s)");
    }
    (void)snprintf(text, sizeof text,
                   ": %lld ok, %lld failed, %lld deferred, %lld skipped; %lld request%s, "
                   "%lld throttled",
                   (long long)f->count[ENTRY_done], (long long)failed,
                   (long long)f->count[ENTRY_deferred], (long long)f->count[ENTRY_skipped],
                   (long long)s->requests, s->requests == 1 ? "" : "s", (long long)s->throttled);
    fb_buffer_add_text(to, text);
}

static void print_summary(struct fetch *f)
{
    int64_t spent_ns = fb_engine_now(f->engine) - f->began_ns;
    struct buffer line = BUFFER_INIT;
    struct engine_stats s;

    fb_engine_stats(f->engine, &s);
    if (f->screen.mode == SCREEN_json) {
        add_json_summary(f, &s, spent_ns, &line);
    } else if (!add_only_before(f, &s, &line)) {
        add_summary(f, &s, spent_ns, &line);
        add_whole(f, &line);
    }
    const char *text = fb_buffer_text(&line);
    if (text && f->screen.mode == SCREEN_json)
        fb_screen_print(&f->screen, text);
    else if (text)
        fb_screen_say(&f->screen, text, false);
    fb_buffer_fini(&line);
}

/* What a list was like that is at fault, or empty, and what became of it. */
static void say_list(struct fetch *f)
{
    const char *name = !f->o->list                    ? "the command line"
                       : strcmp(f->o->list, "-") == 0 ? "standard input"
                                                      : f->o->list;

    if (f->bad_lines > 0 && !f->o->keep_going)
        fb_say(f, "flyball fetch: %s; --keep-going passes over such lines",
               f->is_void ? "nothing was sent" : "nothing was begun behind that line");
    else if (f->bad_lines > 0 && !f->is_void)
        fb_say(f, "flyball fetch: %lld line%s passed over, told above", (long long)f->bad_lines,
               f->bad_lines == 1 ? " was" : "s were");
    else if (f->is_void && f->o->list_unsaid)
        fb_say(f, "flyball fetch: nothing to fetch: no list was named, and there is no request in "
                  "standard input");
    else if (f->is_void && (f->bad_lines > 0 || !f->o->quiet))
        fb_say(f, "flyball fetch: nothing to fetch: there is no request in %s", name);
}

/* The summary is last, unless there is something to do about it. */
void fb_report_end(struct fetch *f)
{
    bool is_broken = f->worst == FETCH_BROKEN && !f->is_pipe_gone;
    bool goes_on = f->journal_path && f->o->command && (f->worst == FETCH_INTERRUPTED || is_broken);
    bool is_json = f->screen.mode == SCREEN_json;

    fb_screen_clear(&f->screen);
    if (goes_on && is_json)
        say_command(f);
    say_list(f);
    if (!f->o->quiet && !f->is_pipe_gone && (!f->is_void || is_json))
        print_summary(f);
    if (goes_on && !is_json)
        say_command(f);
}
