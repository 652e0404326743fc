/* SPDX-License-Identifier: MIT */
/*
 * provider.c - whose limits a request is under, and what is known of them beforehand.
 *
 * What the user says comes first, then what a preset of the provider says, then nothing: the limit
 * is learned. What was learned in an earlier run is added to any of them.
 */
#include <string.h>
#include <strings.h>

#include "fetch/fetch_parts.h"
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

void fb_provider_of(const struct errand *e, struct engine_task *t)
{
    const char *method = t->method ? t->method : "GET";
    struct origin o;

    fb_origin_of(t->url, &o);
    const struct preset *p = e->fetch->o->provider
                                 ? preset_named(e->fetch->o->provider)
                                 : preset_of_this(e->fetch, t->url + o.host, o.host_size);
    t->provider = e->fetch->o->provider;
    if (!p)
        return;
    const char *path = t->url[o.path] == '/' ? t->url + o.path : "/";
    const struct preset_pool *pool = fb_preset_pool(p, fb_slice_of(method), fb_slice_of(path));
    t->provider = p->name;
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

/* "api.example.com" is every port of it; a provider with a preset is each of its hosts. */
static bool is_host(const char *provider, const char *host)
{
    size_t size = strlen(host);
    const struct preset *p = preset_of_host(host, size);

    if (strncasecmp(provider, host, size) == 0 &&
        (provider[size] == '\0' || (provider[size] == ':' && !strchr(host, ':'))))
        return true;
    return p && strcmp(p->name, provider) == 0;
}

static const char *said_limit(const struct fetch_options *o, const struct engine_key *k)
{
    for (size_t i = o->limit_count; i-- > 0;) { /* the last one said counts */
        if (is_host(k->provider, o->limits[i].host))
            return o->limits[i].spec;
    }
    return o->limit;
}

const char *fb_provider_spec(const struct fetch *f, const struct engine_key *k,
                             const char **ret_said_by)
{
    const char *said = said_limit(f->o, k);
    const char *spec = said ? said : preset_limit(k);

    *ret_said_by = said ? "command line" : spec ? "preset" : "";
    return spec;
}

const char *fb_provider_limit(void *user, const struct engine_key *k)
{
    const char *said_by;

    return fb_provider_spec(user, k, &said_by);
}
