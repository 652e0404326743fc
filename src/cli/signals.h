/* SPDX-License-Identifier: MIT */
/*
 * signals.h - the parts of `flyball signals`: a response comes in as curl prints it or as a JSON
 * line, and what it means goes out as sentences or as JSON.
 */
#ifndef FLYBALL_CLI_SIGNALS_H
#define FLYBALL_CLI_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <flyball/flyball.h>

#include "util/buffer.h"

/*
 * Read a response as `curl -i` prints it: of several heads (redirects, 100 Continue) the last one.
 * False, with *ret_why, when the text does not begin with a status line.
 */
bool fb_signals_http(struct fly_response *about, const char *text, size_t size,
                     struct fly_signal *ret_signal, const char **ret_why);

/* Read one line of JSON and answer with one in *b. A line that cannot be read is told in it. */
void fb_signals_line(struct fly_response *about, const char *line, size_t size, struct buffer *b);

/* The members of a JSON object that tell a signal, without braces. */
void fb_signals_members(struct buffer *b, const struct fly_signal *s);

/* For a person: the meaning, the pools as a table, the pace. */
void fb_signals_print(FILE *out, const struct fly_signal *s);

#endif
