/* SPDX-License-Identifier: MIT */
/*
 * preset_file.c - two tables of keys, and a check of each value.
 *
 * A limit text is read by the reader of the library itself, so a preset that was accepted can
 * never be refused by a limiter.
 */
#include "config/preset_file.h"

#include <errno.h>
#include <string.h>

#include "config/keys.h"
#include "core/spec.h"
#include "util/alloc.h"

#define SMALL   "abcdefghijklmnopqrstuvwxyz"
#define CAPITAL "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS  "0123456789"

static bool consists_of(const char *text, const char *bytes)
{
    return text[strspn(text, bytes)] == '\0';
}

/* ------------------------------------------------------------------------------- single values */

static void read_limit(const struct yaml_node *value, struct mistakes *m, const char **ret_limit)
{
    const char *text = fb_key_text(value, m, "a limit text such as window=5000/1h");
    struct fly_error err;
    struct spec spec;

    if (text && fb_spec_read(text, &spec, &err) < 0)
        fb_mistake(m, value->at, "%s", err.text);
    *ret_limit = text;
}

/* "/a/b", without a query. */
static void read_path(const struct yaml_node *value, struct mistakes *m, const char **ret_path)
{
    const char *text = fb_key_text(value, m, "a path such as /search");

    if (text && (text[0] != '/' || strpbrk(text, "?# ")))
        fb_mistake(m, value->at, "'%s' is no path, expected one such as /search", text);
    *ret_path = text;
}

static void read_unit(const struct yaml_node *value, struct mistakes *m, enum reset_unit *ret_unit)
{
    static const struct {
        const char *name;
        enum reset_unit unit;
    } units[] = {
        {"seconds", RESET_DELTA_S},
        {"milliseconds", RESET_DELTA_MS},
        {"epoch-seconds", RESET_EPOCH_S},
        {"epoch-milliseconds", RESET_EPOCH_MS},
    };
    static const char expected[] = "seconds, milliseconds, epoch-seconds or epoch-milliseconds";
    const char *text = fb_key_text(value, m, expected);

    for (size_t i = 0; text && i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(text, units[i].name) == 0) {
            *ret_unit = units[i].unit;
            return;
        }
    }
    if (text)
        fb_mistake(m, value->at, "'%s' is no unit, expected %s", text, expected);
}

/* ---------------------------------------------------------------------------------------- pools */

static void pool_name(const struct yaml_node *value, struct mistakes *m, void *into)
{
    struct preset_pool *pool = into;

    pool->name = fb_key_text(value, m, "a name such as search");
    if (pool->name && !consists_of(pool->name, SMALL CAPITAL DIGITS "-_."))
        fb_mistake(m, value->at, "'%s' is no name of a pool, expected one such as search",
                   pool->name);
}

static void pool_method(const struct yaml_node *value, struct mistakes *m, void *into)
{
    struct preset_pool *pool = into;

    pool->method = fb_key_text(value, m, "a method such as GET");
    if (pool->method && !consists_of(pool->method, CAPITAL))
        fb_mistake(m, value->at, "'%s' is no method, expected one such as GET", pool->method);
}

static void pool_path(const struct yaml_node *value, struct mistakes *m, void *into)
{
    read_path(value, m, &((struct preset_pool *)into)->path);
}

static void pool_limit(const struct yaml_node *value, struct mistakes *m, void *into)
{
    read_limit(value, m, &((struct preset_pool *)into)->limit);
}

static const struct key pool_keys[] = {
    {"name", true, pool_name},  {"method", false, pool_method},
    {"path", false, pool_path}, {"limit", false, pool_limit},
    {NULL, false, NULL},
};

static bool is_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* A row after one that takes everything is never used; one pool cannot have two limits. */
static void check_pool(const struct preset_pool *rows, size_t count, struct place at,
                       struct mistakes *m)
{
    const struct preset_pool *last = &rows[count];

    for (const struct preset_pool *row = rows; row < last; row++) {
        if (!row->method && !row->path)
            fb_mistake(m, at, "never reached: '%s' before it takes every request",
                       row->name ? row->name : "the pool");
        if (row->name && last->name && strcmp(row->name, last->name) == 0 &&
            !is_same(row->limit, last->limit))
            fb_mistake(m, at, "'%s' has another limit above", last->name);
    }
}

static size_t count_of(const struct yaml_node *list)
{
    size_t count = 0;

    for (const struct yaml_node *n = list->child; n; n = n->next)
        count++;
    return count;
}

static void preset_pools(const struct yaml_node *value, struct mistakes *m, void *into)
{
    struct preset_file *f = into;
    size_t count = 0;

    if (!fb_key_is_list(value, m, "a list of pools, such as '- name: search'"))
        return;
    f->pools = fb_alloc(count_of(value) * sizeof *f->pools);
    f->is_out_of_memory |= !f->pools;
    if (!f->pools)
        return;
    for (const struct yaml_node *n = value->child; n; n = n->next, count++) {
        fb_keys_read(n, pool_keys, m, &f->pools[count]);
        check_pool(f->pools, count, n->at, m);
    }
    f->preset.pool = f->pools;
    f->preset.pool_count = count;
}

/* --------------------------------------------------------------------------------------- preset */

static void preset_title(const struct yaml_node *value, struct mistakes *m, void *into)
{
    ((struct preset_file *)into)->preset.title = fb_key_text(value, m, "a name for people");
}

static void preset_documentation(const struct yaml_node *value, struct mistakes *m, void *into)
{
    static const char expected[] = "an address that begins with https://";
    const char *text = fb_key_text(value, m, expected);

    if (text && strncmp(text, "https://", 8) != 0)
        fb_mistake(m, value->at, "'%s': expected %s", text, expected);
    ((struct preset_file *)into)->preset.documentation = text;
}

/* "api.github.com", "*.example.com": small letters, and more than a single label. */
static bool is_host(const char *text)
{
    const char *name = strncmp(text, "*.", 2) == 0 ? text + 2 : text;
    size_t length = strlen(name);

    return consists_of(name, SMALL DIGITS "-.") && strchr(name, '.') && !strstr(name, "..") &&
           name[0] != '.' && name[length - 1] != '.';
}

static void preset_hosts(const struct yaml_node *value, struct mistakes *m, void *into)
{
    static const char expected[] = "a host such as api.example.com or *.example.com";
    struct preset_file *f = into;
    size_t count = 0;

    if (value->kind != YAML_LIST) {
        fb_mistake(m, value->at, "expected a list of hosts, such as [api.example.com]");
        return;
    }
    f->hosts = fb_alloc((count_of(value) + 1) * sizeof *f->hosts);
    f->is_out_of_memory |= !f->hosts;
    if (!f->hosts)
        return;
    for (const struct yaml_node *n = value->child; n; n = n->next) {
        const char *text = fb_key_text(n, m, expected);
        if (text && !is_host(text))
            fb_mistake(m, n->at, "'%s' is no host, expected %s", text, expected);
        f->hosts[count++] = text;
    }
    f->preset.hosts = f->hosts;
}

static void preset_quota(const struct yaml_node *value, struct mistakes *m, void *into)
{
    read_path(value, m, &((struct preset_file *)into)->preset.quota_path);
}

static void preset_unmodified(const struct yaml_node *value, struct mistakes *m, void *into)
{
    const char *text = fb_key_text(value, m, "free");

    if (text && strcmp(text, "free") != 0)
        fb_mistake(m, value->at, "'%s': expected free", text);
    ((struct preset_file *)into)->preset.unmodified_free = text != NULL;
}

static void preset_reset(const struct yaml_node *value, struct mistakes *m, void *into)
{
    read_unit(value, m, &((struct preset_file *)into)->preset.reset);
}

static void preset_retry(const struct yaml_node *value, struct mistakes *m, void *into)
{
    read_unit(value, m, &((struct preset_file *)into)->preset.retry);
}

static void preset_contact(const struct yaml_node *value, struct mistakes *m, void *into)
{
    const char *text = fb_key_text(value, m, "asked");

    if (text && strcmp(text, "asked") != 0)
        fb_mistake(m, value->at, "'%s': expected asked", text);
    ((struct preset_file *)into)->preset.asks_contact = text != NULL;
}

static void preset_limit(const struct yaml_node *value, struct mistakes *m, void *into)
{
    read_limit(value, m, &((struct preset_file *)into)->preset.limit);
}

static const struct key preset_keys[] = {
    {"title", true, preset_title},
    {"documentation", true, preset_documentation},
    {"hosts", true, preset_hosts},
    {"quota", false, preset_quota},
    {"unmodified", false, preset_unmodified},
    {"reset", false, preset_reset},
    {"retry", false, preset_retry},
    {"contact", false, preset_contact},
    {"limit", false, preset_limit},
    {"pools", false, preset_pools},
    {NULL, false, NULL},
};

void fb_preset_file_fini(struct preset_file *f)
{
    fb_yaml_free(f->root);
    fb_free(f->hosts);
    fb_free(f->pools);
}

int fb_preset_file_read(struct yaml_node *root, const char *name, struct mistakes *m,
                        struct preset_file *ret_file)
{
    struct preset_file f = {.preset.name = name};
    unsigned before = m->count;

    if (!consists_of(name, SMALL DIGITS "-"))
        fb_mistake(m, (struct place){0, 0}, "expected a file name of small letters, digits and -");
    fb_keys_read(root, preset_keys, m, &f);
    int result = m->count > before ? -EINVAL : f.is_out_of_memory ? -ENOMEM : 0;
    if (result == 0) {
        f.root = root;
        *ret_file = f;
    } else {
        fb_preset_file_fini(&f);
    }
    return result;
}
