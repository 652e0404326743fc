/* SPDX-License-Identifier: MIT */
/* event.c - the names of what happens. */
#include "core/event.h"

#include <assert.h>

static const char *const names[FB_EVENT_KINDS] = {
#define X(id, name) [FB_EVENT_##id] = (name),
    FB_EVENTS(X)
#undef X
};

const char *fb_event_name(enum event_type kind)
{
    assert(kind < FB_EVENT_KINDS);
    return names[kind];
}
