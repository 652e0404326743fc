/* SPDX-License-Identifier: MIT */
/*
 * address.h - where to listen, as text: "127.0.0.1:8080", "[::1]:8080", "localhost:0".
 *
 * Addresses are numbers; of names only "localhost" is known (127.0.0.1), so that nothing here
 * waits for a resolver and nobody listens where he did not mean to.
 */
#ifndef FLYBALL_SERVE_ADDRESS_H
#define FLYBALL_SERVE_ADDRESS_H

#include <netinet/in.h>
#include <stddef.h>

#define FB_ADDRESS_TEXT 64

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* Read "HOST:PORT"; port 0 lets the system choose. 0 or -EINVAL. */
int fb_address_read(const char *text, union address *ret_address)
    __attribute__((warn_unused_result));

/* Write it back as one would in a URL, "[::1]:8080"; `text` has FB_ADDRESS_TEXT bytes. */
void fb_address_write(const union address *a, char *text);

int fb_address_port(const union address *a);

/* Whether both are of the same host, whatever the port. */
int fb_address_is_same_host(const union address *a, const union address *b);

#endif
