/* SPDX-License-Identifier: MIT */
/*
 * body.h - what a body says about limits.
 *
 * Only the beginning and the end of a body are kept. In the answer to a request that went well
 * almost anything may stand, so of that only errors told as such in JSON count; the text of a
 * refusal is read whole.
 */
#ifndef FLYBALL_SIGNAL_BODY_H
#define FLYBALL_SIGNAL_BODY_H

#include "signal/reading.h"
#include "signal/slice.h"

/* Keep what may matter of the next piece. */
void fb_body_add(struct reading *r, struct slice piece);

/* Read what was kept. */
void fb_body_read(struct reading *r);

#endif
