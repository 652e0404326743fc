/* SPDX-License-Identifier: MIT */
/* config.c - `flyball config`: look at a configuration, before anything is done with it. */
#include "config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/configured.h"
#include "cli/options.h"
#include "config/describe.h"
#include "config/show.h"
#include "util/buffer.h"

#define NAME "config"

struct config_line {
    struct option_words words;
    struct option_words set;
    bool origin;
    bool json;
};

#define OPTION_TARGET struct config_line

static const char *const VERBS[] = {"check", "show", "init", "keys", "schema", NULL};

static const struct option_row ROWS[] = {
    {"", OPTION_MANY(words, "check|show|init|keys|schema [FILE]"), .choices = VERBS,
     .is_open = true, .about = "what to do, and with which file"},
    {"--origin", OPTION_FLAG(origin), .about = "show: where each value came from"},
    {"--json", OPTION_FLAG(json), .about = "show and keys: one JSON object"},
    {"-s,--set", OPTION_MANY(set, "KEY=VALUE"), .has_keys = true,
     .about = "a value over all others, such as providers.github.rate=5/s"},
    {0},
};

/* ------------------------------------------------------------------------------------- loading */

struct asked {
    const struct config_line *line;
    const char *file; /* NULL: the usual places */
};

static struct config *load(const struct asked *a, int *ret_exit)
{
    return fb_configured(NAME, a->file, &a->line->set, false, ret_exit);
}

static int print(struct buffer *out)
{
    bool failed = out->failed;

    (void)fwrite(out->bytes, 1, out->size, stdout);
    fb_buffer_fini(out);
    return failed ? EXIT_FAILED : fb_finish_output(stdout, "standard output");
}

/* --------------------------------------------------------------------------------------- verbs */

static int check(const struct asked *a)
{
    int exit_code;
    struct config *c = load(a, &exit_code);

    if (c && !c->file)
        puts("no file, and nothing is wrong with what else is said");
    else if (c)
        printf("%s: nothing is wrong\n", c->file);
    fb_config_free(c);
    int written = fb_finish_output(stdout, "standard output");
    return exit_code != EXIT_DONE ? exit_code : written;
}

static int show(const struct asked *a)
{
    struct buffer out = BUFFER_INIT;
    int exit_code;
    struct config *c = load(a, &exit_code);

    if (!c)
        return exit_code;
    if (a->line->json)
        fb_config_show_json(c, &out);
    else
        fb_config_show(c, a->line->origin, &out);
    fb_config_free(c);
    return print(&out);
}

static const char FIRST_FILE[] =
    "# The configuration of Flyball. All of it is optional: an API that nobody knows needs none.\n"
    "# 'flyball config keys' lists what can be said here, 'flyball config check' looks at it,\n"
    "# 'flyball config show --origin' says what holds and where it came from.\n"
    "\n"
    "providers:\n"
    "  github:                       # has the preset of that name: hosts, limits, pools\n"
    "    credentials:\n"
    "      main: {env: GITHUB_TOKEN} # a secret is never written here\n"
    "\n"
    "# example:\n"
    "#   hosts: [api.example.com]\n"
    "#   limit: window=5000/1h concurrency=5\n"
    "#   pools:\n"
    "#     search: {path: /search, rate: 1/s}\n"
    "\n"
    "timeouts:\n"
    "  connect: 10s\n"
    "  total: 2m\n"
    "\n"
    "# recovery: [download/5xx=defer]\n"
    "# alerts: {command: [logger, -t, flyball]}\n"
    "# log: {form: logfmt, level: info}\n";

/* To a new file, or to standard output; never over one that is there. */
static int init(const struct asked *a)
{
    if (!a->file) {
        fputs(FIRST_FILE, stdout);
        return fb_finish_output(stdout, "standard output");
    }
    int fd = open(a->file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    size_t size = strlen(FIRST_FILE);
    bool is_written = fd >= 0 && write(fd, FIRST_FILE, size) == (ssize_t)size;

    if (!is_written)
        fprintf(stderr, "flyball " NAME ": cannot write %s: %s\n", a->file, strerror(errno));
    if (fd >= 0 && close(fd) < 0)
        is_written = false;
    return is_written ? EXIT_DONE : EXIT_FAILED;
}

static int keys(const struct asked *a)
{
    struct buffer out = BUFFER_INIT;

    if (a->line->json)
        fb_config_list_keys_json(&out);
    else
        fb_config_list_keys(&out);
    return print(&out);
}

static int schema(const struct asked *a)
{
    struct buffer out = BUFFER_INIT;

    (void)a;
    fb_config_schema(&out);
    return print(&out);
}

static int (*const ACTIONS[])(const struct asked *a) = {check, show, init, keys, schema};

static int complain(const char *word, const char *what)
{
    fprintf(stderr, "flyball " NAME ": %s: %s; see 'flyball help " NAME "'\n", word, what);
    return EXIT_USAGE;
}

static int config_run(int argc, char **argv)
{
    struct config_line line = {0};

    if (fb_options_read(&fb_command_config, argc, argv, &line) < 0)
        return EXIT_USAGE;
    if (line.words.count == 0)
        return complain(NAME, "expected check, show, init, keys or schema");
    if (line.words.count > 2)
        return complain(line.words.word[2], "there is one file already");

    struct asked a = {.line = &line, .file = line.words.count > 1 ? line.words.word[1] : NULL};
    for (size_t i = 0; VERBS[i]; i++) {
        if (strcmp(line.words.word[0], VERBS[i]) == 0)
            return ACTIONS[i](&a);
    }
    return complain(line.words.word[0], "expected check, show, init, keys or schema");
}

const struct command fb_command_config = {
    .name = NAME,
    .about = "check and show the configuration",
    .usage = "check | show | init | keys | schema [OPTION...] [FILE]",
    .intro = "check tells every mistake with its place; show prints what holds, defaults included; "
             "init writes a first file; keys lists what a file can say; schema is that as JSON "
             "Schema. FILE not said: $FLYBALL_CONFIG, flyball.yaml here, in ~/.config/flyball or "
             "in /etc/flyball.",
    .exits = "0 done, 1 cannot write, 2 usage, or mistakes in the configuration",
    .examples = "flyball config init flyball.yaml\n"
                "flyball config check flyball.yaml\n"
                "flyball config show --origin\n",
    .options = ROWS,
    .run = config_run,
};
