/* SPDX-License-Identifier: MIT */
/*
 * match.h - matches that never were: who plays, where, since when, and how it stands.
 *
 * Everything follows from the seed, the number of a match and the time, so that several sites that
 * know nothing of each other tell of the same matches, and a judge can say what was true when. Each
 * pitch has one match after another, of 100 minutes each: so many are live at any time, those of
 * the next 15 minutes are imminent, those of the last 30 completed. Pure.
 */
#ifndef FLYBALL_MOCK_MATCH_H
#define FLYBALL_MOCK_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "signal/slice.h"

#define FB_MATCH_MINUTES   100
#define FB_MATCH_IMMINENT  15 /* minutes before it begins */
#define FB_MATCH_COMPLETED 30 /* and after it has ended, while sites tell of it */
#define FB_MATCH_PITCHES   10000
#define FB_MATCH_TEXT      48

enum match_state { MATCH_LIVE, MATCH_IMMINENT, MATCH_COMPLETED, MATCH_STATES };

/* What there is, in words such as "live=200 pace=6". */
struct fixture {
    int64_t live;      /* pitches */
    int64_t imminent;  /* matches that are about to begin, and never do */
    int64_t completed; /* and such as have always been over */
    int64_t pace;      /* minutes of a match in one of ours */
    int64_t unmapped;  /* of every so many the backend does not know the ticker's number; 0: all */
    int64_t mismatch;  /* the pitch whose number at the ticker is another match's; 0: none */
    int64_t broken;    /* the pitch of whose matches a site cannot tell: 500; 0: none */
    int64_t lies;      /* added to the home side's goals */
    uint64_t seed;
};

struct match {
    enum match_state state;
    int64_t pitch; /* from 1 on */
    int64_t round; /* which match it is there; 0 where nothing ever changes */
    int64_t minute;
    int64_t begins_s; /* since 1970 */
    int64_t goals_home;
    int64_t goals_away;
    char id[24]; /* what the backend calls it: "m17-4604", "i3", "c9" */
    char home[FB_MATCH_TEXT];
    char away[FB_MATCH_TEXT];
    char venue[FB_MATCH_TEXT];
};

/*
 * Read the words; NULL or "" is a single match. NULL; or the word that is wrong, as it stands
 * there, and in *ret_expects what it should be.
 */
struct slice fb_fixture_read(const char *text, uint64_t seed, struct fixture *ret_fixture,
                             const char **ret_expects);

/* Call `each` for every match of now: live ones first, then imminent ones, then the rest. */
void fb_fixture_walk(const struct fixture *f, int64_t wall_ns,
                     void (*each)(void *to, const struct match *m), void *to);

/* The match of this id, or of this number. False: there is none now. */
bool fb_match_find(const struct fixture *f, int64_t wall_ns, struct slice id,
                   struct match *ret_match);
bool fb_match_find_number(const struct fixture *f, int64_t wall_ns, int64_t number,
                          struct match *ret_match);

/* Its number, as a site of its own numbers matches. */
int64_t fb_match_number(const struct match *m);

/* "live", "imminent", "completed" */
const char *fb_match_state_name(enum match_state state);

#endif
