/* SPDX-License-Identifier: MIT */
/*
 * ask.h - the daemon of this user, asked over its control socket.
 *
 * The socket is that of --socket, else of $FLYBALL_LISTENERS__ADMIN__SOCKET (as the daemon itself
 * reads it), else where a daemon puts it (daemon/place.h).
 */
#ifndef FLYBALL_CLI_ASK_H
#define FLYBALL_CLI_ASK_H

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"
#include "view/view.h"

#define EXIT_NO_DAEMON 3

struct ask {
    const char *socket;  /* NULL: the usual one */
    const char *trace;   /* a traceparent that goes with the request; NULL: none */
    struct buffer where; /* the socket that was tried */
    int status;          /* of the answer */
    int64_t pid;         /* of the daemon that gave it */
    struct buffer body;  /* of it; NUL is not part of it */
};

void fb_ask_fini(struct ask *a);

/*
 * One request and its whole answer. 0; -ENOENT or -ECONNREFUSED when no daemon is there; or another
 * negative errno.
 */
int fb_ask(struct ask *a, const char *method, const char *target, const void *body, size_t size)
    __attribute__((warn_unused_result));

/* Say that no daemon answers, where it was looked for, and how to start one. EXIT_NO_DAEMON. */
int fb_ask_say_absent(const struct ask *a, const char *command, int error);

/* The same of a daemon that was not there before, where the files know nothing either. */
int fb_ask_say_nothing(const char *command);

/*
 * An answer laid out by the daemon: /view/NAME with `query` ("subject=..."; NULL: none), printed.
 * The exit code; or -1 when no daemon is there, or it knows less than the files.
 */
int fb_ask_view(const char *name, const char *query, bool json, const struct view_style *style);

/* The same, styled as standard output is, with at most one parameter: NULL as `value`, none. */
int fb_ask_about(const char *command, const char *name, const char *value, bool json, bool verbose);

/* The same into a buffer. The process of the daemon that has answered; 0: none has. */
int64_t fb_ask_view_into(const char *name, const char *query, bool json,
                         const struct view_style *style, struct buffer *to);

/*
 * The same of what a daemon alone knows, with this query (NULL: none): where it does not answer, or
 * refuses, that is said. The exit code.
 */
int fb_ask_only(const char *command, const char *name, const char *query, bool json, bool verbose);

/*
 * An action: what came of it is printed; with `json` as one object (flyball.admin/1), whatever it
 * was. The exit code: 0, 1 it failed, 2 refused, 3 no daemon.
 */
int fb_ask_act(const char *command, const char *socket, const char *target, bool json);

/* Append a value as a query needs it. */
void fb_ask_escape(struct buffer *to, const char *value);

#endif
