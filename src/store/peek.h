/* SPDX-License-Identifier: MIT */
/*
 * peek.h - what a journal says of one item, for people who ask; on a database that is only read.
 */
#ifndef FLYBALL_STORE_PEEK_H
#define FLYBALL_STORE_PEEK_H

#include <stdint.h>

#include "store/journal.h"

/*
 * The state of the n-th item of a list, which is named as the journal has it. 0; -ENOENT: the
 * journal has no batch of this list; or another negative errno.
 */
int fb_peek_state(struct db *db, const char *list, uint64_t item, enum entry_state *ret_state)
    __attribute__((warn_unused_result));

#endif
