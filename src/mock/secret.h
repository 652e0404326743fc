/* SPDX-License-Identifier: MIT */
/*
 * secret.h - a limit that is drawn from a seed, and a job that is worth watching under it.
 *
 * Same seed, same secret.
 */
#ifndef FLYBALL_MOCK_SECRET_H
#define FLYBALL_MOCK_SECRET_H

#include <stdint.h>

/*
 * A token bucket of 10 to 20 a second that holds 10 to 30, and at least what comes in in 0.55 s.
 * One that holds less than what comes in in a second is full before the whole second is over that a
 * Retry-After asks for; what comes in then is lost to everybody who waits for it.
 */
struct secret {
    double rate;
    int64_t burst;
    int64_t requests; /* of a job for which a client that knew the limit needs 58 to 61 s */
    char text[80];    /* the limit as the mock reads it */
};

struct secret fb_secret_draw(uint64_t seed);

/* Seconds that a client who knew it would need for so many requests. */
double fb_secret_needed_s(const struct secret *s, int64_t requests);

#endif
