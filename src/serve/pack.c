/* SPDX-License-Identifier: MIT */
/* pack.c - one call of zlib. */
#include "serve/pack.h"

#define ZLIB_CONST /* what goes in is not touched */
#include <zlib.h>

#include "util/alloc.h"

#define LEVEL     5  /* beyond it figures hardly get smaller */
#define GZIP_BITS 31 /* the largest window, with the head and the sum of gzip */

/* "q=0", "q=0.00": not at all. */
static bool is_none(struct slice weight)
{
    if (!fb_slice_begins(weight, "q=0"))
        return false;
    for (size_t i = 3; i < weight.length; i++)
        if (weight.at[i] != '0' && weight.at[i] != '.')
            return false;
    return true;
}

bool fb_pack_is_wanted(struct slice accept)
{
    struct slice one;

    while (fb_slice_next(&accept, ',', &one)) {
        size_t name = fb_slice_find(one, ';');

        if (fb_slice_is(fb_slice_trim(fb_slice_head(one, name)), "gzip"))
            return name == one.length || !is_none(fb_slice_trim(fb_slice_after(one, name + 1)));
    }
    return false;
}

static void *take(void *opaque, unsigned count, unsigned size)
{
    (void)opaque;
    return fb_alloc((size_t)count * size);
}

static void give_back(void *opaque, void *memory)
{
    (void)opaque;
    fb_free(memory);
}

bool fb_pack(struct slice plain, struct buffer *to)
{
    z_stream z = {.zalloc = take, .zfree = give_back};

    if (plain.length > PACK_MOST ||
        deflateInit2(&z, LEVEL, Z_DEFLATED, GZIP_BITS, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
        to->failed = true;
        return false;
    }
    size_t most = deflateBound(&z, plain.length);
    char *room = fb_buffer_reserve(to, most);

    z.next_in = (const Bytef *)plain.at;
    z.avail_in = (uInt)plain.length;
    z.next_out = (Bytef *)room;
    z.avail_out = room ? (uInt)most : 0;
    bool is_whole = room && deflate(&z, Z_FINISH) == Z_STREAM_END;
    to->size += is_whole ? z.total_out : 0;
    to->failed |= !is_whole;
    (void)deflateEnd(&z);
    return is_whole;
}
