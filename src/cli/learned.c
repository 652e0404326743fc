/* SPDX-License-Identifier: MIT */
/*
 * learned.c - `flyball learned`: what was found out about limits, and forgetting it.
 *
 * Forgetting means both copies: that of the store, and the one in the ledger, which is the truth
 * while the machine is up and which running batches share.
 */
#include "view/learned.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "cli/answer.h"
#include "cli/ask.h"
#include "cli/command.h"
#include "cli/known.h"
#include "cli/options.h"
#include "util/alloc.h"

#include <flyball/ledger.h>

#define NAME "learned"

struct learned_line {
    struct option_words words;
    const char *provider;
    bool verbose;
    bool yes;
    bool json;
};

#define OPTION_TARGET struct learned_line

static const struct option_row ROWS[] = {
    {"", OPTION_MANY(words, "[reset [PROVIDER]]"), .expects = "reset, and a provider",
     .choices = (const char *const[]){"reset", NULL}, .is_open = true},
    {"--provider", OPTION_TEXT(provider, "NAME"), .has_providers = true,
     .expects = "the name of a provider", .about = "of this provider alone"},
    {"-v,--verbose", OPTION_FLAG(verbose), .about = "when limits were raised and lowered, too"},
    {"-y,--yes", OPTION_FLAG(yes), .about = "forget without asking"},
    {"--json", OPTION_FLAG(json), .about = "one JSON object"},
    {0},
};

/* --------------------------------------------------------------------------------- forgetting */

/* On a terminal somebody can be asked; elsewhere --yes has to say it. */
static bool is_sure(const struct learned_line *line, size_t count)
{
    char answer[8] = "";

    if (line->yes)
        return true;
    if (!isatty(STDIN_FILENO)) {
        fputs("flyball " NAME ": nobody can be asked; say --yes to forget\n", stderr);
        return false;
    }
    fprintf(stderr, "Forget %zu learned limit%s%s%s? [y/N] ", count, count == 1 ? "" : "s",
            line->provider ? " of " : "", line->provider ? line->provider : "");
    (void)fflush(stderr);
    return fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

/* As the record of a batch states it, else as the provider documents it. */
static const char *spec_of(const struct known *k, const struct view_learned_row *row)
{
    struct fly_preset preset = {.size = sizeof preset};

    for (size_t i = 0; i < k->key_count; i++) {
        if (strcmp(k->key[i].provider, row->provider) == 0 &&
            strcmp(k->key[i].pool, row->pool) == 0 && k->key[i].spec[0])
            return k->key[i].spec;
    }
    return fly_preset_find(row->provider, &preset) == 0 && preset.limit ? preset.limit : "";
}

/* A ledger that is not there knows nothing. */
static void forget_in_ledger(const struct known *k)
{
    struct fly_ledger *ledger = NULL;
    struct fly_error err = {""};

    if (fly_ledger_open(NULL, NULL, &ledger, &err) < 0) {
        fprintf(stderr, "flyball " NAME ": %s; what it knows stays\n", err.text);
        return;
    }
    for (size_t i = 0; i < k->row_count; i++) {
        struct fly_key key = {k->row[i].provider, k->row[i].pool, k->row[i].credential};
        const char *spec = spec_of(k, &k->row[i]);
        struct fly_limiter *l = NULL;

        if (fly_ledger_limiter(ledger, &key, spec, &l, &err) < 0 ||
            fly_limiter_reset(l, spec, fly_now(), &err) < 0)
            fprintf(stderr, "flyball " NAME ": %s in the ledger: %s\n", key.provider, err.text);
        fly_limiter_free(l);
    }
    fly_ledger_close(ledger);
}

static int forget_in_store(const struct known *k, const char *provider)
{
    struct learned_key which = {.provider = provider};
    struct buffer path = BUFFER_INIT;
    struct fly_error err = {""};
    struct db *db = NULL;

    fb_buffer_add(&path, k->folder.bytes, k->folder.size);
    fb_buffer_add_text(&path, "/state.db");
    int error = fb_buffer_text(&path) ? fb_db_open(path.bytes, 0, &db, &err) : -ENOMEM;
    if (error == 0)
        error = fb_learned_forget(db, &which);
    fb_db_close(db);
    fb_buffer_fini(&path);
    if (error >= 0)
        return error;
    (void)fb_answer_fail(NAME, err.text[0] ? err.text : strerror(-error));
    return error;
}

/* A daemon that runs has a copy, too; where none does there is nothing to tell. */
static void tell_daemon(const char *provider)
{
    struct ask a = {0};
    struct buffer target = BUFFER_INIT;

    fb_buffer_add_text(&target, "/admin/learned/forget?provider=");
    fb_ask_escape(&target, provider ? provider : "*");
    const char *text = fb_buffer_text(&target);
    if (text && fb_ask(&a, "POST", text, NULL, 0) < 0)
        fb_buffer_clear(&target);
    fb_buffer_fini(&target);
    fb_ask_fini(&a);
}

static int reset(const struct learned_line *line, const struct known *k)
{
    int count = 0;

    if (k->row_count > 0 && !is_sure(line, k->row_count))
        return EXIT_USAGE;
    if (k->row_count > 0) {
        forget_in_ledger(k);
        count = forget_in_store(k, line->provider);
    }
    if (count < 0)
        return EXIT_FAILED;
    tell_daemon(line->provider);
    if (line->json)
        printf("{\"schema\":\"flyball.learned-reset/1\",\"forgotten\":%d}\n", count);
    else
        printf("forgotten: %d\n", count);
    return fb_finish_output(stdout, "standard output");
}

/* ------------------------------------------------------------------------------------ showing */

static int show(const struct learned_line *line, const struct known *k)
{
    struct view_learned v = {.row = k->row,
                             .row_count = k->row_count,
                             .event = k->event,
                             .event_count = k->event_count,
                             .after_demo = fb_known_is_demo(k)};
    int64_t now_ns = fb_answer_now();
    struct buffer b = BUFFER_INIT;
    struct view_style style;

    fb_answer_style(&style);
    style.verbose = line->verbose;
    if (line->json)
        fb_view_learned_json(&v, now_ns, &b);
    else
        fb_view_learned_text(&v, &style, now_ns, &b);
    if (k->dropped > 0)
        fprintf(stderr, "flyball " NAME ": %d learned limits are damaged and not shown\n",
                k->dropped);
    return fb_answer_print(&b);
}

static double number(const json_t *row, const char *name)
{
    return json_number_value(json_object_get(row, name));
}

static const char *text(const json_t *row, const char *name)
{
    const char *value = json_string_value(json_object_get(row, name));

    return value ? value : "";
}

/* An instant is told from now. */
static int64_t instant(const json_t *row, const char *name, int64_t now_ns)
{
    const json_t *in_s = json_object_get(row, name);

    return in_s ? now_ns + (int64_t)(json_number_value(in_s) * 1e9) : 0;
}

/* A row as the daemon has it; texts are those of `row`. */
static struct view_learned_row row_of(const json_t *row, int64_t now_ns)
{
    return (struct view_learned_row){
        .provider = text(row, "provider"),
        .host = text(row, "host"),
        .pool = text(row, "pool"),
        .credential = text(row, "credential"),
        .by = text(row, "by"),
        .rate = number(row, "limit_per_s"),
        .reduction = number(row, "reduction"),
        .confidence = number(row, "confidence"),
        .recovery_ns = (int64_t)(number(row, "recovery_s") * 1e9),
        .changed_ns = instant(row, "changed_in_s", now_ns),
        .saved_ns = instant(row, "saved_in_s", now_ns),
    };
}

/* Whether the daemon has it, whose own is newer. */
static bool is_shown(const struct known *daemons, const struct view_learned_row *r)
{
    for (size_t i = 0; i < daemons->row_count; i++) {
        const struct view_learned_row *there = &daemons->row[i];

        if (strcmp(there->provider, r->provider) == 0 && strcmp(there->pool, r->pool) == 0)
            return true;
    }
    return false;
}

/* What batches in processes of their own have learned, below what the daemon says. */
static int show_beside(const struct learned_line *line, const struct known *daemons)
{
    struct fly_error err = {""};
    int code = EXIT_DONE;
    size_t count = 0;
    struct known k;

    int error = fb_known_read(&k, line->provider, &err);
    for (size_t i = 0; error == 0 && i < k.row_count; i++)
        if (!is_shown(daemons, &k.row[i]))
            k.row[count++] = k.row[i];
    k.row_count = count;
    if (count > 0) {
        puts("\nNot by the daemon, as saved:");
        code = show(line, &k);
    }
    fb_known_free(&k);
    return code;
}

static int show_all(const struct learned_line *line, const json_t *answer)
{
    const json_t *rows = json_object_get(answer, "learned");
    size_t count = json_array_size(rows);
    struct known daemons = {.row = fb_alloc((count + 1) * sizeof *daemons.row)};
    int64_t now_ns = fb_answer_now();

    if (!daemons.row)
        return fb_answer_fail(NAME, "out of memory");
    while (daemons.row_count < count) {
        daemons.row[daemons.row_count] = row_of(json_array_get(rows, daemons.row_count), now_ns);
        daemons.row_count++;
    }
    int code = show(line, &daemons);
    if (code == EXIT_DONE)
        code = show_beside(line, &daemons);
    fb_free(daemons.row);
    return code;
}

/* As the daemon has it, and what else the files know. The exit code, or -1: there is none. */
static int ask(const struct learned_line *line)
{
    struct buffer query = BUFFER_INIT, b = BUFFER_INIT;
    struct view_style style;

    fb_answer_style(&style);
    if (line->provider) {
        fb_buffer_add_text(&query, "provider=");
        fb_ask_escape(&query, line->provider);
    }
    bool answers = fb_ask_view_into(NAME, fb_buffer_text(&query), true, &style, &b) > 0;
    json_t *answer = answers ? json_loadb(b.bytes, b.size, 0, NULL) : NULL;
    int code = answer ? show_all(line, answer) : -1;
    json_decref(answer);
    fb_buffer_fini(&query);
    fb_buffer_fini(&b);
    return code;
}

/* "reset", "reset github"; nothing: show. */
static int read_words(struct learned_line *line, bool *ret_reset)
{
    const struct option_words *w = &line->words;

    *ret_reset = w->count > 0;
    if (w->count > 0 && strcmp(w->word[0], "reset") != 0) {
        fprintf(stderr, "flyball " NAME ": '%s' is not 'reset'\n", w->word[0]);
        return -EINVAL;
    }
    if (w->count > 2 || (w->count == 2 && line->provider)) {
        fprintf(stderr, "flyball " NAME ": one provider at a time\n");
        return -EINVAL;
    }
    if (w->count == 2)
        line->provider = w->word[1];
    return 0;
}

static int learned_run(int argc, char **argv)
{
    struct learned_line line = {0};
    struct fly_error err = {""};
    struct known k;
    bool is_reset;

    if (fb_options_read(&fb_command_learned, argc, argv, &line) < 0 ||
        read_words(&line, &is_reset) < 0)
        return EXIT_USAGE;
    /* What was raised and lowered is in the files alone. */
    int exit_code = is_reset || line.verbose || line.json ? -1 : ask(&line);
    if (exit_code >= 0)
        return exit_code;
    exit_code = fb_known_read(&k, line.provider, &err) < 0 ? fb_answer_fail(NAME, err.text)
                : is_reset                                 ? reset(&line, &k)
                                                           : show(&line, &k);
    fb_known_free(&k);
    return exit_code;
}

const struct command fb_command_learned = {
    .name = NAME,
    .about = "what was found out about limits; 'learned reset' forgets it",
    .usage = "[OPTION...] [reset [PROVIDER]]",
    .intro = "Limits that nobody stated, as batches have found them: how much, how sure, for how "
             "long a refusal lasts, when it changed.",
    .options = ROWS,
    .exits = "0 done, 1 something cannot be read or written, 2 usage",
    .examples = "flyball learned\n"
                "flyball learned --provider api.example.com -v\n"
                "flyball learned reset api.example.com --yes\n",
    .run = learned_run,
};
