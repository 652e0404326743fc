/* SPDX-License-Identifier: MIT */
/* address.c - two tables of prefixes. */
#include "engine/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

struct prefix4 {
    uint32_t address;
    int bits;
};

static const struct prefix4 private4[] = {
    {0x00000000, 8},  /* this network */
    {0x0a000000, 8},  /* RFC 1918 */
    {0x64400000, 10}, /* shared, RFC 6598 */
    {0x7f000000, 8},  /* loopback */
    {0xa9fe0000, 16}, /* link-local, cloud metadata among them */
    {0xac100000, 12}, /* RFC 1918 */
    {0xc0000000, 24}, /* protocol assignments */
    {0xc0a80000, 16}, /* RFC 1918 */
    {0xc6120000, 15}, /* benchmarks */
    {0xe0000000, 3},  /* multicast, reserved, broadcast */
};

static bool is_private4(uint32_t address)
{
    for (size_t i = 0; i < sizeof(private4) / sizeof(private4[0]); i++)
        if ((address ^ private4[i].address) >> (32 - private4[i].bits) == 0)
            return true;
    return false;
}

static uint32_t word(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static bool is_private6(const uint8_t a[16])
{
    static const uint8_t zeroes[12];
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    static const uint8_t nat64[12] = {0, 0x64, 0xff, 0x9b};

    if (memcmp(a, mapped, 12) == 0 || memcmp(a, nat64, 12) == 0)
        return is_private4(word(a + 12));
    if (memcmp(a, zeroes, 12) == 0) /* unspecified, loopback, IPv4-compatible */
        return true;
    if (a[0] == 0x20 && a[1] == 0x02) /* 6to4 */
        return is_private4(word(a + 2));
    /* Unique local, link-local and site-local, multicast. */
    return (a[0] & 0xfe) == 0xfc || (a[0] == 0xfe && a[1] >= 0x80) || a[0] == 0xff;
}

bool fb_address_is_private(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in in;

        memcpy(&in, address, sizeof(in));
        return is_private4(ntohl(in.sin_addr.s_addr));
    }
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 in;

        memcpy(&in, address, sizeof(in));
        return is_private6(in.sin6_addr.s6_addr);
    }
    return true;
}

bool fb_address_text_is_private(const char *text)
{
    struct in_addr four;
    struct in6_addr six;

    if (inet_pton(AF_INET, text, &four) == 1)
        return is_private4(ntohl(four.s_addr));
    if (inet_pton(AF_INET6, text, &six) == 1)
        return is_private6(six.s6_addr);
    return true;
}
