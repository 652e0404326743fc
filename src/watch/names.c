/* SPDX-License-Identifier: MIT */
/* names.c - what things are called, from the tables of the headers. */
#include <assert.h>

#include "watch/show.h"
#include "watch/watch.h"

const char *fb_watch_event_name(enum watch_event_kind kind)
{
#define X(name, text, audit) text,
    static const char *const names[] = {FB_WATCH_EVENTS(X)};
#undef X

    assert(kind < WATCH_EVENT_KINDS);
    return names[kind];
}

bool fb_watch_event_is_audit(enum watch_event_kind kind)
{
#define X(name, text, audit) audit,
    static const bool is_audit[] = {FB_WATCH_EVENTS(X)};
#undef X

    assert(kind < WATCH_EVENT_KINDS);
    return is_audit[kind];
}

const char *fb_watch_why_name(enum watch_why why)
{
#define X(name, text, says) text,
    static const char *const names[] = {FB_WATCH_WHYS(X)};
#undef X

    assert(why < WATCH_WHYS);
    return names[why];
}

const char *fb_watch_why_says(enum watch_why why)
{
#define X(name, text, says) says,
    static const char *const sentences[] = {FB_WATCH_WHYS(X)};
#undef X

    assert(why < WATCH_WHYS);
    return sentences[why];
}

const char *fb_watch_warning_name(enum watch_warning_kind kind)
{
#define X(name, text) text,
    static const char *const names[] = {FB_WATCH_WARNINGS(X)};
#undef X

    assert(kind < WATCH_WARNING_KINDS);
    return names[kind];
}
