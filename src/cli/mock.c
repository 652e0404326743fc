/* SPDX-License-Identifier: MIT */
/* mock.c - `flyball mock`: an API on this machine that enforces a real limit. */
#include "mock/mock.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/options.h"
#include "core/value.h"
#include "util/json.h"

#define NAME "mock"

/* The command line as it was read. */
struct mock_line {
    const char *listen;
    const char *limit;
    const char *dialect;
    const char *fail;
    const char *log;
    const char *site;
    const char *matches;
    int64_t latency_ns;
    int64_t jitter_ns;
    int64_t lifetime_ns;
    int64_t status;
    int64_t seed;
    bool json;
};

#define OPTION_TARGET struct mock_line

static const struct option_row ROWS[] = {
    {"--listen", OPTION_TEXT(listen, "HOST:PORT"), .standard = "127.0.0.1:0",
     .expects = "an address such as 127.0.0.1:8080",
     .about = "where to listen; port 0 is any that is free"},
    {"--limit", OPTION_TEXT(limit, "TEXT"), .expects = "a limit text such as 'window=50/1s'",
     .about = "what to enforce, such as 'window=50/1s penalty=30s'; not said: nothing"},
    {"--dialect", OPTION_TEXT(dialect, "NAME"), .standard = "github", .choices = fb_dialect_names,
     .about = "what answers tell of the limit"},
    {"--status", OPTION_INT(status, "N", 400, 599), .standard = "429",
     .about = "the status of refusals"},
    {"--latency", OPTION_SPAN(latency_ns, "TIME"), .about = "how long an answer takes"},
    {"--jitter", OPTION_SPAN(jitter_ns, "TIME"), .about = "up to so much more, by chance"},
    {"--fail", OPTION_TEXT(fail, "SHARE"), .expects = "a share below 100 % such as 5%",
     .about = "answer so many of those that pass, such as 5%, with 503"},
    {"--seed", OPTION_INT(seed, "N", 0, 9e15), .standard = "1", .about = "the seed of chance"},
    {"--site", OPTION_TEXT(site, "NAME"), .choices = fb_site_names,
     .about = "tell of matches, as one of four sites, instead of answering every path"},
    {"--matches", OPTION_TEXT(matches, "TEXT"), .expects = "words such as 'live=200 pace=6'",
     .about = "of which ones, such as 'live=200 pace=6'; not said: of a single one"},
    {"--log", OPTION_FILE(log, "FILE"), .about = "append a line for each arrival and each end"},
    {"--for", OPTION_SPAN(lifetime_ns, "TIME"), .about = "end after this time"},
    {"--json", OPTION_FLAG(json), .about = "print both lines as JSON objects"},
    {0},
};

static int complain(const char *option, const char *value, const char *expects)
{
    fprintf(stderr, "flyball " NAME ": %s: '%s' is not %s\n", option, value, expects);
    return -EINVAL;
}

/* Which site it is, and of what it tells. */
static int choose_site(const struct mock_line *line, struct mock_options *o)
{
    const char *expects = "";
    struct slice wrong = fb_fixture_read(line->matches, o->seed, &o->fixture, &expects);

    o->site = line->site ? fb_site_find(line->site) : NULL;
    if (!wrong.at)
        return 0;
    fprintf(stderr, "flyball " NAME ": --matches: %.*s: expected %s\n", (int)wrong.length, wrong.at,
            expects);
    return -EINVAL;
}

static int choose(const struct mock_line *line, struct mock_options *o)
{
    o->limit = line->limit;
    o->log = line->log;
    o->status = (int32_t)line->status;
    o->seed = (uint64_t)line->seed;
    if (fb_address_read(line->listen, &o->listen) < 0)
        return complain("--listen", line->listen, "an address and a port such as 127.0.0.1:8080");
    if (line->fail && fb_value_share(line->fail, &o->fail_ppm) != VALUE_OK)
        return complain("--fail", line->fail, "a share below 100 % such as 5%");
    o->dialect = fb_dialect_find(line->dialect);
    o->latency_ns = line->latency_ns;
    o->jitter_ns = line->jitter_ns;
    o->lifetime_ns = line->lifetime_ns;
    return choose_site(line, o);
}

/* ---- what it says ---- */

static void print_json(struct buffer *b)
{
    const char *text = fb_buffer_text(b);

    if (text)
        puts(text);
    fb_buffer_fini(b);
}

static void say_listening(void *to, const union address *where)
{
    const struct mock_line *line = to;
    char text[FB_ADDRESS_TEXT];
    char url[FB_ADDRESS_TEXT + 8];
    struct buffer b = BUFFER_INIT;

    fb_address_write(where, text);
    snprintf(url, sizeof(url), "http://%s", text);
    if (line->json) {
        fb_buffer_add_text(&b, "{");
        fb_json_text(&b, "schema", "flyball.mock/1");
        fb_json_text(&b, "type", "listening");
        fb_json_text(&b, "url", url);
        fb_json_int(&b, "port", fb_address_port(where));
        fb_json_int(&b, "pid", getpid());
        fb_buffer_add_text(&b, "}");
        print_json(&b);
    } else {
        printf("listening on %s (limit: %s, dialect: %s)\n", url,
               line->limit && *line->limit ? line->limit : "none", line->dialect);
    }
    fflush(stdout);
}

static void say_stats(const struct mock_line *line, const struct mock_stats *s)
{
    struct buffer b = BUFFER_INIT;

    if (line->json) {
        fb_buffer_add_text(&b, "{");
        fb_json_text(&b, "schema", "flyball.mock/1");
        fb_json_text(&b, "type", "summary");
        fb_mock_stats_json(s, &b);
        fb_buffer_add_text(&b, "}");
        print_json(&b);
    } else {
        printf("%lld arrivals: %lld accepted, %lld refused, %lld failed, %lld left early\n",
               (long long)s->arrivals, (long long)s->accepted, (long long)s->refused,
               (long long)s->failed, (long long)s->aborted);
    }
}

static int mock_run(int argc, char **argv)
{
    struct mock_line line = {0};
    struct mock_options o = {.on_listening = say_listening, .to = &line};
    struct mock_stats stats = {0};
    struct fly_error err = {""};

    if (fb_options_read(&fb_command_mock, argc, argv, &line) < 0 || choose(&line, &o) < 0)
        return EXIT_USAGE;
    int rc = fb_mock_run(&o, &stats, &err);
    if (rc < 0) {
        fprintf(stderr, "flyball " NAME ": %s\n", err.text);
        return rc == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
    }
    say_stats(&line, &stats);
    return fb_finish_output(stdout, "standard output");
}

const struct command fb_command_mock = {
    .name = NAME,
    .about = "an API on this machine that enforces a real limit",
    .usage = "[OPTION...]",
    .options = ROWS,
    .notes = "Any path answers; its query asks for more: status=503 delay=1s bytes=9 drip=50ms "
             "cut=5 hang close reset retry_after=3. /pages?page=1&of=20 has links; /__stats, "
             "/__log.",
    .exits = "0 ended by a signal or its time, 1 cannot listen or write, 2 usage",
    .examples = "flyball mock --listen 127.0.0.1:8080 --limit window=50/1s --dialect github\n"
                "flyball mock --limit 'fixed=100/10s penalty=30s' --dialect none --log seen.log\n"
                "flyball mock --site score --matches 'live=20 pace=6' --limit rate=5/s\n",
    .run = mock_run,
};
