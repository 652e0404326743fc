/* SPDX-License-Identifier: MIT */
/*
 * live.h - what a batch does, kept for others: a record that other processes read, a row a second
 * in a file, and a report at the end.
 *
 * Four times a second it looks at what the batch's keys do; it never delays anything. Whatever of
 * this cannot be written is told once, and the batch goes on.
 */
#ifndef FLYBALL_FETCH_LIVE_H
#define FLYBALL_FETCH_LIVE_H

#include <flyball/flyball.h>

#include "engine/engine.h"
#include "fetch/look.h"

struct fetch;

/*
 * Open the files that were asked for, once journal and output are open. 0, or a negative errno with
 * a sentence: one of them cannot be written.
 */
int fb_live_open(struct fetch *f, struct fly_error *err) __attribute__((warn_unused_result));

/* The batch begins: so does its record, unless there is no folder of the user. */
void fb_live_begin(struct fetch *f);

/* A request has come to its end. */
void fb_live_answer(struct fetch *f, const struct engine_result *r);

/* As it is now. */
void fb_live_beat(struct fetch *f, const struct look *l, const struct progress *p);

/* The batch is over, and its engine still there: the last row, the report. */
void fb_live_end(struct fetch *f);

void fb_live_close(struct fetch *f);

#endif
