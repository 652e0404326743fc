/* SPDX-License-Identifier: MIT */
/* diff.c - two trees side by side. */
#include "config/diff.h"

#include <errno.h>
#include <string.h>

#include "config/table.h"
#include "config/tree.h"
#include "util/buffer.h"

struct comparing {
    const struct config *before, *after;
    void (*each)(void *to, const struct config_change *change);
    void *to;
    struct buffer path;
    const char *provider; /* below which it is, or NULL */
    bool is_fixed;
    int count;
};

static void tell(struct comparing *c, enum config_changed what)
{
    struct config_change change = {.path = fb_buffer_text(&c->path), .what = what};

    c->count++;
    if (!c->each || !change.path)
        return;
    change.is_fixed = c->is_fixed;
    if (c->provider) {
        change.before = fb_config_provider(c->before, c->provider);
        change.after = fb_config_provider(c->after, c->provider);
    }
    c->each(c->to, &change);
}

static void compare_maps(struct comparing *c, const struct config_table *t, bool has_entries,
                         const struct yaml_node *a, const struct yaml_node *b);

/* One value; NULL: it is not there. */
static void compare(struct comparing *c, const struct config_key *k, const struct config_table *t,
                    const struct yaml_node *a, const struct yaml_node *b)
{
    const struct yaml_node *any = a ? a : b;
    bool is_open = any->kind == YAML_MAP && t && !(k && k->type == CONFIG_LIMIT);
    int count = c->count;

    if (a && b && fb_tree_is_same(a, b))
        return;
    if (is_open && ((a && b) || (k && k->type == CONFIG_SECTION)))
        compare_maps(c, t, k && k->type == CONFIG_MAP, a, b);
    else
        tell(c, !a ? CONFIG_ADDED : !b ? CONFIG_REMOVED : CONFIG_CHANGED);
    if (c->count == count && k && k->is_ordered)
        tell(c, CONFIG_CHANGED); /* the same ones in another order */
}

/* Every key of one side, and those of the other that it does not have. */
static void compare_side(struct comparing *c, const struct config_table *t, bool has_entries,
                         const struct yaml_node *from, const struct yaml_node *other, bool is_old)
{
    size_t above = c->path.size;

    for (const struct yaml_node *n = from ? from->child : NULL; n; n = n->next) {
        const struct config_key *k = has_entries ? NULL : fb_config_key_find(t, n->key);
        const struct yaml_node *twin = fb_tree_find(other, n->key);
        bool was_fixed = c->is_fixed;

        if (!is_old && twin)
            continue;
        if (above > 0)
            fb_buffer_add_char(&c->path, '.');
        fb_buffer_add_text(&c->path, n->key);
        c->is_fixed |= k && k->is_fixed;
        if (has_entries && strncmp(c->path.bytes, "providers.", 10) == 0 && !c->provider)
            c->provider = n->key;
        compare(c, k, k ? k->table : t, is_old ? n : twin, is_old ? twin : n);
        if (c->provider == n->key)
            c->provider = NULL;
        c->is_fixed = was_fixed;
        c->path.size = above;
    }
}

static void compare_maps(struct comparing *c, const struct config_table *t, bool has_entries,
                         const struct yaml_node *a, const struct yaml_node *b)
{
    compare_side(c, t, has_entries, a, b, true);
    compare_side(c, t, has_entries, b, a, false);
}

int fb_config_diff(const struct config *before, const struct config *after,
                   void (*each)(void *to, const struct config_change *change), void *to)
{
    struct comparing c = {.before = before, .after = after, .each = each, .to = to};

    compare_maps(&c, &fb_config_keys, false, before->tree, after->tree);
    bool failed = c.path.failed;
    fb_buffer_fini(&c.path);
    return failed ? -ENOMEM : c.count;
}
