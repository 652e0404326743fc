/* SPDX-License-Identifier: MIT */
/*
 * robots.h - what a robots.txt says about a path (RFC 9309).
 *
 * The group of our own name counts, else that of all; in it the longest rule that fits, and of two
 * equally long ones the one that allows. What no rule fits is allowed.
 */
#ifndef FLYBALL_FETCH_ROBOTS_H
#define FLYBALL_FETCH_ROBOTS_H

#include <stdbool.h>
#include <stddef.h>

/* `agent` is the name before any '/', any case; `path` begins with '/' and includes the query. */
bool fb_robots_allow(const char *text, size_t size, const char *agent, const char *path);

#endif
