/* SPDX-License-Identifier: MIT */
/*
 * daemon.h - `flyball serve`: an engine that stays, batches that come and go, and everything it
 * does in the open.
 *
 * It listens on three places: public (read only: /status, /healthz, /events, /history), internal
 * (/metrics and actions, with a token) and a control socket in the file system, which the commands
 * use. SIGHUP reads the configuration anew, SIGUSR1 opens the log anew, SIGTERM and SIGINT end it:
 * the first time what is under way may end, the second time at once.
 */
#ifndef FLYBALL_DAEMON_DAEMON_H
#define FLYBALL_DAEMON_DAEMON_H

#include <stdbool.h>

struct daemon_options {
    const char *file; /* the configuration; NULL: where it is looked for, or none at all */
    const char *const *environment; /* "NAME=value", ended by NULL */
    const char *const *flags;       /* "listeners.public.listen=off", ended by NULL; or NULL */
    bool quiet;                     /* does not say where it listens */
    bool must_watch;                /* a configuration that watches nothing is a mistake */
};

/* Run until it is told to end. Returns the exit code: 0, 1 it failed, 2 the configuration. */
int fb_daemon_run(const struct daemon_options *o);

#endif
