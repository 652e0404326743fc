/* SPDX-License-Identifier: MIT */
/* limits.c - `flyball limits`: what is left of each budget, as far as batches have been told. */
#include "view/limits.h"

#include <stdlib.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/ask.h"
#include "cli/command.h"
#include "cli/known.h"
#include "cli/options.h"

#define NAME      "limits"
#define NS_PER_S  INT64_C(1000000000)
#define RECENT_NS (3600 * NS_PER_S) /* what was in use in the last hour is shown without asking */

struct limits_line {
    const char *provider;
    bool all;
    bool verbose;
    bool json;
};

#define OPTION_TARGET struct limits_line

static const struct option_row ROWS[] = {
    {"--all", OPTION_FLAG(all), .about = "those too that were not in use for an hour"},
    {"-v,--verbose", OPTION_FLAG(verbose),
     .about = "when budgets are full again, who states or tells each limit, and when it was seen"},
    {"--provider", OPTION_TEXT(provider, "NAME"), .has_providers = true,
     .expects = "the name of a provider", .about = "of this provider alone"},
    {"--json", OPTION_FLAG(json), .about = "one JSON object"},
    {0},
};

/* The worst first, then by name. */
static int by_state(const void *a, const void *b)
{
    int64_t now_ns = fb_answer_now();
    const struct view_key *x = a;
    const struct view_key *y = b;
    int order = (int)fb_view_health(x, now_ns) - (int)fb_view_health(y, now_ns);

    if (order == 0)
        order = strcmp(x->provider, y->provider);
    return order != 0 ? order : strcmp(x->pool, y->pool);
}

/* Those in use are moved to the front; returns how many. */
static size_t choose(struct known *k, bool all, int64_t now_ns)
{
    size_t count = 0;

    for (size_t i = 0; i < k->key_count; i++) {
        struct view_key key = k->key[i];
        bool is_recent = now_ns - key.seen_ns < RECENT_NS || key.ready_ns > now_ns ||
                         (key.quota_reset_ns > now_ns && key.quota_limit > 0);

        if (!all && !is_recent)
            continue;
        k->key[i] = k->key[count];
        k->key[count++] = key;
    }
    qsort(k->key, count, sizeof *k->key, by_state);
    return count;
}

static int limits_run(int argc, char **argv)
{
    struct limits_line line = {0};
    struct fly_error err = {""};
    struct buffer b = BUFFER_INIT;
    int64_t now_ns = fb_answer_now();
    struct view_style style;
    struct known k;

    if (fb_options_read(&fb_command_limits, argc, argv, &line) < 0)
        return EXIT_USAGE;
    int asked = fb_ask_about(NAME, "provider", line.provider, line.json, line.verbose);
    if (asked >= 0)
        return asked;
    fb_answer_style(&style);
    style.verbose = line.verbose;
    int exit_code =
        fb_known_read(&k, line.provider, &err) < 0 ? fb_answer_fail(NAME, err.text) : EXIT_DONE;
    size_t shown = choose(&k, line.all, now_ns);
    struct view_limits v = {.key = k.key,
                            .key_count = shown,
                            .after_demo = fb_known_is_demo(&k),
                            .hidden = k.key_count - shown};
    if (line.json)
        fb_view_limits_json(&v, now_ns, &b);
    else
        fb_view_limits_text(&v, &style, now_ns, &b);
    fb_known_free(&k);
    int written = fb_answer_print(&b);
    return exit_code != EXIT_DONE ? exit_code : written;
}

const struct command fb_command_limits = {
    .name = NAME,
    .about = "what is left of each limit, and until when",
    .usage = "[OPTION...]",
    .intro = "Remaining and reset as servers told them last, limits as they are stated or were "
             "learned; from the records of batches that run or have ended, and from the store.",
    .options = ROWS,
    .exits = "0 done, 1 something cannot be read, 2 usage",
    .examples = "flyball limits\n"
                "flyball limits --all -v\n"
                "flyball limits --provider github --json\n",
    .run = limits_run,
};
