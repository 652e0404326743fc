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

#include "config/diff.h"
#include "core/instant.h"
#include "daemon/notify.h"
#include "daemon/parts.h"
#include "engine/configure.h"
#include "engine/control.h"
#include "util/text.h"

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

/* Where a provider is, if it is at one place. */
static const char *only_host(const struct config_provider *p)
{
    return p->hosts && p->hosts[0] && !p->hosts[1] && !strchr(p->hosts[0], '*') ? p->hosts[0]
                                                                                : NULL;
}

void fb_reload_apply(struct daemon *d, const struct config *c)
{
    d->log.form = c->log.form == CONFIG_LOG_JSON ? LOG_JSON : LOG_LOGFMT;
    d->log.level = (enum log_level)c->log.level;
    if (fb_audit_resize(&d->audit, (size_t)c->log.audit) < 0)
        fb_log(&d->log, LEVEL_error, "reload", "out of memory: the audit is as long as it was");
    set_alerts(d, c);
    d->csv.every = c->metrics.every_ns / FB_NS_PER_S;
    fb_meters_bound(&d->meters, (size_t)c->metrics.series_max);
    for (size_t i = 0; i < c->provider_count; i++) {
        const struct config_provider *p = &c->provider[i];

        if (p->pool_count == 0)
            fb_meters_reserve(&d->meters, p->name, "default", only_host(p));
        for (size_t j = 0; j < p->pool_count; j++)
            fb_meters_reserve(&d->meters, p->name, p->pool[j].name, only_host(p));
    }
    for (size_t i = 0; i < c->watch.source_count; i++)
        if (c->watch.source[i].ask.limit)
            fb_meters_reserve(&d->meters, c->watch.source[i].name, "default", NULL);
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

static void enable(struct daemon *d, const char *provider, bool is_enabled)
{
    if (fb_engine_enable(d->engine, provider, is_enabled) < 0)
        fb_log(&d->log, LEVEL_error, "reload", "%s: out of memory", provider);
}

/* What an operator has switched stays so until the file says otherwise than before. */
static void set_enabled(struct daemon *d, const struct config *c)
{
    for (size_t i = 0; i < c->provider_count; i++) {
        const struct config_provider *p = &c->provider[i];
        const struct config_provider *before = fb_config_provider(d->config, p->name);

        if (!before || before->enabled != p->enabled)
            enable(d, p->name, p->enabled);
    }
    /* Of whom it says no more that he is off, he is on. */
    for (size_t i = 0; i < d->config->provider_count; i++) {
        const struct config_provider *before = &d->config->provider[i];

        if (!before->enabled && !fb_config_provider(c, before->name))
            enable(d, before->name, true);
    }
}

/* Checked when it was read: what is left to fail is memory. */
static void set_manners(struct daemon *d, const struct config *c)
{
    struct fly_error err = {""};

    if (fb_engine_configure_providers(d->engine, c, &err) < 0)
        fb_log(&d->log, LEVEL_error, "reload", "deadlines of some providers are those of all: %s",
               err.text[0] ? err.text : "out of memory");
}

/* The changes in so many words, as far as there is room; and those that have to wait. */
struct changes_told {
    struct daemon *daemon;
    struct text text;
};

static void tell_change(void *to, const struct config_change *c)
{
    struct changes_told *t = to;

    fb_text_add(&t->text, t->daemon->changed[0] ? ", " : "");
    fb_text_add(&t->text, c->path);
    if (c->is_fixed)
        fb_log(&t->daemon->log, LEVEL_warning, "reload", "%s: takes effect at the next start",
               c->path);
}

static void tell_changes(struct daemon *d, const struct config *c)
{
    struct changes_told t = {.daemon = d};

    fb_text_init(&t.text, d->changed, sizeof d->changed);
    if (fb_config_diff(d->config, c, tell_change, &t) < 0)
        fb_log(&d->log, LEVEL_warning, "reload", "out of memory: what has changed is not told");
}

/* Files that are written to. Where one cannot be, it goes on with the one before. */
static void set_files(struct daemon *d, const struct config *c)
{
    struct fly_error err = {""};

    if (!is_same_text(d->config->log.file, c->log.file) &&
        fb_log_reopen(&d->log, c->log.file, &err) < 0)
        fb_log(&d->log, LEVEL_error, "reload", "%s", err.text);
    if (!is_same_text(d->config->metrics.csv, c->metrics.csv) &&
        fb_csv_open(&d->csv, c->metrics.csv, &err) < 0)
        fb_log(&d->log, LEVEL_error, "reload", "%s", err.text);
}

static int bring_into_force(struct daemon *d, struct config *c, struct fly_error *err)
{
    struct engine_options o;

    fb_home_options(d, c, &o);
    int rc = fb_engine_tune(d->engine, &o, err);
    if (rc < 0)
        return rc;
    set_manners(d, c);
    tell_changes(d, c);
    set_limits(d, c);
    set_enabled(d, c);
    set_files(d, c);
    fb_reload_apply(d, c);
    for (int i = 0; i < DOORS; i++)
        d->door[i].router.guard.host = NULL;
    d->door[DOOR_PUBLIC].router.guard.host = c->listeners.public.hosts;
    d->door[DOOR_INTERNAL].router.guard.host = c->listeners.internal.hosts;
    fb_batches_configure(d, c);
    struct config *before = d->config;
    d->config = c;
    fb_watching_configure(d, c);
    fb_config_free(before);
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
    struct view_audit_event e = {
        .kind = "reload", .cause = cause, .outcome = rc < 0 ? "refused" : "done"};
    char text[sizeof d->changed + 48];

    (void)snprintf(text, sizeof text, "the configuration is in force; changed: %s",
                   d->changed[0] ? d->changed : "nothing");
    e.text = rc < 0 ? why : text;
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
