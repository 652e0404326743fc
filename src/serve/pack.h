/* SPDX-License-Identifier: MIT */
/*
 * pack.h - answers as gzip for those who take it.
 *
 * Pages and figures are mostly the same words over and over: they shrink to a tenth and less.
 */
#ifndef FLYBALL_SERVE_PACK_H
#define FLYBALL_SERVE_PACK_H

#include <stdbool.h>

#include "signal/slice.h"
#include "util/buffer.h"

#define PACK_LEAST 1400      /* bytes; a smaller answer fits into one packet anyway */
#define PACK_MOST  (1 << 20) /* and a larger one would keep everybody else waiting */

/* Whether who sent this Accept-Encoding takes gzip: it is named, and not with a weight of 0. */
bool fb_pack_is_wanted(struct slice accept);

/*
 * Append `plain` as gzip. False: there is no memory for it, or it is longer than PACK_MOST, and
 * `to` has failed.
 */
bool fb_pack(struct slice plain, struct buffer *to) __attribute__((warn_unused_result));

#endif
