/* SPDX-License-Identifier: MIT */
/*
 * configured.h - the configuration as commands take it: --config FILE, --set KEY=VALUE, the
 * environment.
 */
#ifndef FLYBALL_CLI_CONFIGURED_H
#define FLYBALL_CLI_CONFIGURED_H

#include <stdbool.h>

#include "cli/options.h"
#include "config/config.h"

/*
 * Load it, and tell mistakes and warnings on stderr. `file` is NULL for the usual places and "none"
 * for no file at all. NULL with an exit code, when it is not right.
 */
struct config *fb_configured(const char *command, const char *file, const struct option_words *set,
                             bool is_quiet, int *ret_exit);

#endif
