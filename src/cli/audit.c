/* SPDX-License-Identifier: MIT */
/* audit.c - `flyball audit`: what the daemon did and was told to do, the newest first. */
#include "cli/answer.h"
#include "cli/ask.h"
#include "cli/command.h"
#include "cli/options.h"

#define NAME "audit"

struct audit_line {
    bool json;
};

#define OPTION_TARGET struct audit_line

static const struct option_row ROWS[] = {
    {"--json", OPTION_FLAG(json), .about = "one JSON object"},
    {0},
};

static int audit_run(int argc, char **argv)
{
    struct audit_line line = {0};
    struct ask a = {0};

    if (fb_options_read(&fb_command_audit, argc, argv, &line) < 0)
        return EXIT_USAGE;
    int code = fb_ask_about(NAME, NULL, NULL, line.json, false);
    if (code >= 0)
        return code;
    /* Once more, to say what is wrong. */
    int rc = fb_ask(&a, "GET", "/healthz", NULL, 0);
    code = rc < 0 ? fb_ask_say_absent(&a, NAME, rc) : fb_answer_fail(NAME, "the daemon refuses");
    fb_ask_fini(&a);
    return code;
}

const struct command fb_command_audit = {
    .name = NAME,
    .about = "what the daemon did and was told to do, the newest first",
    .usage = "[OPTION...]",
    .intro = "The last 200 entries: actions, reloads, batches, alerts, and how the grade changed. "
             "Each is in the daemon's log as well.",
    .options = ROWS,
    .exits = "0 done, 2 usage, 3 no daemon answers",
    .examples = "flyball audit\nflyball audit --json\n",
    .run = audit_run,
};
