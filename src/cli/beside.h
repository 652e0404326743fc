/* SPDX-License-Identifier: MIT */
/*
 * beside.h - batches that run in processes of their own, beside a daemon that answers.
 *
 * The daemon knows only what it runs itself. What else runs is in the records of this user.
 */
#ifndef FLYBALL_CLI_BESIDE_H
#define FLYBALL_CLI_BESIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "util/buffer.h"
#include "view/view.h"

/*
 * Append them to the answer of the daemon that is process `pid`: below its text a table, or to its
 * JSON object the member "others". Nothing where there is none, or no folder of records.
 */
void fb_beside_add(const char *folder, int64_t pid, bool json, const struct view_style *style,
                   struct buffer *to);

#endif
