/* SPDX-License-Identifier: MIT */
/* hold.h - the slots of the constraint `hold`, for whoever keeps them. */
#ifndef FLYBALL_CORE_HOLD_H
#define FLYBALL_CORE_HOLD_H

enum {
    FB_HOLD_UNTIL,      /* the server's: nothing leaves earlier */
    FB_HOLD_PACE_UNTIL, /* the controller's */
    FB_HOLD_RAMP,       /* in flight allowed after a hold; 0: no ramp */
    FB_HOLD_SLOTS
};

#define FB_HOLD_RAMP_DONE 40 /* the ramp is over when so many may be in flight */

#endif
