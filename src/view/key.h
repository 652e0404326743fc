/* SPDX-License-Identifier: MIT */
/*
 * key.h - one key (provider x pool x credential): what bounds it, what is left, what it waits for.
 *
 * Limits, status, top and why all show keys; this is the part that they share. Plain memory,
 * without pointers: a running batch leaves it where other processes can read it.
 */
#ifndef FLYBALL_VIEW_KEY_H
#define FLYBALL_VIEW_KEY_H

#include <stdint.h>

#include "core/bound.h"
#include "core/queue.h"
#include "view/view.h"

#define VIEW_NAME  64 /* bytes of a name, its end included; longer ones are cut */
#define VIEW_CAUSE 24
#define VIEW_TEXT  256
#define VIEW_NEVER INT64_MAX /* ready_ns: only an answer can decide */

/* flags */
#define VIEW_KEY_LEARNED  1u    /* `limit` is believed, not stated */
#define VIEW_KEY_LEARNING 2u    /* nothing has refused yet: the pace still rises */
#define VIEW_KEY_BROKEN   4u    /* its breaker is open */
#define VIEW_KEY_DISABLED 8u    /* switched off by the operator */
#define VIEW_KEY_CLIMBING 16u   /* the pace still rises, whatever the server tells of its quota */
#define VIEW_KEY_PACED    32u   /* whoever learns holds it, longer than any server asked for */
#define VIEW_KEY_SPENT    64u   /* and that because what was learned is used up until then */
#define VIEW_KEY_WRONG    128u  /* all that was answered lately was 4xx: the requests are wrong */
#define VIEW_KEY_TOLD     256u  /* `limit` is what the server tells of its window */
#define VIEW_KEY_SHARED   512u  /* what it waits for is of the ledger, not of a batch */
#define VIEW_KEY_NEAR     1024u /* learning, but refused and slowed down: not far from the limit */

struct view_key {
    char provider[VIEW_NAME];
    char pool[VIEW_NAME];        /* "default" where the provider has only one */
    char credential[VIEW_CAUSE]; /* a keyed hash, never the secret; "": none */
    int64_t seen_ns;             /* when all this was so */

    int64_t queued;
    int64_t queued_by[FB_QUEUE_LEVELS]; /* the most urgent first */
    int64_t oldest_ns;                  /* since when the oldest of those is queued; 0: none is */
    int64_t since_ns; /* since then nothing has left, though something is queued; 0: nothing is */
    int64_t in_flight;
    double rate; /* sent a second, in the last seconds */
    uint32_t flags;
    uint32_t reserve_ppm; /* of a quota that is told: this share is kept back */

    char spec[VIEW_TEXT];     /* limit text as stated, or "" */
    char said_by[VIEW_CAUSE]; /* who stated it: "command line", "preset", "configuration", "" */
    double limit;             /* permits a second, stated or believed; 0: none */
    double pace;              /* at which they leave as long as nothing holds it; 0: none is kept */
    struct bound bound;       /* the tightest of that, the windows, and what is left of a quota */
    double permits;        /* that may leave at once, as far as a rate bounds that; -1: none does */
    double confidence;     /* 0..1, of what was learned */
    int64_t window_limit;  /* that may be used of the fullest stated window; 0: there is none */
    int64_t window_stated; /* of it, before the margin and before what was learned */
    int64_t window_left;
    int64_t window_ns;
    int64_t window_frees_ns; /* when the next place in it comes free; <= now: it is empty */
    int64_t changed_ns;      /* when what was learned changed last; 0: not known */

    int64_t quota_limit; /* told by the server; 0: nothing was told */
    int64_t quota_left;
    int64_t quota_window_ns; /* 0: not told */
    int64_t quota_reset_ns;  /* an instant */
    int64_t told_ns;         /* when that was told last */

    int64_t broken_ns;      /* its breaker lets the next trial out; 0: not known */
    int64_t ready_ns;       /* the next request may start; <= now: now; VIEW_NEVER */
    char cause[VIEW_CAUSE]; /* what it waits for: "hold", "bucket", ...; "": nothing */
    char why[VIEW_TEXT];    /* a sentence about that */

    int64_t requests;       /* sent; -1: not counted */
    int64_t refused;        /* of those, for rate; -1: not counted */
    int64_t refused_hour;   /* in the last hour; -1: not counted */
    int64_t refused_ns;     /* the last refusal; 0: none */
    int64_t retry_after_ns; /* what it asked for; 0: nothing */
    int32_t refused_status;
    int32_t quota_most_s;         /* the longest time until a reset that was told */
    char refused_item[VIEW_NAME]; /* the request that was refused */
    char told_by[VIEW_NAME];      /* the header or phrase that told of limits last, or "" */
    int32_t failed_count;         /* of the last requests: failed alike, in a row */
    int32_t failed_status;        /* what was answered; 0: nothing was */
    char failed[VIEW_NAME];       /* what happened, where nothing was answered */
};

/* "github/core", "127.0.0.1:8080": a pool that is the only one goes without saying. */
void fb_view_key_name(const struct view_key *k, struct buffer *to);

/*
 * Copy a text into a field of `size` bytes, cut at a whole character where it is longer. Control
 * characters become '?': what is shown later may be on a terminal.
 */
void fb_view_put(char *field, size_t size, const char *text);

/* Whether it is well: by its quota, its breaker, what it waits for, whether anything is to do. */
enum view_state fb_view_key_state(const struct view_key *k, int64_t now_ns);

/* Whether what the server told of its quota still holds: its reset is not past. */
bool fb_view_key_has_quota(const struct view_key *k, int64_t now_ns);

/* Whether it begins anew in a moment: however little is left, nobody need look. */
bool fb_view_key_resets_soon(const struct view_key *k, int64_t now_ns);

/* How long a wait is in all, of which this is a look: since the last one left. 0: not known. */
int64_t fb_view_key_wait_ns(const struct view_key *k);

/*
 * When the next request may start, of a key that is seen to send what it has: what was seen is a
 * moment old, and at a pace the next wait began when the last one ended. `now_ns` or before: now.
 */
int64_t fb_view_key_next_ns(const struct view_key *k, int64_t now_ns);

/* Whether the next start is worth a word: somebody waits for it, or it is a second away. */
bool fb_view_key_is_late(const struct view_key *k, int64_t now_ns);

/* Whether nothing may start for a second or more. */
bool fb_view_key_waits(const struct view_key *k, int64_t now_ns);

/* Whether its requests are wrong, and nothing else is more urgent to say. */
bool fb_view_key_is_wrong(const struct view_key *k, int64_t now_ns);

/*
 * What holds it, in a word or two: "Retry-After", "refused" for a refusal that told no time,
 * "learned" where what was learned is used up, "window"; "": nothing does. Of one that may start
 * "4xx", where the requests are wrong, and "failing", where its breaker lets a trial out.
 */
const char *fb_view_key_because(const struct view_key *k, int64_t now_ns);

/* What came of the last request, which failed: "500", "the connection was refused". */
void fb_view_key_failure(const struct view_key *k, struct buffer *to);

/* "the last 5 answers were 500"; nothing where the last request did not fail. */
void fb_view_key_failures(const struct view_key *k, struct buffer *to);

/* Whether it is left alone because too much failed. */
bool fb_view_key_is_down(const struct view_key *k, int64_t now_ns);

/* `why` as it is now: what it says of how long has passed since it was seen. */
void fb_view_key_why(const struct view_key *k, int64_t now_ns, struct buffer *to);

/* Which amount tells what is left. */
enum view_left { VIEW_LEFT_NOTHING, VIEW_LEFT_QUOTA, VIEW_LEFT_WINDOW };

/* The window that is full, however much is left elsewhere; else what the server told. */
enum view_left fb_view_key_left_by(const struct view_key *k, int64_t now_ns);

/* "learned", "window", ... what the tightest bound is; "": there is none. */
const char *fb_view_bound_name(enum bound_by by);

/* Whether `limit` was found out: neither stated nor told by the server. */
bool fb_view_key_is_guess(const struct view_key *k);

/* "~12.0/s", "?" while it is searched for, "-" where there is none. */
void fb_view_key_limit(const struct view_key *k, struct buffer *to);

/*
 * "11.8 / ~12.0/s" by the tightest bound, "1,712 of 5,000" of what is waited for, "in 41 s": cells
 * of a table; "" where nothing is known.
 */
void fb_view_key_rate(const struct view_key *k, struct buffer *to);
void fb_view_key_left(const struct view_key *k, int64_t now_ns, struct buffer *to);
void fb_view_key_next(const struct view_key *k, int64_t now_ns, struct buffer *to);

/* All of it as the members of one JSON object, with its braces. */
void fb_view_key_json(const struct view_key *k, int64_t now_ns, struct buffer *to);

#endif
