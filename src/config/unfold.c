/* SPDX-License-Identifier: MIT */
/*
 * unfold.c - short forms as what they stand for, wherever the table of keys allows them.
 *
 * A limit is a text or its words; an entry of some maps is a text or keys and values, of which the
 * text is one. In the tree both are maps, so that each value has an origin of its own, and the
 * environment can change one of them.
 */
#include <string.h>

#include "config/reading.h"
#include "util/alloc.h"

/* "/score" for {path: /score}. */
static void unfold_entry(struct reading *r, const struct config_table *t, struct yaml_node *n)
{
    if (!t->brief || n->kind != YAML_TEXT || !n->text[0])
        return;
    char *text = n->text;
    n->text = NULL;
    fb_tree_set_kind(n, YAML_MAP, n->from);
    struct yaml_node *only = fb_tree_put(n, t->brief, n->from);
    r->is_out_of_memory |= !only || !fb_tree_set_text(only, text, strlen(text), n->from);
    if (only)
        only->at = only->key_at = n->at;
    fb_free(text);
}

void fb_unfold(struct reading *r, const struct config_table *t, struct yaml_node *map)
{
    for (const struct config_key *k = t->keys; k->name && !r->is_out_of_memory; k++) {
        struct yaml_node *n = fb_tree_find(map, k->name);

        if (k->type == CONFIG_LIMIT) {
            fb_limit_unfold(r, map);
        } else if (k->type == CONFIG_SECTION && n) {
            fb_unfold(r, k->table, n);
        } else if (k->type == CONFIG_MAP && n) {
            for (struct yaml_node *c = fb_tree_first(n); c; c = c->next) {
                unfold_entry(r, k->table, c);
                fb_unfold(r, k->table, c);
            }
        }
    }
}
