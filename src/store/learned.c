/* SPDX-License-Identifier: MIT */
/* learned.c - rows of learned limits, and what happened to them. */
#include "store/learned.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <string.h>

#include "util/alloc.h"
#include "util/hash.h"

static uint64_t add_text(uint64_t hash, const char *text)
{
    return fb_hash_add(hash, text, strlen(text) + 1);
}

static uint64_t add_real(uint64_t hash, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return fb_hash_add_int(hash, bits);
}

static const char *credential_of(const struct learned_key *key)
{
    return key->credential ? key->credential : "";
}

static int64_t sum_of(const struct learned *l)
{
    uint64_t hash = add_text(FB_HASH_INIT, l->key.provider);

    hash = add_text(add_text(hash, l->key.host), l->key.pool);
    if (*credential_of(&l->key)) /* rows of earlier versions have none */
        hash = add_text(hash, l->key.credential);
    hash = add_real(add_real(hash, l->rate), l->reduction);
    hash = add_real(add_real(hash, l->confidence), l->recovery_s);
    hash = fb_hash_add_int(hash, (uint64_t)l->changed_s);
    if (l->saved_s != 0) /* rows of the first version have none */
        hash = fb_hash_add_int(hash, (uint64_t)l->saved_s);
    return (int64_t)fb_hash_end(fb_hash_add(hash, l->state, l->state_size));
}

static void bind_key(sqlite3_stmt *s, const struct learned_key *key)
{
    sqlite3_bind_text(s, 1, key->provider, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 2, key->host, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 3, key->pool, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 4, key->credential, -1, SQLITE_STATIC);
}

static void bind_whole_key(sqlite3_stmt *s, const struct learned_key *key)
{
    bind_key(s, key);
    sqlite3_bind_text(s, 4, credential_of(key), -1, SQLITE_STATIC);
}

/* A row that is not sound is never written: numbers in their ranges, as they are read. */
static bool is_sound(const struct learned *l)
{
    return isfinite(l->rate) && l->rate >= 0 && l->reduction >= 0 && l->reduction <= 1 &&
           l->confidence >= 0 && l->confidence <= 1 && isfinite(l->recovery_s) &&
           l->recovery_s >= 0;
}

int fb_learned_write(struct db *db, const struct learned *l)
{
    sqlite3_stmt *s = fb_db_statement(
        db, "INSERT OR REPLACE INTO learned(provider, host, pool, credential, state, rate,"
            " reduction, confidence, recovery_s, changed_s, sum, saved_s)"
            " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)");

    if (!is_sound(l))
        return -EINVAL;
    if (s) {
        bind_whole_key(s, &l->key);
        sqlite3_bind_blob(s, 5, l->state_size ? l->state : "", (int)l->state_size, SQLITE_STATIC);
        sqlite3_bind_double(s, 6, l->rate);
        sqlite3_bind_double(s, 7, l->reduction);
        sqlite3_bind_double(s, 8, l->confidence);
        sqlite3_bind_double(s, 9, l->recovery_s);
        sqlite3_bind_int64(s, 10, l->changed_s);
        sqlite3_bind_int64(s, 11, sum_of(l));
        sqlite3_bind_int64(s, 12, l->saved_s);
    }
    return fb_db_run(db, s);
}

static int trim_events(struct db *db)
{
    sqlite3_stmt *s = fb_db_statement(
        db, "DELETE FROM learned_event WHERE seq <= (SELECT max(seq) FROM learned_event) - ?1");

    if (s)
        sqlite3_bind_int64(s, 1, LEARNED_EVENTS_MAX);
    return fb_db_run(db, s);
}

int fb_learned_note(struct db *db, const struct learned_event *e)
{
    sqlite3_stmt *s = fb_db_statement(
        db, "INSERT INTO learned_event(provider, host, pool, credential, at_s, kind, before,"
            " after, why) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)");

    if (s) {
        bind_whole_key(s, &e->key);
        sqlite3_bind_int64(s, 5, e->at_s);
        sqlite3_bind_text(s, 6, e->kind, -1, SQLITE_STATIC);
        sqlite3_bind_double(s, 7, isfinite(e->before) ? e->before : 0.0);
        sqlite3_bind_double(s, 8, isfinite(e->after) ? e->after : 0.0);
        sqlite3_bind_text(s, 9, e->why, -1, SQLITE_STATIC);
    }
    int error = fb_db_run(db, s);
    return error < 0 ? error : trim_events(db);
}

int fb_learned_forget(struct db *db, const struct learned_key *key)
{
    sqlite3_stmt *s =
        fb_db_statement(db, "DELETE FROM learned WHERE provider = ifnull(?1, provider)"
                            " AND host = ifnull(?2, host)"
                            " AND pool = ifnull(?3, pool)"
                            " AND credential = ifnull(?4, credential)");

    if (s)
        bind_key(s, key);
    int error = fb_db_run(db, s);
    return error < 0 ? error : sqlite3_changes(db->sqlite);
}

int fb_learned_trim(struct db *db, int64_t most)
{
    sqlite3_stmt *s = fb_db_statement(
        db, "DELETE FROM learned WHERE (provider, host, pool, credential) IN (SELECT provider,"
            " host, pool, credential FROM learned ORDER BY saved_s DESC LIMIT -1 OFFSET ?1)");

    if (s)
        sqlite3_bind_int64(s, 1, most);
    int error = fb_db_run(db, s);
    return error < 0 ? error : sqlite3_changes(db->sqlite);
}

static const char *text_at(sqlite3_stmt *s, int column)
{
    const unsigned char *text = sqlite3_column_text(s, column);

    return text ? (const char *)text : "";
}

/* The first four columns. */
static struct learned_key key_at(sqlite3_stmt *s)
{
    return (struct learned_key){text_at(s, 0), text_at(s, 1), text_at(s, 2), text_at(s, 3)};
}

int fb_learned_each(struct db *db, int (*each)(void *context, const struct learned *l),
                    void *context, int *ret_dropped)
{
    sqlite3_stmt *s = fb_db_statement(
        db, "SELECT provider, host, pool, credential, state, rate, reduction, confidence,"
            " recovery_s, changed_s, saved_s, sum FROM learned"
            " ORDER BY provider, host, pool, credential");
    int dropped = 0;
    int found;

    while ((found = fb_db_step(db, s)) > 0) {
        struct learned l = {.key = key_at(s),
                            .state = sqlite3_column_blob(s, 4),
                            .state_size = (size_t)sqlite3_column_bytes(s, 4),
                            .rate = sqlite3_column_double(s, 5),
                            .reduction = sqlite3_column_double(s, 6),
                            .confidence = sqlite3_column_double(s, 7),
                            .recovery_s = sqlite3_column_double(s, 8),
                            .changed_s = sqlite3_column_int64(s, 9),
                            .saved_s = sqlite3_column_int64(s, 10)};
        bool sound = is_sound(&l) && sqlite3_column_int64(s, 11) == sum_of(&l);
        int result = sound ? each(context, &l) : 0;

        dropped += !sound;
        if (result != 0) {
            (void)sqlite3_reset(s);
            return result;
        }
    }
    *ret_dropped = dropped;
    return found;
}

int fb_learned_events(struct db *db, int (*each)(void *context, const struct learned_event *e),
                      void *context)
{
    sqlite3_stmt *s = fb_db_statement(
        db, "SELECT provider, host, pool, credential, at_s, kind, before, after, why"
            " FROM learned_event ORDER BY seq DESC");
    int found;

    while ((found = fb_db_step(db, s)) > 0) {
        struct learned_event e = {.key = key_at(s),
                                  .at_s = sqlite3_column_int64(s, 4),
                                  .kind = text_at(s, 5),
                                  .before = sqlite3_column_double(s, 6),
                                  .after = sqlite3_column_double(s, 7),
                                  .why = text_at(s, 8)};
        int result = each(context, &e);
        if (result != 0) {
            (void)sqlite3_reset(s);
            return result;
        }
    }
    return found;
}

/* --------------------------------------------------------------------------- through the worker */

struct learned_job {
    struct store_job job;
    struct learned row;
    struct learned_event event;
    bool is_event;
    char bytes[]; /* what row or event point to */
};

static int apply(struct store_job *job, struct db *db)
{
    struct learned_job *l = (struct learned_job *)(void *)job; /* its first member */

    return l->is_event ? fb_learned_note(db, &l->event) : fb_learned_write(db, &l->row);
}

static void forget_job(struct store_job *job, int error)
{
    (void)error; /* what was learned is still in memory; the next save brings it */
    fb_free(job);
}

static const char *copy(char **at, const void *from, size_t size)
{
    char *to = *at;

    if (size > 0)
        memcpy(to, from, size);
    *at += size;
    return to;
}

static size_t key_size(const struct learned_key *k)
{
    return strlen(k->provider) + strlen(k->host) + strlen(k->pool) + strlen(credential_of(k)) + 4;
}

static struct learned_key copy_key(char **at, const struct learned_key *k)
{
    struct learned_key mine;

    mine.provider = copy(at, k->provider, strlen(k->provider) + 1);
    mine.host = copy(at, k->host, strlen(k->host) + 1);
    mine.pool = copy(at, k->pool, strlen(k->pool) + 1);
    mine.credential = copy(at, credential_of(k), strlen(credential_of(k)) + 1);
    return mine;
}

static int put(struct store *s, struct store_file *file, struct learned_job *l)
{
    l->job.file = file;
    l->job.apply = apply;
    l->job.done = forget_job;
    int error = fb_store_put(s, &l->job);
    if (error < 0)
        fb_free(l);
    return error;
}

int fb_learned_put(struct store *s, struct store_file *file, const struct learned *row)
{
    struct learned_job *l = fb_alloc(sizeof *l + key_size(&row->key) + row->state_size);

    if (!l)
        return -ENOMEM;
    char *at = l->bytes;
    l->row = *row;
    l->row.key = copy_key(&at, &row->key);
    l->row.state = copy(&at, row->state, row->state_size);
    return put(s, file, l);
}

int fb_learned_put_event(struct store *s, struct store_file *file, const struct learned_event *e)
{
    size_t texts = strlen(e->kind) + strlen(e->why) + 2;
    struct learned_job *l = fb_alloc(sizeof *l + key_size(&e->key) + texts);

    if (!l)
        return -ENOMEM;
    char *at = l->bytes;
    l->is_event = true;
    l->event = *e;
    l->event.key = copy_key(&at, &e->key);
    l->event.kind = copy(&at, e->kind, strlen(e->kind) + 1);
    l->event.why = copy(&at, e->why, strlen(e->why) + 1);
    return put(s, file, l);
}
