/* SPDX-License-Identifier: MIT */
/*
 * queue.h - who goes next: tasks by priority, under keys that never wait for each other.
 *
 * A task belongs to a key. A key whose limiter says "not before T" steps aside until T with all its
 * tasks, and costs nothing meanwhile. Among the others the highest priority goes first, and within
 * one the task that was queued first. So that nothing starves, a priority that was passed over by
 * `ageing` starts in a row has a turn.
 *
 * The queue never allocates: tasks and keys are parts of what the caller has. It starts nothing
 * and asks no limiter: the caller looks at the first task, asks for it, and says what came of
 * that (it started, or the key waits). Every call is O(log n) on average over many, n being keys
 * or the tasks that have a patience; no call walks over tasks.
 */
#ifndef FLYBALL_CORE_QUEUE_H
#define FLYBALL_CORE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/heap.h"

enum priority {
    PRIORITY_UNSET, /* normal */
    PRIORITY_HIGH,  /* put back after a throttled answer */
    PRIORITY_LIVE,
    PRIORITY_IMMINENT,
    PRIORITY_NORMAL,
    PRIORITY_BACKGROUND,
};

#define FB_QUEUE_LEVELS      5
#define FB_QUEUE_INTERACTIVE 3 /* the first levels: high, live and imminent; the rest is bulk */
#define FB_QUEUE_AGEING      16

struct queue_task {
    struct queue_task *next, *prev;   /* in its key and level */
    struct queue_task *newer, *older; /* of its level, over all keys */
    struct queue_key *key;            /* NULL: not queued */
    struct heap_node node;            /* by patience, or by the time until which it is delayed */
    int64_t queued_ns;                /* its place among the keys */
    int64_t start_by_ns;              /* its patience ends; FB_NEVER: it has none */
    enum priority priority;
    bool to_front; /* of its level, not to the end: it had its turn before */
    bool is_delayed;
};

/* Tasks of one key, or of all keys and one level, from the oldest on. */
struct queue_list {
    struct queue_task *first, *last;
};

/* Keys that may start: for each level by the first task that they have there. */
struct queue_lane {
    struct heap ready[FB_QUEUE_LEVELS];
};

struct queue_key {
    struct queue_list level[FB_QUEUE_LEVELS];
    struct heap_node ready[FB_QUEUE_LEVELS]; /* in the lane where it stands */
    struct queue_lane *lane;                 /* NULL: it waits */
    struct heap_node wait;                   /* among the keys that wait for a time */
    struct heap_node patience;               /* among the keys by their most impatient task */
    struct heap by_patience;                 /* its tasks that have one */
    int64_t wait_ns; /* it waits until then: a time, or FB_NEVER for "until woken" */
    int64_t count;   /* of its tasks, without the delayed ones; likewise by level: */
    int64_t in_level[FB_QUEUE_LEVELS];
};

struct queue {
    struct queue_lane lane;
    struct queue_list level[FB_QUEUE_LEVELS];
    int64_t in_level[FB_QUEUE_LEVELS]; /* tasks */
    struct heap waiting;               /* keys, by wait_ns */
    struct heap delayed;               /* tasks, by the time from which they are queued */
    struct heap patience;              /* keys, by their most impatient task */
    int64_t count;                     /* tasks, delayed ones included */
    int64_t max;
    int32_t ageing;                  /* 0: priorities are absolute */
    int32_t passed[FB_QUEUE_LEVELS]; /* starts of higher ones since its last turn */
};

/* An empty queue for at most `max` tasks; `ageing` 0 makes priorities absolute. */
void fb_queue_init(struct queue *q, int64_t max, int32_t ageing);

/* A zeroed key is empty and may start. */

/* ----------------------------------------------------------------------------------- in and out */

/*
 * Put a task, whose priority, queued_ns, start_by_ns and to_front are set, into its key and level.
 * There must be room; see fb_queue_is_full(). What is put back had room before.
 */
void fb_queue_push(struct queue *q, struct queue_key *k, struct queue_task *t);

/* The same, but it is not queued before `at_ns`; see fb_queue_due(). */
void fb_queue_delay(struct queue *q, struct queue_key *k, struct queue_task *t, int64_t at_ns);

/* Take a task off, wherever it is. */
void fb_queue_remove(struct queue *q, struct queue_task *t);

static inline bool fb_queue_is_full(const struct queue *q)
{
    return q->count >= q->max;
}

/*
 * The task that has to make room for one of `priority`: the newest of the lowest priority that is
 * below it, or NULL. It is still queued.
 */
struct queue_task *fb_queue_victim(const struct queue *q, enum priority priority);

/* -------------------------------------------------------------------------------- who goes next */

/*
 * The task in `lane` (the queue's own, or one of fb_queue_stand_in()) whose turn it is, or NULL.
 * Without `bulk` only interactive work is looked at. It stays queued: start it, or let its key
 * wait.
 */
struct queue_task *fb_queue_first(const struct queue *q, const struct queue_lane *lane, bool bulk);

/* The task starts: it is taken off, and lower priorities that could have were passed over. */
void fb_queue_start(struct queue *q, struct queue_task *t);

/* The key cannot start before `at_ns`; FB_NEVER: before it is woken. */
void fb_queue_wait(struct queue *q, struct queue_key *k, int64_t at_ns);

/* The key stands in another lane, for a slot that it shares with others there. */
void fb_queue_stand_in(struct queue *q, struct queue_key *k, struct queue_lane *lane);

/* A key without tasks goes: it stands nowhere any more, and its memory may be freed. */
void fb_queue_forget(struct queue *q, struct queue_key *k);

/* The key may be able to start again: something was reported, or a slot is free. */
void fb_queue_wake(struct queue *q, struct queue_key *k);

/* ---------------------------------------------------------------------------------- time passes */

/* Wake the keys and queue the tasks whose time has come.. */
void fb_queue_advance(struct queue *q, int64_t now_ns);

/* The next instant at which something changes by itself, or FB_NEVER. */
int64_t fb_queue_next_at(const struct queue *q);

/*
 * A task that cannot start in time: its patience is over at `now_ns`, or ends before the time
 * until which its key waits for certain. NULL: none. It is still queued.
 */
struct queue_task *fb_queue_late(const struct queue *q, int64_t now_ns);
struct queue_task *fb_queue_late_in(const struct queue_key *k, int64_t not_before_ns);

/* "high", "live", "imminent", "normal", "background" (or "completed"): PRIORITY_UNSET if none. */
enum priority fb_priority_find(const char *name);
const char *fb_priority_name(enum priority p);

#endif
