/* SPDX-License-Identifier: MIT */
/* bound.h - what bounds a rate, and by how much: of several the tightest counts. */
#ifndef FLYBALL_CORE_BOUND_H
#define FLYBALL_CORE_BOUND_H

enum bound_by { BOUND_NOTHING, BOUND_STATED, BOUND_LEARNED, BOUND_WINDOW, BOUND_QUOTA };

struct bound {
    double rate; /* permits a second; 0: nothing bounds it */
    enum bound_by by;
};

/* A rate that is known (> 0) bounds it as well. */
static inline void fb_bound_tighten(struct bound *b, double rate, enum bound_by by)
{
    if (rate > 0.0 && (b->by == BOUND_NOTHING || rate < b->rate))
        *b = (struct bound){rate, by};
}

#endif
