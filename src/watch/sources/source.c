/* SPDX-License-Identifier: MIT */
/* source.c - the table of kinds, and the memory of what was said. */
#include "watch/sources/source.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "util/alloc.h"

#define PIECE_BYTES (16 * 1024)

#define X(name) extern const struct source_kind fb_source_##name;
FB_SOURCES(X)
#undef X

const struct source_kind *fb_source_kind(int64_t kind)
{
#define X(name) &fb_source_##name,
    static const struct source_kind *const kinds[] = {FB_SOURCES(X)};
#undef X

    assert(kind >= 0 && (size_t)kind < sizeof kinds / sizeof kinds[0]);
    return kinds[kind];
}

/* --------------------------------------------------------------------------------------- memory */

/* Many small things in one piece, which go together. */
struct source_piece {
    struct source_piece *next;
    size_t used, room;
};

void *fb_source_alloc(struct source_said *s, size_t size)
{
    struct source_piece *p = s->memory;

    size = (size + 15) & ~(size_t)15;
    if (!p || p->room - p->used < size) {
        size_t room = size > PIECE_BYTES ? size : PIECE_BYTES;

        p = fb_alloc(sizeof *p + room);
        if (!p)
            return NULL;
        *p = (struct source_piece){.next = s->memory, .room = room};
        s->memory = p;
    }
    void *at = (char *)(p + 1) + p->used;
    p->used += size;
    return at;
}

const char *fb_source_text(struct source_said *s, const char *bytes, size_t size)
{
    char *copy = fb_source_alloc(s, size + 1);

    if (copy && size > 0)
        memcpy(copy, bytes, size);
    return copy;
}

void fb_source_said_fini(struct source_said *s)
{
    for (struct source_piece *p = s->memory, *next; p; p = next) {
        next = p->next;
        fb_free(p);
    }
    *s = (struct source_said){.memory = NULL};
}

/* ---------------------------------------------------------------------------- what is not right */

void fb_source_missing(struct source_said *s, const char *field)
{
    if (s->missing++ == 0 && !s->first[0])
        (void)snprintf(s->first, sizeof s->first, "%.60s is not there", field);
}

void fb_source_wrong(struct source_said *s, const char *field, const char *what)
{
    if (s->wrong++ == 0)
        (void)snprintf(s->first, sizeof s->first, "%.60s %.60s", field, what);
}

static bool is_among(const char *const *words, const char *word)
{
    for (; *words; words++) {
        if (strcmp(*words, word) == 0)
            return true;
    }
    return false;
}

bool fb_source_state(const struct config_items *items, const char *word, enum item_state *ret_state)
{
    const char *const *const words[ITEM_STATES] = {[ITEM_live] = items->states.live,
                                                   [ITEM_imminent] = items->states.imminent,
                                                   [ITEM_completed] = items->states.completed};

    for (int i = 0; i < ITEM_STATES; i++) {
        if (is_among(words[i], word)) {
            *ret_state = (enum item_state)i;
            return true;
        }
    }
    *ret_state = ITEM_imminent;
    return false;
}
