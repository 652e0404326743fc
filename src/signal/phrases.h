/* SPDX-License-Identifier: MIT */
/*
 * phrases.h - words in a body by which servers refuse for rate, whatever their status says.
 */
#ifndef FLYBALL_SIGNAL_PHRASES_H
#define FLYBALL_SIGNAL_PHRASES_H

#include "signal/reading.h"
#include "signal/slice.h"

/*
 * Look for all phrases of the table in `text` and add their meaning to r->means. Case, blanks and
 * punctuation do not matter: "rateLimitExceeded" and "RATE_LIMIT_EXCEEDED" are "rate limit
 * exceeded". At most FB_BODY_HEAD bytes are looked at.
 */
void fb_phrases_read(struct reading *r, struct slice text);

#endif
