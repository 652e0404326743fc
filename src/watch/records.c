/* SPDX-License-Identifier: MIT */
/*
 * records.c - rows of a table, written by the store's worker.
 *
 * The database is read before the worker gets it, and by the worker alone from then on.
 */
#include "watch/records.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>

#include <flyball/flyball.h>

#include "store/db.h"
#include "store/store.h"
#include "util/alloc.h"
#include "watch/watch.h"

#define JOBS_MAX 262144

struct watch_records {
    struct store *store;
    struct store_file *file; /* NULL: `db` is still ours */
    struct db *db;
    struct watch_records_figures figures;
};

int fb_watch_records_open(const char *path, struct watch_records **ret_records,
                          struct fly_error *err)
{
    struct store_options o = {.jobs_max = JOBS_MAX};
    struct watch_records *r = fb_alloc(sizeof(*r));

    if (!r)
        return -ENOMEM;
    int error = fb_db_open(path, DB_OURS | DB_OR_MEMORY, &r->db, err);
    if (error == 0)
        error = fb_store_open(&o, &r->store);
    if (error < 0) {
        fb_watch_records_close(r, 0);
        return error;
    }
    if (err)
        *err = r->db->note;
    *ret_records = r;
    return 0;
}

/* ---- reading ---- */

static int64_t load_rows(struct db *db, struct watch *w, sqlite3_stmt *s)
{
    int64_t count = 0;

    while (s && fb_db_step(db, s) > 0) {
        const void *record = sqlite3_column_blob(s, 0);
        int size = sqlite3_column_bytes(s, 0);
        if (record && fb_watch_restore(w, record, (size_t)size) == 0)
            count++;
    }
    return count;
}

/* The worker has the database from here on. */
static void hand_to_worker(struct watch_records *r)
{
    if (!r->file)
        r->file = fb_store_adopt(r->store, r->db, NULL);
}

int64_t fb_watch_records_load(struct watch_records *r, struct watch *w)
{
    static const char SQL[] = "SELECT record FROM watched ORDER BY id";

    if (r->file)
        return 0;
    int64_t count = load_rows(r->db, w, fb_db_statement(r->db, SQL));
    hand_to_worker(r);
    return count;
}

/* ---- writing ---- */

struct record_job {
    struct store_job job;
    struct watch_records *records;
    size_t id_size;
    size_t size; /* 0: it goes */
    char bytes[];
};

static int apply(struct store_job *job, struct db *db)
{
    static const char PUT[] = "INSERT OR REPLACE INTO watched(id, record) VALUES(?1, ?2)";
    static const char DROP[] = "DELETE FROM watched WHERE id = ?1";
    struct record_job *j = (struct record_job *)(void *)job; /* its first member */
    sqlite3_stmt *s = fb_db_statement(db, j->size > 0 ? PUT : DROP);

    if (s) {
        sqlite3_bind_text(s, 1, j->bytes, (int)j->id_size, SQLITE_STATIC);
        if (j->size > 0)
            sqlite3_bind_blob64(s, 2, j->bytes + j->id_size, j->size, SQLITE_STATIC);
    }
    return fb_db_run(db, s);
}

static void done(struct store_job *job, int error)
{
    struct record_job *j = (struct record_job *)(void *)job; /* its first member */

    j->records->figures.written += error == 0;
    j->records->figures.failed += error != 0;
    fb_free(j);
}

void fb_watch_records_keep(void *records, const char *id, const void *record, size_t size)
{
    struct watch_records *r = records;
    size_t id_size = strlen(id);
    struct record_job *j = fb_alloc(sizeof(*j) + id_size + size);

    hand_to_worker(r);
    (void)fb_store_turn(r->store);
    if (!j) {
        r->figures.lost++;
        return;
    }
    j->job.file = r->file;
    j->job.apply = apply;
    j->job.done = done;
    j->records = r;
    j->id_size = id_size;
    j->size = size;
    memcpy(j->bytes, id, id_size);
    if (size > 0)
        memcpy(j->bytes + id_size, record, size);
    r->figures.handed_over++;
    if (!r->file || fb_store_put(r->store, &j->job) < 0) {
        r->figures.lost++;
        fb_free(j);
    }
}

struct watch_records_figures fb_watch_records_figures(const struct watch_records *r)
{
    return r->figures;
}

void fb_watch_records_close(struct watch_records *r, int wait_ms)
{
    if (!r)
        return;
    if (r->store && fb_store_close(r->store, wait_ms) < 0)
        return; /* a write that does not end: what it uses must stay */
    if (!r->file)
        fb_db_close(r->db);
    fb_free(r);
}
