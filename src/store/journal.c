/* SPDX-License-Identifier: MIT */
/*
 * journal.c - opening a journal: what is finished, and is the output what the journal thinks?
 *
 * The journal is believed as far as the output bears it out. An output longer than committed is
 * cut: its end was not finished. One that is shorter, or a journal that was damaged, makes the
 * output the witness. An output that is gone is a new beginning. One that does not begin as the
 * journal remembers, or that no journal knows of, is somebody's: it is not touched.
 */
#include "store/journal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/journal_parts.h"
#include "util/alloc.h"
#include "util/hash.h"
#include "util/text.h"

#define PATH_MOST  4096
#define CHECK_BITS 12

const char *fb_journal_outcome(enum entry_state state)
{
#define X(name) #name,
    static const char *const NAMES[] = {FB_ENTRY_STATES(X)};
#undef X

    if (state == ENTRY_barred)
        return NAMES[ENTRY_skipped];
    return state == ENTRY_done ? "ok" : NAMES[state];
}

uint16_t fb_journal_check(uint64_t hash)
{
    /* 0 is for "not known". */
    return (uint16_t)(1 + hash % ((1u << CHECK_BITS) - 1));
}

enum entry_state fb_journal_state(const struct journal *j, uint64_t item, uint16_t check,
                                  bool *ret_same)
{
    uint64_t number = (item - 1) / CHUNK_ITEMS;
    uint16_t mark = 0;

    assert(item > 0);
    if (number < j->chunk_count && j->chunks[number])
        mark = j->chunks[number]->at[(item - 1) % CHUNK_ITEMS];
    *ret_same = mark >> 4 == 0 || mark >> 4 == check;
    return fb_mark_state(mark);
}

const char *fb_journal_next(const struct journal *j, uint64_t item, uint32_t *ret_page)
{
    const struct going *g = j->going;

    while (g && g->item != item)
        g = g->next;
    if (g)
        *ret_page = g->page;
    return g ? g->where : NULL;
}

int64_t fb_journal_not_before(const struct journal *j, uint64_t item)
{
    size_t low = 0;
    size_t high = j->put_off_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (j->put_off[middle].item < item)
            low = middle + 1;
        else
            high = middle;
    }
    return low < j->put_off_count && j->put_off[low].item == item ? j->put_off[low].not_before_s
                                                                  : 0;
}

/* ------------------------------------------------------------------------------------- the lock */

/* The file that was locked may have been removed by the one who held it before. */
static bool is_still_there(int fd)
{
    struct stat there;

    return fstat(fd, &there) == 0 && there.st_nlink > 0;
}

static int lock_file(const char *name)
{
    for (;;) {
        int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        int error = fd < 0 ? -errno : 0;

        if (error == 0 && flock(fd, LOCK_EX | LOCK_NB) < 0)
            error = -EALREADY;
        if (error == 0 && is_still_there(fd))
            return fd;
        if (fd >= 0)
            (void)close(fd);
        if (error < 0)
            return error;
    }
}

/* One process per journal: a second one would send everything again. */
static int take_lock(struct journal *j, struct fly_error *err)
{
    char name[PATH_MOST];
    int length = snprintf(name, sizeof name, "%s.lock", j->path);

    if (length < 0 || (size_t)length >= sizeof name)
        return -ENAMETOOLONG;
    j->lock = lock_file(name);
    if (j->lock == -EALREADY)
        (void)snprintf(err->text, sizeof err->text,
                       "%.180s: another process is working on this batch", j->path);
    else if (j->lock < 0)
        (void)snprintf(err->text, sizeof err->text, "cannot write %.180s: %s", name,
                       strerror(-j->lock));
    return j->lock < 0 ? j->lock : 0;
}

static void drop_file(const char *path, const char *tail)
{
    char name[PATH_MOST];
    int length = snprintf(name, sizeof name, "%s%s", path, tail);

    if (length > 0 && (size_t)length < sizeof name)
        (void)unlink(name);
}

void fb_journal_drop_output(struct journal *j)
{
    if (j && j->output.is_new && fb_output_length(&j->output) == 0)
        drop_file(j->output.path, "");
}

void fb_journal_close(struct journal *j, bool finished)
{
    if (!j)
        return;
    if (j->path && finished) {
        drop_file(j->path, "");
        drop_file(j->path, "-wal");
        drop_file(j->path, "-shm");
    }
    if (j->path && j->lock >= 0) {
        drop_file(j->path, ".lock");
        (void)close(j->lock);
    }
    for (size_t i = 0; i < j->chunk_count; i++)
        fb_free(j->chunks[i]);
    fb_free(j->chunks);
    for (struct going *g = j->going, *next; g; g = next) {
        next = g->next;
        fb_free(g);
    }
    fb_free(j->put_off);
    fb_free(j->changes);
    fb_output_fini(&j->output);
    fb_free(j->path);
    fb_free(j);
}

/* -------------------------------------------------------------------------------------- opening */

static void forget_chunks(struct journal *j, bool but_started)
{
    for (size_t i = 0; i < j->chunk_count; i++) {
        for (size_t k = 0; j->chunks[i] && k < CHUNK_ITEMS; k++) {
            if (!but_started || fb_mark_state(j->chunks[i]->at[k]) != ENTRY_started)
                j->chunks[i]->at[k] = 0;
        }
    }
}

static int read_back(void *context, uint64_t item, enum entry_state state, int64_t begin,
                     int64_t end)
{
    struct journal *j = context;
    uint16_t *mark = item == 0 ? NULL : fb_journal_mark(j, item);

    (void)begin;
    (void)end;
    if (item == 0)
        return 0;
    if (!mark)
        return -ENOMEM;
    *mark = fb_mark(0, state);
    return 0;
}

/* The output is the witness: what it holds is finished, and nothing else. */
static int rebuild(struct db *db, struct journal *j, struct journal_found *found)
{
    struct text t;

    forget_chunks(j, true);
    int error = fb_output_scan(&j->output, read_back, j);
    if (error == 0)
        error = fb_chunks_store(db, j, false);
    if (error < 0)
        return error;
    found->rebuilt = true;
    if (!found->note.text[0]) {
        fb_text_init(&t, found->note.text, sizeof found->note.text);
        fb_text_add(&t, j->output.path);
        fb_text_add(&t, ": not as the journal left it; what is finished was read back from it");
    }
    return 0;
}

static int begin_anew(struct db *db, struct journal *j, const struct journal_options *o)
{
    int error = fb_db_begin(db, !db->is_new);

    if (error < 0)
        return error;
    forget_chunks(j, false);
    error = fb_batch_make(db, j->identity, o->list, o->output ? o->output : "", &j->batch);
    if (error == 0)
        error = fb_db_commit(db);
    if (error < 0) {
        fb_db_rollback(db);
        return error;
    }
    return fb_output_cut(&j->output, 0);
}

/* Somebody else's results took the place of ours. */
static bool is_foreign(const struct output *o, const struct batch_row *row)
{
    return row->first != 0 && fb_output_length(o) > 0 && fb_output_first(o) != row->first;
}

/* Make journal and output agree. */
static int agree(struct db *db, struct journal *j, struct batch_row *row,
                 struct journal_found *found)
{
    int error = row->replacing ? fb_output_replace(&j->output) : 0;

    if (error < 0 || !j->output.is_file) {
        j->output.size = row->out_size;
        return error;
    }
    if (is_foreign(&j->output, row))
        return -EEXIST;
    j->output.first = row->first;
    if (fb_output_length(&j->output) < row->out_size)
        return rebuild(db, j, found);
    error = fb_output_cut(&j->output, row->out_size);
    return error == 0 && row->replacing ? fb_chunks_store(db, j, false) : error;
}

/* There is no row, or none that can be believed. */
static int start(struct db *db, struct journal *j, const struct journal_options *o, bool damaged,
                 struct journal_found *found)
{
    bool witness = damaged && !o->fresh && j->output.is_file && fb_output_length(&j->output) > 0;
    struct output kept = j->output;
    int error;

    if (!witness)
        return begin_anew(db, j, o);
    j->output.is_file = false; /* not to be cut */
    error = begin_anew(db, j, o);
    j->output.is_file = kept.is_file;
    if (error == 0)
        error = rebuild(db, j, found);
    found->resumed = error == 0;
    return error;
}

static int settle(struct db *db, struct journal *j, const struct journal_options *o,
                  struct journal_found *found)
{
    struct batch_row row = {0};
    bool damaged = db->set_aside;
    int there = fb_batch_find(db, j->identity, &row);

    j->batch = row.id;
    if (there > 0) {
        int error = fb_chunks_load(db, j);
        if (error < 0 && error != -EUCLEAN)
            return error;
        damaged |= error == -EUCLEAN || fb_chunks_marks(j) != row.marks;
    } else if (there < 0 && there != -EUCLEAN) {
        return there;
    }
    damaged |= there == -EUCLEAN;
    bool gone = j->output.is_file && row.out_size > 0 && fb_output_length(&j->output) == 0 &&
                !row.replacing;
    if (there == 0 && !damaged && !o->fresh && fb_output_length(&j->output) > 0)
        return -EEXIST; /* nobody knows whose it is */
    if (there == 0 || damaged || gone || o->fresh)
        return start(db, j, o, damaged, found);
    found->resumed = true;
    return agree(db, j, &row, found);
}

/* Items in one of these states are to be done again: their results leave the output. */
struct again {
    const struct journal *journal;
    uint32_t states;
};

static bool keep_line(void *context, uint64_t item)
{
    const struct again *a = context;
    bool same;

    return !(a->states & 1u << fb_journal_state(a->journal, item, 0, &same));
}

static void reset_states(struct journal *j, uint32_t states, uint64_t *ret_count)
{
    for (size_t i = 0; i < j->chunk_count; i++) {
        for (size_t k = 0; j->chunks[i] && k < CHUNK_ITEMS; k++) {
            uint16_t *mark = &j->chunks[i]->at[k];
            enum entry_state state = fb_mark_state(*mark);
            if (state == ENTRY_pending || !(states & 1u << state))
                continue;
            *mark = (uint16_t)(*mark & ~15u);
            (*ret_count)++;
        }
    }
}

/*
 * The new output is complete before the journal says that it counts, and the journal says so
 * before it takes the old one's place: killed at any point, one of the two is whole.
 */
static int do_again(struct db *db, struct journal *j, uint32_t states, uint64_t *ret_count)
{
    struct again a = {.journal = j, .states = states};
    int64_t size = j->output.size;
    int error = j->output.is_file ? fb_output_sift(&j->output, keep_line, &a, &size) : 0;

    if (error < 0)
        return error;
    reset_states(j, states, ret_count);
    j->output.size = size;
    error = fb_chunks_store(db, j, j->output.is_file);
    if (error == 0 && j->output.is_file)
        error = fb_output_replace(&j->output);
    return error == 0 ? fb_chunks_store(db, j, false) : error;
}

static void count(const struct journal *j, struct journal_found *found)
{
    for (size_t i = 0; i < j->chunk_count; i++) {
        for (size_t k = 0; j->chunks[i] && k < CHUNK_ITEMS; k++) {
            enum entry_state state = fb_mark_state(j->chunks[i]->at[k]);
            if (state != ENTRY_pending && state < ENTRY_STATES)
                found->items[state]++;
        }
    }
}

static int open_batch(struct db *db, struct journal *j, const struct journal_options *o,
                      struct journal_found *found, struct fly_error *err)
{
    int error = fb_output_open(&j->output, o, err);

    if (error < 0)
        return error;
    found->note = db->note;
    error = settle(db, j, o, found);
    if (error == 0 && !found->rebuilt)
        error = fb_pages_load(db, j);
    if (error == 0 && o->again & 1u << ENTRY_deferred)
        error = fb_put_off_load(db, j);
    if (error == 0 && o->again)
        error = do_again(db, j, o->again, &found->items[ENTRY_pending]);
    if (error == -EEXIST)
        (void)snprintf(err->text, sizeof err->text,
                       "%.150s: holds something else, not results of this list; name another"
                       " file, or say --fresh to write it anew",
                       o->output);
    else if (error < 0)
        (void)snprintf(err->text, sizeof err->text, "%.180s: %s", o->path ? o->path : "journal",
                       strerror(-error));
    if (error < 0)
        return error;
    count(j, found);
    j->marks = j->marks_next = fb_chunks_marks(j);
    j->had_deferred = found->items[ENTRY_deferred] > 0 || o->again;
    return 0;
}

static struct journal *new_journal(struct store *s, const struct journal_options *o)
{
    struct journal *j = fb_alloc(sizeof *j);

    if (!j)
        return NULL;
    j->store = s;
    j->lock = -1;
    j->output.fd = -1;
    const char *output = o->output ? o->output : "";
    uint64_t hash = fb_hash_add(FB_HASH_INIT, o->list, strlen(o->list) + 1);
    j->identity = fb_hash_end(fb_hash_add(hash, output, strlen(output) + 1));
    if (o->path) {
        j->path = fb_alloc(strlen(o->path) + 1);
        if (!j->path) {
            fb_free(j);
            return NULL;
        }
        memcpy(j->path, o->path, strlen(o->path));
    }
    return j;
}

int fb_journal_open(struct store *s, const struct journal_options *o, struct journal **ret_journal,
                    struct journal_found *ret_found, struct fly_error *err)
{
    struct journal *j = new_journal(s, o);
    struct store_hooks hooks = fb_journal_hooks;
    struct db *db = NULL;

    memset(ret_found, 0, sizeof *ret_found);
    if (!j)
        return -ENOMEM;
    int error = j->path ? take_lock(j, err) : 0;
    if (error == 0)
        error = fb_db_open(o->path, o->named ? 0 : DB_OURS, &db, err);
    if (error == 0)
        error = open_batch(db, j, o, ret_found, err);
    hooks.context = j;
    if (error == 0 && !(j->file = fb_store_adopt(s, db, &hooks)))
        error = -ENOBUFS;
    if (error < 0) {
        bool is_new = db && db->is_new;
        fb_db_close(db);
        fb_journal_close(j, is_new);
        return error;
    }
    *ret_journal = j;
    return 0;
}

static void entry_done(struct store_job *job, int error)
{
    struct journal_entry *e = (struct journal_entry *)(void *)job; /* its first member */

    e->done(e, error);
}

int fb_journal_put(struct journal *j, struct journal_entry *e)
{
    assert(e->item > 0 && e->item <= ITEMS_MAX && e->done);
    e->journal = j;
    e->job.file = j->file;
    e->job.sync = e->state == ENTRY_started;
    e->job.apply = fb_journal_apply;
    e->job.done = entry_done;
    return fb_store_put(j->store, &e->job);
}
