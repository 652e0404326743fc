/* SPDX-License-Identifier: MIT */
/*
 * told.c - what a watcher tells: to those who follow /events, to the audit and to the log.
 *
 * What changes about items goes to the ring that is theirs; what somebody may have to account for
 * is in the audit, which is news by itself; every look is a line of the log, at level debug unless
 * it failed.
 */
#include <string.h>

#include "daemon/parts.h"
#include "view/key.h"
#include "watch/say.h"

static void log_look(struct daemon *d, const struct watch_event *e)
{
    bool failed = strcmp(e->outcome, "ok") != 0 && strcmp(e->outcome, "same") != 0 &&
                  strcmp(e->outcome, "absent") != 0 && strcmp(e->outcome, "cancelled") != 0;
    struct event line = {.at_ns = e->at_ns,
                         .until_ns = INT64_MIN,
                         .duration_ns = e->took_ns,
                         .kind = FB_EVENT_OUTCOME,
                         .attempt = e->attempt};

    fb_view_put(line.outcome, sizeof line.outcome, failed ? "failed" : e->outcome);
    fb_view_put(line.error, sizeof line.error, failed ? e->outcome : "");
    fb_view_put(line.operation, sizeof line.operation, "update");
    fb_view_put(line.provider, sizeof line.provider, e->domain);
    fb_view_put(line.item, sizeof line.item, e->id);
    fb_log_event(&d->log, &line);
}

static enum log_level level_of(const struct watch_event *e)
{
    static const bool IS_BAD[WATCH_EVENT_KINDS] = {
        [WATCH_PAUSED] = true, [WATCH_RECOVERY] = true, [WATCH_UNHELPED] = true,
        [WATCH_DOWN] = true,   [WATCH_DEMOTED] = true,  [WATCH_LIST_FAILED] = true,
        [WATCH_CLOCK] = true,
    };

    return IS_BAD[e->kind] ? LEVEL_warning : LEVEL_info;
}

/* The grade of the daemon is another one. */
static const char *audit_kind(const struct watch_event *e)
{
    return e->kind == WATCH_GRADE ? "watch-grade" : fb_watch_event_name(e->kind);
}

static void audit(struct daemon *d, const struct watch_event *e)
{
    fb_daemon_audit(d, level_of(e),
                    &(struct view_audit_event){.kind = audit_kind(e),
                                               .cause = e->trigger,
                                               .provider = e->domain,
                                               .item = e->id,
                                               .outcome = e->outcome,
                                               .until_ns = e->until_ns,
                                               .took_ns = e->took_ns,
                                               .text = e->text});
}

static void add_news(struct daemon *d, const struct watch_event *e)
{
    if (!d->watcher)
        return; /* it has only just been opened, or is about to end */
    const char *kind = e->kind == WATCH_INTERVAL ? "freshness" : fb_watch_event_name(e->kind);
    struct buffer b = BUFFER_INIT;

    fb_say_event_json(d->watcher, e, NEWS_ITEM_BYTES, &b);
    if (!b.failed)
        (void)fb_news_add_item(&d->news, e->id[0] ? fb_news_about(e->id) : 0, kind,
                               (struct slice){b.bytes, b.size});
    fb_buffer_fini(&b);
}

void fb_daemon_told(struct daemon *d, const struct watch_event *e)
{
    if (e->kind == WATCH_LOOKED) {
        log_look(d, e);
        return;
    }
    if (e->kind == WATCH_WARNING)
        fb_log(&d->log, LEVEL_warning, "reconciliation", "%s", e->text);
    if (fb_watch_event_is_audit(e->kind))
        audit(d, e);
    add_news(d, e);
}
