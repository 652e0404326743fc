/* SPDX-License-Identifier: MIT */
/*
 * probe_reading.h - an episode as a measurement, for those who read it (probe_reading.c has the
 * table of them).
 */
#ifndef FB_PROBE_READING_H
#define FB_PROBE_READING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/adapt/probe_parts.h"

struct reading {
    const struct answer *a;
    float accepted;  /* units between the two moments at which it was empty */
    float rate;      /* the pace that was refused */
    float estimate;  /* the limit as measured, drawn to the pace while little was counted */
    float least;     /* what the limit is at least */
    float open_s;    /* from the moment it was empty, or opened, to the refusal */
    float blocked_s; /* from the refusal to the ping that went through */
    float shut_s;    /* from the refusal to the last ping that was refused */
    float cycle;     /* units a second from opening to opening: exact for any kind of window */
    float window_s;  /* the window, as the openings told say; 0: they were not told */
    float whole_s;   /* from one to the next: some of those windows */
    int32_t grants;  /* since the refusal before */
};

/*
 * A few requests measure badly. Unless several refusals in a row agree that it is about the pace,
 * a limit from so few is in doubt, and soon tried again.
 */
void fb_probe_settle_few(struct probe *p, float limit, const struct reading *r);

/* What the first climb, or a burst after idling, got beyond the limit had been stored. */
void fb_probe_note_stored(struct probe *p);

/* ---- probe_spacing.c ---- */

/* Whether it was refused at once, or what was stored was used up. */
void fb_probe_note_spacing(struct probe *p, const struct reading *r);

/* Refused where nothing is stored: the pace that lasted, and the one that did not, tell it all. */
bool fb_probe_was_spaced(const struct probe *p, const struct reading *r);
void fb_probe_read_spaced(struct probe *p, const struct reading *r);

/* ---- probe_between.c ---- */

/* How long before it was seen the first opening may have been; 0: it was counted from since. */
float fb_probe_late_s(const struct probe *p);

/* How many windows of so many seconds lie between the last two openings; 0: that cannot be. */
float fb_probe_openings(const struct probe *p, const struct reading *r, float window_s);

/*
 * Whether such a window explains what was seen: whole ones lie between, and none that did not close
 * held more than the one that did.
 */
bool fb_probe_explains(const struct probe *p, const struct reading *r, float window_s);

/* The shortest of those that people use, from `from_s` on, that does; 0: there is none. */
float fb_probe_explaining(const struct probe *p, const struct reading *r, float from_s);

/* What fits into one that may lie there. */
float fb_probe_quota_between(const struct probe *p, const struct reading *r, float window_s);

/* ---- probe_windows.c ---- */

/*
 * It stayed shut for long, for the first time or for longer than its window: a quota window.
 * What opens sooner is measured like a bucket.
 */
bool fb_probe_was_shut(const struct probe *p, const struct reading *r);
void fb_probe_read_shut(struct probe *p, const struct reading *r);

/* A window that is known was exhausted. */
bool fb_probe_in_window(const struct probe *p, const struct reading *r);
void fb_probe_read_in_window(struct probe *p, const struct reading *r);

#endif
