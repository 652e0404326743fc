/* SPDX-License-Identifier: MIT */
/* live_tags.c - validators of answers, by source, kind of look and item. */
#include <stdio.h>
#include <string.h>

#include "util/alloc.h"
#include "watch/live_parts.h"

#define NAME_SIZE (WATCH_ID_BYTES + 80)

/* The item comes last, and a NUL is in no part of it. */
static size_t name_of(enum look_kind kind, const char *domain, const char *id, char *to)
{
    return (size_t)snprintf(to, NAME_SIZE, "%d%.64s%c%s", (int)kind, domain, 0, id);
}

static struct tag *find(const struct watch_live *l, enum look_kind kind, const char *domain,
                        const char *id)
{
    char name[NAME_SIZE];
    size_t size = name_of(kind, domain, id, name);
    struct table_entry *e = fb_table_find(&l->tags, name, size < NAME_SIZE ? size : NAME_SIZE);

    return e ? (struct tag *)(void *)e : NULL; /* its first member */
}

const struct tag *fb_tag_find(const struct watch_live *l, const struct watch_look *look)
{
    return find(l, look->kind, look->domain, look->id);
}

static void forget(struct watch_live *l, struct tag *t)
{
    if (!t)
        return;
    fb_table_remove(&l->tags, &t->entry);
    fb_free(t);
}

void fb_tag_put(struct watch_live *l, const struct watch_look *look, const char *etag,
                const char *modified)
{
    char name[NAME_SIZE];
    size_t size = name_of(look->kind, look->domain, look->id, name);
    size_t etag_size = strlen(etag) + 1, modified_size = strlen(modified) + 1;

    forget(l, find(l, look->kind, look->domain, look->id));
    if ((!etag[0] && !modified[0]) || size >= NAME_SIZE)
        return;
    struct tag *t = fb_alloc(sizeof *t + size + etag_size + modified_size);
    if (!t)
        return; /* then it is asked for in full */
    memcpy(t->text, name, size);
    t->entry.name = t->text;
    t->entry.name_size = size;
    t->etag = memcpy(t->text + size, etag, etag_size);
    t->modified = memcpy(t->text + size + etag_size, modified, modified_size);
    if (fb_table_add(&l->tags, &t->entry) < 0)
        fb_free(t);
}

void fb_tags_forget(struct watch_live *l, const char *id)
{
    for (size_t i = 0; i < l->source_count; i++) {
        forget(l, find(l, LOOK_ITEM, l->source[i].name, id));
        forget(l, find(l, LOOK_STATIC, l->source[i].name, id));
    }
}

static void free_one(void *arg, struct table_entry *e)
{
    (void)arg;
    fb_free(e); /* the first member of a tag */
}

void fb_tags_clear(struct watch_live *l)
{
    fb_table_each(&l->tags, free_one, NULL);
    fb_table_fini(&l->tags);
}
