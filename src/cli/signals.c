/* SPDX-License-Identifier: MIT */
/* signals.c - `flyball signals`: what a response says about limits. */
#include "cli/signals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/command.h"
#include "cli/options.h"
#include "signal/preset.h"
#include "util/json.h"

#define NAME       "signals"
#define INPUT_MAX  (64 << 20) /* bytes of one response, or of one line */
#define READ_BYTES 65536

enum { EXIT_NOTHING = 3 };

struct signals {
    bool json;
    bool jsonl;
    const char *preset;
};

#define OPTION_TARGET struct signals

static const struct option_row ROWS[] = {
    {"--json", OPTION_FLAG(json), .about = "one JSON object instead of sentences"},
    {"--jsonl", OPTION_FLAG(jsonl),
     .about = "read JSON lines with status, headers and body; answer a line each"},
    {"--preset", OPTION_TEXT(preset, "NAME"), .has_providers = true,
     .expects = "the name of a provider, such as github",
     .about = "what is known about this provider, where a unit is ambiguous"},
    {0},
};

static int64_t wall_ns(void)
{
    struct timespec t;

    (void)timespec_get(&t, TIME_UTC);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int complain(const char *what)
{
    fprintf(stderr, "flyball " NAME ": %s\n", what);
    return EXIT_FAILED;
}

/* All of `in`. 0, -E2BIG, -ENOMEM or -EIO. */
static int read_all(FILE *in, struct buffer *b)
{
    for (;;) {
        char *room = fb_buffer_reserve(b, READ_BYTES);
        if (!room)
            return -ENOMEM;
        size_t n = fread(room, 1, READ_BYTES, in);
        b->size += n;
        if (b->size > INPUT_MAX)
            return -E2BIG;
        if (n == 0)
            return ferror(in) ? -EIO : 0;
    }
}

static int tell_one(const struct signals *o, struct fly_response *about, const struct buffer *in)
{
    struct fly_signal s = {.size = sizeof(s)};
    struct buffer b = BUFFER_INIT;
    const char *why;

    if (!fb_signals_http(about, in->bytes, in->size, &s, &why)) {
        (void)complain(why);
        return EXIT_USAGE;
    }
    if (o->json) {
        fb_buffer_add_text(&b, "{\"schema\":\"flyball.signals/1\"");
        fb_signals_members(&b, &s);
        fb_buffer_add_text(&b, "}\n");
        fwrite(b.bytes, 1, b.size, stdout);
    } else {
        fb_signals_print(stdout, &s);
    }
    int done = b.failed ? complain("out of memory") : fb_finish_output(stdout, "the output");
    fb_buffer_fini(&b);
    if (done != EXIT_DONE)
        return done;
    return s.flags & FLY_SIGNAL_FOUND ? EXIT_DONE : EXIT_NOTHING;
}

static int tell_response(const struct signals *o, struct fly_response *about)
{
    struct buffer in = BUFFER_INIT;
    int error = read_all(stdin, &in);
    int done = EXIT_FAILED;

    if (error == -E2BIG)
        (void)complain("the response is larger than 64 MiB");
    else if (error < 0)
        (void)complain(error == -ENOMEM ? "out of memory" : "cannot read the standard input");
    else
        done = tell_one(o, about, &in);
    fb_buffer_fini(&in);
    return done;
}

static int tell_lines(struct fly_response *about)
{
    struct buffer b = BUFFER_INIT;
    char *line = NULL;
    size_t room = 0;
    ssize_t size;

    while ((size = getline(&line, &room, stdin)) >= 0) {
        fb_buffer_clear(&b);
        fb_signals_line(about, line, (size_t)size, &b);
        if (b.failed)
            break;
        fwrite(b.bytes, 1, b.size, stdout);
    }
    int done = b.failed ? complain("out of memory") : fb_finish_output(stdout, "the output");
    free(line);
    fb_buffer_fini(&b);
    return done;
}

static int signals_run(int argc, char **argv)
{
    struct signals o = {0};
    struct fly_response about = {.size = sizeof(about), .now_ns = wall_ns()};

    if (fb_options_read(&fb_command_signals, argc, argv, &o) < 0)
        return EXIT_USAGE;
    if (o.preset && !fb_preset_find(fb_slice_of(o.preset))) {
        fprintf(stderr, "flyball " NAME ": there is no preset '%s'\n", o.preset);
        return EXIT_USAGE;
    }
    about.preset = o.preset;
    return o.jsonl ? tell_lines(&about) : tell_response(&o, &about);
}

const struct command fb_command_signals = {
    .name = NAME,
    .about = "say what a response tells about limits",
    .usage = "[OPTION...] <RESPONSE",
    .intro = "Reads a response as curl -i prints it from the standard input and says what it "
             "means: which pools there are, how much is left and until when, whether to try again "
             "and when, and why.",
    .options = ROWS,
    .exits = "0 understood, 1 could not read or write, 2 usage or no response, 3 the response says "
             "nothing about limits; with --jsonl always 0, once lines can be read",
    .examples = "curl -si https://api.github.com/ | flyball signals\n"
                "flyball signals --json <response.txt\n",
    .run = signals_run,
};
