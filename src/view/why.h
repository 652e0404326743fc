/* SPDX-License-Identifier: MIT */
/*
 * why.h - `flyball why`: until when something waits, because of what, and what would change it.
 */
#ifndef FLYBALL_VIEW_WHY_H
#define FLYBALL_VIEW_WHY_H

#include "view/batch.h"

/* What the answer is. */
#define FB_VIEW_VERDICTS(X)                                            \
    X(now)      /* a request could start now */                        \
    X(waits)    /* not before until_ns, or until an answer comes */    \
    X(waited)   /* it did, and does no longer: until_ns is past */     \
    X(deferred) /* put off until until_ns; run the batch again then */ \
    X(done)     /* nothing waits: it has ended well */                 \
    X(failed)   /* it has ended otherwise, as `sentence` says */       \
    X(stopped)  /* its batch does not run */                           \
    X(unknown)  /* nothing is known about it */

enum view_verdict {
#define X(name) VIEW_VERDICT_##name,
    FB_VIEW_VERDICTS(X)
#undef X
        VIEW_VERDICTS
};

struct view_why {
    char subject[VIEW_TEXT]; /* what was asked about, without secrets */
    char batch[VIEW_NAME];   /* in which batch, or "" */
    char item[VIEW_NAME];    /* its id there, or "" */
    char source[VIEW_TEXT];  /* where this is from: "process 4711, which runs", "saved 3 min ago" */
    enum view_verdict verdict;
    int64_t until_ns; /* VIEW_NEVER: only an answer decides; 0: not known */
    char sentence[VIEW_TEXT];
    bool has_key;
    struct view_key key; /* what it is under, with the cause */

    /* Of a batch: */
    int64_t lasted_ns; /* that wait, as far as it is known; 0: it is not */
    char progress[VIEW_NAME];
    int64_t wait_count;
    struct view_wait wait[VIEW_BATCH_CAUSES]; /* in all */
    char next[VIEW_BATCH_PATH + 32];          /* what does the rest: a command, or a sentence */
};

/*
 * By what is known of a key: the verdict, until when, and of what it waits for only what is not
 * over. `sends`: whoever has it goes on sending what is queued.
 */
void fb_view_why_judge(const struct view_key *key, bool sends, int64_t now_ns,
                       struct view_why *ret_why);

void fb_view_why_text(const struct view_why *v, const struct view_style *style, int64_t now_ns,
                      struct buffer *to);
void fb_view_why_json(const struct view_why *v, int64_t now_ns, struct buffer *to);

#endif
