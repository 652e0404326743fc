/* SPDX-License-Identifier: MIT */
/* report.c - what people are told while a batch runs: on stderr, a line at a time. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "fetch/fetch_parts.h"
#include "fetch/place.h"
#include "util/text.h"

#define FAILURES_TOLD 10

static int64_t ended(const struct fetch *f)
{
    int64_t sum = 0;

    for (int s = ITEM_done; s < ITEM_STATES; s++)
        sum += f->count[s];
    return sum;
}

void fb_report_begin(const struct fetch *f)
{
    int64_t done = 0;

    for (int s = ITEM_started; s < ITEM_STATES; s++)
        done += (int64_t)f->found.items[s];
    if (f->found.note.text[0])
        fprintf(stderr, "flyball fetch: %s\n", f->found.note.text);
    if (f->o->quiet || !f->found.resumed)
        return;
    fprintf(stderr, "resuming: %lld done", (long long)done);
    if (f->total >= 0)
        fprintf(stderr, ", %lld to go", (long long)(f->total > done ? f->total - done : 0));
    fputc('\n', stderr);
    if (f->total >= 0 && done >= f->total)
        fputs("nothing is left to do; --retry-failed, --deferred or --fresh would do some again\n",
              stderr);
}

void fb_report_progress(const struct fetch *f)
{
    struct engine_stats s;
    char at[32];
    time_t now = time(NULL);
    struct tm utc;

    (void)gmtime_r(&now, &utc);
    (void)strftime(at, sizeof at, "%Y-%m-%dT%H:%M:%SZ", &utc);
    fb_engine_stats(f->engine, &s);
    fprintf(stderr, "%s fetch done=%lld", at, (long long)(f->earlier + ended(f)));
    if (f->total >= 0)
        fprintf(stderr, " total=%lld", (long long)f->total);
    fprintf(stderr, " in_flight=%lld throttled=%lld failed=%lld deferred=%lld\n",
            (long long)s.in_flight, (long long)s.throttled,
            (long long)(f->count[ITEM_failed] + f->count[ITEM_unknown]),
            (long long)f->count[ITEM_deferred]);
}

void fb_report_failure(struct fetch *f, const struct result_facts *facts, enum item_state state)
{
    struct buffer place = BUFFER_INIT;

    if ((state != ITEM_failed && state != ITEM_unknown) || f->told_failures > FAILURES_TOLD)
        return;
    if (f->told_failures++ == FAILURES_TOLD) {
        fputs("flyball fetch: more have failed; the results tell which\n", stderr);
        return;
    }
    fb_place_add(&place, facts->url);
    fprintf(stderr, "flyball fetch: %s: item %s (%s): %s\n", fb_journal_outcome(state), facts->id,
            fb_buffer_text(&place) ? place.bytes : "?", facts->sentence ? facts->sentence : "");
    fb_buffer_fini(&place);
}

/* A word as a shell would take it. */
static void print_word(const char *word)
{
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_./:=,@%+";

    if (word[0] && strspn(word, PLAIN) == strlen(word)) {
        fputs(word, stderr);
        return;
    }
    fputc('\'', stderr);
    for (; *word; word++)
        fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, stderr);
    fputc('\'', stderr);
}

/* The same word without what looks like a credential. */
static void print_without_secrets(const char *word, bool is_password)
{
    size_t name = strcspn(word, ":");
    struct buffer shown = BUFFER_INIT;
    char header[64] = "";

    if (word[name] == ':' && name < sizeof header)
        memcpy(header, word, name);
    if (is_password || fb_is_secret_header(header)) {
        fb_buffer_add(&shown, word, name);
        fb_buffer_add_text(&shown, ":...");
    } else if (strncmp(word, "http://", 7) == 0 || strncmp(word, "https://", 8) == 0) {
        fb_place_add_shown(&shown, word);
    } else {
        fb_buffer_add_text(&shown, word);
    }
    print_word(fb_buffer_text(&shown) ? shown.bytes : "...");
    fb_buffer_fini(&shown);
}

/* The command that goes on. */
static void print_command(const struct fetch_options *o)
{
    fputs("resume: flyball", stderr);
    for (int i = 0; i < o->argc; i++) {
        if (strcmp(o->argv[i], "--fresh") == 0)
            continue; /* it would begin again */
        fputc(' ', stderr);
        print_without_secrets(o->argv[i], i > 0 && strcmp(o->argv[i - 1], "--proxy-user") == 0);
    }
    fputc('\n', stderr);
}

static void print_summary(const struct fetch *f)
{
    char span[48];
    struct text t;
    struct engine_stats s;

    fb_engine_stats(f->engine, &s);
    fb_text_init(&t, span, sizeof span);
    fb_text_add_span(&t, fb_engine_now(f->engine) - f->began_ns);
    fprintf(stderr, "%lld done in %s: %lld ok, %lld failed, %lld deferred, %lld skipped",
            (long long)ended(f), span, (long long)f->count[ITEM_done],
            (long long)(f->count[ITEM_failed] + f->count[ITEM_unknown]),
            (long long)f->count[ITEM_deferred], (long long)f->count[ITEM_skipped]);
    fprintf(stderr, "; %lld requests, %lld throttled\n", (long long)s.requests,
            (long long)s.throttled);
}

void fb_report_end(const struct fetch *f)
{
    if (!f->o->quiet && !f->is_pipe_gone)
        print_summary(f);
    if (f->journal_path && f->o->argc > 0 &&
        (f->interrupts > 0 || (f->worst == FETCH_BROKEN && !f->is_pipe_gone)))
        print_command(f->o);
}
