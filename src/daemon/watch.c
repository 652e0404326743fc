/* SPDX-License-Identifier: MIT */
/*
 * watch.c - the watcher of a daemon: begun, changed and ended as its configuration says, and
 * sources switched off and on.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/parts.h"
#include "fetch/paths.h"
#include "watch/live.h"

#define RECORDS_NAME "watch.db"

static void tell(void *user, const struct watch_event *e)
{
    fb_daemon_told(user, e);
}

static void say(void *user, const char *sentence)
{
    struct daemon *d = user;

    fb_log(&d->log, LEVEL_warning, "watch", "%s", sentence);
}

/* Where what is known of items lasts; NULL after saying why nowhere. */
static const char *records_path(struct daemon *d, struct buffer *path)
{
    struct fly_error err = {""};
    int rc =
        fb_state_folder_named(d->store.size > 0 ? fb_buffer_text(&d->store) : NULL, path, &err);

    if (rc == 0 && fb_buffer_text(path))
        rc = fb_state_folder_make(fb_buffer_text(path), &err);
    fb_buffer_add_text(path, "/" RECORDS_NAME);
    if (rc == 0)
        return fb_buffer_text(path);
    fb_log(&d->log, LEVEL_warning, "watch", "%s: what is known of items is not kept", err.text);
    return NULL;
}

static void open_live(struct daemon *d, const char *records)
{
    struct fly_error err = {""};
    struct watch_live_options o = {.loop = &d->loop,
                                   .engine = d->engine,
                                   .config = d->config,
                                   .records = records,
                                   .user = d,
                                   .tell = tell,
                                   .say = say};

    if (fb_watch_live_open(&o, &d->live, &err) < 0) {
        fb_log(&d->log, LEVEL_error, "watch", "%s", err.text);
        return;
    }
    d->watcher = fb_watch_live_watch(d->live);
    int64_t restored = fb_watch_live_figures(d->live).restored;
    if (restored == 0)
        return;
    char text[60];
    (void)snprintf(text, sizeof text, "restored %lld items", (long long)restored);
    fb_daemon_audit(d, LEVEL_info,
                    &(struct view_audit_event){
                        .kind = "restore", .cause = "start", .outcome = "done", .text = text});
}

void fb_watching_begin(struct daemon *d)
{
    struct buffer path = BUFFER_INIT;

    if (d->live || !fb_config_watches(&d->config->watch) || d->terms > 0)
        return;
    open_live(d, records_path(d, &path));
    fb_buffer_fini(&path);
}

static void ended(void *arg)
{
    struct daemon *d = arg;

    d->live = NULL;
    d->is_watch_ending = false;
    fb_watching_begin(d); /* another configuration may want one again by now */
    fb_daemon_maybe_over(d);
}

void fb_watching_end(struct daemon *d)
{
    if (!d->live || d->is_watch_ending)
        return;
    d->is_watch_ending = true;
    d->watcher = NULL;
    fb_watch_live_close(d->live, ended, d);
}

void fb_watching_configure(struct daemon *d, const struct config *c)
{
    struct fly_error err = {""};

    if (!d->live)
        fb_watching_begin(d);
    else if (!fb_config_watches(&c->watch))
        fb_watching_end(d);
    else if (!d->is_watch_ending && fb_watch_live_configure(d->live, c, &err) < 0) {
        fb_log(&d->log, LEVEL_error, "watch", "%s", err.text);
        fb_watching_end(d); /* the plan is the old one, what is asked for is the new one */
    }
}

/* ------------------------------------------------------------------------------------- sources */

static void set_enabled(struct call *c, bool is_enabled)
{
    struct daemon *d = fb_daemon_of(c);
    char name[VIEW_NAME];
    char text[200];

    if (!fb_call_query(c, "source", name, sizeof name)) {
        fb_call_refuse(c, 400, "which one? source=NAME");
        return;
    }
    if (!d->watcher || fb_watch_enable(d->watcher, name, is_enabled) < 0) {
        (void)snprintf(text, sizeof text, "there is no source '%s'", name);
        fb_call_refuse(c, 404, text);
        return;
    }
    (void)snprintf(text, sizeof text, is_enabled ? "%s is on" : "%s is off: it is not asked", name);
    fb_admin_done(c, text);
}

void fb_source_enable(struct call *c)
{
    set_enabled(c, true);
}

void fb_source_disable(struct call *c)
{
    set_enabled(c, false);
}
