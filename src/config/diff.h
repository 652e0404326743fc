/* SPDX-License-Identifier: MIT */
/*
 * diff.h - what is different between two configurations, value by value.
 *
 * A pure function of both, for a daemon that changes while it runs: it goes through the changes and
 * applies each in place. What came from where makes no difference.
 */
#ifndef FLYBALL_CONFIG_DIFF_H
#define FLYBALL_CONFIG_DIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"

enum config_changed { CONFIG_ADDED, CONFIG_REMOVED, CONFIG_CHANGED };

struct config_change {
    const char *path; /* "timeouts.connect", "providers.github.limit"; ends with the callback */
    enum config_changed what;
    /* The provider that it is about, in each of the two; NULL: none, or it is not there. */
    const struct config_provider *before, *after;
    bool is_fixed; /* it takes effect at the next start */
};

/*
 * Tell every change to `each`, which may be NULL. A provider, pool or batch that comes or goes is
 * one change, and so is a limit. Returns how many there are; -ENOMEM.
 */
int fb_config_diff(const struct config *before, const struct config *after,
                   void (*each)(void *to, const struct config_change *change), void *to)
    __attribute__((warn_unused_result));

#endif
