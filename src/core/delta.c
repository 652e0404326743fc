/* SPDX-License-Identifier: MIT */
/* delta.c - two lists in order, walked side by side. */
#include "core/delta.h"

#include <assert.h>
#include <string.h>

/* Which of two names comes first; one that is not there comes last. < 0: a. */
static int order(const char *a, const char *b)
{
    assert(a || b);
    if (!a || !b)
        return !a - !b;
    return strcmp(a, b);
}

static const char *name_at(const struct snapshot *s, size_t i)
{
    return i < s->count ? s->field[i].name : NULL;
}

size_t fb_delta(const struct snapshot *from, const struct snapshot *to,
                struct delta_change *ret_changes)
{
    size_t count = 0;
    size_t i = 0;
    size_t k = 0;

    assert(fb_snapshot_is_ordered(from) && fb_snapshot_is_ordered(to));
    while (i < from->count || k < to->count) {
        int which = order(name_at(from, i), name_at(to, k));
        if (which < 0)
            ret_changes[count++] = (struct delta_change){.name = from->field[i].name};
        else if (which > 0 || strcmp(from->field[i].value, to->field[k].value) != 0)
            ret_changes[count++] = (struct delta_change){to->field[k].name, to->field[k].value};
        i += which <= 0;
        k += which >= 0;
    }
    assert(i == from->count && k == to->count && count <= i + k);
    return count;
}

size_t fb_delta_apply(const struct snapshot *from, const struct delta_change *change, size_t count,
                      struct snapshot_field *ret_fields)
{
    size_t fields = 0;
    size_t i = 0;
    size_t k = 0;

    assert(fb_snapshot_is_ordered(from));
    while (i < from->count || k < count) {
        int which = order(name_at(from, i), k < count ? change[k].name : NULL);
        if (which < 0)
            ret_fields[fields++] = from->field[i];
        else if (change[k].value)
            ret_fields[fields++] = (struct snapshot_field){change[k].name, change[k].value};
        i += which <= 0;
        k += which >= 0;
    }
    assert(i == from->count && k == count && fields <= i + k);
    return fields;
}

enum delta_need fb_delta_need(uint64_t since, uint64_t latest, uint64_t kept)
{
    if (since == latest)
        return DELTA_NOTHING;
    /* 0 is before all; a number that was not given out yet is of another time. */
    if (since == 0 || since > latest || latest - since > kept)
        return DELTA_WHOLE;
    return DELTA_CHANGES;
}
