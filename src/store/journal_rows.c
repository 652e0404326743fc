/* SPDX-License-Identifier: MIT */
/*
 * journal_rows.c - the tables of the journal. Each row carries a hash of what it says, because a
 * changed byte inside of a number is no damage that SQLite could see.
 */
#include <errno.h>
#include <sqlite3.h>
#include <string.h>
#include <time.h>

#include "store/journal_parts.h"
#include "util/alloc.h"
#include "util/hash.h"

static int64_t sum_of_batch(uint64_t identity, const struct batch_row *row)
{
    uint64_t hash = fb_hash_add_int(FB_HASH_INIT, identity);

    hash = fb_hash_add_int(hash, (uint64_t)row->id);
    hash = fb_hash_add_int(hash, (uint64_t)row->out_size);
    hash = fb_hash_add_int(hash, (uint64_t)row->marks);
    hash = fb_hash_add_int(hash, row->replacing);
    if (row->first != 0) /* there was none in version 4 */
        hash = fb_hash_add_int(hash, (uint64_t)row->first);
    return (int64_t)fb_hash_end(hash);
}

int fb_batch_find(struct db *db, uint64_t identity, struct batch_row *ret_row)
{
    sqlite3_stmt *s = fb_db_statement(
        db, "SELECT id, out_size, marks, replaced, sum, first FROM batch WHERE identity = ?1");

    if (s)
        sqlite3_bind_int64(s, 1, (int64_t)identity);
    int found = fb_db_step(db, s);
    if (found <= 0)
        return found;
    *ret_row = (struct batch_row){.id = sqlite3_column_int64(s, 0),
                                  .out_size = sqlite3_column_int64(s, 1),
                                  .marks = sqlite3_column_int64(s, 2),
                                  .replacing = sqlite3_column_int64(s, 3) != 0,
                                  .first = sqlite3_column_int64(s, 5)};
    int64_t sum = sqlite3_column_int64(s, 4);
    (void)sqlite3_reset(s);
    return sum == sum_of_batch(identity, ret_row) && ret_row->out_size >= 0 ? 1 : -EUCLEAN;
}

static int run_for(struct db *db, const char *sql, int64_t id)
{
    sqlite3_stmt *s = fb_db_statement(db, sql);

    if (s)
        sqlite3_bind_int64(s, 1, id);
    return fb_db_run(db, s);
}

static int forget(struct db *db, uint64_t identity)
{
    static const char *const TABLES[] = {
        "DELETE FROM chunk WHERE batch IN (SELECT id FROM batch WHERE identity = ?1)",
        "DELETE FROM deferred WHERE batch IN (SELECT id FROM batch WHERE identity = ?1)",
        "DELETE FROM page WHERE batch IN (SELECT id FROM batch WHERE identity = ?1)",
        "DELETE FROM batch WHERE identity = ?1",
    };
    int error = 0;

    for (size_t i = 0; error == 0 && i < sizeof TABLES / sizeof TABLES[0]; i++)
        error = run_for(db, TABLES[i], (int64_t)identity);
    return error;
}

int fb_batch_make(struct db *db, uint64_t identity, const char *list, const char *output,
                  int64_t *ret_id)
{
    int error = forget(db, identity);
    if (error < 0)
        return error;

    sqlite3_stmt *s = fb_db_statement(
        db, "INSERT INTO batch(identity, list, output, made_s, out_size, marks, replaced, sum)"
            " VALUES(?1, ?2, ?3, ?4, 0, 0, 0, 0)");
    if (s) {
        sqlite3_bind_int64(s, 1, (int64_t)identity);
        sqlite3_bind_text(s, 2, list, -1, SQLITE_STATIC);
        sqlite3_bind_text(s, 3, output, -1, SQLITE_STATIC);
        sqlite3_bind_int64(s, 4, (int64_t)time(NULL));
    }
    error = fb_db_run(db, s);
    if (error < 0)
        return error;
    struct batch_row row = {.id = sqlite3_last_insert_rowid(db->sqlite)};
    *ret_id = row.id;
    return fb_batch_update(db, identity, &row);
}

int fb_batch_update(struct db *db, uint64_t identity, const struct batch_row *row)
{
    sqlite3_stmt *s = fb_db_statement(
        db, "UPDATE batch SET out_size = ?2, marks = ?3, replaced = ?4, sum = ?5, first = ?6"
            " WHERE id = ?1");

    if (s) {
        sqlite3_bind_int64(s, 1, row->id);
        sqlite3_bind_int64(s, 2, row->out_size);
        sqlite3_bind_int64(s, 3, row->marks);
        sqlite3_bind_int64(s, 4, row->replacing);
        sqlite3_bind_int64(s, 5, sum_of_batch(identity, row));
        sqlite3_bind_int64(s, 6, row->first);
    }
    return fb_db_run(db, s);
}

/* As it is on the disk: the low byte first. */
static void to_bytes(const struct chunk *c, unsigned char *ret_bytes)
{
    for (size_t i = 0; i < CHUNK_ITEMS; i++) {
        ret_bytes[2 * i] = (unsigned char)(c->at[i] & 0xff);
        ret_bytes[2 * i + 1] = (unsigned char)(c->at[i] >> 8);
    }
}

static int64_t sum_of_chunk(int64_t batch, uint64_t number, const void *bytes)
{
    uint64_t hash = fb_hash_add_int(FB_HASH_INIT, (uint64_t)batch);

    hash = fb_hash_add_int(hash, number);
    return (int64_t)fb_hash_end(fb_hash_add(hash, bytes, CHUNK_BYTES));
}

/* The blob and the sum in columns 0 and 1 of a row. 1 or -EUCLEAN. */
static int from_row(sqlite3_stmt *s, int64_t batch, uint64_t number, struct chunk *ret_chunk)
{
    const unsigned char *bytes = sqlite3_column_blob(s, 0);

    if (!bytes || sqlite3_column_bytes(s, 0) != CHUNK_BYTES ||
        sqlite3_column_int64(s, 1) != sum_of_chunk(batch, number, bytes))
        return -EUCLEAN;
    for (size_t i = 0; i < CHUNK_ITEMS; i++)
        ret_chunk->at[i] = (uint16_t)(bytes[2 * i] | bytes[2 * i + 1] << 8);
    return 1;
}

int fb_chunk_read(struct db *db, int64_t batch, uint64_t number, struct chunk *ret_chunk)
{
    sqlite3_stmt *s =
        fb_db_statement(db, "SELECT states, sum FROM chunk WHERE batch = ?1 AND number = ?2");

    if (s) {
        sqlite3_bind_int64(s, 1, batch);
        sqlite3_bind_int64(s, 2, (int64_t)number);
    }
    int found = fb_db_step(db, s);
    if (found == 0)
        memset(ret_chunk, 0, sizeof *ret_chunk);
    if (found <= 0)
        return found;
    int sound = from_row(s, batch, number, ret_chunk);
    (void)sqlite3_reset(s);
    return sound;
}

int fb_chunk_write(struct db *db, int64_t batch, uint64_t number, const struct chunk *c)
{
    unsigned char bytes[CHUNK_BYTES];
    sqlite3_stmt *s = fb_db_statement(
        db, "INSERT OR REPLACE INTO chunk(batch, number, states, sum) VALUES(?1, ?2, ?3, ?4)");

    to_bytes(c, bytes);
    if (s) {
        sqlite3_bind_int64(s, 1, batch);
        sqlite3_bind_int64(s, 2, (int64_t)number);
        sqlite3_bind_blob(s, 3, bytes, CHUNK_BYTES, SQLITE_TRANSIENT);
        sqlite3_bind_int64(s, 4, sum_of_chunk(batch, number, bytes));
    }
    return fb_db_run(db, s);
}

static bool grow_chunks(struct journal *j, uint64_t number)
{
    size_t count = j->chunk_count ? j->chunk_count : 16;

    if (number < j->chunk_count)
        return true;
    while (count <= number)
        count *= 2;
    struct chunk **more = fb_alloc(count * sizeof *more);
    if (!more)
        return false;
    if (j->chunk_count > 0)
        memcpy(more, j->chunks, j->chunk_count * sizeof *more);
    fb_free(j->chunks);
    j->chunks = more;
    j->chunk_count = count;
    return true;
}

uint16_t *fb_journal_mark(struct journal *j, uint64_t item)
{
    uint64_t number = (item - 1) / CHUNK_ITEMS;

    if (item == 0 || item > ITEMS_MAX || !grow_chunks(j, number))
        return NULL;
    if (!j->chunks[number])
        j->chunks[number] = fb_alloc(sizeof(struct chunk));
    return j->chunks[number] ? &j->chunks[number]->at[(item - 1) % CHUNK_ITEMS] : NULL;
}

int fb_chunks_load(struct db *db, struct journal *j)
{
    sqlite3_stmt *s = fb_db_statement(db, "SELECT states, sum, number FROM chunk WHERE batch = ?1");
    int found;

    if (s)
        sqlite3_bind_int64(s, 1, j->batch);
    while ((found = fb_db_step(db, s)) > 0) {
        uint64_t number = (uint64_t)sqlite3_column_int64(s, 2);
        int error = number > ITEMS_MAX / CHUNK_ITEMS                       ? -EUCLEAN
                    : !fb_journal_mark(j, number * CHUNK_ITEMS + 1)        ? -ENOMEM
                    : from_row(s, j->batch, number, j->chunks[number]) < 0 ? -EUCLEAN
                                                                           : 0;
        if (error < 0) {
            (void)sqlite3_reset(s);
            return error;
        }
    }
    return found;
}

int64_t fb_chunks_marks(const struct journal *j)
{
    int64_t marks = 0;

    for (size_t i = 0; i < j->chunk_count; i++) {
        for (size_t k = 0; j->chunks[i] && k < CHUNK_ITEMS; k++)
            marks += fb_mark_state(j->chunks[i]->at[k]) != ENTRY_pending;
    }
    return marks;
}

int fb_chunks_store(struct db *db, struct journal *j, bool replacing)
{
    struct batch_row row = {.id = j->batch,
                            .out_size = j->output.size,
                            .marks = fb_chunks_marks(j),
                            .replacing = replacing};
    int error = fb_db_begin(db, true);

    /* What takes its place may begin with another line. */
    row.first = j->output.first = replacing ? 0 : fb_output_first(&j->output);

    if (error < 0)
        return error;
    for (size_t i = 0; error == 0 && i < j->chunk_count; i++) {
        if (j->chunks[i])
            error = fb_chunk_write(db, j->batch, i, j->chunks[i]);
    }
    if (error == 0)
        error = fb_batch_update(db, j->identity, &row);
    if (error == 0)
        error = fb_db_commit(db);
    if (error < 0)
        fb_db_rollback(db);
    return error;
}

/* ---------------------------------------------------------------------------------- pages */

static int add_going(struct journal *j, sqlite3_stmt *s)
{
    const unsigned char *where = sqlite3_column_text(s, 2);
    size_t size = (size_t)sqlite3_column_bytes(s, 2);
    struct going *g = fb_alloc(sizeof *g + size + 1);

    if (!g)
        return -ENOMEM;
    g->item = (uint64_t)sqlite3_column_int64(s, 0);
    g->page = (uint32_t)sqlite3_column_int64(s, 1);
    if (where)
        memcpy(g->where, where, size);
    g->next = j->going;
    j->going = g;
    return 0;
}

int fb_pages_load(struct db *db, struct journal *j)
{
    sqlite3_stmt *s = fb_db_statement(db, "SELECT item, number, next FROM page WHERE batch = ?1");
    int found;

    if (s)
        sqlite3_bind_int64(s, 1, j->batch);
    while ((found = fb_db_step(db, s)) > 0) {
        int error = add_going(j, s);
        if (error < 0) {
            (void)sqlite3_reset(s);
            return error;
        }
    }
    j->has_pages = j->going != NULL;
    return found;
}

int fb_page_write(struct db *db, int64_t batch, const struct journal_entry *e)
{
    sqlite3_stmt *s = fb_db_statement(
        db, "INSERT OR REPLACE INTO page(batch, item, number, next) VALUES(?1, ?2, ?3, ?4)");

    if (s) {
        sqlite3_bind_int64(s, 1, batch);
        sqlite3_bind_int64(s, 2, (int64_t)e->item);
        sqlite3_bind_int64(s, 3, e->page);
        sqlite3_bind_text(s, 4, e->next, -1, SQLITE_STATIC);
    }
    return fb_db_run(db, s);
}

int fb_page_drop(struct db *db, int64_t batch, uint64_t item)
{
    sqlite3_stmt *s = fb_db_statement(db, "DELETE FROM page WHERE batch = ?1 AND item = ?2");

    if (s) {
        sqlite3_bind_int64(s, 1, batch);
        sqlite3_bind_int64(s, 2, (int64_t)item);
    }
    return fb_db_run(db, s);
}

/* ------------------------------------------------------------------------------- deferred */

static int64_t count_deferred(struct db *db, int64_t batch)
{
    sqlite3_stmt *s = fb_db_statement(db, "SELECT count(*) FROM deferred WHERE batch = ?1");

    if (s)
        sqlite3_bind_int64(s, 1, batch);
    int found = fb_db_step(db, s);
    if (found <= 0)
        return found;
    int64_t count = sqlite3_column_int64(s, 0);
    (void)sqlite3_reset(s);
    return count;
}

int fb_put_off_load(struct db *db, struct journal *j)
{
    int64_t count = count_deferred(db, j->batch);
    int found;

    if (count <= 0)
        return (int)count;
    j->put_off = fb_alloc((size_t)count * sizeof *j->put_off);
    if (!j->put_off)
        return -ENOMEM;
    sqlite3_stmt *s = fb_db_statement(
        db, "SELECT item, not_before_s FROM deferred WHERE batch = ?1 ORDER BY item");
    if (s)
        sqlite3_bind_int64(s, 1, j->batch);
    while ((found = fb_db_step(db, s)) > 0 && j->put_off_count < (size_t)count)
        j->put_off[j->put_off_count++] =
            (struct put_off){.item = (uint64_t)sqlite3_column_int64(s, 0),
                             .not_before_s = sqlite3_column_int64(s, 1)};
    return found < 0 ? found : 0;
}
