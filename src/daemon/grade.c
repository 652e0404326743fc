/* SPDX-License-Identifier: MIT */
/* grade.c - four words and when they fit. */
#include "daemon/grade.h"

#define DEGRADED_SHARE 0.2
#define FAILING_SHARE  0.8
#define FEW            5.0 /* so few say nothing about a share */

static enum grade judge(const struct grade_facts *f, const char **ret_cause)
{
    double share = f->answers >= FEW ? f->errors / f->answers : 0.0;
    bool is_silent = f->silent_s >= GRADE_SILENCE_S;

    *ret_cause = is_silent ? "silence" : share >= DEGRADED_SHARE ? "errors" : "breaker";
    if (is_silent || share >= FAILING_SHARE)
        return GRADE_failing;
    if (share >= DEGRADED_SHARE || f->broken > 0)
        return GRADE_degraded;
    *ret_cause = f->wrong > 0 ? "client_errors" : "answers";
    return f->wrong > 0 ? GRADE_degraded : GRADE_healthy;
}

bool fb_grade(struct grader *g, const struct grade_facts *f)
{
    enum grade before = g->grade;
    enum grade now = judge(f, &g->cause);

    g->well_s = now == GRADE_healthy ? g->well_s + 1 : 0;
    g->was_failing = now == GRADE_failing || (g->was_failing && g->well_s < GRADE_WELL_S);
    g->grade = g->was_failing && now == GRADE_healthy ? GRADE_recovering : now;
    if (f->watched > g->grade) {
        g->grade = f->watched;
        g->cause = "watch";
    }
    return g->grade != before;
}

const char *fb_grade_name(enum grade g)
{
#define X(name) #name,
    static const char *const NAMES[] = {FB_GRADES(X)};
#undef X

    return NAMES[g];
}
