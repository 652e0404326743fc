/* SPDX-License-Identifier: MIT */
/*
 * place.h - where a daemon is found, and that there is only one: its control socket and the lock
 * beside it.
 *
 * The socket is /run/flyball/control.sock where that folder can be written to, else
 * $XDG_RUNTIME_DIR/flyball/control.sock, else in a folder of this user's under the temporary one.
 * "control.sock.lock" holds the process id and is locked for as long as the process lives, so that
 * a socket left behind by one that was killed is known as such, and is taken away.
 */
#ifndef FLYBALL_DAEMON_PLACE_H
#define FLYBALL_DAEMON_PLACE_H

#include <stdbool.h>

#include <flyball/flyball.h>

#include "util/buffer.h"

#define CONTROL_NAME "control.sock"

/*
 * Append where a daemon of this user has its socket. `listens`: it is to be made, so the folder
 * must be one to write to; else the first that has a socket is meant, and where none has, the one
 * that would be made.
 */
void fb_control_place(struct buffer *out, bool listens);

/*
 * Make the folder, take the lock, write the pid, take an old socket away. A descriptor to keep; or
 * a negative errno with a sentence: -EALREADY when a daemon runs there.
 */
int fb_control_lock(const char *socket, struct fly_error *err) __attribute__((warn_unused_result));

/* Take the lock file away and close it. */
void fb_control_unlock(const char *socket, int lock);

#endif
