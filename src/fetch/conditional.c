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
#include "fetch/pages.h"
#include "fetch/paths.h"
#include "fetch/place.h"
#include "util/alloc.h"
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

static const char *url_of(const struct errand *e)
{
    return e->next_url ? e->next_url : e->item.url;
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

        hash = add_text(hash, url_of(e));
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

/* A stored answer is a page like another: what led on from it still does. */
static void end_stored(struct errand *e, const struct cached *known, struct result_facts *facts)
{
    struct buffer next = BUFFER_INIT;
    struct buffer link = BUFFER_INIT;
    struct engine_header header = {.name = "Link"};
    struct engine_result r = {.url = url_of(e), .body = known->body, .body_size = known->body_size};

    if (!e->linked && *known->next)
        fb_pages_restore(url_of(e), known->next, &next);
    const char *target = e->linked ? e->linked : fb_buffer_text(&next);
    fb_buffer_add_char(&link, '<');
    fb_buffer_add_text(&link, target ? target : "");
    fb_buffer_add_text(&link, ">; rel=next");
    header.value = fb_buffer_text(&link);
    r.header = &header;
    r.header_count = header.value && target && *target ? 1 : 0;
    bool goes_on = fb_errand_find_next(e, &r);
    fb_buffer_fini(&next);
    fb_buffer_fini(&link);
    if (goes_on) {
        fb_end_page(e, facts);
        return;
    }
    fb_end_item(e->fetch, e, ENTRY_done, facts);
    fb_errand_end(e);
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
    end_stored(e, known, &facts);
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

static void keep(const struct errand *e, const struct result_facts *f, const char *next)
{
    struct cached c = {.key = {e->key[0], e->key[1]},
                       .etag = value_of(f, "ETag"),
                       .modified = value_of(f, "Last-Modified"),
                       .type = value_of(f, "Content-Type"),
                       .next = next,
                       .body = f->body,
                       .body_size = f->body_size,
                       .stored_s = (int64_t)time(NULL)};

    if (fb_cache_put(e->fetch->store, e->fetch->cache, &c) < 0)
        return; /* too large, or too busy: the next time it is asked for in full */
}

/* Where it leads on is kept whether pages are turned now or not: they may be the next time. */
void fb_conditional_keep(const struct errand *e, const struct result_facts *f)
{
    struct buffer next = BUFFER_INIT;

    if (f->status != 200 || strstr(value_of(f, "Cache-Control"), "no-store"))
        return;
    char *linked =
        fb_page_linked(f->final_url ? f->final_url : url_of(e), f->header, f->header_count);
    if (linked)
        fb_pages_strip(url_of(e), linked, &next);
    fb_free(linked);
    const char *text = fb_buffer_text(&next);
    if (text)
        keep(e, f, text);
    fb_buffer_fini(&next);
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
        end_stored(e, known, &facts);
    } else {
        struct result_facts facts = {.id = e->item.id,
                                     .url = e->item.url,
                                     .status = 304,
                                     .failure = fb_failure_name(FAIL_PAYLOAD),
                                     .sentence = "not modified, but the stored answer is gone"};
        fb_end_item(f, e, ENTRY_failed, &facts);
        fb_errand_end(e);
    }
    fb_fetch_go_on(f);
}

void fb_conditional_unchanged(struct errand *e)
{
    fb_conditional_look_up(e, give_stored);
}
