/* SPDX-License-Identifier: MIT */
/*
 * siphash.c - eight bytes at a time go through two rounds, the end through four.
 *
 * The wide form differs from the other in its constants only, and goes through four rounds more
 * for its second half.
 */
#include "ledger/siphash.h"

#include <stdbool.h>
#include <string.h>

struct state {
    uint64_t v0, v1, v2, v3;
    uint64_t bytes; /* taken in so far; the last block tells their number */
};

static inline uint64_t left(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static inline void round_of(struct state *h)
{
    h->v0 += h->v1;
    h->v2 += h->v3;
    h->v1 = left(h->v1, 13) ^ h->v0;
    h->v3 = left(h->v3, 16) ^ h->v2;
    h->v0 = left(h->v0, 32);
    h->v2 += h->v1;
    h->v0 += h->v3;
    h->v1 = left(h->v1, 17) ^ h->v2;
    h->v3 = left(h->v3, 21) ^ h->v0;
    h->v2 = left(h->v2, 32);
}

static inline void block(struct state *h, uint64_t word)
{
    h->v3 ^= word;
    round_of(h);
    round_of(h);
    h->v0 ^= word;
}

/* Eight bytes as a little-endian number. */
static inline uint64_t word_of(const unsigned char *bytes)
{
    uint64_t word;

    memcpy(&word, bytes, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* The last 0 to 7 bytes of a text, likewise. */
static inline uint64_t rest_of(const unsigned char *bytes, size_t size)
{
    size_t rest = size % 8;
    uint64_t word = 0;

    if (rest == 0)
        return 0;
    if (size >= 8) /* read with the bytes before them, which then leave */
        return word_of(bytes + size - 8) >> (64 - 8 * rest);
    for (size_t i = 0; i < rest; i++)
        word |= (uint64_t)bytes[i] << 8 * i;
    return word;
}

static inline struct state begin(const struct siphash_secret *s, bool wide)
{
    struct state h = {
        .v0 = s->word[0] ^ UINT64_C(0x736f6d6570736575),
        .v1 = s->word[1] ^ UINT64_C(0x646f72616e646f6d),
        .v2 = s->word[0] ^ UINT64_C(0x6c7967656e657261),
        .v3 = s->word[1] ^ UINT64_C(0x7465646279746573),
    };

    if (wide)
        h.v1 ^= 0xee;
    return h;
}

static inline void whole_blocks(struct state *h, const unsigned char *bytes, size_t size)
{
    for (size_t at = 0; at + 8 <= size; at += 8)
        block(h, word_of(bytes + at));
    h->bytes += size;
}

static inline uint64_t half(struct state *h, uint64_t mark, uint64_t *v)
{
    *v ^= mark;
    for (int i = 0; i < 4; i++)
        round_of(h);
    return h->v0 ^ h->v1 ^ h->v2 ^ h->v3;
}

static inline void end(struct state *h, uint64_t rest)
{
    block(h, rest | h->bytes << 56);
}

static struct state message(const struct siphash_secret *s, bool wide, const void *bytes,
                            size_t size)
{
    struct state h = begin(s, wide);

    whole_blocks(&h, bytes, size);
    end(&h, rest_of(bytes, size));
    return h;
}

static inline struct siphash_wide wide_result(struct state *h)
{
    struct siphash_wide r;

    r.word[0] = half(h, 0xee, &h->v2);
    r.word[1] = half(h, 0xdd, &h->v1);
    return r;
}

struct siphash_secret fb_siphash_secret(const unsigned char bytes[FB_SIPHASH_SECRET_BYTES])
{
    return (struct siphash_secret){{word_of(bytes), word_of(bytes + 8)}};
}

uint64_t fb_siphash(const struct siphash_secret *s, const void *bytes, size_t size)
{
    struct state h = message(s, false, bytes, size);

    return half(&h, 0xff, &h.v2);
}

struct siphash_wide fb_siphash_wide(const struct siphash_secret *s, const void *bytes, size_t size)
{
    struct state h = message(s, true, bytes, size);

    return wide_result(&h);
}

struct siphash_wide fb_siphash_list(const struct siphash_secret *s, const char *const *text,
                                    size_t count)
{
    struct state h = begin(s, true);

    for (size_t i = 0; i < count; i++) {
        size_t size = strlen(text[i]);
        const unsigned char *bytes = (const unsigned char *)text[i];
        block(&h, size);
        whole_blocks(&h, bytes, size);
        if (size % 8 > 0)
            block(&h, rest_of(bytes, size));
        h.bytes += 8 + (8 - size % 8) % 8;
    }
    end(&h, 0);
    return wide_result(&h);
}
