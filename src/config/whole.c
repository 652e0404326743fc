/* SPDX-License-Identifier: MIT */
/*
 * whole.c - what can be right by itself and wrong together.
 *
 * Everything here has been read: each value is right by itself, or has been told and is missing.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <flyball/flyball.h>

#include "config/reading.h"
#include "config/suggest.h"
#include "core/spec.h"

#define NAMES_MAX 64 /* that a suggestion looks at */

const struct yaml_node *fb_reading_node(const struct reading *r, const char *const *path)
{
    const struct yaml_node *n = r->root;

    for (; *path; path++) {
        const struct yaml_node *below = fb_tree_find(n, *path);

        if (!below)
            return n;
        n = below;
    }
    return n;
}

/* ----------------------------------------------------------------------------------- providers */

/* Commands find a provider whatever the case of its name. */
static void check_name(struct reading *r, const struct config_provider *p)
{
    for (const struct config_provider *o = r->config->provider; o < p; o++) {
        if (strcasecmp(o->name, p->name) == 0 && strcmp(o->name, p->name) != 0)
            fb_reading_tell(r, NODE(r, "providers", p->name), ABOUT_KEY,
                            "'%s' is the same name as '%s'", p->name, o->name);
    }
}

struct owned {
    const char *host;
    const struct yaml_node *at;
    size_t provider; /* in the order of the file */
};

static int by_host(const void *a, const void *b)
{
    const struct owned *x = a, *y = b;
    int order = strcmp(x->host, y->host);

    return order ? order : (x->provider > y->provider) - (x->provider < y->provider);
}

/* All hosts that are written, `all` having room for them; NULL: only count. */
static size_t collect_hosts(const struct reading *r, struct owned *all)
{
    size_t count = 0;

    for (size_t i = 0; i < r->config->provider_count; i++) {
        const struct yaml_node *hosts =
            fb_tree_find(NODE(r, "providers", r->config->provider[i].name), "hosts");

        if (!hosts || hosts->kind != YAML_LIST)
            continue;
        for (const struct yaml_node *n = hosts->child; n; n = n->next) {
            if (n->kind != YAML_TEXT)
                continue;
            if (all)
                all[count] = (struct owned){n->text, n, i};
            count++;
        }
    }
    return count;
}

/* A host belongs to one provider. */
static void check_hosts(struct reading *r)
{
    size_t count = collect_hosts(r, NULL);
    struct owned *all = fb_reading_alloc(r, count * sizeof *all);

    if (!all || count == 0)
        return;
    (void)collect_hosts(r, all);
    qsort(all, count, sizeof *all, by_host);
    for (size_t i = 1; i < count; i++) {
        if (strcmp(all[i].host, all[i - 1].host) == 0 && all[i].provider != all[i - 1].provider)
            fb_reading_tell(r, all[i].at, ABOUT_VALUE, "'%s' belongs to '%s' already", all[i].host,
                            r->config->provider[all[i - 1].provider].name);
    }
}

/* Looked at in the tree, where a path is also when it is wrong. */
static void check_pools(struct reading *r, const struct config_provider *p)
{
    const struct yaml_node *pools = fb_tree_find(NODE(r, "providers", p->name), "pools");

    for (const struct yaml_node *n = fb_tree_first(pools); n && n->next; n = n->next) {
        if (!fb_tree_find(n, "method") && !fb_tree_find(n, "path"))
            fb_reading_tell(r, n, ABOUT_KEY,
                            "%s: takes every request, '%s' behind it is never reached", n->key,
                            n->next->key);
    }
}

static void check_credentials(struct reading *r, const struct config_provider *p)
{
    if (p->credential_count > 0 && !fb_tree_find(NODE(r, "providers", p->name), "hosts"))
        fb_reading_tell(r, NODE(r, "providers", p->name, "credentials"), ABOUT_KEY,
                        "credentials: expected hosts beside them, to which they are sent");
    for (size_t i = 0; i < p->credential_count; i++) {
        struct config_credential *c = &p->credential[i];
        struct yaml_node *providers = fb_tree_find(r->root, "providers");
        struct yaml_node *all = fb_tree_find(fb_tree_find(providers, p->name), "credentials");
        struct yaml_node *n = fb_tree_find(all, c->name);

        if (!n || n->kind != YAML_MAP)
            continue; /* something is wrong there, or there twice, which was told */
        if (c->secret.env && c->secret.file)
            fb_reading_tell(r, n, ABOUT_KEY, "%s: env and file, expected one of them", c->name);
        else if (!c->secret.env && !c->secret.file && n->kind == YAML_MAP &&
                 !fb_tree_find(n, "env") && !fb_tree_find(n, "file"))
            fb_reading_tell(r, n, ABOUT_KEY, "%s: expected env or file: where the secret is",
                            c->name);
        if (c->scheme || !c->header || strcasecmp(c->header, "Authorization") != 0)
            continue;
        struct yaml_node *scheme = fb_tree_put(n, "scheme", fb_from_default);
        r->is_out_of_memory |= !scheme || !fb_tree_set_text(scheme, "Bearer", 6, fb_from_default);
        c->scheme = "Bearer";
    }
}

/* ------------------------------------------------------------------------------------- warnings */

/* The longest-lasting rate that a limit text allows; 0: none is stated. */
static double lasting_rate(const char *text)
{
    struct fly_error err;
    struct spec spec;
    double least = 0.0;

    if (!text || fb_spec_read(text, &spec, &err) < 0)
        return 0.0;
    least = fb_rate_per_second(&spec.rate);
    for (int64_t i = 0; i < spec.window_count; i++) {
        double rate = (double)spec.window[i].limit * 1e9 / (double)spec.window[i].length_ns;
        least = least > 0.0 && least < rate ? least : rate;
    }
    return least;
}

static bool is_said(const struct yaml_node *n)
{
    return !n->from || strncmp(n->from, "preset ", 7) != 0;
}

static void warn_limit(struct reading *r, const struct config_provider *p,
                       const struct yaml_node *limit, const char *known)
{
    struct yaml_node *rate = fb_tree_find(limit, "rate"), *margin = fb_tree_find(limit, "margin");
    struct yaml_node *window = fb_tree_find(limit, "window");
    struct rate value = {0};
    bool is_unknown = !p || !p->preset || strcmp(p->preset->name, "unknown") == 0;
    double most = lasting_rate(known);

    if (rate && rate->kind == YAML_TEXT && is_said(rate) &&
        fb_value_rate(rate->text, &value) == VALUE_OK && is_unknown &&
        fb_rate_per_second(&value) > 1.0)
        fb_reading_tell(r, rate, WARN_VALUE,
                        "rate: above 1/s for an API about which nothing is known");
    if (margin && margin->kind == YAML_TEXT && is_said(margin) && strcmp(margin->text, "0%") == 0 &&
        window)
        fb_reading_tell(r, margin, WARN_VALUE, "margin: none is left below the windows");
    if (most <= 0.0)
        return;
    if (rate && is_said(rate) && fb_rate_per_second(&value) > most)
        fb_reading_tell(r, rate, WARN_VALUE, "rate: above what %s documents: %s", p->preset->title,
                        known);
    for (struct yaml_node *n = window && is_said(window) ? window->child : NULL; n; n = n->next) {
        if (n->kind == YAML_TEXT && fb_value_rate(n->text, &value) == VALUE_OK &&
            fb_rate_per_second(&value) > most && !window->child->next)
            fb_reading_tell(r, n, WARN_VALUE, "window: above what %s documents: %s",
                            p->preset->title, known);
    }
}

static const char *known_limit(const struct preset *preset, const char *pool)
{
    for (size_t i = 0; preset && pool && i < preset->pool_count; i++) {
        if (strcmp(preset->pool[i].name, pool) == 0)
            return preset->pool[i].limit;
    }
    return preset && !pool ? preset->limit : NULL;
}

static void warn_limits(struct reading *r, const struct config_provider *p)
{
    const struct yaml_node *provider = NODE(r, "providers", p->name);
    const struct yaml_node *pools = fb_tree_find(provider, "pools");

    warn_limit(r, p, fb_tree_find(provider, "limit"), known_limit(p->preset, NULL));
    for (const struct yaml_node *n = fb_tree_first(pools); n; n = n->next)
        warn_limit(r, p, fb_tree_find(n, "limit"), known_limit(p->preset, n->key));
}

static void warn_contact(struct reading *r, const struct config_provider *p)
{
    if (p->preset && p->preset->asks_contact && p->enabled && !r->config->connect.contact &&
        !r->config->connect.user_agent)
        fb_reading_tell(r, NODE(r, "providers", p->name), WARN_KEY,
                        "%s asks who you are: say connect.contact, such as me@example.com",
                        p->preset->title);
}

static void check_provider(struct reading *r, struct config_provider *p)
{
    p->preset = p->preset_name ? fb_preset_find(fb_slice_of(p->preset_name)) : NULL;
    p->limit = p->limit ? p->limit : "";
    check_name(r, p);
    check_pools(r, p);
    check_credentials(r, p);
    warn_limits(r, p);
    warn_contact(r, p);
}

/* ----------------------------------------------------------------------------------- the daemon */

static bool is_this_machine(const char *listen)
{
    struct in6_addr v6;
    char text[INET6_ADDRSTRLEN] = "";
    const char *colon = strrchr(listen, ':');

    if (strncmp(listen, "127.", 4) == 0 || strncmp(listen, "localhost:", 10) == 0 || !colon)
        return true;
    size_t size = (size_t)(colon - listen);
    if (listen[0] != '[' || size < 3 || size - 2 >= sizeof text)
        return false;
    memcpy(text, listen + 1, size - 2);
    return inet_pton(AF_INET6, text, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

static void check_listener(struct reading *r, const struct config_listener *l, const char *name,
                           bool needs_token)
{
    const struct yaml_node *n = NODE(r, "listeners", name, "listen");

    if (l->token.env && l->token.file)
        fb_reading_tell(r, NODE(r, "listeners", name, "token_file"), ABOUT_KEY,
                        "token_file: there is a token_env as well, expected one of them");
    if (!l->listen || is_this_machine(l->listen))
        return;
    if (!l->allow_remote)
        fb_reading_tell(r, n, ABOUT_VALUE,
                        "listen: %s can be reached from elsewhere, expected 'allow_remote: true' "
                        "beside it",
                        l->listen);
    else if (needs_token && !l->token.env && !l->token.file)
        fb_reading_tell(r, n, ABOUT_VALUE,
                        "listen: %s can be reached from elsewhere, expected token_env or "
                        "token_file beside it",
                        l->listen);
}

static void check_alerts(struct reading *r, const struct config_alerts *a)
{
    int ways =
        (a->webhook != NULL) + (a->webhook_secret.env != NULL) + (a->webhook_secret.file != NULL);

    if (a->critical_ppm < a->warning_ppm)
        fb_reading_tell(r, NODE(r, "alerts", "critical"), ABOUT_VALUE,
                        "critical: below the warning, expected a share at or above it");
    if (ways > 1)
        fb_reading_tell(
            r, NODE(r, "alerts", a->webhook_secret.file ? "webhook_file" : "webhook_env"),
            ABOUT_KEY, "webhook: said twice, expected one of webhook, webhook_env, webhook_file");
}

void fb_check_provider_of(struct reading *r, const struct yaml_node *n, const char *provider)
{
    const char *names[NAMES_MAX + 1] = {NULL};

    if (!provider || fb_config_provider(r->config, provider) ||
        fb_preset_find(fb_slice_of(provider)))
        return;
    for (size_t i = 0; i < r->config->provider_count && i < NAMES_MAX; i++)
        names[i] = r->config->provider[i].name;
    const char *near = fb_suggest(provider, names);
    fb_reading_tell(r, n, ABOUT_VALUE, "provider: there is no provider '%s'%s%s%s", provider,
                    near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
}

/* All rules together, of which there is a most. */
static void check_recovery(struct reading *r)
{
    struct recovery all;
    struct fly_error err;
    const struct yaml_node *rules = NODE(r, "recovery");

    fb_recovery_init(&all);
    for (const struct yaml_node *n = rules->kind == YAML_LIST ? rules->child : NULL; n;
         n = n->next) {
        if (n->kind == YAML_TEXT && fb_recovery_add(&all, n->text, &err) == -ENOSPC) {
            fb_reading_tell(r, n, ABOUT_VALUE, "recovery: more than the %d rules there may be",
                            FB_RECOVERY_RULES_MAX);
            return;
        }
    }
}

/* Who we are, and how to reach us. */
static void join_contact(struct reading *r)
{
    struct config_connect *c = &r->config->connect;
    const char *name = c->user_agent;

    if (!c->contact)
        return;
    if (!name)
        name = fb_reading_text(r, "flyball/", fly_version());
    if (name)
        name = fb_reading_text(r, name, " (mailto:");
    if (name)
        name = fb_reading_text(r, name, c->contact);
    if (name)
        c->user_agent = fb_reading_text(r, name, ")");
}

void fb_config_check(struct reading *r)
{
    struct config *c = r->config;

    c->limit = c->limit ? c->limit : "";
    warn_limit(r, NULL, fb_tree_find(r->root, "limit"), NULL);
    for (size_t i = 0; i < c->provider_count; i++)
        check_provider(r, &c->provider[i]);
    check_hosts(r);
    for (size_t i = 0; i < c->batch_count; i++)
        fb_check_provider_of(r, NODE(r, "batches", c->batch[i].name, "provider"),
                             c->batch[i].provider);
    fb_watch_check(r);
    if (c->concurrency.total > 0 && c->concurrency.reserved >= c->concurrency.total)
        fb_reading_tell(r, NODE(r, "concurrency", "reserved"), ABOUT_VALUE,
                        "reserved: all of the concurrency, expected less than total");
    check_listener(r, &c->listeners.public, "public", false);
    check_listener(r, &c->listeners.internal, "internal", true);
    check_alerts(r, &c->alerts);
    check_recovery(r);
    join_contact(r);
}
