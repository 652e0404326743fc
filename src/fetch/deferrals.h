/* SPDX-License-Identifier: MIT */
/*
 * deferrals.h - what batches have put off, read from their journals.
 *
 * Journals are opened to be read: batches that run are not disturbed. Slow: not for an event loop.
 */
#ifndef FLYBALL_FETCH_DEFERRALS_H
#define FLYBALL_FETCH_DEFERRALS_H

#include <flyball/flyball.h>

#include "view/deferred.h"

/* Zeroed it is empty, and takes any number. */
struct deferrals {
    struct view_deferred_row *row;
    char **texts; /* those of a row, in one piece */
    size_t count;
    size_t room;
    size_t most; /* rows that are kept; 0: all */
};

/* Add those of one journal. 0 or negative errno with a sentence. */
int fb_deferrals_add(struct deferrals *l, const char *journal, struct fly_error *err)
    __attribute__((warn_unused_result));

/*
 * Add those of all journals in a folder; one that is not there has none. What cannot be read is
 * left out and told: `tell` may be NULL. 0, or negative errno of the last that failed.
 */
int fb_deferrals_add_all(struct deferrals *l, const char *folder, void (*tell)(const char *text))
    __attribute__((warn_unused_result));

void fb_deferrals_fini(struct deferrals *l);

#endif
