/* SPDX-License-Identifier: MIT */
/*
 * admin.c - actions: each one a row, each one in the audit.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/parts.h"
#include "engine/control.h"
#include "util/json.h"

void fb_admin_done(struct call *c, const char *text)
{
    struct buffer b = BUFFER_INIT;

    fb_buffer_add_char(&b, '{');
    fb_json_text(&b, "schema", "flyball.admin/1");
    fb_json_bool(&b, "ok", true);
    fb_json_text(&b, "text", text);
    fb_buffer_add_text(&b, "}\n");
    fb_call_send_json(c, 200, &b);
}

static void note(struct daemon *d, const char *kind, const char *provider, const char *text)
{
    fb_daemon_audit(d, LEVEL_info,
                    &(struct view_audit_event){
                        .kind = kind, .cause = "operator", .provider = provider, .text = text});
}

static void reload(struct call *c)
{
    struct fly_error err = {""};

    if (fb_reload(fb_daemon_of(c), "operator", &err) < 0)
        fb_call_refuse(c, 422, err.text);
    else
        fb_admin_done(c, "the configuration is in force");
}

static void recycle(struct call *c)
{
    struct daemon *d = fb_daemon_of(c);

    if (d->watcher) {
        fb_watch_recycle(d->watcher); /* which says so itself */
    } else {
        fb_engine_recycle(d->engine);
        note(d, "recycle", "", "connections, name lookups and handles begin anew");
    }
    fb_admin_done(c, "connections, name lookups and handles begin anew");
}

static void pause_all(struct call *c)
{
    struct daemon *d = fb_daemon_of(c);

    fb_engine_pause(d->engine);
    d->is_paused = true;
    note(d, "pause", "", "nothing new leaves");
    fb_admin_done(c, "nothing new leaves; what is under way goes on");
}

static void resume_all(struct call *c)
{
    struct daemon *d = fb_daemon_of(c);

    fb_engine_resume(d->engine);
    d->is_paused = false;
    note(d, "resume", "", "requests leave again");
    fb_admin_done(c, "requests leave again");
}

/* ------------------------------------------------------------------------------- providers */

static bool is_known(const struct daemon *d, const char *name)
{
    bool found = fb_config_provider(d->config, name) != NULL;

    for (size_t i = 1; i < d->meters.sets; i++)
        found = found || strcmp(d->meters.set[i].provider, name) == 0;
    return found;
}

/* The provider that is meant; false: it was refused. */
static bool find_provider(struct call *c, char *name)
{
    struct daemon *d = fb_daemon_of(c);
    char text[160];

    if (!fb_call_query(c, "provider", name, VIEW_NAME)) {
        fb_call_refuse(c, 400, "which one? provider=NAME");
        return false;
    }
    (void)pthread_mutex_lock(&d->meters.lock);
    bool known = is_known(d, name);
    (void)pthread_mutex_unlock(&d->meters.lock);
    if (!known) {
        (void)snprintf(text, sizeof text, "there is no provider '%s'", name);
        fb_call_refuse(c, 404, text);
    }
    return known;
}

static void set_enabled(struct call *c, bool is_enabled)
{
    struct daemon *d = fb_daemon_of(c);
    char name[VIEW_NAME];
    char text[160];

    if (!find_provider(c, name))
        return;
    if (fb_engine_enable(d->engine, name, is_enabled) < 0) {
        fb_call_refuse(c, 503, "out of memory");
        return;
    }
    (void)snprintf(text, sizeof text, is_enabled ? "%s is on" : "%s is off: nothing new leaves",
                   name);
    note(d, is_enabled ? "enable" : "disable", name, text);
    fb_admin_done(c, text);
}

static void enable(struct call *c)
{
    set_enabled(c, true);
}

static void disable(struct call *c)
{
    set_enabled(c, false);
}

/* Of every provider that has a name. */
static void forget_all(struct call *c)
{
    struct daemon *d = fb_daemon_of(c);

    for (size_t i = 1; i < d->gauges.sets; i++) {
        const struct meter_set *m = &d->meters.set[i];
        const struct engine_key k = {.provider = m->provider, .pool = m->pool, .credential = ""};
        struct fly_error err = {""};

        fb_host_forget(d->home, m->provider, m->pool);
        if (fb_engine_relearn(d->engine, m->provider, m->pool,
                              fb_provider_configured(d->config, &k), &err) < 0)
            fb_log(&d->log, LEVEL_error, "forget", "%s: %s", m->provider, err.text);
    }
    note(d, "forget", "", "what was learned is forgotten");
    fb_admin_done(c, "what was learned is forgotten");
}

static void forget(struct call *c)
{
    struct daemon *d = fb_daemon_of(c);
    struct fly_error err = {""};
    char name[VIEW_NAME];
    char pool[VIEW_NAME] = "";
    char text[160];

    if (fb_call_query(c, "provider", name, sizeof name) && strcmp(name, "*") == 0) {
        forget_all(c);
        return;
    }
    if (!find_provider(c, name))
        return;
    bool has_pool = fb_call_query(c, "pool", pool, sizeof pool);
    const struct engine_key k = {.provider = name, .pool = pool, .credential = ""};
    fb_host_forget(d->home, name, has_pool ? pool : NULL);
    int count = fb_engine_relearn(d->engine, name, has_pool ? pool : NULL,
                                  fb_provider_configured(d->config, &k), &err);
    if (count < 0) {
        fb_call_refuse(c, 422, err.text[0] ? err.text : strerror(-count));
        return;
    }
    (void)snprintf(text, sizeof text, "what was learned of %s is forgotten", name);
    note(d, "forget", name, text);
    fb_admin_done(c, text);
}

/* --------------------------------------------------------------------------------- batches */

static void submit(struct call *c)
{
    struct daemon *d = fb_daemon_of(c);
    struct fly_error err = {""};
    struct work *batch = NULL;
    struct buffer b = BUFFER_INIT;
    struct slice json = {c->body.bytes, c->body.size};
    struct slice trace = fb_guard_field(c->x->request, FB_TRACE_HEADER);
    int rc = fb_work_submit(d, json, trace, &batch, &err);

    if (rc < 0) {
        fb_call_refuse(c, rc == -EINVAL ? 422 : rc == -EEXIST ? 409 : 503, err.text);
        return;
    }
    note(d, "submit", "", batch->name);
    fb_buffer_add_char(&b, '{');
    fb_json_text(&b, "schema", "flyball.submit/1");
    fb_json_text(&b, "batch", batch->name);
    fb_json_text(&b, "output",
                 batch->options.output ? batch->options.output : batch->options.folder);
    fb_buffer_add_text(&b, "}\n");
    fb_call_send_json(c, 202, &b);
}

static void stop_batch(struct call *c)
{
    struct daemon *d = fb_daemon_of(c);
    char name[VIEW_NAME] = "";
    struct work *b = fb_call_query(c, "batch", name, sizeof name) ? fb_work_find(d, name) : NULL;

    if (!b || !b->fetch) {
        fb_call_refuse(c, 404, "no such batch runs");
        return;
    }
    fb_fetch_cut_off(b->fetch, DRAIN_MS);
    note(d, "stop", "", name);
    fb_admin_done(c, "it begins nothing new; what is under way may end");
}

static void reopen(struct call *c)
{
    struct daemon *d = fb_daemon_of(c);
    struct fly_error err = {""};

    if (fb_daemon_reopen(d, "operator", &err) < 0)
        fb_call_refuse(c, 500, err.text);
    else
        fb_admin_done(c, "the log and the rows of figures are opened anew");
}

const struct route fb_admin_routes[] = {
    {"POST", "/admin/reload", true, reload},
    {"POST", "/admin/recycle", true, recycle},
    {"POST", "/admin/pause", true, pause_all},
    {"POST", "/admin/resume", true, resume_all},
    {"POST", "/admin/provider/enable", true, enable},
    {"POST", "/admin/provider/disable", true, disable},
    {"POST", "/admin/source/enable", true, fb_source_enable},
    {"POST", "/admin/source/disable", true, fb_source_disable},
    {"POST", "/admin/learned/forget", true, forget},
    {"POST", "/admin/item/pause", true, fb_item_pause},
    {"POST", "/admin/item/resume", true, fb_item_resume},
    {"POST", "/admin/batch", true, submit},
    {"POST", "/admin/batch/stop", true, stop_batch},
    {"POST", "/admin/log/reopen", true, reopen},
    {0},
};
