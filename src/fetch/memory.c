/* SPDX-License-Identifier: MIT */
/*
 * memory.c - what was learned about limits in earlier runs, and what this one learns.
 *
 * Read at the start, written every MEMORY_MS and at the end, by the store's worker. A state that
 * the library refuses is dropped: then the limit is learned anew, from the cautious side.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "fetch/fetch_parts.h"
#include "fetch/paths.h"
#include "store/learned.h"
#include "util/alloc.h"
#include "util/buffer.h"

#include <flyball/state.h>

#define NS_PER_S   INT64_C(1000000000)
#define CHANGE_MIN 0.01 /* of a rate: less is noise */

struct memory {
    struct memory *next;
    int64_t saved_s;
    double rate; /* when it was saved last */
    const char *provider;
    const char *pool;
    const void *state;
    size_t state_size;
};

static int remember(void *context, const struct learned *l)
{
    struct fetch *f = context;
    size_t provider = strlen(l->key.provider) + 1;
    size_t pool = strlen(l->key.pool) + 1;
    struct memory *m = fb_alloc(sizeof *m + provider + pool + l->state_size);

    if (!m)
        return -ENOMEM;
    char *at = (char *)(m + 1);
    m->provider = memcpy(at, l->key.provider, provider);
    m->pool = memcpy(at + provider, l->key.pool, pool);
    at += provider + pool;
    if (l->state_size > 0)
        memcpy(at, l->state, l->state_size);
    m->state = at;
    m->state_size = l->state_size;
    m->saved_s = l->saved_s;
    m->rate = l->rate;
    m->next = f->memory;
    f->memory = m;
    return 0;
}

/* The file, in the folder of the user; nothing when there is no such folder. */
static struct db *open_file(struct fetch *f)
{
    struct buffer path = BUFFER_INIT;
    struct fly_error err = {""};
    struct db *db = NULL;
    int error = fb_state_folder(&path, &err);

    if (error == 0 && fb_buffer_text(&path))
        error = fb_state_folder_make(path.bytes, &err);
    fb_buffer_add_text(&path, "/" STATE_NAME);
    if (error == 0 && fb_buffer_text(&path))
        error = fb_db_open(path.bytes, DB_OURS | DB_OR_MEMORY, &db, &err);
    if (error < 0 && !f->o->quiet)
        fb_say(f, "flyball fetch: %s; what is learned will be forgotten", err.text);
    fb_buffer_fini(&path);
    return error < 0 ? NULL : db;
}

void fb_memory_open(struct fetch *f)
{
    struct db *db = open_file(f);
    int dropped = 0;

    if (!db)
        return;
    if (db->note.text[0])
        fb_say(f, "flyball fetch: %s", db->note.text);
    if (fb_learned_each(db, remember, f, &dropped) < 0 || dropped > 0)
        fb_say(f, "flyball fetch: %s: %d learned limits are damaged; learning them anew",
               db->path ? db->path : "memory", dropped);
    f->learned = fb_store_adopt(f->store, db, NULL);
    if (!f->learned)
        fb_db_close(db);
}

void fb_memory_recall(struct fetch *f, const struct engine_key *k, struct fly_limiter *l,
                      int64_t now_ns)
{
    int64_t now_s = (int64_t)time(NULL);

    for (const struct memory *m = f->memory; m; m = m->next) {
        if (strcmp(m->provider, k->provider) != 0 || strcmp(m->pool, k->pool) != 0)
            continue;
        int64_t passed_s = m->saved_s > 0 && now_s > m->saved_s ? now_s - m->saved_s : 0;
        if (passed_s > 365 * 24 * 3600)
            passed_s = 365 * 24 * 3600;
        /* Refused where the limit is now stated otherwise: then it begins as stated. */
        if (fly_limiter_load(l, now_ns, passed_s * NS_PER_S, m->state, m->state_size, NULL) == 0)
            return;
    }
}

/* A rate that has changed since it was saved last is an event. */
static void note_change(struct fetch *f, const struct learned *row, const char *by)
{
    struct memory *m = f->memory;

    while (m &&
           (strcmp(m->provider, row->key.provider) != 0 || strcmp(m->pool, row->key.pool) != 0))
        m = m->next;
    double before = m ? m->rate : 0.0;
    if (fabs(row->rate - before) <= CHANGE_MIN * before)
        return;
    struct learned_event e = {.key = row->key,
                              .at_s = row->saved_s,
                              .kind = row->rate > before ? "raised" : "lowered",
                              .before = before,
                              .after = row->rate,
                              .why = by};
    if (fb_learned_put_event(f->store, f->learned, &e) < 0)
        return;
    if (!m && remember(f, row) == 0)
        m = f->memory;
    if (m)
        m->rate = row->rate;
}

static void save_key(void *context, const struct engine_key_state *s)
{
    struct fetch *f = context;
    unsigned char bytes[FLY_STATE_BYTES];
    struct fly_learned known = {.size = sizeof known};
    int64_t now_ns = fb_engine_now(f->engine);
    int64_t now_s = (int64_t)time(NULL);
    int size = fly_limiter_save(s->limiter, now_ns, bytes, sizeof bytes);

    if (size < 0 || fly_limiter_learned(s->limiter, now_ns, &known) < 0)
        return;
    struct learned row = {
        .key = {.provider = s->key.provider, .host = s->key.provider, .pool = s->key.pool},
        .state = bytes,
        .state_size = (size_t)size,
        .rate = known.rate,
        .reduction = known.reduction,
        .confidence = known.confidence,
        .recovery_s = (double)known.recovery_ns / 1e9,
        .changed_s = known.changed_ns == FLY_ABSENT ? 0 : known.changed_ns / NS_PER_S,
        .saved_s = now_s,
    };
    note_change(f, &row, known.by);
    if (fb_learned_put(f->store, f->learned, &row) < 0)
        return; /* the next time, then */
}

void fb_memory_save(struct fetch *f)
{
    if (f->learned && f->engine)
        fb_engine_keys(f->engine, save_key, f);
}

void fb_memory_forget(struct fetch *f)
{
    for (struct memory *m = f->memory, *next; m; m = next) {
        next = m->next;
        fb_free(m);
    }
    f->memory = NULL;
}
