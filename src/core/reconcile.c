/* SPDX-License-Identifier: MIT */
/*
 * reconcile.c - a merge of snapshots that are in order.
 *
 * Invariant: at[i] is the first field of source i that is not yet in the picture.
 */
#include "core/reconcile.h"

#include <assert.h>
#include <string.h>

static_assert(FB_RECONCILE_SOURCES <= 32, "a bit each");

bool fb_reconcile_is_before(const struct reconcile_source *source, uint32_t a, uint32_t b)
{
    double rank_a = source[a].weight * source[a].reliability;
    double rank_b = source[b].weight * source[b].reliability;

    if (source[a].demoted != source[b].demoted)
        return source[b].demoted;
    if (rank_a < rank_b || rank_a > rank_b)
        return rank_a > rank_b;
    if (source[a].weight < source[b].weight || source[a].weight > source[b].weight)
        return source[a].weight > source[b].weight;
    return a < b;
}

struct merge {
    const struct reconcile_source *source;
    uint32_t count;
    size_t at[FB_RECONCILE_SOURCES];
};

/* The next field of a source, or NULL. */
static const struct snapshot_field *next_of(const struct merge *m, uint32_t i)
{
    const struct snapshot *s = &m->source[i].says;

    assert(i < m->count && m->at[i] <= s->count);
    return m->at[i] < s->count ? &s->field[m->at[i]] : NULL;
}

/* The name that comes next, or NULL at the end. */
static const char *next_name(const struct merge *m)
{
    const char *name = NULL;

    for (uint32_t i = 0; i < m->count; i++) {
        const struct snapshot_field *f = next_of(m, i);
        if (f && (!name || strcmp(f->name, name) < 0))
            name = f->name;
    }
    return name;
}

/* Those that have a field of this name next, a bit each. */
static uint32_t who_has(const struct merge *m, const char *name)
{
    uint32_t who = 0;

    for (uint32_t i = 0; i < m->count; i++) {
        const struct snapshot_field *f = next_of(m, i);
        if (f && strcmp(f->name, name) == 0)
            who |= UINT32_C(1) << i;
    }
    return who;
}

static uint32_t first_of(const struct merge *m, uint32_t who)
{
    uint32_t best = m->count;

    assert(who != 0);

    for (uint32_t i = 0; i < m->count; i++)
        if (who >> i & 1 && (best == m->count || fb_reconcile_is_before(m->source, i, best)))
            best = i;
    assert(best < m->count);
    return best;
}

/* What a source says that has a next field. */
static const char *value_of(const struct merge *m, uint32_t i)
{
    assert(m->at[i] < m->source[i].says.count);
    return m->source[i].says.field[m->at[i]].value;
}

static struct reconciled take(struct merge *m, const char *name)
{
    uint32_t who = who_has(m, name);
    uint32_t best = first_of(m, who);
    struct reconciled r = {.name = name, .value = value_of(m, best), .source = best};

    for (uint32_t i = 0; i < m->count; i++) {
        uint32_t bit = who & UINT32_C(1) << i;
        if (bit == 0)
            continue;
        if (strcmp(value_of(m, i), r.value) == 0)
            r.agree |= bit;
        else
            r.disagree |= bit;
        m->at[i]++;
    }
    assert(r.agree >> best & 1 && (r.agree & r.disagree) == 0);
    assert((r.agree | r.disagree) == who);
    return r;
}

size_t fb_reconcile(const struct reconcile_source *source, uint32_t count,
                    struct reconciled *ret_fields)
{
    struct merge m = {.source = source, .count = count};
    size_t fields = 0;
    const char *name;

    assert(count <= FB_RECONCILE_SOURCES);
    for (uint32_t i = 0; i < count; i++)
        assert(fb_snapshot_is_ordered(&source[i].says));
    while ((name = next_name(&m)))
        ret_fields[fields++] = take(&m, name);
    return fields;
}
