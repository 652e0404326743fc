/* SPDX-License-Identifier: MIT */
/*
 * limit.c - a limit as a text and as words.
 *
 * In the tree a limit is always a map of its words, so that each word has an origin of its own and
 * the environment can change one of them. What is handed on is the text again, which the library's
 * own reader has accepted.
 */
#include <string.h>

#include <flyball/flyball.h>

#include "config/reading.h"
#include "core/spec.h"
#include "util/alloc.h"
#include "util/buffer.h"

#define BLANKS " \t\r\n"

/* ------------------------------------------------------------------------------ text into words */

/* "window=10/1s window=100/1m" is a list of two; other words are said once. */
static void add_again(struct reading *r, struct yaml_node *n, const char *value, size_t size)
{
    struct yaml_node *more = NULL;

    if (strcmp(n->key, "window") != 0) {
        fb_reading_tell(r, n, ABOUT_VALUE, "%s: said twice, expected it once", n->key);
        return;
    }
    if (n->kind == YAML_TEXT) {
        char *first = n->text;

        n->text = NULL;
        fb_tree_set_kind(n, YAML_LIST, n->from);
        more = fb_tree_add_text(n, first, n->from);
        r->is_out_of_memory |= !more;
        fb_free(first);
    }
    more = fb_tree_add_text(n, "", n->from);
    r->is_out_of_memory |= !more || !fb_tree_set_text(more, value, size, n->from);
}

static void add_word(struct reading *r, struct yaml_node *map, const char *word, size_t size,
                     struct place at)
{
    size_t name_size = strcspn(word, "=" BLANKS);
    size_t value_at = word[name_size] == '=' ? name_size + 1 : name_size;
    const char *name = fb_reading_piece(r, word, name_size);

    if (!name)
        return;
    struct yaml_node *n = fb_tree_find(map, name);
    if (n) {
        add_again(r, n, word + value_at, size - value_at);
        return;
    }
    n = fb_tree_put(map, name, map->from);
    if (!n || !fb_tree_set_text(n, word + value_at, size - value_at, map->from)) {
        r->is_out_of_memory = true;
        return;
    }
    n->at = n->key_at = at;
}

void fb_limit_add_words(struct reading *r, struct yaml_node *map, const char *text, struct place at,
                        const char *from)
{
    struct yaml_node *said = fb_tree_new_map(from);
    bool is_there = !from && fb_config_report_has(r->report, at, text);
    const char *begin = text;

    r->is_out_of_memory |= !said;
    for (text += strspn(text, BLANKS); *text && said; text += strspn(text, BLANKS)) {
        size_t size = strcspn(text, BLANKS);
        int offset = is_there ? (int)(text - begin) : 0;

        add_word(r, said, text, size, (struct place){at.line, at.column + offset});
        text += size;
    }
    for (struct yaml_node *n = said ? said->child : NULL, *next; n; n = next) {
        next = n->next;
        if (!fb_tree_find(map, n->key)) {
            fb_tree_take(n);
            fb_tree_append(map, n);
        }
    }
    fb_yaml_free(said);
}

static void unfold_text(struct reading *r, struct yaml_node *limit)
{
    char *text = limit->text;

    limit->text = NULL;
    fb_tree_set_kind(limit, YAML_MAP, limit->from);
    fb_limit_add_words(r, limit, text, limit->at, limit->from);
    fb_free(text);
}

/* The rate beside a limit is a word of it. */
static void move_rate(struct reading *r, struct yaml_node *owner, struct yaml_node *rate)
{
    struct yaml_node *limit = fb_tree_put(owner, "limit", rate->from);

    if (!limit) {
        r->is_out_of_memory = true;
        return;
    }
    if (limit->kind == YAML_TEXT) {
        fb_tree_set_kind(limit, YAML_MAP, rate->from);
        limit->at = rate->key_at;
    }
    if (limit->kind != YAML_MAP)
        return;
    if (fb_tree_find(limit, "rate")) {
        fb_reading_tell(r, rate, ABOUT_KEY, "rate: said twice, its limit has a rate as well");
        fb_tree_take(rate);
        fb_yaml_free(rate);
        return;
    }
    fb_tree_take(rate);
    fb_tree_append(limit, rate);
}

void fb_limit_unfold(struct reading *r, struct yaml_node *owner)
{
    struct yaml_node *limit = fb_tree_find(owner, "limit");
    struct yaml_node *rate = fb_tree_find(owner, "rate");

    if (limit && limit->kind == YAML_TEXT && limit->text[0])
        unfold_text(r, limit);
    if (rate)
        move_rate(r, owner, rate);
}

/* ------------------------------------------------------------------------------ words into text */

static void add_value(struct buffer *out, const char *name, const char *value)
{
    if (out->size > 0)
        fb_buffer_add_char(out, ' ');
    fb_buffer_add_text(out, name);
    fb_buffer_add_char(out, '=');
    fb_buffer_add_text(out, value);
}

/* The sentence begins with the word it is about. */
static void tell(struct reading *r, const struct yaml_node *map, const struct fly_error *err)
{
    char name[32] = "";
    size_t size = strcspn(err->text, "=:");

    memcpy(name, err->text, size < sizeof name ? size : sizeof name - 1);
    const struct yaml_node *n = fb_tree_find(map, name);
    fb_reading_tell(r, n ? n : map, ABOUT_VALUE, "%s", err->text);
}

const char *fb_limit_text(struct reading *r, const struct yaml_node *map)
{
    struct buffer text = BUFFER_INIT;
    struct fly_error err = {""};
    struct spec spec;

    for (const struct yaml_node *n = map->child; n; n = n->next) {
        if (n->kind == YAML_TEXT)
            add_value(&text, n->key, n->text);
        for (const struct yaml_node *c = n->child; c; c = c->next)
            add_value(&text, n->key, c->text);
    }
    const char *whole = fb_buffer_text(&text);
    const char *kept = whole ? fb_reading_piece(r, whole, strlen(whole)) : NULL;
    r->is_out_of_memory |= !kept;
    if (kept && fb_spec_read(kept, &spec, &err) < 0)
        tell(r, map, &err);
    fb_buffer_fini(&text);
    return kept;
}
