/* SPDX-License-Identifier: MIT */
/*
 * memory.c - what was learned about limits in earlier runs, and what this one learns.
 *
 * Read at the start, written by the store's worker every ten seconds, at the end, when the engine
 * forgets a key, and within a second when a limit is known for the first time. A state that the
 * library refuses is dropped: then the limit is learned anew, from the cautious side.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/state.h"
#include "engine/show.h"
#include "fetch/host_parts.h"
#include "fetch/paths.h"
#include "ledger/inner.h"
#include "store/learned.h"
#include "util/alloc.h"
#include "util/buffer.h"

#include <flyball/state.h>

#define STATE_NAME   "state.db"
#define SECRET_NAME  "credentials"
#define NS_PER_S     INT64_C(1000000000)
#define YEAR_S       (365 * 24 * 3600)
#define CHANGE_MIN   0.01 /* of a rate: less is noise */
#define KEY_NAME_MAX 1024
#define ROWS_MAX     16384 /* of some 500 bytes; keys beyond them begin anew when they come again */

/* A key, and its state as it was saved last. */
struct row {
    struct table_entry entry;
    int64_t saved_s;
    int64_t answers;   /* of the engine's key, when it was saved last */
    double rate;       /* of the last event: what it was raised or lowered to */
    int64_t changed_s; /* which was then; 0: there was none */
    double recovery_s; /* how long refusals last that were seen in any run; 0: none was */
    void *state;       /* owned */
    size_t state_size;
    char name[]; /* provider, pool, credential, each with its NUL */
};

/* ---------------------------------------------------------------------------------------- rows */

/* provider NUL pool NUL credential NUL. Returns the size, or 0: longer than any key is. */
static size_t name_of(const char *provider, const char *pool, const char *credential,
                      char name[KEY_NAME_MAX])
{
    int size = snprintf(name, KEY_NAME_MAX, "%s%c%s%c%s", provider, 0, pool, 0, credential);

    return size < 0 || size >= KEY_NAME_MAX ? 0 : (size_t)size + 1;
}

static struct row *find(const struct host *h, const struct engine_key *k)
{
    char name[KEY_NAME_MAX];
    size_t size = name_of(k->provider, k->pool, k->credential, name);
    struct table_entry *e = size > 0 ? fb_table_find(&h->rows, name, size) : NULL;

    return e ? FB_HEAP_OWNER(e, struct row, entry) : NULL;
}

static struct row *find_or_add(struct host *h, const struct engine_key *k)
{
    char name[KEY_NAME_MAX];
    size_t size = name_of(k->provider, k->pool, k->credential, name);
    struct row *r = find(h, k);

    if (r || size == 0 || h->rows.count >= ROWS_MAX)
        return r;
    r = fb_alloc(sizeof *r + size);
    if (!r)
        return NULL;
    memcpy(r->name, name, size);
    r->entry = (struct table_entry){.name = r->name, .name_size = size};
    r->answers = -1;
    if (fb_table_add(&h->rows, &r->entry) < 0) {
        fb_free(r);
        return NULL;
    }
    return r;
}

static bool set_state(struct row *r, const void *state, size_t size)
{
    void *copy = fb_alloc(size + 1);

    if (!copy)
        return false;
    if (size > 0)
        memcpy(copy, state, size);
    fb_free(r->state);
    r->state = copy;
    r->state_size = size;
    return true;
}

static int remember(void *context, const struct learned *l)
{
    struct engine_key k = {l->key.provider, l->key.pool, l->key.credential};
    struct row *r = find_or_add(context, &k);

    if (!r) /* there are too many */
        return 0;
    if (!set_state(r, l->state, l->state_size))
        return -ENOMEM;
    r->saved_s = l->saved_s;
    r->rate = l->rate;
    r->changed_s = l->changed_s;
    r->recovery_s = l->recovery_s;
    return 0;
}

static void free_row(void *arg, struct table_entry *e)
{
    struct row *r = FB_HEAP_OWNER(e, struct row, entry);

    (void)arg;
    fb_free(r->state);
    fb_free(r);
}

void fb_memory_fini(struct host *h)
{
    fb_table_each(&h->rows, free_row, NULL);
    fb_table_fini(&h->rows);
}

/* ---------------------------------------------------------------------------------- the secret */

struct secret_job {
    struct store_job job;
    bool replaces;
    unsigned char secret[SECRET_BYTES];
};

static int write_secret(struct store_job *job, struct db *db)
{
    const struct secret_job *s = (struct secret_job *)(void *)job; /* its first member */
    unsigned char found[SECRET_BYTES];

    if (!s->replaces && fb_secret_read(db, SECRET_NAME, found) == 0)
        return 0; /* of a process that began at the same time: the next time it is ours, too */
    return fb_secret_write(db, SECRET_NAME, s->secret);
}

static void job_done(struct store_job *job, int error)
{
    (void)error; /* it is in memory; the next time, then */
    fb_free(job);
}

/* By the worker: nobody waits for a disk. Where it cannot be kept, there is another next time. */
static void keep_secret(struct host *h, bool replaces)
{
    struct secret_job *s = h->file && !h->o.forgets ? fb_alloc(sizeof *s) : NULL;

    if (!s)
        return;
    s->job = (struct store_job){.file = h->file, .apply = write_secret, .done = job_done};
    s->replaces = replaces;
    memcpy(s->secret, h->secret, sizeof s->secret);
    if (fb_store_put(h->store, &s->job) < 0)
        fb_free(s);
}

void fb_memory_keep_secret(struct host *h)
{
    keep_secret(h, true);
}

/* ------------------------------------------------------------------------------------ beginning */

/* The file, in the folder of the user; nothing when there is no such folder. */
static struct db *open_file(struct host *h)
{
    struct buffer path = BUFFER_INIT;
    struct fly_error err = {""};
    struct db *db = NULL;
    int error = fb_state_folder_named(h->o.folder, &path, &err);

    if (error == 0 && fb_buffer_text(&path))
        error = fb_state_folder_make(path.bytes, &err);
    fb_buffer_add_text(&path, "/" STATE_NAME);
    if (error == 0 && fb_buffer_text(&path))
        error = fb_db_open(path.bytes, DB_OURS | DB_OR_MEMORY, &db, &err);
    if (error < 0)
        fb_host_say(h, "%s; what is learned will be forgotten", err.text);
    fb_buffer_fini(&path);
    return error < 0 ? NULL : db;
}

void fb_memory_open(struct host *h)
{
    struct db *db = h->o.no_store ? NULL : open_file(h);
    int dropped = 0;

    if (!db)
        return;
    if (db->note.text[0])
        fb_host_say(h, "%s", db->note.text);
    if (fb_learned_trim(db, ROWS_MAX) < 0)
        fb_host_say(h, "%s: cannot be tidied", db->path ? db->path : "memory");
    if (fb_learned_each(db, remember, h, &dropped) < 0 || dropped > 0)
        fb_host_say(h, "%s: %d learned limits are damaged; learning them anew",
                    db->path ? db->path : "memory", dropped);
    bool has_secret = fb_secret_read(db, SECRET_NAME, h->secret) == 0;
    h->file = fb_store_adopt(h->store, db, NULL);
    if (!h->file)
        fb_db_close(db);
    else if (!has_secret)
        keep_secret(h, false);
}

/* ----------------------------------------------------------------------------- there and back */

void fb_memory_recall(struct host *h, const struct engine_key *k, struct fly_limiter *l,
                      int64_t now_ns)
{
    struct row *r = find(h, k);
    int64_t now_s = (int64_t)time(NULL);

    if (!r || !r->state)
        return;
    r->answers = -1; /* of another key of the engine */
    int64_t passed_s = r->saved_s > 0 && now_s > r->saved_s ? now_s - r->saved_s : 0;
    if (passed_s > YEAR_S)
        passed_s = YEAR_S;
    /*
     * Refused where the limit is now stated otherwise: then it begins as stated. Where others
     * share it, what they know is newer.
     */
    if (fb_limiter_load_first(l, now_ns, passed_s * NS_PER_S, r->state, r->state_size) < 0)
        return;
}

/* When the limiter has changed its mind, if that was since the last time; else it is seen now. */
static int64_t change_s(const struct fly_learned *known, int64_t since_s, int64_t now_s)
{
    int64_t at_s = known->changed_ns == FLY_ABSENT ? 0 : known->changed_ns / NS_PER_S;

    return at_s > since_s && at_s <= now_s ? at_s : now_s;
}

/*
 * A rate that has changed since it was saved last is an event, unless it is only stated. One that
 * is not known yet is no lower one. That row and event tell the same instant is for whoever reads
 * both.
 */
static void note_change(struct host *h, struct row *r, const struct learned *row,
                        const struct fly_learned *known, int64_t since_s)
{
    const char *by = known->by;

    if (strcmp(by, "off") == 0 || row->rate <= 0.0 ||
        fabs(row->rate - r->rate) <= CHANGE_MIN * r->rate)
        return;
    struct learned_event e = {.key = row->key,
                              .at_s = change_s(known, since_s, row->saved_s),
                              .kind = row->rate > r->rate ? "raised" : "lowered",
                              .before = r->rate,
                              .after = row->rate,
                              .why = by};
    if (fb_learned_put_event(h->store, h->file, &e) < 0)
        return;
    r->rate = row->rate;
    r->changed_s = e.at_s;
}

static bool put(struct host *h, struct row *r, const struct engine_key_state *s,
                const struct fly_learned *known, int64_t since_s)
{
    if (known->recovery_ns > 0)
        r->recovery_s = (double)known->recovery_ns / 1e9;
    struct learned row = {
        .key = {s->key.provider, s->key.provider, s->key.pool, s->key.credential},
        .state = r->state,
        .state_size = r->state_size,
        .rate = known->rate,
        .reduction = known->reduction,
        .confidence = known->confidence,
        .recovery_s = r->recovery_s,
        .saved_s = r->saved_s,
    };

    note_change(h, r, &row, known, since_s);
    row.changed_s = r->changed_s;
    return fb_learned_put(h->store, h->file, &row) == 0;
}

bool fb_memory_save_key(struct host *h, const struct engine_key_state *s)
{
    int64_t answers = s->requests - s->in_flight;
    unsigned char bytes[FLY_STATE_BYTES];
    struct fly_learned known = {.size = sizeof known};
    struct row *r = find(h, &s->key);

    if (!h->file)
        return false;
    if (answers == 0 || (r && r->answers == answers))
        return true; /* there is nothing new to say */
    int64_t now_ns = fb_engine_now(h->engine);
    int size = fly_limiter_save(s->limiter, now_ns, bytes, sizeof bytes);
    if (size < 0 || fb_show_learned(s, now_ns, &known) < 0)
        return false;
    if (r && strcmp(known.by, "off") == 0 && fb_state_is_learned(r->state, r->state_size))
        return true; /* one run with a stated limit does not undo what others took long to learn */
    r = find_or_add(h, &s->key);
    if (!r || !set_state(r, bytes, (size_t)size))
        return false;
    int64_t since_s = r->saved_s;
    r->saved_s = (int64_t)time(NULL);
    if (put(h, r, s, &known, since_s))
        r->answers = answers; /* else the next time, then */
    return r->answers == answers;
}

void fb_memory_save_first(struct host *h, const struct engine_key_state *s)
{
    struct fly_learned known = {.size = sizeof known};
    const struct row *r = find(h, &s->key);

    if (s->requests == s->in_flight || (r && r->rate > 0.0) ||
        fb_show_learned(s, fb_engine_now(h->engine), &known) < 0 || known.rate <= 0.0 ||
        strcmp(known.by, "off") == 0)
        return;
    (void)fb_memory_save_key(h, s);
}

int64_t fb_host_changed_ns(const struct host *h, const struct engine_key *k)
{
    const struct row *r = find(h, k);

    return r ? r->changed_s * NS_PER_S : 0;
}

/* -------------------------------------------------------------------------------- on demand */

struct forget_job {
    struct store_job job;
    bool all_pools;
    char provider[KEY_NAME_MAX];
    char pool[KEY_NAME_MAX];
};

static int forget_rows(struct store_job *job, struct db *db)
{
    const struct forget_job *f = (struct forget_job *)(void *)job; /* its first member */
    struct learned_key k = {.provider = f->provider, .pool = f->all_pools ? NULL : f->pool};
    int count = fb_learned_forget(db, &k);

    return count < 0 ? count : 0;
}

static void forget_one(void *arg, struct table_entry *e)
{
    const struct forget_job *f = arg;
    struct row *r = FB_HEAP_OWNER(e, struct row, entry);
    const char *pool = r->name + strlen(r->name) + 1;

    if (strcmp(r->name, f->provider) != 0 || (!f->all_pools && strcmp(pool, f->pool) != 0))
        return;
    fb_free(r->state);
    r->state = NULL;
    r->state_size = 0;
    r->rate = r->recovery_s = 0.0;
    r->changed_s = 0;
    r->answers = -1;
}

void fb_host_forget(struct host *h, const char *provider, const char *pool)
{
    struct forget_job *f = fb_alloc(sizeof *f);

    if (!f)
        return;
    f->all_pools = !pool;
    (void)snprintf(f->provider, sizeof f->provider, "%s", provider);
    (void)snprintf(f->pool, sizeof f->pool, "%s", pool ? pool : "");
    fb_table_each(&h->rows, forget_one, f);
    f->job = (struct store_job){.file = h->file, .apply = forget_rows, .done = job_done};
    if (!h->file || fb_store_put(h->store, &f->job) < 0)
        fb_free(f);
}
