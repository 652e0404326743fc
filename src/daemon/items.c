/* SPDX-License-Identifier: MIT */
/*
 * items.c - /items and what is below it: what is known of watched items, for programs and, laid
 * out, for the commands.
 *
 * Everything is answered from memory, with its age; nobody who asks waits for a look. An answer
 * names the event after which what follows is news: with it a consumer goes on at /events without
 * a gap.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/parts.h"
#include "util/json.h"
#include "watch/say.h"

#define NOTHING   "nothing is watched: the configuration has no watch section"
#define ITEMS_PER 1000

/* The id of the newest event. */
static void put_event(struct daemon *d, char *to, size_t size)
{
    (void)snprintf(to, size, "%" PRIu64 "-%" PRIu64, d->news.start, fb_news_last(&d->news));
}

/* The watcher; NULL: there is none, and that was said. */
static struct watch *watcher_of(struct call *c)
{
    struct daemon *d = fb_daemon_of(c);

    if (!d->watcher)
        fb_call_refuse(c, 404, NOTHING);
    return d->watcher;
}

static void refuse_item(struct call *c, const char *id)
{
    char text[320];

    (void)snprintf(text, sizeof text, "there is no item '%s'", id);
    fb_call_refuse(c, 404, text);
}

static size_t number(const struct call *c, const char *name, size_t otherwise, size_t most)
{
    char text[16];

    if (!fb_call_query(c, name, text, sizeof text))
        return otherwise;
    size_t value = strtoul(text, NULL, 10);
    return value < most ? value : most;
}

/* --------------------------------------------------------------------------------- all of them */

/* False: it was refused. */
static bool read_which(struct call *c, struct say_which *which)
{
    char word[16] = "all";

    *which = (struct say_which){.state = ITEM_STATES,
                                .stale = number(c, "stale", 0, 1) > 0,
                                .skip = number(c, "skip", 0, SIZE_MAX),
                                .most = number(c, "most", ITEMS_PER, SAY_ITEMS_MAX)};
    if (fb_call_query(c, "fields", word, sizeof word))
        which->bare = strcmp(word, "none") == 0;
    if (!fb_call_query(c, "state", word, sizeof word) || strcmp(word, "all") == 0)
        return true;
    for (int state = 0; state < ITEM_STATES; state++)
        if (strcmp(word, fb_item_state_name((enum item_state)state)) == 0)
            which->state = (enum item_state)state;
    if (which->state == ITEM_STATES)
        fb_call_refuse(c, 400, "state is live, imminent, completed or all");
    return which->state != ITEM_STATES;
}

void fb_items_answer(struct call *c)
{
    struct daemon *d = fb_daemon_of(c);
    struct watch *w = watcher_of(c);
    struct say_which which;
    struct buffer b = BUFFER_INIT;
    char event[48];

    if (!w || !read_which(c, &which))
        return;
    put_event(d, event, sizeof event);
    fb_say_items_json(w, &which, event, fb_daemon_now(d), &b);
    fb_call_send_json(c, 200, &b);
}

/* --------------------------------------------------------------------------------- one of them */

static void answer_whole(struct call *c, struct watch *w, const struct watch_item *i)
{
    struct daemon *d = fb_daemon_of(c);
    struct buffer b = BUFFER_INIT;
    char event[48];

    put_event(d, event, sizeof event);
    fb_say_item_json(w, i, event, fb_daemon_now(d), &b);
    fb_call_send_json(c, 200, &b);
}

static void answer_delta(struct call *c, struct watch *w, const struct watch_item *i)
{
    struct buffer b = BUFFER_INIT;
    char since[24] = "0";

    (void)fb_call_query(c, "since", since, sizeof since);
    if (since[strspn(since, "0123456789")]) {
        fb_call_refuse(c, 400, "since is the number of the version that you have");
        return;
    }
    fb_say_delta_json(w, i, strtoull(since, NULL, 10), fb_daemon_now(fb_daemon_of(c)), &b);
    fb_call_send_json(c, 200, &b);
}

static void answer_history(struct call *c, struct watch *w, const struct watch_item *i)
{
    struct buffer b = BUFFER_INIT;

    fb_say_history_json(w, i, fb_daemon_now(fb_daemon_of(c)), &b);
    fb_call_send_json(c, 200, &b);
}

/* What may stand behind an id. */
static const struct part {
    const char *name;
    void (*answer)(struct call *c, struct watch *w, const struct watch_item *i);
} PARTS[] = {{"", answer_whole}, {"delta", answer_delta}, {"history", answer_history}};

static const struct part *find_part(struct slice name)
{
    for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++)
        if (fb_slice_is(name, PARTS[i].name))
            return &PARTS[i];
    return NULL;
}

void fb_item_answer(struct call *c)
{
    struct slice rest = fb_slice_after(c->path, strlen("/items/"));
    size_t slash = fb_slice_find(rest, '/');
    const struct part *part = find_part(fb_slice_after(rest, slash + 1));
    char id[WATCH_ID_BYTES] = "";
    struct watch *w = watcher_of(c);

    if (!w)
        return; /* and the call is gone */
    if (!part) {
        fb_call_refuse(c, 404, "of an item there are delta and history");
        return;
    }
    bool is_id = fb_call_unescape(fb_slice_head(rest, slash), id, sizeof id);
    const struct watch_item *i = is_id ? fb_watch_read(w, id) : NULL;
    if (i)
        part->answer(c, w, i);
    else
        refuse_item(c, id);
}

/* ---------------------------------------------------------------------------- for the commands */

static void send_view(struct call *c, bool is_json, struct buffer *b)
{
    if (is_json)
        fb_call_send_json(c, 200, b);
    else
        fb_call_send_text(c, b);
}

void fb_watch_view_answer(struct call *c)
{
    int64_t now_ns = fb_daemon_now(fb_daemon_of(c));
    struct view_style style;
    struct buffer b = BUFFER_INIT;
    bool is_json = fb_call_style(c, &style);
    struct watch *w = watcher_of(c);

    if (!w)
        return;
    if (is_json)
        fb_say_status_json(w, now_ns, &b);
    else
        fb_say_status_text(w, &style, now_ns, &b);
    send_view(c, is_json, &b);
}

void fb_items_view_answer(struct call *c)
{
    int64_t now_ns = fb_daemon_now(fb_daemon_of(c));
    struct say_which which;
    struct view_style style;
    struct buffer b = BUFFER_INIT;
    bool is_json = fb_call_style(c, &style);
    struct watch *w = watcher_of(c);

    if (!w || !read_which(c, &which))
        return;
    if (is_json)
        fb_say_items_json(w, &which, NULL, now_ns, &b);
    else
        fb_say_items_text(w, &which, &style, now_ns, &b);
    send_view(c, is_json, &b);
}

void fb_item_view_answer(struct call *c)
{
    int64_t now_ns = fb_daemon_now(fb_daemon_of(c));
    struct view_style style;
    struct buffer b = BUFFER_INIT;
    char id[WATCH_ID_BYTES] = "";
    bool is_json = fb_call_style(c, &style);
    struct watch *w = watcher_of(c);

    if (!w)
        return;
    const struct watch_item *i =
        fb_call_query(c, "id", id, sizeof id) ? fb_watch_find(w, id) : NULL;
    if (!i) {
        refuse_item(c, id);
        return;
    }
    if (is_json)
        fb_say_item_json(w, i, NULL, now_ns, &b);
    else
        fb_say_item_text(w, i, &style, now_ns, &b);
    send_view(c, is_json, &b);
}

/* ------------------------------------------------------------------------------------- actions */

static void set_paused(struct call *c, bool paused)
{
    struct watch *w = watcher_of(c);
    char id[WATCH_ID_BYTES] = "";

    if (!w)
        return;
    int64_t span_ns = (int64_t)number(c, "seconds", 0, 365 * 86400) * INT64_C(1000000000);
    int rc = !fb_call_query(c, "id", id, sizeof id) ? -1
             : paused                               ? fb_watch_pause(w, id, span_ns)
                                                    : fb_watch_resume(w, id);
    if (rc < 0)
        refuse_item(c, id);
    else
        fb_admin_done(c, paused ? "it is left alone for a time" : "it is looked at again");
}

void fb_item_pause(struct call *c)
{
    set_paused(c, true);
}

void fb_item_resume(struct call *c)
{
    set_paused(c, false);
}
