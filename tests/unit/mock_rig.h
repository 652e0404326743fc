/* SPDX-License-Identifier: MIT */
/*
 * mock_rig.h - the real engine on virtual time, against what the mock is made of: its limits judge,
 * its dialects tell.
 */
#ifndef FLYBALL_TESTS_MOCK_RIG_H
#define FLYBALL_TESTS_MOCK_RIG_H

#include "engine_rig.h"

#include "core/rng.h"
#include "mock/dialect.h"
#include "mock/limit.h"

#define MOCK_FIELDS 4
#define MOCK_BYTES  64

struct mock_rig {
    struct rig rig;
    struct provider provider;
    const struct dialect *dialect;
    struct rng rng;
    int64_t phase_ns; /* of its clock when the engine starts */
    int64_t arrivals, refused;
    /* Fields of answers under way, a row for each flight. */
    char name[RIG_FLIGHTS][MOCK_FIELDS][MOCK_BYTES];
    char value[RIG_FLIGHTS][MOCK_FIELDS][MOCK_BYTES];
    size_t next;
    struct plan *telling;
    size_t told;
};

static inline void mock_add(void *to, const char *name, const char *value)
{
    struct mock_rig *m = to;
    size_t row = m->next % RIG_FLIGHTS;

    if (m->told == MOCK_FIELDS)
        return;
    rig_copy(m->name[row][m->told], MOCK_BYTES, name);
    rig_copy(m->value[row][m->told], MOCK_BYTES, value);
    m->telling->header[m->told] =
        (struct engine_header){.name = m->name[row][m->told], .value = m->value[row][m->told]};
    m->told++;
}

/* 20 to 40 ms for an answer, 1 ms for a refusal. */
static inline struct plan mock_plan(struct rig *r, const struct attempt_request *q)
{
    static const struct work ONE = {.cost = 1};
    struct mock_rig *m = (struct mock_rig *)r;
    struct field_sink sink = {.add = mock_add, .to = m};
    struct plan p = {.answer_ns = MS};
    struct mock_told told;
    struct verdict v;

    int64_t now_ns = r->now_ns - RIG_EPOCH + m->phase_ns;

    (void)q;
    fb_provider_admit(&m->provider, now_ns, &ONE, &v);
    fb_mock_tell(&m->provider, now_ns, &v, &told);
    m->arrivals++;
    m->refused += v.refused;
    p.status = v.refused ? v.status : 200;
    if (!v.refused)
        p.answer_ns = 20 * MS + (int64_t)(fb_rng_unit(&m->rng) * 20.0) * MS;
    m->telling = &p;
    m->told = 0;
    m->next++;
    if (m->dialect && m->dialect->tell)
        m->dialect->tell(&told, r->now_ns, &sink);
    return p;
}

static inline void mock_rig_open(struct mock_rig *m, struct engine_options *o, const char *limit,
                                 const char *dialect)
{
    struct fly_error err = {""};

    rig_open(&m->rig, o);
    m->rig.plan = mock_plan;
    m->dialect = fb_dialect_find(dialect);
    m->rng = (struct rng){7};
    m->phase_ns = 0;
    if (fb_mock_limit_read(limit, 429, &m->provider, &err) < 0)
        fail_msg("%s", err.text);
}

/* Another client of the same API, so much later: its clock begins anew, that of the API goes on. */
static inline void mock_rig_again(struct mock_rig *m, struct engine_options *o, int64_t later_ns)
{
    m->phase_ns += m->rig.now_ns - RIG_EPOCH + later_ns;
    rig_fini(&m->rig);
    rig_open(&m->rig, o);
    m->rig.plan = mock_plan;
}

static inline void mock_rig_fini(struct mock_rig *m)
{
    rig_fini(&m->rig);
    fb_provider_fini(&m->provider);
}

#endif
