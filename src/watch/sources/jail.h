/* SPDX-License-Identifier: MIT */
/* jail.h - a process that gives up everything but computing, reading and printing. */
#ifndef FLYBALL_WATCH_SOURCES_JAIL_H
#define FLYBALL_WATCH_SOURCES_JAIL_H

/*
 * From here on, for good: no sockets, no processes, no writing to files but those that are open,
 * no more rights. Files can be read: libraries for character sets are loaded when they are needed.
 * On a machine for which there is no filter, and under a sanitizer, the limits hold all the same.
 * Returns 0, or what went wrong: go no further then. It needs PR_SET_NO_NEW_PRIVS.
 */
int fb_jail(void) __attribute__((warn_unused_result));

/* The filter of calls alone, under a sanitizer as well; -ENOSYS: there is none for this machine. */
int fb_jail_filter(void) __attribute__((warn_unused_result));

#endif
