/* SPDX-License-Identifier: MIT */
/* source_rig.h - rules for sources from the YAML that a person would write. */
#ifndef FLYBALL_TESTS_SOURCE_RIG_H
#define FLYBALL_TESTS_SOURCE_RIG_H

#include "unit.h"

#include "config/config.h"
#include "watch/sources/source.h"

#define LIST "items: {url: 'http://h/'}, "

struct rig {
    struct config *config;
    struct source_rule rule;
    const char *id_path[CONFIG_SOURCES_MAX];
    struct source_said said;
    struct fly_error err;
};

static inline void rig_load(struct rig *r, const char *yaml)
{
    struct config_sources from = {.file = "f.yaml", .bytes = yaml, .size = strlen(yaml)};
    struct config_report report = {0};

    *r = (struct rig){.config = NULL};
    if (fb_config_load(&from, &report, &r->config) < 0)
        fail_msg("%s", fb_config_report_text(&report));
    fb_config_report_fini(&report);
}

/* What the first source says of an item; `source` are its keys in braces. */
static inline void rig_source(struct rig *r, const char *source)
{
    char yaml[4096];

    (void)snprintf(yaml, sizeof yaml, "watch: {" LIST "sources: {a: %s}}", source);
    rig_load(r, yaml);
    const struct config_source *s = &r->config->watch.source[0];
    r->rule = (struct source_rule){.name = s->name,
                                   .ask = &s->ask,
                                   .field = s->field,
                                   .field_count = s->field_count,
                                   .id = s->id};
}

/* The list of items, with two sources of which the second has ids of its own in the list. */
static inline void rig_list(struct rig *r, const char *items)
{
    char yaml[4096];

    (void)snprintf(yaml, sizeof yaml,
                   "watch: {items: %s, sources: {a: {url: 'http://h/{id}', fields: {a: /a}}, "
                   "b: {url: 'http://h/{id}', fields: {a: /a}}}}",
                   items);
    rig_load(r, yaml);
    const struct config_watch *w = &r->config->watch;
    for (size_t i = 0; i < w->source_count; i++)
        r->id_path[i] = fb_config_ids_path(w, w->source[i].name);
    r->rule = (struct source_rule){.name = CONFIG_ITEMS_NAME,
                                   .ask = &w->items.ask,
                                   .items = &w->items,
                                   .id_path = r->id_path,
                                   .source_count = w->source_count};
}

static inline int rig_read(struct rig *r, const char *body, size_t size)
{
    fb_source_said_fini(&r->said);
    r->err.text[0] = '\0';
    return fb_source_kind(r->rule.ask->kind)
        ->read(&r->rule, (struct slice){body, size}, &r->said, &r->err);
}

static inline const char *rig_value(const struct rig *r, const char *name)
{
    const char *value = fb_snapshot_find(&r->said.says, name);

    return value ? value : "(none)";
}

static inline void rig_fini(struct rig *r)
{
    fb_source_said_fini(&r->said);
    fb_config_free(r->config);
}

#endif
