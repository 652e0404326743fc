/* SPDX-License-Identifier: MIT */
/* feed.c - from the list into the engine, as far as there is room. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine/control.h"
#include "fetch/fetch_parts.h"

/* So that answers are not kept waiting: a line whose provider is new costs more than others. */
#define LINES_PER_TURN 1024
#define TURN_NS        ((uint64_t)4000000)

/* It was sent by a run that ended before it was answered. */
static void lose(struct fetch *f, const struct item *i, uint16_t check)
{
    struct errand *e = fb_errand_new(f, i, check);

    if (!e) {
        fb_end_worse(f, FETCH_BROKEN);
        return;
    }
    f->out++;
    fb_errand_fail(e, ENTRY_unknown, "interrupted",
                   "sent by a run that ended before the answer came; not sent again");
}

static void list_changed(struct fetch *f, const struct item *i)
{
    fb_say(f,
           "flyball fetch: %s:%llu: not the request that the journal has there; the list was "
           "changed. --fresh starts over.",
           f->o->list ? f->o->list : "command line", (unsigned long long)i->line);
    fb_end_worse(f, FETCH_USAGE);
    fb_fetch_stop(f, FETCH_DRAIN_MS);
}

static void take_item(struct fetch *f, const struct item *i)
{
    uint16_t check = fb_journal_check(fb_item_hash(i));
    bool same = true;
    enum entry_state state = fb_journal_state(f->journal, i->number, check, &same);

    f->seen++;
    if (!same) {
        list_changed(f, i);
        return;
    }
    if (state == ENTRY_pending)
        fb_errand_begin(f, i, check);
    else if (state == ENTRY_started)
        lose(f, i, check);
    else
        f->earlier++;
}

static void bad_line(struct fetch *f, const struct fly_error *err)
{
    fb_say(f, "%s", err->text);
    f->bad_lines++;
    fb_end_worse(f, f->o->keep_going ? FETCH_FAILED : FETCH_USAGE);
    if (!f->o->keep_going)
        fb_fetch_stop(f, FETCH_DRAIN_MS);
}

/* Several keys, and what is under way all waits: then look further down the list. */
static void widen(struct fetch *f)
{
    struct engine_client_stats s = fb_engine_client_stats(f->client);

    if (f->out - f->writing < f->room || f->room >= FETCH_ITEMS_MAX)
        return;
    if (s.has_keys && s.in_flight < f->o->engine.concurrency / 2)
        f->room *= 2;
}

static bool has_room(struct fetch *f)
{
    widen(f);
    return !f->list_ended && !f->stopping && fb_fetch_has_room(f);
}

static void input_ready(uv_poll_t *p, int status, int events)
{
    struct fetch *f = p->data;

    (void)status;
    (void)events;
    (void)uv_poll_stop(p);
    f->input_waits = false;
    fb_fetch_go_on(f);
}

static void wait_for_input(struct fetch *f)
{
    f->input_waits = true;
    if (uv_poll_start(&f->input, UV_READABLE | UV_DISCONNECT, input_ready) < 0)
        f->list_ended = true;
}

/* One line or more of the list. */
static void feed_one(struct fetch *f)
{
    struct fly_error err = {""};
    struct item item;
    int found = fb_list_next(f->list, &item, &err);

    if (found > 0) {
        take_item(f, &item);
    } else if (found == 0) {
        f->list_ended = true;
    } else if (found == -EINVAL) {
        bad_line(f, &err);
    } else if (found == -EAGAIN) {
        wait_for_input(f);
    } else {
        fb_say(f, "flyball fetch: cannot read %s: %s", f->o->list ? f->o->list : "list",
               strerror(-found));
        fb_end_worse(f, FETCH_USAGE);
        f->list_ended = true;
    }
}

/* What is still in the list. Of a list that grows, or whose items lead to others, nobody knows. */
static void tell_rest(struct fetch *f)
{
    bool grows = f->o->paginate || f->o->cursor;
    int64_t total = f->list_ended || grows ? f->seen : fb_fetch_total(f);
    bool is_known = !grows && total >= f->seen;

    fb_engine_client_expect(f->client, is_known ? total - f->seen : -1);
}

void fb_feed(struct fetch *f)
{
    uint64_t end_ns = uv_hrtime() + TURN_NS;

    for (int i = 0; i < LINES_PER_TURN && has_room(f) && !f->input_waits; i++) {
        if (i % 16 == 15 && uv_hrtime() >= end_ns)
            break;
        feed_one(f);
    }
    tell_rest(f);
}
