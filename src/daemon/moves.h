/* SPDX-License-Identifier: MIT */
/*
 * moves.h - which moves of a learned limit are worth a word.
 *
 * A limit that is learned moves all the time, by little and for a moment. A move is told when it is
 * a fifth or more away from what was told last, and has been for ten seconds. Pure.
 */
#ifndef FLYBALL_DAEMON_MOVES_H
#define FLYBALL_DAEMON_MOVES_H

#include <stdbool.h>
#include <stdint.h>

#define MOVE_SHARE  0.2
#define MOVE_LAST_S 10

/* Zeroes: nothing was told yet. */
struct move {
    double told;     /* permits a second; 0: none */
    int64_t since_s; /* it has been away from that; 0: it is not */
    bool is_up;      /* in which direction */
};

/*
 * The limit in this second; 0: none is known. True: that is news, and *ret_before is what was told
 * before, 0 for the first one.
 */
bool fb_move(struct move *m, double limit, int64_t second, double *ret_before);

#endif
