/* SPDX-License-Identifier: MIT */
/*
 * utf8.c - the first byte of a character says how many follow, and what the second may be.
 */
#include "util/utf8.h"

#include "util/eight.h"

/* RFC 3629, section 4. */
static const struct {
    uint8_t first, last; /* of the first byte */
    uint8_t left;
    uint8_t low, high; /* of the second */
} leads[] = {
    {0x00, 0x7F, 0, 0x00, 0x00}, {0xC2, 0xDF, 1, 0x80, 0xBF}, {0xE0, 0xE0, 2, 0xA0, 0xBF},
    {0xE1, 0xEC, 2, 0x80, 0xBF}, {0xED, 0xED, 2, 0x80, 0x9F}, {0xEE, 0xEF, 2, 0x80, 0xBF},
    {0xF0, 0xF0, 3, 0x90, 0xBF}, {0xF1, 0xF3, 3, 0x80, 0xBF}, {0xF4, 0xF4, 3, 0x80, 0x8F},
};

static bool begin(struct utf8 *u, uint8_t byte)
{
    for (size_t i = 0; i < sizeof(leads) / sizeof(leads[0]); i++) {
        if (byte >= leads[i].first && byte <= leads[i].last) {
            *u = (struct utf8){leads[i].left, leads[i].low, leads[i].high};
            return true;
        }
    }
    return false;
}

bool fb_utf8_step(struct utf8 *u, uint8_t byte)
{
    if (u->left == 0)
        return begin(u, byte);
    if (byte < u->low || byte > u->high)
        return false;
    *u = (struct utf8){(uint8_t)(u->left - 1), 0x80, 0xBF};
    return true;
}

size_t fb_utf8_prefix(const char *text, size_t size)
{
    struct utf8 u = {0};
    size_t whole = 0;

    while (whole + 8 <= size && !fb_eight_high(fb_eight_load(text + whole)))
        whole += 8; /* ASCII */
    for (size_t i = whole; i < size && fb_utf8_step(&u, (uint8_t)text[i]); i++) {
        if (u.left == 0)
            whole = i + 1;
    }
    return whole;
}
