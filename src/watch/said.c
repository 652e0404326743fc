/* SPDX-License-Identifier: MIT */
/*
 * said.c - answers and versions as they are kept: one piece of memory each, texts behind fields.
 */
#include <assert.h>
#include <string.h>

#include "util/alloc.h"
#include "watch/inside.h"

/* Copy a text to *to, which moves behind it. */
static const char *lay(char **to, const char *text)
{
    size_t size = strlen(text) + 1;
    char *at = *to;

    memcpy(at, text, size);
    *to += size;
    return at;
}

static size_t bytes_of(const struct snapshot *s)
{
    size_t bytes = 0;

    for (size_t i = 0; i < s->count; i++)
        bytes += strlen(s->field[i].name) + strlen(s->field[i].value) + 2;
    return bytes;
}

/* Texts are payload; what holds them is not. */
static void count(struct watch *w, int sign, size_t bytes, size_t text_bytes)
{
    w->figures.payload_bytes += sign * (int64_t)text_bytes;
    w->figures.memory_bytes += sign * (int64_t)(bytes - text_bytes);
}

struct said *fb_watch_copy(struct watch *w, const struct snapshot *s, int64_t asked_ns,
                           bool *ret_bad)
{
    *ret_bad = s->count > WATCH_FIELDS_MAX || !fb_snapshot_is_ordered(s) ||
               bytes_of(s) > WATCH_PAYLOAD_BYTES;
    if (*ret_bad)
        return NULL;
    size_t bytes = sizeof(struct said) + s->count * sizeof(s->field[0]) + bytes_of(s);
    struct said *said = fb_alloc(bytes);
    if (!said)
        return NULL;
    char *text = (char *)&said->field[s->count];
    for (size_t i = 0; i < s->count; i++) {
        said->field[i].name = lay(&text, s->field[i].name);
        said->field[i].value = lay(&text, s->field[i].value);
    }
    said->asked_ns = asked_ns;
    said->bytes = (uint32_t)bytes;
    said->text_bytes = (uint32_t)bytes_of(s);
    said->says = (struct snapshot){.field = said->field, .count = s->count};
    count(w, 1, said->bytes, said->text_bytes);
    return said;
}

void fb_watch_unsay(struct watch *w, struct said **s)
{
    if (!*s)
        return;
    count(w, -1, (*s)->bytes, (*s)->text_bytes);
    fb_free(*s);
    *s = NULL;
}

struct picture *fb_watch_paint(struct watch *w, const struct reconciled *r, size_t fields)
{
    size_t text_bytes = 0;

    for (size_t i = 0; i < fields; i++)
        text_bytes += strlen(r[i].name) + strlen(r[i].value) + 2;

    size_t bytes = sizeof(struct picture) +
                   fields * (sizeof(struct snapshot_field) + sizeof(struct origin)) + text_bytes;
    struct picture *p = fb_alloc(bytes);
    if (!p)
        return NULL;
    p->origin = (struct origin *)&p->field[fields];
    char *text = (char *)&p->origin[fields];
    for (size_t i = 0; i < fields; i++) {
        p->field[i].name = lay(&text, r[i].name);
        p->field[i].value = lay(&text, r[i].value);
    }
    p->bytes = (uint32_t)bytes;
    p->text_bytes = (uint32_t)text_bytes;
    p->says = (struct snapshot){.field = p->field, .count = fields};
    count(w, 1, bytes, text_bytes);
    return p;
}

void fb_watch_unpaint(struct watch *w, struct picture *p)
{
    count(w, -1, p->bytes, p->text_bytes);
    fb_free(p);
}

void fb_watch_trim(struct watch *w, struct watch_item *i, int32_t keep)
{
    struct picture **at = &i->latest;

    assert(keep >= 0);
    for (int32_t n = 0; n < keep && *at; n++)
        at = &(*at)->older;
    struct picture *p = *at;
    *at = NULL;
    while (p) {
        struct picture *older = p->older;
        fb_watch_unpaint(w, p);
        p = older;
        i->kept--;
    }
}
