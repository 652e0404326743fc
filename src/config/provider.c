/* SPDX-License-Identifier: MIT */
/*
 * provider.c - what a preset knows about a provider, below what anybody says; and providers asked
 * for by host and path.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "config/reading.h"

/* ------------------------------------------------------------------------------- into the tree */

static void put_text(struct reading *r, struct yaml_node *map, const char *key, const char *text,
                     const char *from)
{
    if (!text || fb_tree_find(map, key))
        return;
    struct yaml_node *n = fb_tree_put(map, key, from);
    r->is_out_of_memory |= !n || !fb_tree_set_text(n, text, strlen(text), from);
}

/* The value of a key as a map, made where there is none. NULL: it is something else. */
static struct yaml_node *put_map(struct reading *r, struct yaml_node *map, const char *key,
                                 const char *from)
{
    struct yaml_node *n = fb_tree_put(map, key, from);

    r->is_out_of_memory |= !n;
    if (n && n->kind == YAML_TEXT && !n->text[0])
        fb_tree_set_kind(n, YAML_MAP, from);
    return n && n->kind == YAML_MAP ? n : NULL;
}

/* The words of a limit that keys of `pacing` are, where they have another name. */
static const char *word_of(const char *key)
{
    static const char *const names[][2] = {
        {"spend", "pacing"},
        {"min_request_interval", "interval_min"},
        {"max_request_interval", "interval_max"},
        {"burst_allowance", "ahead"},
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(key, names[i][0]) == 0)
            return names[i][1];
    }
    return key;
}

/* Who spends on demand spaces nothing. */
static bool is_spacing(const char *word)
{
    return strcmp(word, "interval_min") == 0 || strcmp(word, "interval_max") == 0 ||
           strcmp(word, "ahead") == 0;
}

static bool spends_on_demand(const struct yaml_node *limit)
{
    const struct yaml_node *n = fb_tree_find(limit, "pacing");

    return n && n->kind == YAML_TEXT && strcmp(n->text, "demand") == 0;
}

/* What is said for all. */
static void add_pacing(struct reading *r, struct yaml_node *limit)
{
    const struct yaml_node *pacing = fb_tree_find(r->root, "pacing");

    for (const struct yaml_node *n = fb_tree_first(pacing); n; n = n->next) {
        if (n->kind != YAML_TEXT || fb_tree_find(limit, word_of(n->key)) ||
            (is_spacing(word_of(n->key)) && spends_on_demand(limit)))
            continue;
        struct yaml_node *word = fb_tree_put(limit, word_of(n->key), n->from);
        if (!word || !fb_tree_set_text(word, n->text, strlen(n->text), n->from)) {
            r->is_out_of_memory = true;
            return;
        }
        word->at = n->at;
        word->key_at = n->key_at;
    }
}

static void add_limit(struct reading *r, struct yaml_node *owner, const char *text,
                      const char *from)
{
    const struct yaml_node *pacing = fb_tree_find(r->root, "pacing");
    bool is_said = text || (pacing && pacing->child) || fb_tree_find(owner, "limit");
    struct yaml_node *limit = is_said ? put_map(r, owner, "limit", from) : NULL;

    if (!limit)
        return;
    bool is_stated = fb_tree_find(limit, "rate") || fb_tree_find(limit, "window");
    add_pacing(r, limit);
    if (text)
        fb_limit_add_words(r, limit, text, (struct place){0, 0}, from);
    struct yaml_node *adapt = fb_tree_find(limit, "adapt");
    if (is_stated && adapt && adapt->from == from && from) {
        fb_tree_take(adapt); /* a rate that is stated is a bound, not where a search begins */
        fb_yaml_free(adapt);
    }
}

static void add_hosts(struct reading *r, struct yaml_node *provider, const struct preset *p,
                      const char *from)
{
    if (fb_tree_find(provider, "hosts") || !p->hosts[0])
        return;
    struct yaml_node *hosts = fb_tree_put(provider, "hosts", from);
    r->is_out_of_memory |= !hosts;
    if (hosts)
        fb_tree_set_kind(hosts, YAML_LIST, from);
    for (const char *const *h = p->hosts; *h && hosts; h++)
        r->is_out_of_memory |= !fb_tree_add_text(hosts, *h, from);
}

/*
 * Those of the preset come last and in its order, whoever says something about them: its last may
 * take every request.
 */
static void add_pool(struct reading *r, struct yaml_node *pools, const struct preset_pool *row,
                     const char *from)
{
    struct yaml_node *known = fb_tree_find(pools, row->name);

    if (known) {
        fb_tree_take(known);
        fb_tree_append(pools, known);
    }
    struct yaml_node *pool = put_map(r, pools, row->name, from);
    if (!pool)
        return;
    put_text(r, pool, "method", row->method, from);
    put_text(r, pool, "path", row->path, from);
    if (row->limit)
        add_limit(r, pool, row->limit, from);
}

static void add_pools(struct reading *r, struct yaml_node *provider, const struct preset *p,
                      const char *from)
{
    struct yaml_node *pools =
        p->pool_count > 0 ? put_map(r, provider, "pools", from) : fb_tree_find(provider, "pools");

    for (size_t i = 0; i < p->pool_count && pools; i++)
        add_pool(r, pools, &p->pool[i], from);
}

/* The preset that is named, or that has the name of the provider. */
static const struct preset *preset_of(struct reading *r, struct yaml_node *provider)
{
    const struct yaml_node *said = fb_tree_find(provider, "preset");
    const struct preset *p = NULL;

    if (said)
        return said->kind == YAML_TEXT ? fb_preset_find(fb_slice_of(said->text)) : NULL;
    p = fb_preset_find(fb_slice_of(provider->key));
    if (p)
        put_text(r, provider, "preset", p->name, fb_from_default);
    return p;
}

static void add_preset(struct reading *r, struct yaml_node *provider)
{
    const struct preset *p = preset_of(r, provider);
    const char *from = p ? fb_reading_text(r, "preset ", p->name) : NULL;
    struct yaml_node *pools = fb_tree_find(provider, "pools");

    for (struct yaml_node *n = fb_tree_first(pools); n; n = n->next) {
        if (fb_tree_find(n, "limit"))
            add_limit(r, n, NULL, NULL);
    }
    add_limit(r, provider, p ? p->limit : NULL, from);
    if (!from)
        return;
    add_hosts(r, provider, p, from);
    put_text(r, provider, "quota", p->quota_path, from);
    put_text(r, provider, "unmodified_free", p->unmodified_free ? "true" : NULL, from);
    add_pools(r, provider, p, from);
}

/* Of what is watched, where it has limits of its own. */
static void add_pacing_to_sources(struct reading *r)
{
    struct yaml_node *watch = fb_tree_find(r->root, "watch");
    struct yaml_node *items = fb_tree_find(watch, "items");

    if (fb_tree_find(items, "limit"))
        add_limit(r, items, NULL, NULL);
    for (struct yaml_node *n = fb_tree_first(fb_tree_find(watch, "sources")); n; n = n->next) {
        if (fb_tree_find(n, "limit"))
            add_limit(r, n, NULL, NULL);
    }
}

void fb_providers_add_presets(struct reading *r)
{
    struct yaml_node *providers = fb_tree_find(r->root, "providers");

    for (struct yaml_node *n = fb_tree_first(providers); n; n = n->next) {
        if (n->kind == YAML_TEXT && !n->text[0])
            fb_tree_set_kind(n, YAML_MAP, n->from);
        if (n->kind == YAML_MAP)
            add_preset(r, n);
    }
    add_limit(r, r->root, NULL, NULL);
    add_pacing_to_sources(r);
}

/* --------------------------------------------------------------------------------------- asking */

const struct config_provider *fb_config_provider(const struct config *c, const char *name)
{
    for (size_t i = 0; i < c->provider_count; i++) {
        if (strcasecmp(c->provider[i].name, name) == 0)
            return &c->provider[i];
    }
    return NULL;
}

const struct config_provider *fb_config_for_host(const struct config *c, struct slice host)
{
    const struct config_provider *best = NULL;
    size_t longest = 0;

    for (size_t i = 0; i < c->provider_count; i++) {
        for (const char *const *h = c->provider[i].hosts; *h; h++) {
            if (strlen(*h) > longest && fb_preset_host_fits(*h, host)) {
                best = &c->provider[i];
                longest = strlen(*h);
            }
        }
    }
    return best;
}

const struct config_pool *fb_config_pool(const struct config_provider *p, struct slice method,
                                         struct slice path)
{
    for (size_t i = 0; i < p->pool_count; i++) {
        const struct preset_pool row = {p->pool[i].name, p->pool[i].method, p->pool[i].path, NULL};

        if (fb_preset_pool_fits(&row, method, path))
            return &p->pool[i];
    }
    return NULL;
}

const char *fb_config_limit(const struct config_provider *p, const struct config_pool *pool)
{
    const char *limit = pool && pool->limit ? pool->limit : p->limit;

    return limit ? limit : "";
}

static const char *preset_limit(const struct preset *p, const char *pool)
{
    const struct preset_pool *row = NULL;

    for (size_t i = 0; pool && i < p->pool_count; i++) {
        if (strcmp(p->pool[i].name, pool) == 0)
            row = &p->pool[i];
    }
    return fb_preset_limit(p, row);
}

const char *fb_config_limit_of(const struct config *c, const char *provider, const char *pool)
{
    const struct config_provider *p = fb_config_provider(c, provider);
    const struct preset *known = p ? NULL : fb_preset_find(fb_slice_of(provider));
    const char *limit = known ? preset_limit(known, pool) : NULL;
    const char *own = p ? NULL : fb_config_source_limit(&c->watch, provider);

    for (size_t i = 0; p && pool && i < p->pool_count; i++) {
        if (strcmp(p->pool[i].name, pool) == 0)
            return fb_config_limit(p, &p->pool[i]);
    }
    if (p)
        return fb_config_limit(p, NULL);
    if (own)
        return own;
    return limit ? limit : known ? "" : c->limit;
}

bool fb_config_is_said(const struct config *c, const char *path)
{
    const struct yaml_node *n = c->tree;
    char part[64];

    while (n && *path) {
        size_t size = strcspn(path, ".");

        (void)snprintf(part, sizeof part, "%.*s", (int)size, path);
        n = fb_tree_find(n, part);
        path += size + (path[size] == '.');
    }
    return n && n->from != fb_from_default;
}
