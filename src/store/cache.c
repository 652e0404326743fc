/* SPDX-License-Identifier: MIT */
/* cache.c - validators and bodies by a hash of the request. */
#include "store/cache.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>

#include "util/alloc.h"
#include "util/hash.h"

static int64_t sum_of(const struct cached *c)
{
    uint64_t hash = fb_hash_add_int(fb_hash_add_int(FB_HASH_INIT, c->key[0]), c->key[1]);

    hash = fb_hash_add(hash, c->etag, strlen(c->etag) + 1);
    hash = fb_hash_add(hash, c->modified, strlen(c->modified) + 1);
    hash = fb_hash_add(hash, c->type, strlen(c->type) + 1);
    hash = fb_hash_add(hash, c->next, strlen(c->next) + 1);
    return (int64_t)fb_hash_end(fb_hash_add(hash, c->body, c->body_size));
}

static void bind_key(sqlite3_stmt *s, const uint64_t key[2])
{
    sqlite3_bind_int64(s, 1, (int64_t)key[0]);
    sqlite3_bind_int64(s, 2, (int64_t)key[1]);
}

static const char *text_at(sqlite3_stmt *s, int column)
{
    const unsigned char *text = sqlite3_column_text(s, column);

    return text ? (const char *)text : "";
}

int fb_cache_read(struct db *db, const uint64_t key[2], struct cached *ret_cached)
{
    sqlite3_stmt *s =
        fb_db_statement(db, "SELECT etag, modified, type, body, stored_s, sum, next FROM cached"
                            " WHERE high = ?1 AND low = ?2");

    if (s)
        bind_key(s, key);
    int found = fb_db_step(db, s);
    if (found <= 0)
        return found;
    struct cached c = {.key = {key[0], key[1]},
                       .etag = text_at(s, 0),
                       .modified = text_at(s, 1),
                       .type = text_at(s, 2),
                       .next = text_at(s, 6),
                       .body = sqlite3_column_blob(s, 3),
                       .body_size = (size_t)sqlite3_column_bytes(s, 3),
                       .stored_s = sqlite3_column_int64(s, 4)};
    if (sqlite3_column_int64(s, 5) != sum_of(&c))
        return 0; /* as good as not there: the answer is asked for in full */
    *ret_cached = c;
    return 1;
}

/* Those unused for longest go, until the rest is small enough. */
static int make_room(struct db *db, int64_t size)
{
    /* The pages in use tell it at once, however many rows there are. */
    static const char TOTAL[] = "SELECT (page_count - freelist_count) * page_size"
                                " FROM pragma_page_count, pragma_freelist_count, pragma_page_size";
    static const char OLDEST[] =
        "DELETE FROM cached WHERE rowid IN (SELECT rowid FROM cached ORDER BY used LIMIT 64)";

    for (;;) {
        sqlite3_stmt *s = fb_db_statement(db, TOTAL);
        int found = fb_db_step(db, s);
        if (found <= 0)
            return found;
        bool fits = sqlite3_column_int64(s, 0) + size <= CACHE_TOTAL_MAX;
        (void)sqlite3_reset(s);
        if (fits)
            return 0;
        int error = fb_db_run(db, fb_db_statement(db, OLDEST));
        if (error < 0)
            return error;
    }
}

int fb_cache_write(struct db *db, const struct cached *c)
{
    sqlite3_stmt *s = fb_db_statement(
        db, "INSERT OR REPLACE INTO cached(high, low, etag, modified, type, body, stored_s, used,"
            " sum, next) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7,"
            " (SELECT ifnull(max(used), 0) + 1 FROM cached), ?8, ?9)");
    int error = c->body_size > CACHE_BODY_MAX ? -EFBIG : make_room(db, (int64_t)c->body_size);

    if (error < 0)
        return error;
    if (s) {
        bind_key(s, c->key);
        sqlite3_bind_text(s, 3, c->etag, -1, SQLITE_STATIC);
        sqlite3_bind_text(s, 4, c->modified, -1, SQLITE_STATIC);
        sqlite3_bind_text(s, 5, c->type, -1, SQLITE_STATIC);
        sqlite3_bind_blob64(s, 6, c->body_size ? c->body : "", c->body_size, SQLITE_STATIC);
        sqlite3_bind_int64(s, 7, c->stored_s);
        sqlite3_bind_int64(s, 8, sum_of(c));
        sqlite3_bind_text(s, 9, c->next, -1, SQLITE_STATIC);
    }
    return fb_db_run(db, s);
}

static void touch(struct db *db, const uint64_t key[2])
{
    sqlite3_stmt *s =
        fb_db_statement(db, "UPDATE cached SET used = (SELECT max(used) + 1 FROM cached)"
                            " WHERE high = ?1 AND low = ?2");

    if (s)
        bind_key(s, key);
    if (fb_db_run(db, s) < 0)
        return; /* then it is thrown away somewhat sooner */
}

/* --------------------------------------------------------------------------- through the worker */

/* A copy of an answer with all that it points to. */
struct parcel {
    struct cached c;
    char bytes[];
};

static struct parcel *pack(const struct cached *c)
{
    size_t sizes[] = {strlen(c->etag) + 1, strlen(c->modified) + 1, strlen(c->type) + 1,
                      strlen(c->next) + 1};
    size_t texts = sizes[0] + sizes[1] + sizes[2] + sizes[3];
    struct parcel *p = fb_alloc(sizeof *p + texts + c->body_size);

    if (!p)
        return NULL;
    char *at = p->bytes;
    p->c = *c;
    p->c.etag = memcpy(at, c->etag, sizes[0]);
    p->c.modified = memcpy(at += sizes[0], c->modified, sizes[1]);
    p->c.type = memcpy(at += sizes[1], c->type, sizes[2]);
    p->c.next = memcpy(at += sizes[2], c->next, sizes[3]);
    at += sizes[3];
    if (c->body_size > 0)
        memcpy(at, c->body, c->body_size);
    p->c.body = at;
    return p;
}

struct cache_job {
    struct store_job job;
    uint64_t key[2];
    struct parcel *parcel; /* to be written, or what was found */
    void (*found)(void *context, const struct cached *c);
    void *context;
};

static int apply_find(struct store_job *job, struct db *db)
{
    struct cache_job *j = (struct cache_job *)(void *)job; /* its first member */
    struct cached c;

    fb_free(j->parcel);
    j->parcel = NULL;
    if (fb_cache_read(db, j->key, &c) <= 0)
        return 0;
    j->parcel = pack(&c);
    touch(db, j->key);
    return 0;
}

static int apply_put(struct store_job *job, struct db *db)
{
    struct cache_job *j = (struct cache_job *)(void *)job; /* its first member */

    return fb_cache_write(db, &j->parcel->c);
}

static void end_job(struct store_job *job, int error)
{
    struct cache_job *j = (struct cache_job *)(void *)job; /* its first member */

    if (j->found)
        j->found(j->context, error == 0 && j->parcel ? &j->parcel->c : NULL);
    fb_free(j->parcel);
    fb_free(j);
}

static int hand_over(struct store *s, struct store_file *file, struct cache_job *j)
{
    j->job.file = file;
    j->job.done = end_job;
    int error = fb_store_put(s, &j->job);
    if (error < 0) {
        fb_free(j->parcel);
        fb_free(j);
    }
    return error;
}

int fb_cache_find(struct store *s, struct store_file *file, const uint64_t key[2],
                  void (*found)(void *context, const struct cached *c), void *context)
{
    struct cache_job *j = fb_alloc(sizeof *j);

    if (!j)
        return -ENOMEM;
    j->key[0] = key[0];
    j->key[1] = key[1];
    j->found = found;
    j->context = context;
    j->job.apply = apply_find;
    j->job.urgent = true;
    return hand_over(s, file, j);
}

int fb_cache_put(struct store *s, struct store_file *file, const struct cached *c)
{
    if (c->body_size > CACHE_BODY_MAX)
        return -EFBIG;
    struct cache_job *j = fb_alloc(sizeof *j);
    if (!j)
        return -ENOMEM;
    j->parcel = pack(c);
    j->job.apply = apply_put;
    if (!j->parcel) {
        fb_free(j);
        return -ENOMEM;
    }
    return hand_over(s, file, j);
}
