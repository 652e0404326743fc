/* SPDX-License-Identifier: MIT */
/*
 * accountant.h - one key's books: asked "when may this leave?", it answers "at T, because R".
 *
 * T is the latest of what each constraint asks, never a sum. The accountant is a plain value and
 * a function of (state, event, now): it holds no lock and reads no clock. Whoever shares it
 * between threads locks it; whoever gives it time gives time that does not fall. It holds no
 * pointer, so that it may be mapped anywhere.
 */
#ifndef FLYBALL_CORE_ACCOUNTANT_H
#define FLYBALL_CORE_ACCOUNTANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <flyball/flyball.h>

#include "core/bound.h"
#include "core/constraint.h"
#include "core/controller.h"
#include "core/rng.h"
#include "core/ticket.h"

/* The slots of all constraints lie side by side; each row gets its part. */
#define X(name, slots) FB_SLOT_##name, FB_SLOT_LAST_##name = FB_SLOT_##name + (slots)-1,
enum { FB_CONSTRAINTS(X) FB_SLOT_COUNT };
#undef X

#define FB_SPARE_COUNT 7

struct accountant {
    union {
        union controller_state learned;
        uint64_t spare[FB_SPARE_COUNT]; /* where nothing learns: for whoever shares the books */
    };
    struct pace pace;
    struct tickets tickets;
    struct rng rng;
    int64_t now_ns;    /* the latest instant seen */
    int64_t in_flight; /* grants that are out */
    int64_t units_out; /* the sum of their costs */
    int64_t slot[FB_SLOT_COUNT];
    uint64_t settled;      /* the ticket settled last ... */
    uint32_t settled_cost; /* ... and its true cost */
    uint16_t in_force;     /* bit per constraint */
    uint8_t key;           /* seals tickets */
    uint8_t plain : 1;     /* only a bucket bounds it, but for what an answer may bring */
    uint8_t watched : 1;   /* each decision is told to somebody, so none is made from outside */
    uint8_t learner : 5;   /* fb_controllers[learner]; 0: nothing learns */
    uint8_t even : 1;      /* what a server tells is spread, however little is to come */
};

/* What learns, or NULL. */
static inline const struct controller *fb_accountant_controller(const struct accountant *a)
{
    return fb_controllers[a->learner];
}

/* Bytes of memory that the books under `s` need beside a struct accountant; mostly 0. */
size_t fb_accountant_bytes(const struct spec *s);

/*
 * Open the books under `s`. `memory` is fb_accountant_bytes(s) zeroed bytes, 8-aligned, right
 * behind `a` and moving with it.
 */
void fb_accountant_init(struct accountant *a, const struct spec *s, void *memory, uint64_t seed,
                        int64_t now_ns);

/*
 * A decision that was left in the middle is undone by putting back a copy of so many bytes, from
 * the beginning of the struct on and with the memory behind it; then fb_accountant_mend(). What
 * else it wrote (stamps of windows) errs towards waiting.
 */
size_t fb_accountant_undo_bytes(const struct spec *s);
void fb_accountant_mend(struct accountant *a);

/* A verdict: from when, and which constraint asks for the latest. */
struct verdict {
    int64_t at_ns;
    const struct constraint *cause; /* NULL when it may leave now */
};

/* When a request of `cost` >= 1 may leave; nothing changes. at_ns <= now_ns: now. */
struct verdict fb_accountant_ask(const struct accountant *a, int64_t cost, int64_t now_ns);

/* It leaves now: fb_accountant_ask() has just said so. Returns the ticket. */
uint64_t fb_accountant_take(struct accountant *a, int64_t cost, int64_t now_ns);

/* Ask, and where it may leave now it leaves: only then is *ret_ticket written. */
struct verdict fb_accountant_try(struct accountant *a, int64_t cost, int64_t now_ns,
                                 uint64_t *ret_ticket);

/* `units` are still to be asked for; -1: nobody knows. Counted down by what is taken. */
void fb_accountant_backlog(struct accountant *a, int64_t units, int64_t now_ns);

/*
 * Whether what is told to be left need not be spread: all that is out and to come fits into it, or
 * nobody knows how much that is and the spec says to go on until it is used up. limit >= 1.
 */
bool fb_accountant_is_ample(const struct accountant *a, int64_t limit, int64_t remaining);

void fb_accountant_cancel(struct accountant *a, uint64_t ticket, int64_t now_ns);
void fb_accountant_settle(struct accountant *a, uint64_t ticket, uint32_t cost, int64_t now_ns);
void fb_accountant_report(struct accountant *a, const struct fly_outcome *o, int64_t now_ns);

/* Let the constraints keep the pace as it is now; whoever set it from outside calls this. */
void fb_accountant_repace(struct accountant *a);

/* What was learned; all 0 where nothing learns, but for the time to recover. */
struct learned fb_accountant_learned(const struct accountant *a);

/* True while a bucket alone decides, so that its level may be taken from outside. */
bool fb_accountant_is_plain(const struct accountant *a, int64_t now_ns);

/*
 * True when these books may be thrown away and opened anew without a limit being broken: nothing
 * is out, nothing is held or spent, and nothing learns.
 */
bool fb_accountant_is_rested(const struct accountant *a, int64_t now_ns);

/* The same, but for what was learned. */
bool fb_accountant_is_idle(const struct accountant *a, int64_t now_ns);

/* From outside the level was taken to `level`, in `grants` grants, each with the next id. */
void fb_accountant_merge(struct accountant *a, int64_t level, uint64_t grants);

/* So many grants of cost 1 are not out any more, whoever had them. */
void fb_accountant_forget(struct accountant *a, int64_t grants);

/* Take it that every limit was used up just now: nothing is known of what was spent before. */
void fb_accountant_exhaust(struct accountant *a, int64_t now_ns);

/* The next id is not given to any grant: whoever looks at the newest one sees a change. */
void fb_accountant_skip_id(struct accountant *a);

/*
 * Whether these books, which may be any bytes, can have come from `fresh` ones under the same spec
 * and with memory of their own: everything that is read of them afterwards is then in range.
 * Only what is learned is not looked at: fb_accountant_relearn() does that.
 */
bool fb_accountant_is_sound(const struct accountant *a, const struct accountant *fresh);

/*
 * Begin again with what lasts of the learned, in range, and the rest as `fresh` has it. False:
 * something is out of its range, and the learned is that of `fresh`.
 */
bool fb_accountant_relearn(struct accountant *a, const struct accountant *fresh);

/*
 * Go on where `from` is, under the spec that `to` was opened with just now, at an instant not
 * before the latest that `from` has seen. What cannot be known errs towards waiting.
 */
void fb_accountant_transfer(struct accountant *to, const struct accountant *from);

/* The same, but all that goes on is what is out: nothing is spent, held, told or learned. */
void fb_accountant_begin_anew(struct accountant *to, const struct accountant *from);

/* The bucket's slots (bucket.h), for whoever takes from it directly. */
static inline int64_t *fb_accountant_bucket(struct accountant *a)
{
    return &a->slot[FB_SLOT_bucket];
}

/* One word for the verdict: "go", a constraint's name, or what its "never" is called. */
const char *fb_accountant_cause(const struct verdict *v);

/* What the pace waits for, where that lasts longer than what a server asked for. */
enum pace_wait fb_accountant_pace_wait(const struct accountant *a, int64_t now_ns);

/* The tighter of what its windows allow in the long run and what is left of its quota. */
struct bound fb_accountant_amounts(const struct accountant *a, int64_t now_ns);

/*
 * The sentence about a request of `cost` >= 1: what is waited for, until when, with its figures,
 * and the pace that is kept. While a refusal holds the key there is none.
 */
void fb_accountant_explain(const struct accountant *a, const struct verdict *v, int64_t cost,
                           int64_t now_ns, struct text *ret_text);

#endif
