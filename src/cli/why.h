/* SPDX-License-Identifier: MIT */
/*
 * why.h - what the files of `flyball why` share: why.c asks about URLs and the last wait,
 * why_item.c finds an item of a batch.
 */
#ifndef FLYBALL_CLI_WHY_H
#define FLYBALL_CLI_WHY_H

#include "cli/known.h"
#include "view/why.h"

/* Why a request for this URL would wait; false: nothing is known about where it goes. */
bool fb_why_url(const struct known *k, const char *url, int64_t now_ns, struct view_why *v);

/* Why the item of this id waits, or what came of it; false: no batch that is known has it. */
bool fb_why_item(const struct known *k, const char *id, int64_t now_ns, struct view_why *v);

/* Where facts of this age are from. */
void fb_why_source(const struct view_batch *b, int64_t seen_ns, int64_t now_ns, struct view_why *v);

#endif
