/* SPDX-License-Identifier: MIT */
/*
 * grade.h - one word for how it goes: healthy, degraded, failing, recovering.
 *
 * Judged once a second from the last minute. Failing: work is there, and nothing has succeeded for
 * 90 s, or most of what was sent failed. Degraded: a fifth of it failed, a breaker is open, or all
 * that somebody answered lately was 4xx: the server is well, the work is not. What was failing is
 * recovering until it has been well for GRADE_WELL_S. Waiting for a limit is no failure. Where
 * items are watched and that goes worse, the worse word is the one. Pure.
 */
#ifndef FLYBALL_DAEMON_GRADE_H
#define FLYBALL_DAEMON_GRADE_H

#include <stdbool.h>
#include <stdint.h>

#define GRADE_WELL_S    60
#define GRADE_SILENCE_S 90

/* From well to bad. */
#define FB_GRADES(X) X(healthy) X(recovering) X(degraded) X(failing)

#define X(name) GRADE_##name,
enum grade { FB_GRADES(X) GRADES };
#undef X

/* The last minute, and now. */
struct grade_facts {
    double answers;     /* attempts that came to an end; refusals for rate are no failures */
    double errors;      /* of these: 5xx, timeouts, no answer */
    int64_t silent_s;   /* since something succeeded while something else was tried; 0: just now */
    int64_t broken;     /* breakers that are open */
    int64_t wrong;      /* providers and pools whose last answers were all 4xx */
    enum grade watched; /* of the items that are watched, as the watcher says */
};

struct grader {
    enum grade grade;
    const char *cause; /* of it: "errors", "silence", "breaker", "client_errors", ... */
    bool was_failing;  /* and is not yet well again */
    int64_t well_s;    /* for how long */
};

/* A second has passed. Returns whether the grade has changed. */
bool fb_grade(struct grader *g, const struct grade_facts *f);

/* "healthy" */
const char *fb_grade_name(enum grade g);

#endif
