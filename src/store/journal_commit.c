/* SPDX-License-Identifier: MIT */
/*
 * journal_commit.c - the worker's side: results are appended, then states and length committed.
 *
 * Invariant: the committed length of the output ends behind a whole result whose state is
 * committed, too.
 */
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store/journal_parts.h"
#include "util/alloc.h"

static bool add_change(struct journal *j, const struct journal_entry *e)
{
    if (j->change_count == j->change_room) {
        size_t room = j->change_room ? 2 * j->change_room : 256;
        struct change *more = fb_alloc(room * sizeof *more);
        if (!more)
            return false;
        if (j->change_count > 0)
            memcpy(more, j->changes, j->change_count * sizeof *more);
        fb_free(j->changes);
        j->changes = more;
        j->change_room = room;
    }
    j->changes[j->change_count] = (struct change){
        .item = e->item, .order = j->change_count, .mark = fb_mark(e->check, e->state)};
    j->change_count++;
    return true;
}

static int put_deferred(struct db *db, const struct journal *j, const struct journal_entry *e)
{
    sqlite3_stmt *s = fb_db_statement(
        db, "INSERT OR REPLACE INTO deferred(batch, item, id, place, reason, not_before_s, made_s)"
            " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)");

    if (s) {
        sqlite3_bind_int64(s, 1, j->batch);
        sqlite3_bind_int64(s, 2, (int64_t)e->item);
        sqlite3_bind_text(s, 3, e->id ? e->id : "", -1, SQLITE_STATIC);
        sqlite3_bind_text(s, 4, e->place ? e->place : "", -1, SQLITE_STATIC);
        sqlite3_bind_text(s, 5, e->reason ? e->reason : "", -1, SQLITE_STATIC);
        sqlite3_bind_int64(s, 6, e->not_before_s);
        sqlite3_bind_int64(s, 7, (int64_t)time(NULL));
    }
    return fb_db_run(db, s);
}

static int drop_deferred(struct db *db, const struct journal *j, uint64_t item)
{
    sqlite3_stmt *s = fb_db_statement(db, "DELETE FROM deferred WHERE batch = ?1 AND item = ?2");

    if (s) {
        sqlite3_bind_int64(s, 1, j->batch);
        sqlite3_bind_int64(s, 2, (int64_t)item);
    }
    return fb_db_run(db, s);
}

static int add_line(struct journal *j, struct journal_entry *e)
{
    struct buffer *out = &j->output.next;

    if (!e->format)
        return 0;
    fb_journal_begin_line(out, e->item, e->state, e->next != NULL);
    int error = e->format(e, out);
    fb_buffer_add(out, "}\n", 2);
    if (error < 0)
        j->failing = e->failing;
    return error == 0 && out->failed ? -ENOMEM : error;
}

/* What the entry changes in the tables. */
static int change_rows(struct journal *j, const struct journal_entry *e, struct db *db)
{
    int error = 0;

    if (e->next) {
        j->has_pages = true;
        return fb_page_write(db, j->batch, e);
    }
    if (j->has_pages)
        error = fb_page_drop(db, j->batch, e->item);
    if (error == 0 && e->state == ENTRY_deferred)
        error = put_deferred(db, j, e);
    else if (error == 0 && j->had_deferred)
        error = drop_deferred(db, j, e->item);
    return error == 0 && !add_change(j, e) ? -ENOMEM : error;
}

/* An entry that fails leaves no line behind: it comes back, and is as good as never put. */
int fb_journal_apply(struct store_job *job, struct db *db)
{
    struct journal_entry *e = (struct journal_entry *)(void *)job; /* its first member */
    struct journal *j = e->journal;
    struct buffer *out = &j->output.next;
    size_t before = out->size;
    int error = add_line(j, e);

    if (error == 0)
        error = change_rows(j, e, db);
    if (error < 0 || j->output.fd < 0) {
        out->size = before;
        out->failed = false;
    }
    return error;
}

static void journal_begin(void *context)
{
    struct journal *j = context;

    j->change_count = 0;
    j->marks_next = j->marks;
    j->failing = NULL;
    fb_buffer_clear(&j->output.next);
}

static int by_item(const void *a, const void *b)
{
    const struct change *x = a;
    const struct change *y = b;

    if (x->item != y->item)
        return x->item < y->item ? -1 : 1;
    /* An item's own changes stay in order: started, then done. */
    return x->order < y->order ? -1 : x->order > y->order;
}

/* The changes of one chunk, from `at` on; *ret_next is the first of another. */
static int write_chunk(struct db *db, struct journal *j, size_t at, size_t *ret_next)
{
    struct chunk c;
    uint64_t number = (j->changes[at].item - 1) / CHUNK_ITEMS;
    int error = fb_chunk_read(db, j->batch, number, &c);

    if (error < 0)
        return error;
    for (; at < j->change_count && (j->changes[at].item - 1) / CHUNK_ITEMS == number; at++) {
        uint16_t *mark = &c.at[(j->changes[at].item - 1) % CHUNK_ITEMS];

        j->marks_next -= fb_mark_state(*mark) != ENTRY_pending;
        *mark = j->changes[at].mark;
        j->marks_next += fb_mark_state(*mark) != ENTRY_pending;
    }
    *ret_next = at;
    return fb_chunk_write(db, j->batch, number, &c);
}

static int journal_before_commit(struct db *db, void *context, bool sync)
{
    struct journal *j = context;
    int error = fb_output_write(&j->output, sync);

    if (error < 0) {
        j->failing = j->output.path ? j->output.path : "standard output";
        return error;
    }
    if (j->change_count > 0)
        qsort(j->changes, j->change_count, sizeof *j->changes, by_item);
    for (size_t at = 0; error == 0 && at < j->change_count;)
        error = write_chunk(db, j, at, &at);
    if (error < 0 || (j->change_count == 0 && j->output.next.size == 0))
        return error;

    if (j->output.first == 0)
        j->output.first = fb_output_first(&j->output);
    struct batch_row row = {.id = j->batch,
                            .first = j->output.first,
                            .out_size = j->output.size + (int64_t)j->output.next.size,
                            .marks = j->marks_next};
    return fb_batch_update(db, j->identity, &row);
}

static void journal_committed(void *context)
{
    struct journal *j = context;

    j->marks = j->marks_next;
    fb_output_committed(&j->output);
}

static const char *journal_failing(void *context)
{
    const struct journal *j = context;

    return j->failing;
}

const struct store_hooks fb_journal_hooks = {
    .begin = journal_begin,
    .before_commit = journal_before_commit,
    .committed = journal_committed,
    .failing = journal_failing,
};
