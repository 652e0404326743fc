/* SPDX-License-Identifier: MIT */
/* hash.c - FNV-1a over the bytes, and the finaliser of MurmurHash3 at the end. */
#include "util/hash.h"

#define PRIME UINT64_C(0x100000001b3)

uint64_t fb_hash_add(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * PRIME;
    return hash;
}

uint64_t fb_hash_add_int(uint64_t hash, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        hash = (hash ^ ((value >> (8 * i)) & 0xff)) * PRIME;
    return hash;
}

uint64_t fb_hash_end(uint64_t hash)
{
    hash ^= hash >> 33;
    hash *= UINT64_C(0xff51afd7ed558ccd);
    hash ^= hash >> 33;
    hash *= UINT64_C(0xc4ceb9fe1a85ec53);
    return hash ^ (hash >> 33);
}
