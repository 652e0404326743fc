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

#include <uv.h>

struct fetch_options;

/*
 * A batch of whoever runs the daemon: it begins with it. What its options point to lasts until
 * fb_daemon_run() returns. Callbacks come on the daemon's loop.
 */
struct daemon_guest {
    const char *name;
    const struct fetch_options *batch;
    /*
     * It listens at this "address:port"; the batch begins right after. Whoever opens handles of its
     * own on the loop has them closed at the end, and keeps their memory until then.
     */
    void (*on_ready)(void *to, uv_loop_t *loop, const char *where);
    /* The batch is over. True: the daemon stays until it is told to end; else it ends as well. */
    bool (*on_end)(void *to, int code);
    void *to;
};

struct daemon_options {
    const char *file; /* the configuration; NULL: where it is looked for, or none at all */
    const char *const *environment;   /* "NAME=value", ended by NULL */
    const char *const *flags;         /* "listeners.public.listen=off", ended by NULL; or NULL */
    bool quiet;                       /* does not say where it listens */
    bool must_watch;                  /* a configuration that watches nothing is a mistake */
    bool no_file;                     /* no configuration is looked for */
    const struct daemon_guest *guest; /* NULL: none */
};

/*
 * Run until it is told to end. Returns the exit code: 0, 1 it failed, 2 the configuration; with a
 * guest that of its batch.
 */
int fb_daemon_run(const struct daemon_options *o);

#endif
