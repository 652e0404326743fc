/* SPDX-License-Identifier: MIT */
/*
 * slot.h - the place of one key in a mapped file: a body, and what makes it survive its users.
 *
 * Any process may die at any instruction, and nothing it leaves behind may let a limit be passed
 * or stop the others:
 *
 *   - The lock names its owner and is taken over from a dead one (robust.h).
 *   - Before the books are changed, what a decision changes is copied (fb_accountant_undo_bytes);
 *     `stage` says whether the copy or the books are the truth. Whoever takes the lock over undoes
 *     or finishes what was left.
 *   - A grant belongs to a process. Those of the books are recorded with their owner, those of the
 *     fast path are counted in the owner's seat; when the owner is gone a sweep ends them, so that
 *     neither a place in flight nor a prober's question is lost for ever.
 *
 * Every process that uses the key has a seat here; a slot without a living one may be given away.
 */
#ifndef FLYBALL_LEDGER_SLOT_H
#define FLYBALL_LEDGER_SLOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <flyball/flyball.h>

#include "ledger/body.h"
#include "ledger/robust.h"
#include "ledger/siphash.h"
#include "ledger/told.h"

#define FB_SEATS         64 /* processes that use one key at a time */
#define FB_RECORDS       64 /* grants whose owner is known one by one; others are counted */
#define FB_SLOT_SPEC_MAX 512

/* Which is the truth: see slot.c. */
enum slot_stage { STAGE_CLEAN, STAGE_CHANGING, STAGE_CHANGED };

struct seat {
    _Alignas(64) _Atomic uint64_t who; /* 0: free */
    _Atomic int64_t out;               /* grants of this process that are not recorded */
    uint32_t handles;                  /* that the process has on this slot */
};

struct record {
    uint64_t ticket; /* 0: none */
    uint64_t who;
};

struct slot {
    struct robust lock;
    _Atomic uint64_t moved; /* where in the file the key lives now; 0: here */
    struct siphash_wide id; /* of the key */
    uint64_t era;           /* of the ledger, when it was last locked by who wanted a seat */
    int64_t origin_ns;      /* the books keep time from here on; on the clock of the ledger */
    uint64_t undo_at;       /* bytes from the beginning of the slot to the copy ... */
    uint64_t undo_bytes;    /* ... and its size */
    _Atomic int64_t swept_ns;
    _Atomic uint32_t stage;
    uint32_t record_changed;  /* while changing: one more than the number of a record ... */
    struct record record_was; /* ... and what it was before; 0: none */
    char spec[FB_SLOT_SPEC_MAX];
    struct record record[FB_RECORDS]; /* by the low bits of the grant's id */
    struct seat seat[FB_SEATS];
    struct body body;
};

/* A handle on a slot. */
struct share {
    struct fly_limiter handle; /* first; `away` is the slot's body */
    struct fly_ledger *ledger;
    _Atomic(struct slot *) slot;
    struct siphash_wide id;   /* of the key, as the slot says it */
    _Atomic uint32_t seat;    /* mine, as long as its `who` is me */
    _Atomic uint32_t watched; /* this process observes it; others know nothing of that */
    _Atomic uint32_t lost;    /* somebody has put something else there */
    struct owed owed;
};

static inline struct share *fb_share_of(struct fly_limiter *l)
{
    return (struct share *)l;
}

/* Whether each decision of this handle is told to somebody. */
static inline bool fb_is_watched(const struct fly_limiter *l, const struct body *b)
{
    if (!fb_is_shared(l))
        return b->books.watched;
    return atomic_load_explicit(&((const struct share *)l)->watched, memory_order_relaxed) != 0;
}

/* Bytes of a slot for this spec. */
uint64_t fb_slot_bytes(const struct spec *s);

/*
 * Make a slot in zeroed memory of fb_slot_bytes(). The spec is given as read and as text, which is
 * shorter than FB_SLOT_SPEC_MAX.
 */
void fb_slot_init(struct slot *slot, const struct spec *s, const char *text, uint64_t seed,
                  int64_t origin_ns);

/* What fb_enter(), fb_change() and fb_leave() do where the body is shared. */
struct body *fb_slot_enter(struct share *g);
void fb_slot_change(struct slot *slot);
void fb_slot_leave(struct share *g);

/* As fb_word_take(), counting the grant. */
bool fb_slot_word_take(struct share *g, int64_t now_ns, uint64_t *ret_ticket);

/* Between fb_change() and fb_leave(): this grant was made, or has ended. */
void fb_slot_granted(struct share *g, uint64_t ticket);
void fb_slot_ended(struct share *g, uint64_t ticket);

/* ---- with the slot locked, but not entered ---- */

/*
 * The key of this handle's slot has moved on: so does the handle, and gives its seat back. False:
 * nobody knows where to.
 */
bool fb_slot_move_on(struct share *g, struct slot *slot, uint64_t me);

/* Undo or finish what was left by whoever had the lock before. */
void fb_slot_repair(struct slot *slot);

/* ---- with the slot entered ---- */

/* What was changed holds, and the word may be opened: all of leaving but the unlocking. */
void fb_slot_finish(struct slot *slot);

/* What was changed holds, and more may be changed. */
void fb_slot_settle(struct slot *slot);

/* Take a seat for this process. -EUSERS: living ones have them all. */
int fb_slot_sit(struct slot *slot, uint64_t me, uint32_t *ret_seat);

/* End all grants of a process and free its seat. */
void fb_slot_bury(struct slot *slot, uint64_t who, int64_t now_ns);

/* Bury everybody who is gone. False: somebody lives. */
bool fb_slot_is_deserted(struct slot *slot, int64_t now_ns);

/* Nobody who is said to use it does: begin anew with what lasts. */
void fb_slot_empty(struct slot *slot, int64_t now_ns);

/* Begin anew with what lasts of the learned, and see that it is in range. */
void fb_slot_relearn(struct slot *slot);

/* ---- neither ---- */

/*
 * End what the dead have left out; at most every 100 ms, else nothing is done. True: something
 * was, so ask again.
 */
bool fb_slot_sweep(struct share *g, int64_t now_ns);

#endif
