/* SPDX-License-Identifier: MIT */
/*
 * answer.h - what commands that answer questions share: the time, the terminal, the end.
 */
#ifndef FLYBALL_CLI_ANSWER_H
#define FLYBALL_CLI_ANSWER_H

#include "util/buffer.h"
#include "view/view.h"

#define EXIT_UNKNOWN 3 /* nothing is known about what was asked for */

/* Now, since 1970. */
int64_t fb_answer_now(void);

/*
 * By what standard output is: as wide as a terminal, in colour where NO_COLOR does not forbid it;
 * as wide as it takes elsewhere. Nothing but ASCII unless the locale says UTF-8.
 */
void fb_answer_style(struct view_style *ret_style);

/* Whether standard output can be drawn again and again. */
bool fb_answer_is_screen(void);

/* Write it to standard output. Frees it. The exit code. */
int fb_answer_print(struct buffer *b);

/* "flyball <command>: <sentence>" on standard error; returns EXIT_FAILED. */
int fb_answer_fail(const char *command, const char *sentence);

#endif
