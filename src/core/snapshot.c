/* SPDX-License-Identifier: MIT */
/* snapshot.c - order, and finding by it. */
#include "core/snapshot.h"

#include <assert.h>
#include <string.h>

bool fb_snapshot_is_ordered(const struct snapshot *s)
{
    for (size_t i = 1; i < s->count; i++)
        if (strcmp(s->field[i - 1].name, s->field[i].name) >= 0)
            return false;
    return true;
}

const char *fb_snapshot_find(const struct snapshot *s, const char *name)
{
    size_t first = 0;
    size_t end = s->count;

    assert(name);
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        assert(middle < s->count);
        int order = strcmp(name, s->field[middle].name);
        if (order == 0)
            return s->field[middle].value;
        if (order < 0)
            end = middle;
        else
            first = middle + 1;
    }
    return NULL;
}
