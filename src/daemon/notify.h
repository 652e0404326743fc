/* SPDX-License-Identifier: MIT */
/*
 * notify.h - tell the service manager how it stands: sd_notify(3), by hand.
 *
 * The protocol is a datagram of lines to the socket that $NOTIFY_SOCKET names. Without that
 * variable all of it does nothing.
 */
#ifndef FLYBALL_DAEMON_NOTIFY_H
#define FLYBALL_DAEMON_NOTIFY_H

#include <stdint.h>

/* Lines such as "READY=1". 0; 1 when there is nobody to tell; or a negative errno. */
int fb_notify(const char *lines);

/* How often "WATCHDOG=1" is due: half of what is asked for; 0: nobody asks. */
int64_t fb_notify_every_ms(void);

#endif
