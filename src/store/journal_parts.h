/* SPDX-License-Identifier: MIT */
/*
 * journal_parts.h - the journal inside: what its files share.
 *
 * journal.c opens it and answers questions, journal_rows.c reads and writes the tables,
 * journal_commit.c is the worker's side, journal_output.c the file of results.
 */
#ifndef FLYBALL_STORE_JOURNAL_PARTS_H
#define FLYBALL_STORE_JOURNAL_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/journal.h"

#define CHUNK_ITEMS 1024
#define CHUNK_BYTES (2 * CHUNK_ITEMS)
#define ITEMS_MAX   (UINT64_C(1) << 40)

/* Two bytes an item: the state in the low four bits, the check of the request above. */
struct chunk {
    uint16_t at[CHUNK_ITEMS];
};

struct change {
    uint64_t item;
    size_t order;  /* in which they came */
    uint16_t mark; /* as in a chunk */
};

/* Where an item of several pages goes on. */
struct going {
    struct going *next;
    uint64_t item;
    uint32_t page;
    char where[];
};

/* An item that was deferred, until when. */
struct put_off {
    uint64_t item;
    int64_t not_before_s;
};

struct output {
    int fd; /* -1: there is none */
    bool is_file;
    bool is_new;        /* the file was not there before */
    char *path;         /* of a file, else NULL */
    int64_t size;       /* committed */
    int64_t first;      /* fb_output_first(); 0: there is no line yet */
    struct buffer next; /* what this commit appends */
    size_t written;     /* to a stream, of `next`, by an attempt that failed later */
    bool unsynced;
};

struct journal {
    struct store *store;
    struct store_file *file;
    char *path; /* NULL: in memory */
    int lock;   /* descriptor, or -1 */
    uint64_t identity;
    int64_t batch; /* its row */
    struct output output;
    bool had_deferred;
    bool has_pages;
    struct going *going;
    struct put_off *put_off; /* by item */
    size_t put_off_count;

    /* As found: an array of chunks by number; NULL where all is pending. */
    struct chunk **chunks;
    size_t chunk_count;

    /* The worker's, for one commit. */
    struct change *changes;
    size_t change_count;
    size_t change_room;
    int64_t marks;      /* committed, and */
    int64_t marks_next; /* with this commit */
    const char *failing;
};

static inline uint16_t fb_mark(uint16_t check, enum entry_state state)
{
    return (uint16_t)(check << 4 | (uint16_t)state);
}

static inline enum entry_state fb_mark_state(uint16_t mark)
{
    return (enum entry_state)(mark & 15);
}

/* ------------------------------------------------------------------------------------ the rows */

/* What the row of a batch says beside its identity. */
struct batch_row {
    int64_t id;
    int64_t out_size;
    int64_t marks;  /* items that are not pending: so many must be in the chunks */
    bool replacing; /* a new output is ready under another name: put it in its place */
    int64_t first;  /* fb_output_first(); 0: not known */
};

/* 1 found, 0 none, -EUCLEAN damaged, or another negative errno. */
int fb_batch_find(struct db *db, uint64_t identity, struct batch_row *ret_row)
    __attribute__((warn_unused_result));
/* A new row, and no chunks; any old batch of that identity is forgotten. */
int fb_batch_make(struct db *db, uint64_t identity, const char *list, const char *output,
                  int64_t *ret_id) __attribute__((warn_unused_result));
int fb_batch_update(struct db *db, uint64_t identity, const struct batch_row *row)
    __attribute__((warn_unused_result));

/* Read a chunk. 1 found, 0 none: then it is all zero, -EUCLEAN damaged, or negative errno. */
int fb_chunk_read(struct db *db, int64_t batch, uint64_t number, struct chunk *ret_chunk)
    __attribute__((warn_unused_result));
int fb_chunk_write(struct db *db, int64_t batch, uint64_t number, const struct chunk *c)
    __attribute__((warn_unused_result));

/* All chunks into j->chunks. 0, -EUCLEAN or negative errno. */
int fb_chunks_load(struct db *db, struct journal *j) __attribute__((warn_unused_result));
/* How many items in j->chunks are not pending. */
int64_t fb_chunks_marks(const struct journal *j);
/* The rows of pages: read all into j->going; write one; drop one. 0 or negative errno. */
int fb_pages_load(struct db *db, struct journal *j) __attribute__((warn_unused_result));
int fb_page_write(struct db *db, int64_t batch, const struct journal_entry *e)
    __attribute__((warn_unused_result));
int fb_page_drop(struct db *db, int64_t batch, uint64_t item) __attribute__((warn_unused_result));

/* What is deferred, into j->put_off. 0 or negative errno. */
int fb_put_off_load(struct db *db, struct journal *j) __attribute__((warn_unused_result));

/* All of j->chunks into the tables, the row of the batch with them. */
int fb_chunks_store(struct db *db, struct journal *j, bool replacing)
    __attribute__((warn_unused_result));

/* The mark of an item in j->chunks, made if need be; NULL: memory is out, or no such item. */
uint16_t *fb_journal_mark(struct journal *j, uint64_t item);

/* ---------------------------------------------------------------------------------- the output */

/* Open what the options name. 0 or negative errno with a sentence. */
int fb_output_open(struct output *o, const struct journal_options *options, struct fly_error *err)
    __attribute__((warn_unused_result));
void fb_output_fini(struct output *o);

/* The file's length now; 0 for a stream. */
int64_t fb_output_length(const struct output *o);

/* A hash of how a file's first line begins; 0: it has none. */
int64_t fb_output_first(const struct output *o);

/* Cut a file to `size`, and go on from there. 0 or negative errno. */
int fb_output_cut(struct output *o, int64_t size) __attribute__((warn_unused_result));

/* Write o->next, without forgetting it; `sync`: onto the disk. 0 or negative errno. */
int fb_output_write(struct output *o, bool sync) __attribute__((warn_unused_result));

/* It was committed: the next one comes after it. */
void fb_output_committed(struct output *o);

/*
 * Read the items and outcomes of whole lines, and cut behind the last. `each` gets the offset of
 * the line's end. 0, what `each` returned unless 0, or negative errno.
 */
typedef int fb_output_line(void *context, uint64_t item, enum entry_state state, int64_t begin,
                           int64_t end);
int fb_output_scan(struct output *o, fb_output_line *each, void *context)
    __attribute__((warn_unused_result));

/*
 * Copy the lines whose item `keep` says yes to into a new file beside the output, onto the disk;
 * *ret_size is its length. fb_output_replace() puts it into the place of the output, if it is
 * there.
 */
typedef bool fb_output_keep(void *context, uint64_t item);
int fb_output_sift(struct output *o, fb_output_keep *keep, void *context, int64_t *ret_size)
    __attribute__((warn_unused_result));
int fb_output_replace(struct output *o) __attribute__((warn_unused_result));

/* ------------------------------------------------------------------------------- the worker */

extern const struct store_hooks fb_journal_hooks;
int fb_journal_apply(struct store_job *job, struct db *db);

/* The beginning of a result. */
void fb_journal_begin_line(struct buffer *out, uint64_t item, enum entry_state state, bool more);

#endif
