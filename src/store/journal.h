/* SPDX-License-Identifier: MIT */
/*
 * journal.h - which items of a batch are finished, and the output that holds their results.
 *
 * An item is the n-th request of a list, counted from 1. The journal knows of each one a state and
 * 12 bits of a hash of the request: two bytes an item, in chunks of 1024, written when they
 * change. It never holds a URL, a header or a body; so a list of five million is 10 MB, and a
 * secret in a list stays there.
 *
 * Results go to the output by the same worker: their bytes are appended first, then the states and
 * the new length of the output are committed together. Opened again, the output is cut to the
 * length committed last: every item is there exactly once, whenever the process was killed. An
 * output that cannot be cut (a pipe) gets its bytes before the commit, so that nothing is missing;
 * what was written in the last commit interval may be there twice.
 *
 * A result is one line, a JSON object that begins with its item and its outcome. If the output is
 * shorter than committed (a power cut), or the journal was damaged, the states are read back from
 * there.
 *
 * An item of several pages has a line for each; but for the last one they say "more". Read back
 * from the output, an item without its last page has failed: where it went on is not there.
 *
 * A request that must not be sent twice is marked as started, on the disk, before it is sent. What
 * is still marked when the journal is opened again was perhaps done and perhaps not: it ends as
 * `unknown` and is not sent again.
 */
#ifndef FLYBALL_STORE_JOURNAL_H
#define FLYBALL_STORE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <flyball/flyball.h>

#include "store/store.h"
#include "util/buffer.h"

/*
 * In the order of their numbers on disk: append only. What was skipped had failed; what is barred
 * may not be asked for, and is told as skipped, too.
 */
#define FB_ENTRY_STATES(X) \
    X(pending)             \
    X(started)             \
    X(done)                \
    X(failed)              \
    X(deferred)            \
    X(skipped)             \
    X(unknown)             \
    X(barred)

#define X(name) ENTRY_##name,
enum entry_state { FB_ENTRY_STATES(X) ENTRY_STATES };
#undef X

struct journal;

struct journal_options {
    const char *path;   /* the file; NULL: in memory, nothing can be resumed */
    bool named;         /* by the user: what is not ours there is refused, not set aside */
    const char *list;   /* names that together are the batch's identity; no secrets */
    const char *output; /* a file to append to; NULL: `stream` */
    int stream;         /* a descriptor that is written and never cut, or -1: no output at all */
    bool fresh;         /* forget what was finished */
    uint32_t again;     /* set of states (1u << ENTRY_failed ...) to be done once more */
};

/* What was found when the journal was opened. */
struct journal_found {
    uint64_t items[ENTRY_STATES]; /* how many in each state; pending: those asked for again */
    bool resumed;                 /* there was such a batch */
    bool rebuilt;                 /* the states were read back from the output */
    struct fly_error note;        /* a sentence where something was wrong, else empty */
};

/*
 * Open the journal and its output, before the loop begins: this may wait for the disk. 0; or a
 * negative errno and a sentence: as fb_db_open(), -EALREADY when another process runs the same
 * batch, -EEXIST when the output holds something else.
 */
int fb_journal_open(struct store *s, const struct journal_options *o, struct journal **ret_journal,
                    struct journal_found *ret_found, struct fly_error *err)
    __attribute__((warn_unused_result));

/*
 * The state of an item as it was when the journal was opened. A started one must now be put as
 * unknown: nobody knows whether it was done. `check` is fb_journal_check() of the request;
 * *ret_same is false when the journal remembers another request at that place: the list was
 * changed.
 */
enum entry_state fb_journal_state(const struct journal *j, uint64_t item, uint16_t check,
                                  bool *ret_same);

/*
 * Where an item of several pages goes on: `next` as it was put, and *ret_page the number of the
 * page that was written last. NULL: at its beginning.
 */
const char *fb_journal_next(const struct journal *j, uint64_t item, uint32_t *ret_page);

/* An item that was deferred and is now to be done again: not before this, since 1970; else 0. */
int64_t fb_journal_not_before(const struct journal *j, uint64_t item);

/* 1..4095 from a 64-bit hash of all that makes the request what it is. */
uint16_t fb_journal_check(uint64_t hash);

/* What becomes of an item. The caller's memory until `done`. */
struct journal_entry {
    struct store_job job; /* the journal's */
    struct journal *journal;
    uint64_t item;
    uint16_t check;
    enum entry_state state;

    /*
     * Append the further members of the result to `out`, each after a comma: on the worker's
     * thread, once for each attempt. 0 or negative errno. NULL: the output gets nothing.
     */
    int (*format)(struct journal_entry *e, struct buffer *out);
    const char *failing; /* set by format(): the file of its own that it could not write */
    /* It is committed (0), or could not be. */
    void (*done)(struct journal_entry *e, int error);

    /*
     * A page of several: its number from 1 on, and where the next one is, in words that hold no
     * secret. With `next` the result is written, and the item goes on from there. 0, NULL: none.
     */
    uint32_t page;
    const char *next;

    /* For ENTRY_deferred: what people are told. Without secrets: no query, no user. */
    const char *id;
    const char *place;
    const char *reason;
    int64_t not_before_s; /* since 1970; 0: no time is known */
};

/* Hand over an entry. ENTRY_started is committed onto the disk at once. 0 or -EAGAIN. */
int fb_journal_put(struct journal *j, struct journal_entry *e) __attribute__((warn_unused_result));

/* Remove an output that was not there before, if nothing is in it. NULL is allowed. */
void fb_journal_drop_output(struct journal *j);

/*
 * After fb_store_close(): let go of the output. `finished`: nothing is left to resume and the file
 * can go. NULL is allowed.
 */
void fb_journal_close(struct journal *j, bool finished);

/* As results have it: "ok" for done, else the state's own name. */
const char *fb_journal_outcome(enum entry_state state);

#endif
