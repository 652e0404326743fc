/* SPDX-License-Identifier: MIT */
/*
 * address.h - which addresses are somebody's own network and not the public one.
 *
 * Loopback, link-local, private (RFC 1918, ULA), shared (CGNAT), multicast, "this network" and
 * reserved ones, for IPv4 and IPv6 and for IPv4 within IPv6 (mapped, compatible, 6to4, NAT64).
 */
#ifndef FLYBALL_ENGINE_ADDRESS_H
#define FLYBALL_ENGINE_ADDRESS_H

#include <stdbool.h>

struct sockaddr;

bool fb_address_is_private(const struct sockaddr *address);

/* "127.0.0.1", "::1"; what is no address counts as private. */
bool fb_address_text_is_private(const char *text);

#endif
