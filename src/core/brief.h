/* SPDX-License-Identifier: MIT */
/*
 * brief.h - the books of a key that a bucket alone bounds, in 24 bytes.
 *
 * Most of a million keys are of this kind most of the time: nothing is held, nothing was told,
 * nothing learns. What sets one key apart from another is then when its bucket will be full and
 * which grants are out. The rest (rate, burst) is the same for all of them and kept once, in the
 * pattern: books that were opened and never used.
 *
 * Brief books answer exactly as an accountant would. What they cannot keep (a hold, a quota, a
 * true cost) is unfolded into an accountant first and folded again when it is over.
 */
#ifndef FLYBALL_CORE_BRIEF_H
#define FLYBALL_CORE_BRIEF_H

#include <stdbool.h>
#include <stdint.h>

#include "core/accountant.h"
#include "core/ticket.h"

struct brief {
    int64_t full_ns; /* from when on the bucket is full, rounded down ... */
    uint32_t rest;   /* ... and so many ticks later exactly; less than a nanosecond has */
    uint16_t newest; /* the tickets, as in struct tickets_brief */
    uint16_t old;
    uint64_t ended;
};

/* Whether the books of this pattern can be brief at all: only a bucket bounds them. */
bool fb_brief_fits(const struct accountant *pattern);

/* Fresh books: the bucket is full, nothing is out. */
struct brief fb_brief_new(int64_t now_ns);

/* When a request of `cost` >= 1 may leave; as fb_accountant_ask(). */
struct verdict fb_brief_ask(const struct brief *b, const struct accountant *pattern, int64_t cost,
                            int64_t now_ns);

/* It leaves now. Returns the ticket, sealed with `key`. */
uint64_t fb_brief_take(struct brief *b, const struct accountant *pattern, int64_t cost,
                       int64_t now_ns, uint8_t key);

/* As fb_accountant_cancel(). */
void fb_brief_cancel(struct brief *b, const struct accountant *pattern, uint64_t ticket,
                     int64_t now_ns, uint8_t key);

/* Whether the outcome tells something that brief books cannot keep. */
bool fb_brief_is_told(const struct fly_outcome *o);

/* As fb_accountant_report() of an outcome that tells nothing. */
void fb_brief_report(struct brief *b, uint64_t ticket, uint8_t key);

/*
 * What is left to do where an accountant is wanted and there is no memory for one: start nothing
 * before `until_ns`, and count `units` more as used.
 */
void fb_brief_hold(struct brief *b, const struct accountant *pattern, int64_t until_ns);
void fb_brief_charge(struct brief *b, const struct accountant *pattern, int64_t units,
                     int64_t now_ns);

/* Whether they may be thrown away; as fb_accountant_is_rested(). */
bool fb_brief_is_rested(const struct brief *b, int64_t now_ns);

/* Go on in `a`, which was just opened under the same spec. */
void fb_brief_unfold(const struct brief *b, struct accountant *a, int64_t now_ns);

/* The same in brief; `a` is plain at this time (fb_accountant_is_plain). */
struct brief fb_brief_fold(const struct accountant *a, int64_t now_ns);

#endif
