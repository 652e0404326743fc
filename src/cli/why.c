/* SPDX-License-Identifier: MIT */
/*
 * why.c - `flyball why`: until when something waits, because of what, what would change it.
 *
 * The key of a URL is found as a batch finds it: by a preset of its host, else by host and port.
 * What is known of the key is what a batch saw last; of one that runs that is not a second old.
 */
#include "cli/why.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/ask.h"
#include "cli/command.h"
#include "cli/options.h"
#include "fetch/place.h"
#include "view/rows.h"
#include "view/words.h"

#define NAME       "why"
#define NAME_LEAST 4 /* characters of the name of a batch that tell it */

struct why_line {
    struct option_words words;
    bool json;
};

#define OPTION_TARGET struct why_line

static const struct option_row ROWS[] = {
    {"", OPTION_MANY(words, "URL | HOST | ID | BATCH | LIST | last"),
     .expects = "a URL or host, the id of an item, a batch or its list, or last",
     .choices = (const char *const[]){"last", NULL}, .is_open = true},
    {"--json", OPTION_FLAG(json), .about = "one JSON object"},
    {0},
};

static void put_words(char *field, size_t size, struct buffer *words)
{
    fb_view_put(field, size, fb_buffer_text(words) ? words->bytes : "");
    fb_buffer_fini(words);
}

void fb_why_source(const struct view_batch *b, int64_t seen_ns, int64_t now_ns, struct view_why *v)
{
    struct buffer text = BUFFER_INIT;

    if (b && b->running) {
        fb_buffer_add_text(&text, "process ");
        fb_buffer_add_int(&text, b->pid);
        fb_buffer_add_text(&text, ", which runs");
    } else {
        fb_buffer_add_text(&text, b ? "a batch that has ended, seen " : "what was learned, saved ");
        fb_words_span(now_ns > seen_ns ? now_ns - seen_ns : 0, &text);
        fb_buffer_add_text(&text, " ago");
    }
    put_words(v->source, sizeof v->source, &text);
}

/* ----------------------------------------------------------------------------------- a key */

/* What a command line stated was for its batch alone, and that has ended. */
static void forget_line(struct view_key *k)
{
    if (strcmp(k->said_by, "command line") == 0 || strcmp(k->said_by, "another process") == 0)
        k->spec[0] = k->said_by[0] = '\0';
}

static void answer_by_key(const struct known *k, const struct view_key *key, int64_t now_ns,
                          struct view_why *v)
{
    const struct view_batch *b = fb_known_batch_of(k, key);

    bool sends = b && b->running && key->queued > 0;
    const char *pace = strstr(key->why, ". "); /* behind what the cause says already */

    fb_view_why_judge(key, sends, now_ns, v);
    if (pace && v->verdict == VIEW_VERDICT_waits)
        fb_view_put(v->sentence, sizeof v->sentence, pace + 2);
    if (!(b && b->running))
        forget_line(&v->key);
    if (key->flags & VIEW_KEY_SHARED)
        fb_view_put(v->source, sizeof v->source, "the ledger, which all processes share");
    else
        fb_why_source(b, key->seen_ns, now_ns, v);
}

/* Host and port of a URL as keys have them: small letters, no usual port. */
static void host_of(const char *url, char *host, size_t size)
{
    struct origin o;

    fb_origin_of(url, &o);
    size_t length = o.host_size < size ? o.host_size : size - 1;
    for (size_t i = 0; i < length; i++)
        host[i] = (char)tolower((unsigned char)url[o.host + i]);
    host[length] = '\0';
    const char *usual = strncmp(url, "https", 5) == 0 ? ":443" : ":80";
    if (length > strlen(usual) && strcmp(host + length - strlen(usual), usual) == 0)
        host[length - strlen(usual)] = '\0';
}

bool fb_why_url(const struct known *k, const char *url, int64_t now_ns, struct view_why *v)
{
    struct fly_preset preset = {.size = sizeof preset};
    const struct view_key *key = NULL;
    struct view_key shared;
    char host[256];
    char name[256];
    struct origin o;

    fb_origin_of(url, &o);
    host_of(url, host, sizeof host);
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(host, ":"), host);
    const char *path = url[o.path] == '/' ? url + o.path : "/";
    if (fly_preset_for(name, "GET", path, &preset) == 0)
        key = fb_known_find(k, preset.name, preset.pool, now_ns);
    if (!key)
        key = fb_known_find(k, host, NULL, now_ns);
    if (!key && fb_known_shared(k, host, "default", "", now_ns, &shared))
        key = &shared;
    if (key)
        answer_by_key(k, key, now_ns, v);
    return key;
}

/* ---------------------------------------------------------------------------------- a batch */

/* Whoever fails waits as well, by himself: no key was held for it. */
static void tell_retries(const struct view_batch *b, struct view_why *v)
{
    static const char *const NOTHING = "Nothing had to wait";

    if (b->deferred > 0 && b->held_ns == 0)
        (void)snprintf(v->sentence, sizeof v->sentence,
                       "%lld item%s put off: 'flyball deferred' tells until when, and why.",
                       (long long)b->deferred, b->deferred == 1 ? " was" : "s were");
    else if (b->retries == 0 && b->held_ns == 0)
        (void)snprintf(v->sentence, sizeof v->sentence, "%s in this batch.", NOTHING);
    else if (b->retries > 0)
        (void)snprintf(v->sentence, sizeof v->sentence,
                       "%s%s%lld request%s made again after a failure, which waits 2 s and more.",
                       b->held_ns == 0 ? NOTHING : "", b->held_ns == 0 ? " for a limit; " : "",
                       (long long)b->retries, b->retries == 1 ? " was" : "s were");
}

static void add_count(int64_t count, const char *what, struct buffer *to)
{
    if (count == 0)
        return;
    fb_buffer_add_text(to, ", ");
    fb_words_count(count, to);
    fb_buffer_add_text(to, what);
}

/* How far it is, what it waited for in all, and, once it has ended, what does the rest. */
static void tell_batch(const struct view_batch *b, struct view_why *v)
{
    struct buffer text = BUFFER_INIT;

    fb_view_batch_progress(b, &text);
    add_count(b->failed + b->unknown, " failed", &text);
    add_count(b->deferred, " put off", &text);
    put_words(v->progress, sizeof v->progress, &text);
    v->wait_count = b->wait_count;
    memcpy(v->wait, b->wait, sizeof v->wait);
    if (b->running)
        return;
    bool is_well = b->failed + b->deferred + b->unknown == 0;
    fb_view_batch_next(b, &text);
    if (text.size == 0)
        fb_buffer_add_text(&text, !fb_view_batch_is_over(b) ? "the same command again"
                                  : is_well                 ? "nothing is left to do"
                                            : "the same command with --retry-failed or --deferred");
    put_words(v->next, sizeof v->next, &text);
}

/* Of one that does not run, and is not done: the key for which it would wait longest now. */
static const struct view_key *held_now(const struct known *k, const struct view_batch *b,
                                       int64_t now_ns)
{
    const struct view_key *last = NULL;

    for (size_t i = 0; !fb_view_batch_is_over(b) && i < fb_view_batch_keys(b); i++) {
        const struct view_key *of = &b->key[i];
        const struct view_key *key = fb_known_key(k, of->provider, of->pool, of->credential);

        if (key && fb_view_key_waits(key, now_ns) && (!last || key->ready_ns > last->ready_ns))
            last = key;
    }
    return last;
}

/* NULL: there is none. */
static bool why_batch(const struct known *k, const struct view_batch *b, int64_t now_ns,
                      struct view_why *v)
{
    if (!b)
        return false;
    const struct view_key *key = b->running ? fb_view_batch_waiting(b) : held_now(k, b, now_ns);

    fb_view_put(v->batch, sizeof v->batch, b->name);
    tell_batch(b, v);
    if (key) {
        answer_by_key(k, key, now_ns, v);
        return true;
    }
    fb_why_source(b, b->updated_ns, now_ns, v);
    tell_retries(b, v);
    if (b->held_ns == 0) {
        v->verdict =
            b->running || fb_view_batch_is_over(b) ? VIEW_VERDICT_done : VIEW_VERDICT_stopped;
        return true;
    }
    v->has_key = true;
    v->key = b->held;
    v->until_ns = b->held.ready_ns == VIEW_NEVER ? 0 : b->held.ready_ns;
    v->lasted_ns = fb_view_key_wait_ns(&b->held);
    bool is_held = b->held.ready_ns > now_ns && b->held.ready_ns != VIEW_NEVER; /* for an answer */
    v->verdict = is_held ? VIEW_VERDICT_waits : VIEW_VERDICT_waited;
    if (v->verdict == VIEW_VERDICT_waits)
        v->key.queued = 0; /* nothing is any more */
    return true;
}

static bool why_last(const struct known *k, int64_t now_ns, struct view_why *v)
{
    return why_batch(k, k->runs.count > 0 ? k->runs.batch[0] : NULL, now_ns, v);
}

/* By its name, or by its list or output as `flyball status` shows them. */
static const struct view_batch *find_batch(const struct known *k, const char *word)
{
    const struct view_batch *b = strlen(word) >= NAME_LEAST ? fb_known_batch(k, word) : NULL;

    for (size_t i = 0; !b && i < k->runs.count; i++)
        b = fb_known_has_path(k->runs.batch[i], word) ? k->runs.batch[i] : NULL;
    return b;
}

/* "github/core", "api.example.com", "127.0.0.1:8070": a key as answers name it, or its host. */
static bool why_key(const struct known *k, const char *word, int64_t now_ns, struct view_why *v)
{
    const char *slash = strchr(word, '/');
    size_t size = slash ? (size_t)(slash - word) : strlen(word);
    char provider[VIEW_NAME];
    char url[VIEW_TEXT];

    fb_view_put(provider, size < VIEW_NAME ? size + 1 : VIEW_NAME, word);
    const struct view_key *key = fb_known_find(k, provider, slash ? slash + 1 : NULL, now_ns);
    if (key) {
        answer_by_key(k, key, now_ns, v);
        return true;
    }
    const char *port = strrchr(word, ':');
    (void)snprintf(url, sizeof url, "%s://%s", port && strcmp(port, ":80") == 0 ? "http" : "https",
                   word);
    return fb_why_url(k, url, now_ns, v);
}

/* An id of an item may look like anything: others are meant where there is no such item. */
static bool why_named(const struct known *k, const char *word, int64_t now_ns, struct view_why *v)
{
    return fb_why_item(k, word, now_ns, v) || why_batch(k, find_batch(k, word), now_ns, v) ||
           why_key(k, word, now_ns, v);
}

/* --------------------------------------------------------------------------------- the command */

/* A URL is shown without its user and query, whether or not it has a scheme. */
static void put_subject(const char *word, bool is_url, struct view_why *v)
{
    struct buffer text = BUFFER_INIT;

    if (is_url)
        fb_place_add(&text, word);
    else if (strcmp(word, "last") == 0)
        fb_buffer_add_text(&text, "the last wait");
    else
        fb_buffer_add(&text, word, strcspn(word, "?"));
    put_words(v->subject, sizeof v->subject, &text);
}

static int answer(const struct why_line *line, const struct known *k)
{
    const char *word = line->words.word[0];
    bool is_url = strstr(word, "://") != NULL;
    struct view_why v = {.verdict = VIEW_VERDICT_unknown};
    int64_t now_ns = fb_answer_now();
    struct buffer b = BUFFER_INIT;
    struct view_style style;

    put_subject(word, is_url, &v);
    bool is_known = is_url                      ? fb_why_url(k, word, now_ns, &v)
                    : strcmp(word, "last") == 0 ? why_last(k, now_ns, &v)
                                                : why_named(k, word, now_ns, &v);
    if (!is_known)
        fb_view_put(v.sentence, sizeof v.sentence,
                    is_url ? "No batch that is known has sent anything there."
                           : "No item, batch, list or host of that name is known; 'flyball "
                             "status' lists batches, 'flyball limits --all' hosts.");
    fb_answer_style(&style);
    if (line->json)
        fb_view_why_json(&v, now_ns, &b);
    else
        fb_view_why_text(&v, &style, now_ns, &b);
    int exit_code = fb_answer_print(&b);
    return exit_code != EXIT_DONE || is_known ? exit_code : EXIT_UNKNOWN;
}

/* Files that are not ours: those of a daemon that runs as somebody else. */
static bool is_ours(const struct known *k, const char *word)
{
    struct view_why v = {.verdict = VIEW_VERDICT_unknown};

    if (strstr(word, "://"))
        return true;
    return strcmp(word, "last") == 0 ? k->runs.count > 0 : why_named(k, word, fb_answer_now(), &v);
}

static int answer_or_ask(const struct why_line *line, const struct known *k)
{
    const char *word = line->words.word[0];
    int exit_code = is_ours(k, word) ? -1 : fb_ask_about(NAME, "batch", word, line->json, false);

    return exit_code >= 0 ? exit_code : answer(line, k);
}

static int why_run(int argc, char **argv)
{
    struct why_line line = {0};
    struct fly_error err = {""};
    struct known k;

    if (fb_options_read(&fb_command_why, argc, argv, &line) < 0)
        return EXIT_USAGE;
    if (line.words.count != 1) {
        fprintf(stderr, "flyball " NAME
                        ": expected one of: a URL, a host, the id of an item, the name of a batch "
                        "or of its list, or last\n");
        return EXIT_USAGE;
    }
    int exit_code = fb_ask_about(NAME, "subject", line.words.word[0], line.json, false);
    if (exit_code >= 0)
        return exit_code;
    exit_code = fb_known_read(&k, NULL, &err) < 0 ? fb_answer_fail(NAME, err.text)
                                                  : answer_or_ask(&line, &k);
    fb_known_free(&k);
    return exit_code;
}

const struct command fb_command_why = {
    .name = NAME,
    .about = "until when something waits, and because of what",
    .usage = "[OPTION...] URL | HOST | ID | BATCH | LIST | last",
    .intro = "URL, HOST: what a request there would wait for. ID: an item of a batch. BATCH, LIST: "
             "what it waits for, or waited for last. last: the same of the latest.",
    .options = ROWS,
    .exits = "0 answered, 1 something cannot be read, 2 usage, 3 nothing is known about it",
    .examples = "flyball why last\n"
                "flyball why api.github.com\n"
                "flyball why order-17 --json\n",
    .run = why_run,
};
