/* SPDX-License-Identifier: MIT */
/*
 * provider.c - whose limits a request is under, and what is known of them beforehand.
 *
 * What the command line says comes first, then what the configuration says of the provider, then a
 * preset, then nothing: the limit is learned. What was learned in an earlier run is added to any of
 * them.
 */
#include <string.h>
#include <strings.h>

#include "config/config.h"
#include "fetch/fetch_parts.h"
#include "fetch/host.h"
#include "fetch/place.h"
#include "signal/preset.h"

/* Without the port. */
static const struct preset *preset_of_host(const char *host, size_t size)
{
    const char *colon = memchr(host, ':', size);

    return fb_preset_for_host((struct slice){host, colon ? (size_t)(colon - host) : size});
}

static const struct preset *preset_named(const char *name)
{
    return fb_preset_find(fb_slice_of(name));
}

/* Most lists are about one host for a long while: the last one asked about is remembered. */
static const struct preset *preset_of_this(struct fetch *f, const char *host, size_t size)
{
    struct known_host *known = &f->known_host;

    if (size >= sizeof known->name)
        return preset_of_host(host, size);
    if (size != known->size || memcmp(host, known->name, size) != 0) {
        memcpy(known->name, host, size);
        known->size = size;
        known->preset = preset_of_host(host, size);
    }
    return known->preset;
}

/* The provider of the configuration that has the host of a URL, or NULL. */
const struct config_provider *fb_provider_at(const struct fetch *f, const char *url)
{
    struct origin o;

    if (!f->o->config || f->o->config->provider_count == 0)
        return NULL;
    fb_origin_of(url, &o);
    const char *host = url + o.host, *colon = memchr(host, ':', o.host_size);
    return fb_config_for_host(f->o->config,
                              (struct slice){host, colon ? (size_t)(colon - host) : o.host_size});
}

/* Of the configuration: the one named for all requests, or by host. */
static const struct config_provider *configured(const struct fetch *f, const char *url)
{
    const struct fetch_options *o = f->o;

    if (!o->config)
        return NULL;
    return o->provider ? fb_config_provider(o->config, o->provider) : fb_provider_at(f, url);
}

static const char *path_of(const char *url)
{
    struct origin o;

    fb_origin_of(url, &o);
    return url[o.path] == '/' ? url + o.path : "/";
}

static void set_preset(struct fetch *f, struct engine_task *t, const char *method)
{
    struct origin o;

    fb_origin_of(t->url, &o);
    const struct preset *p = f->o->provider ? preset_named(f->o->provider)
                                            : preset_of_this(f, t->url + o.host, o.host_size);
    t->provider = f->o->provider;
    if (!p)
        return;
    const struct preset_pool *pool =
        fb_preset_pool(p, fb_slice_of(method), fb_slice_of(path_of(t->url)));
    t->provider = p->name;
    if (!t->pool && pool)
        t->pool = pool->name;
}

void fb_provider_of(const struct errand *e, struct engine_task *t)
{
    const char *method = t->method ? t->method : "GET";
    const struct config_provider *p = configured(e->fetch, t->url);

    if (!p) {
        set_preset(e->fetch, t, method);
        return;
    }
    const struct config_pool *pool =
        fb_config_pool(p, fb_slice_of(method), fb_slice_of(path_of(t->url)));
    t->provider = p->name;
    t->preset = p->preset ? p->preset->name : NULL;
    if (!t->pool && pool)
        t->pool = pool->name;
}

static const char *preset_limit(const struct engine_key *k)
{
    const struct preset *p = preset_named(k->provider);
    const struct preset_pool *pool = NULL;

    for (size_t i = 0; p && i < p->pool_count; i++) {
        if (strcmp(p->pool[i].name, k->pool) == 0)
            pool = &p->pool[i];
    }
    return p ? fb_preset_limit(p, pool) : NULL;
}

/* A key that a redirect led to is named by its host. */
const char *fb_provider_configured(const struct config *c, const struct engine_key *k)
{
    size_t size = strcspn(k->provider, ":");
    const struct config_provider *p =
        fb_config_provider(c, k->provider)
            ? NULL
            : fb_config_for_host(c, (struct slice){k->provider, size});

    return fb_config_limit_of(c, p ? p->name : k->provider, k->pool);
}

static const char *configured_name(const struct config *c, const char *host)
{
    const struct config_provider *p =
        c ? fb_config_for_host(c, (struct slice){host, strcspn(host, ":")}) : NULL;

    return p ? p->name : NULL;
}

/* "api.example.com" is every port of it; a provider that is known is each of its hosts. */
static bool is_host(const struct fetch_options *o, const char *provider, const char *host)
{
    size_t size = strlen(host);
    const struct preset *p = preset_of_host(host, size);
    const char *name = configured_name(o->config, host);

    if (strncasecmp(provider, host, size) == 0 &&
        (provider[size] == '\0' || (provider[size] == ':' && !strchr(host, ':'))))
        return true;
    if (name)
        return strcmp(name, provider) == 0;
    return p && strcmp(p->name, provider) == 0;
}

static const char *said_limit(const struct fetch_options *o, const struct engine_key *k)
{
    for (size_t i = o->limit_count; i-- > 0;) { /* the last one said counts */
        if (is_host(o, k->provider, o->limits[i].host))
            return o->limits[i].spec;
    }
    return o->limit;
}

/* Who says it, in words. */
static const char *origin_of(const struct fetch_options *o, const struct engine_key *k,
                             const char *spec)
{
    if (!spec || !spec[0])
        return "";
    if (!o->config || (!fb_config_provider(o->config, k->provider) && preset_named(k->provider)))
        return "preset";
    return "configuration";
}

const char *fb_provider_spec(const struct fetch *f, const struct engine_key *k,
                             const char **ret_said_by)
{
    const struct fetch_options *o = f->o;
    const char *said = said_limit(o, k);
    const char *spec = said        ? said
                       : o->config ? fb_provider_configured(o->config, k)
                                   : preset_limit(k);

    *ret_said_by = said ? "command line" : origin_of(o, k, spec);
    return spec;
}

const char *fb_provider_limit(void *user, const struct engine_key *k)
{
    const char *said_by;

    return fb_provider_spec(user, k, &said_by);
}
