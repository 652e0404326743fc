/* SPDX-License-Identifier: MIT */
/* observers.c - find an observer by its name. */
#include "engine/observers/observers.h"

#include <string.h>

static const struct {
    const char *name;
    void (*on_event)(void *self, const struct event *e);
} observers[] = {
#define X(name, on_event) {name, on_event},
    FB_OBSERVERS(X)
#undef X
};

void (*fb_observer_find(const char *name))(void *self, const struct event *e)
{
    for (size_t i = 0; i < sizeof(observers) / sizeof(observers[0]); i++)
        if (strcmp(observers[i].name, name) == 0)
            return observers[i].on_event;
    return NULL;
}
