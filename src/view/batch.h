/* SPDX-License-Identifier: MIT */
/*
 * batch.h - a batch: how far it is, what bounds it, what it has waited for.
 *
 * Plain memory without pointers, as view/key.h says.
 */
#ifndef FLYBALL_VIEW_BATCH_H
#define FLYBALL_VIEW_BATCH_H

#include <stdint.h>

#include "view/key.h"

#define VIEW_BATCH_KEYS   32 /* those with most to do; others are counted */
#define VIEW_BATCH_CAUSES 12
#define VIEW_BATCH_PATH   512

/* For how long keys with something queued could not send, by what they waited for. */
struct view_wait {
    char cause[VIEW_CAUSE];
    int64_t span_ns;
};

struct view_batch {
    char name[VIEW_NAME]; /* "fetch-0123456789abcdef": what `flyball status` takes */
    char list[VIEW_BATCH_PATH];
    char output[VIEW_BATCH_PATH];  /* "": standard output */
    char journal[VIEW_BATCH_PATH]; /* "": there is none */
    char command[VIEW_BATCH_PATH]; /* that goes on with it, without secrets; "": none */
    uint32_t command_is_long;      /* there is one, but not here: it does not fit */

    int64_t pid;
    uint32_t running;
    int32_t exit_code; /* of one that has ended */
    int64_t began_ns;
    int64_t ended_ns;   /* 0: it has not, or nobody knows when */
    int64_t updated_ns; /* when all this was so */

    int64_t total; /* items; -1: not known */
    uint32_t total_grows;
    uint32_t bad_lines; /* of the list, that are no requests and were passed over */
    int64_t done;       /* ended well, in earlier runs as well; likewise: */
    int64_t failed;
    int64_t deferred;
    int64_t skipped;
    int64_t unknown;
    int64_t earlier; /* of these, ended before this run began; what follows is of this run */
    int64_t in_flight;
    int64_t queued;
    int64_t requests;
    int64_t throttled;
    int64_t retries;

    double rate;           /* items a second, in the last seconds; of one that has ended: in all */
    int64_t eta_ns;        /* an instant; 0: not known */
    char bound[VIEW_NAME]; /* what decides: "core 5000/h", "~12/s"; "": nothing */

    int64_t latency_p50_ns; /* of the answers of this run; 0: there were none */
    int64_t latency_p95_ns;
    int64_t latency_p99_ns;

    int64_t wait_count;
    struct view_wait wait[VIEW_BATCH_CAUSES];
    int64_t elsewhere; /* the worst state of keys that are told elsewhere, and 1; 0: of none */
    char held_by[VIEW_NAME * 2 + VIEW_CAUSE]; /* that key and why: "openai: Retry-After"; "" */
    struct view_key held; /* as it was when it last had to wait, for a second or more if ever ... */
    int64_t held_ns;      /* ... which was then; 0: never */

    int64_t key_count; /* in all; at most VIEW_BATCH_KEYS are here */
    struct view_key key[VIEW_BATCH_KEYS];
};

/* How many of `key` are filled in. */
size_t fb_view_batch_keys(const struct view_batch *b);

/* How many have ended, whatever came of them. */
int64_t fb_view_batch_ended(const struct view_batch *b);

/*
 * The worst state of its keys, here or elsewhere, or what comes of its items if that is worse: a
 * fifth failed is a warning, four fifths are critical, whatever the servers say. A batch that does
 * not run is idle.
 */
enum view_state fb_view_batch_state(const struct view_batch *b, int64_t now_ns);

/*
 * A key that has work of this batch is told elsewhere: the worst of these gives the batch its
 * state and, where it is not well, says what holds it.
 */
void fb_view_batch_note(struct view_batch *b, const struct view_key *k, int64_t now_ns);

/* The key that waits longest, else any that has something to do; or NULL. */
const struct view_key *fb_view_batch_waiting(const struct view_batch *b);

/* Whether all of its items have ended, however. */
bool fb_view_batch_is_over(const struct view_batch *b);

/*
 * Append the command that does what is left, of one that does not run; with --retry-failed or
 * --deferred where all have ended and some not well. One that is too long to be kept is said in
 * words. Nothing where nothing is left, or no command is known.
 */
void fb_view_batch_next(const struct view_batch *b, struct buffer *to);

/* Waits as a JSON array. */
void fb_view_waits_json(const struct view_wait *wait, int64_t count, struct buffer *to);

/* All of it as the members of one JSON object, with its braces. */
void fb_view_batch_json(const struct view_batch *b, int64_t now_ns, struct buffer *to);

#endif
