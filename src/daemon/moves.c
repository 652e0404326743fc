/* SPDX-License-Identifier: MIT */
/* moves.c - away from what was told, in one direction, for long enough. */
#include "daemon/moves.h"

#include <math.h>

bool fb_move(struct move *m, double limit, int64_t second, double *ret_before)
{
    bool is_up = limit > m->told;

    if (limit <= 0.0 || fabs(limit - m->told) < MOVE_SHARE * m->told) {
        m->since_s = 0;
        return false;
    }
    if (m->since_s == 0 || is_up != m->is_up)
        m->since_s = second;
    m->is_up = is_up;
    if (second - m->since_s < MOVE_LAST_S)
        return false;
    *ret_before = m->told;
    *m = (struct move){.told = limit};
    return true;
}
