/* SPDX-License-Identifier: MIT */
/* known.c - records and store, put together: of each key what was seen last. */
#include "cli/known.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/answer.h"
#include "fetch/host.h"
#include "fetch/paths.h"
#include "ledger/inner.h"
#include "util/alloc.h"

#define NS_PER_S  INT64_C(1000000000)
#define STATE_DB  "/state.db"
#define ROWS_MAX  4096
#define TEXTS_MAX (8 * ROWS_MAX)

/* -------------------------------------------------------------------------------------- memory */

static const char *keep(struct known *k, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = k->text_count < TEXTS_MAX ? fb_alloc(size) : NULL;

    if (!copy)
        return "";
    memcpy(copy, text, size);
    k->texts[k->text_count++] = copy;
    return copy;
}

static struct view_key *add_key(struct known *k)
{
    if (k->key_count == k->key_room) {
        size_t room = k->key_room ? 2 * k->key_room : 64;
        struct view_key *more = fb_alloc(room * sizeof *more);

        if (!more)
            return NULL;
        if (k->key_count > 0)
            memcpy(more, k->key, k->key_count * sizeof *more);
        fb_free(k->key);
        k->key = more;
        k->key_room = room;
    }
    return &k->key[k->key_count++];
}

void fb_known_free(struct known *k)
{
    for (size_t i = 0; i < k->text_count; i++)
        fb_free(k->texts[i]);
    fb_free(k->texts);
    fb_free(k->key);
    fb_free(k->row);
    fb_free(k->event);
    fb_runs_free(&k->runs);
    fb_sight_close(k->ledger);
    fb_buffer_fini(&k->folder);
    memset(k, 0, sizeof *k);
}

/* ------------------------------------------------------------------------------------- records */

struct view_key *fb_known_key(const struct known *k, const char *provider, const char *pool,
                              const char *credential)
{
    for (size_t i = 0; i < k->key_count; i++) {
        if (strcmp(k->key[i].provider, provider) == 0 && strcmp(k->key[i].pool, pool) == 0 &&
            strcmp(k->key[i].credential, credential) == 0)
            return &k->key[i];
    }
    return NULL;
}

static bool has_key(const struct view_batch *b, const struct view_key *k)
{
    for (size_t i = 0; i < fb_view_batch_keys(b); i++) {
        if (b->key[i].seen_ns == k->seen_ns && strcmp(b->key[i].provider, k->provider) == 0 &&
            strcmp(b->key[i].pool, k->pool) == 0)
            return true;
    }
    return false;
}

const struct view_batch *fb_known_batch_of(const struct known *k, const struct view_key *key)
{
    for (size_t i = 0; i < k->runs.count; i++) {
        if (has_key(k->runs.batch[i], key))
            return k->runs.batch[i];
    }
    return NULL;
}

static int add_batch_keys(struct known *k, const struct view_batch *b, const char *provider)
{
    for (size_t i = 0; i < fb_view_batch_keys(b); i++) {
        const struct view_key *from = &b->key[i];

        if (provider && strcmp(provider, from->provider) != 0)
            continue;
        struct view_key *to = fb_known_key(k, from->provider, from->pool, from->credential);
        if (to && to->seen_ns >= from->seen_ns)
            continue;
        if (!to)
            to = add_key(k);
        if (!to)
            return -ENOMEM;
        *to = *from;
    }
    return 0;
}

/* ----------------------------------------------------------------------------------- the store */

struct reading {
    struct known *known;
    const char *provider;
};

/* A key of which there is no record any more. */
static int add_learned_key(struct known *k, const struct learned *l)
{
    const char *credential = l->key.credential ? l->key.credential : "";
    struct view_key *to = fb_known_key(k, l->key.provider, l->key.pool, credential);

    if (to) {
        fb_known_recall(k, l, fb_answer_now(), to);
        return 0;
    }
    to = add_key(k);
    if (!to)
        return -ENOMEM;
    *to = (struct view_key){.seen_ns = l->saved_s * NS_PER_S,
                            .limit = l->rate,
                            .bound = {l->rate, l->rate > 0.0 ? BOUND_LEARNED : BOUND_NOTHING},
                            .confidence = l->confidence,
                            .permits = -1.0,
                            .requests = -1,
                            .refused = -1,
                            .refused_hour = -1,
                            .flags = VIEW_KEY_LEARNED};
    fb_view_put(to->provider, sizeof to->provider, l->key.provider);
    fb_view_put(to->pool, sizeof to->pool, l->key.pool);
    fb_view_put(to->credential, sizeof to->credential, credential);
    fb_known_recall(k, l, fb_answer_now(), to);
    return 0;
}

static int add_row(void *context, const struct learned *l)
{
    const struct reading *r = context;
    struct known *k = r->known;

    if (r->provider && strcmp(r->provider, l->key.provider) != 0)
        return 0;
    if (k->row_count == ROWS_MAX)
        return 0;
    k->row[k->row_count++] = (struct view_learned_row){
        .provider = keep(k, l->key.provider),
        .host = keep(k, l->key.host),
        .pool = keep(k, l->key.pool),
        .credential = keep(k, l->key.credential ? l->key.credential : ""),
        .by = "",
        .rate = l->rate,
        .reduction = l->reduction,
        .confidence = l->confidence,
        .recovery_ns = (int64_t)(l->recovery_s * 1e9),
        .changed_ns = l->changed_s * NS_PER_S,
        .saved_ns = l->saved_s * NS_PER_S,
    };
    return add_learned_key(k, l);
}

static int add_event(void *context, const struct learned_event *e)
{
    const struct reading *r = context;
    struct known *k = r->known;

    if (k->event_count == LEARNED_EVENTS_MAX ||
        (r->provider && strcmp(r->provider, e->key.provider) != 0))
        return 0;
    k->event[k->event_count++] = (struct view_learned_event){
        .provider = keep(k, e->key.provider),
        .pool = keep(k, e->key.pool),
        .kind = keep(k, e->kind),
        .why = keep(k, e->why),
        .before = e->before,
        .after = e->after,
        .at_ns = e->at_s * NS_PER_S,
    };
    return 0;
}

/* What learned a limit is told by what happened to it last. */
static void name_learners(struct known *k)
{
    for (size_t i = 0; i < k->row_count; i++) {
        for (size_t e = 0; e < k->event_count && !k->row[i].by[0]; e++) {
            if (strcmp(k->row[i].provider, k->event[e].provider) == 0 &&
                strcmp(k->row[i].pool, k->event[e].pool) == 0)
                k->row[i].by = k->event[e].why;
        }
    }
}

static int read_store(struct known *k, const char *provider, struct fly_error *err)
{
    struct reading r = {k, provider};
    struct buffer path = BUFFER_INIT;
    struct db *db = NULL;

    fb_buffer_add(&path, k->folder.bytes, k->folder.size);
    fb_buffer_add_text(&path, STATE_DB);
    int error = fb_buffer_text(&path) ? fb_db_open(path.bytes, DB_READ_ONLY, &db, err) : -ENOMEM;
    if (error == 0)
        error = fb_learned_each(db, add_row, &r, &k->dropped);
    if (error == 0)
        error = fb_learned_events(db, add_event, &r);
    if (error < 0 && error != -ENOENT && !err->text[0])
        (void)snprintf(err->text, sizeof err->text, "cannot read %.180s: %s",
                       path.bytes ? path.bytes : "", strerror(-error));
    fb_db_close(db);
    fb_buffer_fini(&path);
    name_learners(k);
    return error == -ENOENT ? 0 : error;
}

int fb_known_read(struct known *k, const char *provider, struct fly_error *err)
{
    memset(k, 0, sizeof *k);
    k->texts = fb_alloc_raw(TEXTS_MAX * sizeof *k->texts);
    k->row = fb_alloc_raw(ROWS_MAX * sizeof *k->row);
    k->event = fb_alloc_raw(LEARNED_EVENTS_MAX * sizeof *k->event);
    if (!k->texts || !k->row || !k->event)
        return -ENOMEM;
    int error = fb_state_folder(&k->folder, err);
    if (error == 0 && !fb_buffer_text(&k->folder))
        error = -ENOMEM;
    /* One that cannot be read is for those to tell who need it. */
    if (fb_sight_open(NULL, &k->ledger, NULL) < 0)
        k->ledger = NULL;
    if (error == 0)
        error = fb_runs_read(k->folder.bytes, &k->runs);
    for (size_t i = 0; error == 0 && i < k->runs.count; i++)
        error = add_batch_keys(k, k->runs.batch[i], provider);
    if (error == 0)
        error = read_store(k, provider, err);
    fb_known_hear(k, fb_answer_now());
    if (error < 0 && !err->text[0])
        (void)snprintf(err->text, sizeof err->text, "%s", strerror(-error));
    return error;
}

bool fb_known_is_demo(const struct known *k)
{
    return k->runs.count == 1 && strcmp(k->runs.batch[0]->name, "demo") == 0;
}

static bool ends_with(const char *path, const char *word)
{
    size_t size = strlen(path);
    size_t tail = strlen(word);

    return size >= tail && strcmp(path + size - tail, word) == 0 &&
           (size == tail || path[size - tail - 1] == '/' || word[0] == '/');
}

bool fb_known_has_path(const struct view_batch *b, const char *word)
{
    while (strncmp(word, "./", 2) == 0)
        word += 2;
    return *word &&
           (ends_with(b->list, word) || ends_with(b->output, word) || ends_with(b->journal, word));
}

bool fb_known_is_meant(const struct view_batch *b, const char *word)
{
    const char *dash = strchr(b->name, '-');

    return strncmp(b->name, word, strlen(word)) == 0 ||
           (dash && strncmp(dash + 1, word, strlen(word)) == 0) || fb_known_has_path(b, word);
}

const struct view_batch *fb_known_batch(const struct known *k, const char *name)
{
    const struct view_batch *found = NULL;

    for (size_t i = 0; i < k->runs.count; i++) {
        const struct view_batch *b = k->runs.batch[i];

        if (strcmp(b->name, name) == 0)
            return b;
        if (!found && strncmp(b->name, name, strlen(name)) == 0)
            found = b;
    }
    return found;
}

const struct view_key *fb_known_find(const struct known *k, const char *provider, const char *pool,
                                     int64_t now_ns)
{
    const struct view_key *best = NULL;

    for (size_t i = 0; i < k->key_count; i++) {
        const struct view_key *here = &k->key[i];
        bool waits = here->ready_ns > now_ns;

        if (strcmp(here->provider, provider) != 0 || (pool && strcmp(here->pool, pool) != 0))
            continue;
        if (!best || (waits && best->ready_ns <= now_ns) ||
            (waits == (best->ready_ns > now_ns) && here->seen_ns > best->seen_ns))
            best = here;
    }
    return best;
}
