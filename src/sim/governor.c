/* SPDX-License-Identifier: MIT */
/* governor.c - the table of governors. */
#include "sim/governor.h"

#include <string.h>

#define X(name, text) &fb_governor_##name,
static const struct governor_kind *const GOVERNORS[] = {FB_GOVERNORS(X) NULL};
#undef X

const struct governor_kind *fb_governor_at(int i)
{
    return GOVERNORS[i];
}

const struct governor_kind *fb_governor_find(const char *name)
{
    for (int i = 0; GOVERNORS[i]; i++) {
        if (strcmp(GOVERNORS[i]->name, name) == 0)
            return GOVERNORS[i];
    }
    return NULL;
}
