/* SPDX-License-Identifier: MIT */
/*
 * headers.h - one header: which of the tables or rules reads it.
 */
#ifndef FLYBALL_SIGNAL_HEADERS_H
#define FLYBALL_SIGNAL_HEADERS_H

#include "signal/reading.h"
#include "signal/slice.h"

/* Write what the header tells into the reading; one that has nothing to do with limits is cheap. */
void fb_header_read(struct reading *r, struct slice name, struct slice value);

#endif
