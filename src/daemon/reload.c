/* SPDX-License-Identifier: MIT */
/*
 * reload.c - another configuration into force, in place.
 *
 * Everything is read and checked first; then the engine is tuned, which is the last step that can
 * fail; what follows cannot. Limits change in the limiters that are there, so nothing that was
 * spent, held or learned is lost. Listeners, store and ledger stay as they were at the start: a
 * change of theirs is told, and needs a restart.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/notify.h"
#include "daemon/parts.h"
#include "engine/control.h"

#define SETTLE_MS 200 /* editors write a file in several steps */

/* ----------------------------------------------------------------------------------- into force */

static void set_alerts(struct daemon *d, const struct config *c)
{
    d->alerts.rules = (struct alert_rules){.warning = (double)c->alerts.warning_ppm / 1e6,
                                           .critical = (double)c->alerts.critical_ppm / 1e6,
                                           .wait_s = (double)c->alerts.wait_ns / 1e9,
                                           .grade = c->alerts.grade,
                                           .every_ns = c->alerts.every_ns};
}

void fb_reload_apply(struct daemon *d, const struct config *c)
{
    d->log.form = c->log.form == CONFIG_LOG_JSON ? LOG_JSON : LOG_LOGFMT;
    d->log.level = (enum log_level)c->log.level;
    set_alerts(d, c);
    for (size_t i = 0; i < c->provider_count; i++) {
        const struct config_provider *p = &c->provider[i];

        if (p->pool_count == 0)
            fb_meters_reserve(&d->meters, p->name, "default");
        for (size_t j = 0; j < p->pool_count; j++)
            fb_meters_reserve(&d->meters, p->name, p->pool[j].name);
    }
}

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Keys whose limit is another now: provider and pool, each with its NUL, one after another. */
struct changes {
    const struct config *before, *now;
    struct buffer names;
};

static void compare(void *arg, const struct engine_key_state *s)
{
    struct changes *c = arg;

    if (is_same_text(fb_provider_configured(c->before, &s->key),
                     fb_provider_configured(c->now, &s->key)))
        return;
    fb_buffer_add(&c->names, s->key.provider, strlen(s->key.provider) + 1);
    fb_buffer_add(&c->names, s->key.pool, strlen(s->key.pool) + 1);
}

/* In place: the limiters are those that there are, with all that they know. */
static void set_limits(struct daemon *d, const struct config *now)
{
    struct changes c = {.before = d->config, .now = now};

    fb_engine_keys(d->engine, compare, &c);
    if (c.names.failed)
        fb_log(&d->log, LEVEL_error, "reload", "out of memory: some limits are as they were");
    for (size_t at = 0; !c.names.failed && at < c.names.size;) {
        struct engine_key k = {.provider = c.names.bytes + at, .credential = ""};
        struct fly_error err = {""};

        k.pool = k.provider + strlen(k.provider) + 1;
        at += strlen(k.provider) + strlen(k.pool) + 2;
        if (fb_engine_limit(d->engine, k.provider, k.pool, fb_provider_configured(now, &k), &err) <
            0)
            fb_log(&d->log, LEVEL_error, "reload", "%s/%s: %s", k.provider, k.pool, err.text);
    }
    fb_buffer_fini(&c.names);
}

static void set_enabled(struct daemon *d, const struct config *c)
{
    for (size_t i = 0; i < c->provider_count; i++) {
        const struct config_provider *p = &c->provider[i];
        const struct config_provider *before = fb_config_provider(d->config, p->name);

        if ((!before || before->enabled != p->enabled) &&
            fb_engine_enable(d->engine, p->name, p->enabled) < 0)
            fb_log(&d->log, LEVEL_error, "reload", "%s: out of memory", p->name);
    }
}

/* What cannot change while it runs. */
static void tell_of_rest(struct daemon *d, const struct config *c)
{
    const struct config_listeners *a = &d->config->listeners;
    const struct config_listeners *b = &c->listeners;

    if (!is_same_text(a->public.listen, b->public.listen) ||
        !is_same_text(a->internal.listen, b->internal.listen) ||
        !is_same_text(a->admin.socket, b->admin.socket))
        fb_log(&d->log, LEVEL_warning, "reload", "other listeners need a restart");
    if (!is_same_text(d->config->store.folder, c->store.folder) ||
        !is_same_text(d->config->ledger.path, c->ledger.path))
        fb_log(&d->log, LEVEL_warning, "reload", "another store or ledger needs a restart");
}

static int bring_into_force(struct daemon *d, struct config *c, struct fly_error *err)
{
    struct engine_options o;
    struct fly_error log_err = {""};

    fb_home_options(d, c, &o);
    int rc = fb_engine_tune(d->engine, &o, err);
    if (rc < 0)
        return rc;
    tell_of_rest(d, c);
    set_limits(d, c);
    set_enabled(d, c);
    if (!is_same_text(d->config->log.file, c->log.file) &&
        fb_log_reopen(&d->log, c->log.file, &log_err) < 0)
        fb_log(&d->log, LEVEL_error, "reload", "%s", log_err.text);
    fb_reload_apply(d, c);
    for (int i = 0; i < DOORS; i++)
        d->door[i].router.guard.host = NULL;
    d->door[DOOR_PUBLIC].router.guard.host = c->listeners.public.hosts;
    d->door[DOOR_INTERNAL].router.guard.host = c->listeners.internal.hosts;
    fb_batches_configure(d, c);
    fb_config_free(d->config);
    d->config = c;
    d->loaded_ns = fb_daemon_now(d);
    fb_batches_begin(d);
    return 0;
}

/* -------------------------------------------------------------------------------------- reading */

/* Whoever writes it has begun with taking all away: that is no wish for none. */
static bool is_empty(const struct daemon *d, const char *file)
{
    struct stat now;

    return file && d->config->file && stat(file, &now) == 0 && now.st_size == 0;
}

static int load(struct daemon *d, struct config **ret_config, struct fly_error *err)
{
    struct config_report report = {0};
    struct config_sources from = {.file = d->file.size > 0 ? fb_buffer_text(&d->file) : NULL,
                                  .environment = d->o->environment,
                                  .flags = d->o->flags};
    if (is_empty(d, from.file)) {
        (void)snprintf(err->text, sizeof err->text, "%.200s: empty, so perhaps just being written",
                       from.file);
        return -EINVAL;
    }
    int rc = fb_config_load(&from, &report, ret_config);
    if (rc < 0)
        (void)snprintf(err->text, sizeof err->text, "%.250s",
                       report.mistakes > 0 ? fb_config_report_first(&report) : strerror(-rc));
    fb_config_report_fini(&report);
    return rc;
}

static void tell(struct daemon *d, const char *cause, int rc, const char *why)
{
    struct view_audit_event e = {.kind = "reload", .cause = cause};

    e.text = rc < 0 ? why : "the configuration is in force";
    (void)snprintf(d->refused, sizeof d->refused, "%s", rc < 0 ? why : "");
    if (rc < 0)
        d->reloads_failed++;
    else
        d->reloads++;
    fb_daemon_audit(d, rc < 0 ? LEVEL_error : LEVEL_info, &e);
}

int fb_reload(struct daemon *d, const char *cause, struct fly_error *err)
{
    struct config *c = NULL;

    if (d->terms > 0) {
        (void)snprintf(err->text, sizeof err->text, "the daemon is about to end");
        return -ESHUTDOWN;
    }
    fb_daemon_notify(d, "RELOADING=1");
    int rc = load(d, &c, err);
    if (rc == 0)
        rc = bring_into_force(d, c, err);
    if (rc < 0 && c)
        fb_config_free(c);
    tell(d, cause, rc, err->text);
    fb_daemon_notify(d, "READY=1");
    return rc;
}

/* ------------------------------------------------------------------------------ the file itself */

static void settled(uv_timer_t *timer)
{
    struct daemon *d = timer->data;
    struct fly_error err = {""};

    (void)fb_reload(d, "file", &err);
    fb_reload_watch(d); /* it may be another file by now */
}

static void changed(uv_fs_event_t *watch, const char *name, int events, int status)
{
    struct daemon *d = watch->data;

    (void)name;
    (void)events;
    (void)status;
    if (d->terms == 0)
        (void)uv_timer_start(&d->settle, settled, SETTLE_MS, 0);
}

void fb_reload_watch(struct daemon *d)
{
    if (d->file.size == 0)
        return;
    (void)uv_fs_event_stop(&d->watch);
    if (uv_fs_event_start(&d->watch, changed, fb_buffer_text(&d->file), 0) < 0)
        fb_log(&d->log, LEVEL_warning, "reload", "%s cannot be watched for changes",
               fb_buffer_text(&d->file));
}
