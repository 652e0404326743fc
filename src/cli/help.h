/* SPDX-License-Identifier: MIT */
/*
 * help.h - what the tables of commands and options say, as text for people and as JSON for
 * whatever else is made of them.
 */
#ifndef FLYBALL_CLI_HELP_H
#define FLYBALL_CLI_HELP_H

#include <stdio.h>

#include "cli/command.h"
#include "util/buffer.h"

#define HELP_WIDE  80 /* columns */
#define HELP_LINES 30 /* a help that has more of them names its options only */

/* All commands. */
void fb_help_overview(FILE *out);

/*
 * One command, for -h and `flyball help`. Where a sentence for each option takes more than
 * HELP_LINES, the options are named only, in at most 24 lines, and `--help` has the sentences.
 */
void fb_help_command(FILE *out, const struct command *c);

/* The same, with a sentence for each option in any case. */
void fb_help_long(FILE *out, const struct command *c);

/* One command, or all of them (NULL), as one JSON object with the schema "flyball.help/1". */
void fb_help_json(FILE *out, const struct command *c);

#endif
