/* SPDX-License-Identifier: MIT */
/* address.c - HOST:PORT, strictly. */
#include "serve/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A port in full: digits only, 0 to 65535. -1: it is none. */
static int read_port(const char *text)
{
    int port = 0;

    if (!*text || strlen(text) > 5 || strspn(text, "0123456789") != strlen(text))
        return -1;
    for (; *text; text++)
        port = port * 10 + (*text - '0');
    return port <= 65535 ? port : -1;
}

static int read_v6(const char *host, size_t size, int port, union address *ret_address)
{
    char text[INET6_ADDRSTRLEN];
    union address a = {.v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)}};

    if (size < 2 || host[size - 1] != ']' || size - 2 >= sizeof(text))
        return -EINVAL;
    memcpy(text, host + 1, size - 2);
    text[size - 2] = '\0';
    if (inet_pton(AF_INET6, text, &a.v6.sin6_addr) != 1)
        return -EINVAL;
    *ret_address = a;
    return 0;
}

static int read_v4(const char *host, size_t size, int port, union address *ret_address)
{
    char text[INET_ADDRSTRLEN];
    union address a = {.v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)}};

    if (size >= sizeof(text))
        return -EINVAL;
    memcpy(text, host, size);
    text[size] = '\0';
    if (inet_pton(AF_INET, strcmp(text, "localhost") == 0 ? "127.0.0.1" : text, &a.v4.sin_addr) !=
        1)
        return -EINVAL;
    *ret_address = a;
    return 0;
}

int fb_address_read(const char *text, union address *ret_address)
{
    const char *colon = strrchr(text, ':');
    int port = colon ? read_port(colon + 1) : -1;

    if (port < 0)
        return -EINVAL;
    size_t size = (size_t)(colon - text);
    return text[0] == '[' ? read_v6(text, size, port, ret_address)
                          : read_v4(text, size, port, ret_address);
}

int fb_address_port(const union address *a)
{
    return ntohs(a->any.sa_family == AF_INET6 ? a->v6.sin6_port : a->v4.sin_port);
}

void fb_address_write(const union address *a, char *text)
{
    char host[INET6_ADDRSTRLEN] = "";

    if (a->any.sa_family == AF_INET6) {
        inet_ntop(AF_INET6, &a->v6.sin6_addr, host, sizeof(host));
        snprintf(text, FB_ADDRESS_TEXT, "[%s]:%d", host, fb_address_port(a));
    } else {
        inet_ntop(AF_INET, &a->v4.sin_addr, host, sizeof(host));
        snprintf(text, FB_ADDRESS_TEXT, "%s:%d", host, fb_address_port(a));
    }
}

int fb_address_is_same_host(const union address *a, const union address *b)
{
    if (a->any.sa_family != b->any.sa_family)
        return 0;
    if (a->any.sa_family == AF_INET6)
        return memcmp(&a->v6.sin6_addr, &b->v6.sin6_addr, sizeof(a->v6.sin6_addr)) == 0;
    return a->v4.sin_addr.s_addr == b->v4.sin_addr.s_addr;
}
