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
#include "config/suggest.h"
#include "core/value.h"
#include "util/json.h"

#define NAME "mock"

/* The command line as it was read. */
struct mock_line {
    const char *listen;
    const char *limit;
    const char *dialect;
    const char *latency;
    const char *jitter;
    const char *fail;
    const char *lifetime;
    const char *log;
    int64_t status;
    int64_t seed;
    bool json;
};

#define ROW(name, kind, field, low, high, expects)                        \
    {                                                                     \
        name, kind, offsetof(struct mock_line, field), low, high, expects \
    }

static const struct option_row ROWS[] = {
    ROW("--listen", OPTION_TEXT, listen, 0, 0, "an address such as 127.0.0.1:8080"),
    ROW("--limit", OPTION_TEXT, limit, 0, 0, "a limit text such as 'window=50/1s'"),
    ROW("--dialect", OPTION_TEXT, dialect, 0, 0, "a name such as github"),
    ROW("--status", OPTION_INT, status, 400, 599, "a status from 400 to 599"),
    ROW("--latency", OPTION_TEXT, latency, 0, 0, "a time such as 50ms"),
    ROW("--jitter", OPTION_TEXT, jitter, 0, 0, "a time such as 20ms"),
    ROW("--fail", OPTION_TEXT, fail, 0, 0, "a share below 100 % such as 5%"),
    ROW("--log", OPTION_TEXT, log, 0, 0, "the name of a file"),
    ROW("--seed", OPTION_INT, seed, 0, 9e15, "a whole number from 0 on"),
    ROW("--for", OPTION_TEXT, lifetime, 0, 0, "a time such as 10s"),
    ROW("--json", OPTION_FLAG, json, 0, 0, ""),
    {0},
};

static void mock_help(FILE *out)
{
    fputs("flyball mock - an API on this machine that enforces a real limit\n"
          "\n"
          "  flyball mock [OPTION...]\n"
          "\n"
          "  --listen HOST:PORT  where; port 0: a free one (127.0.0.1:0)\n"
          "  --limit TEXT        window=50/1s fixed=100/10s rate=10/s burst=5 concurrency=5\n"
          "                      penalty=30s, in any mix; none: no limit\n"
          "  --dialect NAME      what answers tell of it: github, ietf, ietf-old, openai,\n"
          "                      anthropic, retry-after, none (github)\n"
          "  --status N          of a refusal (429)\n"
          "  --latency T         before each answer; --jitter T: up to so much more\n"
          "  --fail SHARE        so many of the accepted are answered 503; --seed N: of chance\n"
          "  --log FILE          append a line for each arrival and each end\n"
          "  --for T             end after this time; --json: say all in JSON\n"
          "\n"
          "Any path answers; its query asks for more: status=503 delay=1s bytes=9 drip=50ms cut=5\n"
          "hang close reset retry_after=3. /pages?page=1&of=20 has links; /__stats, /__log.\n"
          "Exit: 0 ended by a signal or its time, 1 cannot listen or write, 2 usage.\n"
          "\n"
          "Examples:\n"
          "  flyball mock --listen 127.0.0.1:8080 --limit window=50/1s --dialect github\n"
          "  flyball mock --limit 'fixed=100/10s penalty=30s' --dialect none --log seen.log\n",
          out);
}

static int complain(const char *option, const char *value, const char *expects)
{
    fprintf(stderr, "flyball " NAME ": %s: '%s' is not %s\n", option, value, expects);
    return -EINVAL;
}

static int choose_span(const char *option, const char *text, int64_t *ret_ns)
{
    if (!text || fb_value_span(text, ret_ns) == VALUE_OK)
        return 0;
    return complain(option, text, "a time such as 50ms");
}

static int choose_dialect(const char *name, const struct dialect **ret_dialect)
{
    const char *near = fb_suggest(name, fb_dialect_names);

    *ret_dialect = fb_dialect_find(name);
    if (*ret_dialect)
        return 0;
    fprintf(stderr, "flyball " NAME ": --dialect: there is no '%s'", name);
    if (near)
        fprintf(stderr, ", did you mean '%s'?\n", near);
    else
        fputs("; see 'flyball help mock'\n", stderr);
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
    int rc = choose_dialect(line->dialect, &o->dialect);
    if (rc == 0)
        rc = choose_span("--latency", line->latency, &o->latency_ns);
    if (rc == 0)
        rc = choose_span("--jitter", line->jitter, &o->jitter_ns);
    return rc == 0 ? choose_span("--for", line->lifetime, &o->lifetime_ns) : rc;
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
    struct mock_line line = {
        .listen = "127.0.0.1:0", .dialect = "github", .status = 429, .seed = 1};
    struct mock_options o = {.on_listening = say_listening, .to = &line};
    struct mock_stats stats = {0};
    struct fly_error err = {""};

    if (fb_options_read(ROWS, NAME, argc, argv, &line) < 0 || choose(&line, &o) < 0)
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
    .help = mock_help,
    .run = mock_run,
};
