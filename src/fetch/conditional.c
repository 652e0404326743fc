/* SPDX-License-Identifier: MIT */
/*
 * conditional.c - answers that were kept: asked for again only if they have changed, or, offline,
 * not at all.
 *
 * An answer is known by what was asked for, credentials included, so that nobody gets what was
 * meant for somebody else.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "fetch/fetch_parts.h"
#include "fetch/paths.h"
#include "fetch/place.h"
#include "util/hash.h"

#define CACHE_NAME "cache.db"

void fb_conditional_open(struct fetch *f)
{
    struct buffer path = BUFFER_INIT;
    struct fly_error err = {""};
    struct db *db = NULL;
    int error = fb_state_folder_named(f->o->store, &path, &err);

    if (error == 0 && fb_buffer_text(&path))
        error = fb_state_folder_make(path.bytes, &err);
    fb_buffer_add_text(&path, "/" CACHE_NAME);
    if (error == 0 && fb_buffer_text(&path))
        error = fb_db_open(path.bytes, DB_OURS | DB_OR_MEMORY, &db, &err);
    fb_buffer_fini(&path);
    if (error < 0 || !db) {
        fb_say(f, "flyball fetch: %s; answers are not kept", err.text);
        return;
    }
    if (db->note.text[0])
        fb_say(f, "flyball fetch: %s", db->note.text);
    f->cache = fb_store_adopt(f->store, db, NULL);
    if (!f->cache)
        fb_db_close(db);
}

static uint64_t add_text(uint64_t hash, const char *text)
{
    return fb_hash_add(hash, text, strlen(text) + 1);
}

static uint64_t add_headers(uint64_t hash, const struct engine_header *header, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (fb_is_secret_header(header[i].name) || strcasecmp(header[i].name, "Accept") == 0)
            hash = add_text(add_text(hash, header[i].name), header[i].value);
    }
    return hash;
}

static void make_key(struct errand *e)
{
    const struct fetch_options *o = e->fetch->o;

    for (uint64_t i = 0; i < 2; i++) {
        uint64_t hash = fb_hash_add_int(FB_HASH_INIT, i);

        hash = add_text(hash, e->next_url ? e->next_url : e->item.url);
        hash = add_headers(hash, e->item.header, e->item.header_count);
        e->key[i] = fb_hash_end(add_headers(hash, o->header, o->header_count));
    }
}

bool fb_conditional_applies(const struct errand *e)
{
    return e->fetch->cache && !e->item.body && !e->is_robots &&
           (!e->item.method || strcmp(e->item.method, "GET") == 0);
}

void fb_conditional_look_up(struct errand *e,
                            void (*found)(void *context, const struct cached *known))
{
    make_key(e);
    if (fb_cache_find(e->fetch->store, e->fetch->cache, e->key, found, e) < 0)
        found(e, NULL);
}

static struct result_facts facts_of(const struct errand *e, const struct cached *known)
{
    return (struct result_facts){.id = e->item.id,
                                 .url = e->item.url,
                                 .status = 200,
                                 .body = known->body,
                                 .body_size = known->body_size,
                                 .has_answer = true,
                                 .cached = true};
}

void fb_conditional_offline(struct errand *e, const struct cached *known)
{
    if (!known) {
        fb_errand_fail(e, ENTRY_failed, fb_failure_name(FAIL_OFFLINE),
                       "offline, and no answer was kept");
        return;
    }
    struct result_facts facts = facts_of(e, known);
    struct engine_header type = {.name = "content-type", .value = known->type};
    facts.header = &type;
    facts.header_count = *known->type ? 1 : 0;
    fb_end_item(e->fetch, e, ENTRY_done, &facts);
    fb_errand_end(e);
}

/* ------------------------------------------------------------------------------------- answers */

static const char *value_of(const struct result_facts *f, const char *name)
{
    for (size_t i = 0; i < f->header_count; i++) {
        if (strcasecmp(f->header[i].name, name) == 0)
            return f->header[i].value;
    }
    return "";
}

void fb_conditional_keep(const struct errand *e, const struct result_facts *f)
{
    struct cached c = {.key = {e->key[0], e->key[1]},
                       .etag = value_of(f, "ETag"),
                       .modified = value_of(f, "Last-Modified"),
                       .type = value_of(f, "Content-Type"),
                       .body = f->body,
                       .body_size = f->body_size,
                       .stored_s = (int64_t)time(NULL)};

    if (f->status != 200 || strstr(value_of(f, "Cache-Control"), "no-store"))
        return;
    if (fb_cache_put(e->fetch->store, e->fetch->cache, &c) < 0)
        return; /* too large, or too busy: the next time it is asked for in full */
}

/* "Not modified": the stored body is the answer. */
static void give_stored(void *context, const struct cached *known)
{
    struct errand *e = context;
    struct fetch *f = e->fetch;

    if (known) {
        struct result_facts facts = facts_of(e, known);
        facts.status = 304;
        facts.attempts = 1;
        fb_end_item(f, e, ENTRY_done, &facts);
    } else {
        struct result_facts facts = {.id = e->item.id,
                                     .url = e->item.url,
                                     .status = 304,
                                     .failure = fb_failure_name(FAIL_PAYLOAD),
                                     .sentence = "not modified, but the stored answer is gone"};
        fb_end_item(f, e, ENTRY_failed, &facts);
    }
    fb_errand_end(e);
    fb_fetch_go_on(f);
}

void fb_conditional_unchanged(struct errand *e)
{
    fb_conditional_look_up(e, give_stored);
}
