/* SPDX-License-Identifier: MIT */
/*
 * completion.h - the parts of `flyball completion`: a script for each shell, made from the tables
 * of commands and options.
 */
#ifndef FLYBALL_CLI_COMPLETION_H
#define FLYBALL_CLI_COMPLETION_H

#include "cli/command.h"
#include "cli/options.h"
#include "util/buffer.h"

void fb_complete_bash(struct buffer *b);
void fb_complete_zsh(struct buffer *b);
void fb_complete_fish(struct buffer *b);

/* What completes a value. */
enum completes { COMPLETES_NOTHING, COMPLETES_FILES, COMPLETES_FOLDERS, COMPLETES_WORDS };

enum completes fb_completes(const struct option_row *row);

/* For COMPLETES_WORDS: the words with blanks between, providers included. */
void fb_complete_words(struct buffer *b, const struct option_row *row);

/* The row of words that are no options, or NULL: the command takes none. */
const struct option_row *fb_words_row(const struct command *c);

/* A text between single quotes of a shell, without them. Bytes of `special` get a backslash. */
void fb_complete_quoted(struct buffer *b, const char *text, const char *special);

#endif
