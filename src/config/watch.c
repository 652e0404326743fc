/* SPDX-License-Identifier: MIT */
/* watch.c - the `watch` section as a whole: what has to be right together. */
#include "config/watch.h"

#include <string.h>
#include <strings.h>

#include "config/reading.h"
#include "config/suggest.h"
#include "config/template.h"

/* --------------------------------------------------------------------------------------- asking */

const struct config_source *fb_config_source(const struct config_watch *w, const char *name)
{
    for (size_t i = 0; i < w->source_count; i++) {
        if (strcmp(w->source[i].name, name) == 0)
            return &w->source[i];
    }
    return NULL;
}

const char *fb_config_source_limit(const struct config_watch *w, const char *name)
{
    const struct config_source *s = fb_config_source(w, name);

    if (strcmp(name, CONFIG_ITEMS_NAME) == 0)
        return w->items.ask.limit;
    return s ? s->ask.limit : NULL;
}

const char *fb_config_ids_path(const struct config_watch *w, const char *source)
{
    for (size_t i = 0; i < w->items.ids_count; i++) {
        if (strcmp(w->items.ids[i].name, source) == 0)
            return w->items.ids[i].path;
    }
    return NULL;
}

/* ------------------------------------------------------------------------------------- checking */

/* RFC 6901: "" or segments that begin with a slash, "~" only as "~0" or "~1". */
static bool is_pointer(const char *text)
{
    if (text[0] && text[0] != '/')
        return false;
    for (; (text = strchr(text, '~')); text++) {
        if (text[1] != '0' && text[1] != '1')
            return false;
    }
    return true;
}

static void check_path(struct reading *r, const struct config_ask *a, const struct yaml_node *n,
                       const char *path)
{
    if (path && a->kind != CONFIG_SOURCE_HTML && !is_pointer(path))
        fb_reading_tell(r, n, ABOUT_VALUE,
                        "expected a JSON pointer such as /score/home, found "
                        "\"%.60s\"",
                        path);
}

/* A program without a URL asks nobody: what is said of asking would hold for nothing. */
static void check_alone(struct reading *r, const struct config_ask *a, const struct yaml_node *n)
{
    static const char *const KEYS[] = {"provider", "limit"}; /* a rate is in a limit */
    const struct yaml_node *fixed = fb_tree_find(n, "static");

    if (a->kind != CONFIG_SOURCE_EXEC || a->url || fb_tree_find(n, "url"))
        return;
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++) {
        if (fb_tree_find(n, KEYS[i]))
            fb_reading_tell(r, fb_tree_find(n, KEYS[i]), ABOUT_KEY,
                            "%s: without url: nobody is asked, expected one beside it", KEYS[i]);
    }
    if (fixed && fb_tree_find(fixed, "url"))
        fb_reading_tell(r, fb_tree_find(fixed, "url"), ABOUT_KEY,
                        "static.url: without url: nobody is asked, expected one beside static");
}

#ifdef HAVE_LIBXML2
static const bool reads_html = true;
#else
static const bool reads_html = false;
#endif

/* `n` is the map that says how somebody is asked. */
static void check_ask(struct reading *r, const struct config_ask *a, const struct yaml_node *n,
                      const char *name)
{
    bool is_exec = a->kind == CONFIG_SOURCE_EXEC;
    struct yaml_node *provider = fb_tree_find(n, "provider"), *limit = fb_tree_find(n, "limit");

    if (n->from == fb_from_default)
        fb_reading_tell(r, NODE(r, "watch"), ABOUT_KEY,
                        "items: is missing, expected where the list of items is");
    else if (!a->url && !is_exec && !fb_tree_find(n, "url"))
        fb_reading_tell(r, n, ABOUT_KEY,
                        "url: is missing, expected a URL such as "
                        "https://example.com/live/{id}");
    if (is_exec && !a->command[0] && !fb_tree_find(n, "command"))
        fb_reading_tell(r, n, ABOUT_KEY,
                        "command: is missing, expected a program that reads "
                        "answers");
    if (a->kind == CONFIG_SOURCE_HTML && !reads_html)
        fb_reading_tell(r, fb_tree_find(n, "kind"), WARN_VALUE,
                        "kind: this flyball was built without libxml2 and reads no html");
    check_alone(r, a, n);
    if (!is_exec && a->command[0])
        fb_reading_tell(r, fb_tree_find(n, "command"), ABOUT_KEY,
                        "command: expected 'kind: exec' beside it");
    if (provider && limit)
        fb_reading_tell(r, limit, ABOUT_KEY,
                        "limit: there is a provider as well, expected one of them");
    if (limit && !provider && fb_config_provider(r->config, name))
        fb_reading_tell(r, limit, ABOUT_KEY,
                        "limit: there is a provider '%s', expected 'provider: %s' instead", name,
                        name);
    if (provider)
        fb_check_provider_of(r, provider, a->provider);
}

static void check_fields(struct reading *r, const struct config_ask *a,
                         const struct config_field *field, size_t count, const struct yaml_node *n)
{
    const struct yaml_node *fields = fb_tree_find(n, "fields");

    if (count == 0 && a->kind != CONFIG_SOURCE_EXEC && !fields)
        fb_reading_tell(r, n, ABOUT_KEY,
                        "fields: is missing, expected names and places such as "
                        "'score: /score'");
    if (count > CONFIG_FIELDS_MAX)
        fb_reading_tell(r, fields, ABOUT_KEY, "fields: more than the %d that there may be",
                        CONFIG_FIELDS_MAX);
    for (size_t i = 0; i < count; i++)
        check_path(r, a, fb_tree_find(fb_tree_find(fields, field[i].name), "path"), field[i].path);
}

/* What hardly changes needs a place of its own. */
static void check_static(struct reading *r, const struct config_source *s,
                         const struct yaml_node *n)
{
    const struct yaml_node *fixed = fb_tree_find(n, "static");

    if (!fixed || fixed->kind != YAML_MAP || (!s->fixed.url && s->fixed.field_count == 0))
        return;
    if (!s->fixed.url && !fb_tree_find(fixed, "url"))
        fb_reading_tell(r, fixed, ABOUT_KEY,
                        "url: is missing, expected a URL such as "
                        "https://example.com/venue/{id}");
    check_fields(r, &s->ask, s->fixed.field, s->fixed.field_count, fixed);
}

static void check_ids(struct reading *r, const struct config_source *s, const struct yaml_node *n)
{
    const char *listed = fb_config_ids_path(&r->config->watch, s->name);
    const char *second = s->id_rule ? "id_rule" : "ids_file";

    if ((s->ids_file != NULL) + (s->id_rule != NULL) + (listed != NULL) > 1)
        fb_reading_tell(r, fb_tree_find(n, second), ABOUT_KEY,
                        "%s: its ids are said twice, expected one of ids_file, id_rule and "
                        "items.ids",
                        second);
    if (s->id_rule && strstr(s->id_rule, "{id}"))
        fb_reading_tell(r, fb_tree_find(n, "id_rule"), ABOUT_VALUE,
                        "id_rule: {id} is what it makes, expected {item}");
    check_path(r, &s->ask, fb_tree_find(n, "id"), s->id);
}

static void check_source(struct reading *r, const struct config_source *s)
{
    const struct yaml_node *n = NODE(r, "watch", "sources", s->name);

    if (n->kind != YAML_MAP)
        return; /* that was told */
    if (strcasecmp(s->name, CONFIG_ITEMS_NAME) == 0)
        fb_reading_tell(r, n, ABOUT_KEY, "'%s' is the name of the list, expected another one",
                        s->name);
    check_ask(r, &s->ask, n, s->name);
    check_fields(r, &s->ask, s->field, s->field_count, n);
    check_static(r, s, n);
    check_ids(r, s, n);
}

/* Ids are of sources that there are. */
static void check_ids_names(struct reading *r, const struct config_watch *w)
{
    const char *names[CONFIG_SOURCES_MAX + 1] = {NULL};

    for (size_t i = 0; i < w->source_count && i < CONFIG_SOURCES_MAX; i++)
        names[i] = w->source[i].name;
    for (size_t i = 0; i < w->items.ids_count; i++) {
        const char *name = w->items.ids[i].name;
        const char *near = fb_suggest(name, names);

        if (!fb_config_source(w, name))
            fb_reading_tell(r, NODE(r, "watch", "items", "ids", name), ABOUT_KEY,
                            "there is no source '%s'%s%s%s", name, near ? " (did you mean '" : "",
                            near ? near : "", near ? "'?)" : "");
        check_path(r, &w->items.ask, NODE(r, "watch", "items", "ids", name, "path"),
                   w->items.ids[i].path);
    }
}

static void check_items(struct reading *r, const struct config_items *i)
{
    const struct yaml_node *n = NODE(r, "watch", "items");

    check_ask(r, &i->ask, n, CONFIG_ITEMS_NAME);
    check_path(r, &i->ask, fb_tree_find(n, "list"), i->list);
    check_path(r, &i->ask, fb_tree_find(n, "id"), i->id);
    check_path(r, &i->ask, fb_tree_find(n, "state"), i->state);
}

/* Two of a section that stand in their order; the one that somebody said is the wrong one. */
static void tell_order(struct reading *r, const char *section, const char *low, const char *high)
{
    const struct yaml_node *n = NODE(r, "watch", section, high);

    if (n->from == fb_from_default)
        n = NODE(r, "watch", section, low);
    fb_reading_tell(r, n, ABOUT_VALUE, "%s: below %s, expected it at or above", high, low);
}

static void check_order(struct reading *r, const struct config_watch *w)
{
    if (w->health.failing_ns < w->health.degraded_ns)
        tell_order(r, "health", "degraded", "failing");
    if (w->reliability.restore_ppm < w->reliability.demote_ppm)
        tell_order(r, "reliability", "demote", "restore");
}

void fb_watch_check(struct reading *r)
{
    const struct config_watch *w = &r->config->watch;
    const struct yaml_node *sources = NODE(r, "watch", "sources");

    check_order(r, w);
    if (w->source_count > CONFIG_SOURCES_MAX)
        fb_reading_tell(r, sources, ABOUT_KEY, "sources: more than the %d that there may be",
                        CONFIG_SOURCES_MAX);
    for (size_t i = 0; i < w->source_count; i++)
        check_source(r, &w->source[i]);
    if (w->source_count > 0)
        check_items(r, &w->items);
    check_ids_names(r, w);
}
