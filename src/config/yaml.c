/* SPDX-License-Identifier: MIT */
/*
 * yaml.c - libfyaml's events, one by one, into a tree.
 *
 * Its documents are not used: they would keep aliases and every other feature alive. The tree is
 * built without recursion; `open` is the list or map that the next event belongs to.
 */
#include "config/yaml.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <libfyaml.h>

#include "util/alloc.h"
#include "util/utf8.h"

struct builder {
    struct mistakes *m;
    struct yaml_node *root;
    struct yaml_node *open;    /* NULL: outside of every list and map */
    struct yaml_node *waiting; /* a key whose value comes next, already in its map */
    int depth;
    int documents;
    int doubles; /* keys that were in their map already */
    bool out_of_memory;
};

/* ---------------------------------------------------------------------------- before and after */

static struct place place_of(const char *bytes, size_t offset)
{
    struct place at = {1, 1};

    for (size_t i = 0; i < offset; i++) {
        at.column = bytes[i] == '\n' ? 1 : at.column + 1;
        at.line += bytes[i] == '\n';
    }
    return at;
}

/*
 * libfyaml looks at all brackets that are open before it tells of the first, at some hundred bytes
 * each. Those in quotes are counted, too: nobody has a thousand of them.
 */
#define BRACKETS_MAX 1000

static size_t brackets_end(const char *bytes, size_t size)
{
    int open = 0;

    for (size_t i = 0; i < size; i++) {
        open += bytes[i] == '[' || bytes[i] == '{';
        open -= open > 0 && (bytes[i] == ']' || bytes[i] == '}');
        if (open > BRACKETS_MAX)
            return i;
    }
    return size;
}

static bool is_readable(const char *bytes, size_t size, struct mistakes *m)
{
    size_t whole = fb_utf8_prefix(bytes, size);
    const char *nul = size > 0 ? memchr(bytes, 0, size) : NULL;

    if (size > FB_YAML_SIZE_MAX) {
        fb_mistake(m, (struct place){0, 0}, "larger than %d bytes", FB_YAML_SIZE_MAX);
        return false;
    }
    if (whole < size) {
        fb_mistake(m, place_of(bytes, whole), "not UTF-8");
        return false;
    }
    if (nul) {
        fb_mistake(m, place_of(bytes, (size_t)(nul - bytes)), "a NUL byte");
        return false;
    }
    size_t brackets = brackets_end(bytes, size);
    if (brackets < size) {
        fb_mistake(m, place_of(bytes, brackets), "more than %d maps and lists within each other",
                   FB_YAML_DEPTH_MAX);
        return false;
    }
    return true;
}

void fb_yaml_free(struct yaml_node *root)
{
    struct yaml_node *n = root;

    /* Down to a leaf, free it, on to the one after it or back to the parent: no recursion. */
    while (n) {
        if (n->child) {
            struct yaml_node *child = n->child;
            n->child = NULL;
            n = child;
            continue;
        }
        struct yaml_node *after = n->next ? n->next : n->parent;
        fb_free(n->key);
        fb_free(n->text);
        fb_free(n);
        n = after;
    }
}

/* ------------------------------------------------------------------------------------ building */

static struct place event_place(struct fy_event *e)
{
    const struct fy_mark *mark = fy_event_start_mark(e);

    return mark ? (struct place){mark->line + 1, mark->column + 1} : (struct place){0, 0};
}

/* A copy, or NULL: memory is out, or there is a NUL in it (written as an escape). */
static char *text_of(struct builder *b, struct fy_event *e)
{
    size_t size = 0;
    const char *text = e->scalar.value ? fy_token_get_text(e->scalar.value, &size) : "";

    if (text && memchr(text, 0, size)) {
        fb_mistake(b->m, event_place(e), "a NUL byte");
        return NULL;
    }
    char *copy = text ? fb_alloc(size + 1) : NULL;
    if (copy)
        memcpy(copy, text, size);
    else
        b->out_of_memory = true;
    return copy;
}

/* A node at the end of the open list or map, or as the root. */
static struct yaml_node *append(struct builder *b, struct place at)
{
    struct yaml_node *n = fb_alloc(sizeof *n);

    if (!n) {
        b->out_of_memory = true;
        return NULL;
    }
    n->at = at;
    n->parent = b->open;
    if (!b->open)
        b->root = n;
    else if (b->open->last)
        b->open->last = b->open->last->next = n;
    else
        b->open->last = b->open->child = n;
    return n;
}

/* The node that a value goes into: that of the waiting key, or a new one. */
static struct yaml_node *value_node(struct builder *b, struct place at)
{
    struct yaml_node *n = b->waiting;

    b->waiting = NULL;
    if (!n)
        return append(b, at);
    n->at = at.line > 0 ? at : n->key_at;
    return n;
}

/* A key twice is told, and reading goes on for the sake of what else is wrong. */
static bool may_add_key(struct builder *b, const char *key, struct place at)
{
    int count = 0;

    for (const struct yaml_node *n = b->open->child; n; n = n->next, count++) {
        if (strcmp(n->key, key) == 0) {
            fb_mistake(b->m, at, "'%s' for the second time; the first is in line %d", key,
                       n->key_at.line);
            return ++b->doubles < FB_YAML_DOUBLES_MAX;
        }
    }
    if (count >= FB_YAML_KEYS_MAX)
        fb_mistake(b->m, at, "more than %d keys", FB_YAML_KEYS_MAX);
    return count < FB_YAML_KEYS_MAX;
}

static bool add_key(struct builder *b, struct fy_event *e)
{
    struct place at = event_place(e);
    char *key = text_of(b, e);

    if (!key || !may_add_key(b, key, at)) {
        fb_free(key);
        return false;
    }
    b->waiting = append(b, at);
    if (!b->waiting) {
        fb_free(key);
        return false;
    }
    b->waiting->key = key;
    b->waiting->key_at = at;
    return true;
}

/* In a map every other value is a key. */
static bool is_key(const struct builder *b)
{
    return b->open && b->open->kind == YAML_MAP && !b->waiting;
}

static bool add_text(struct builder *b, struct fy_event *e)
{
    if (is_key(b))
        return add_key(b, e);

    struct yaml_node *n = value_node(b, e->scalar.value ? event_place(e) : (struct place){0, 0});
    if (!n)
        return false;
    n->kind = YAML_TEXT;
    n->text = text_of(b, e);
    return n->text;
}

static bool open_node(struct builder *b, struct fy_event *e, enum yaml_kind kind)
{
    struct place at = event_place(e);

    if (is_key(b)) {
        fb_mistake(b->m, at, "a key has to be a plain text");
        return false;
    }
    if (b->depth == FB_YAML_DEPTH_MAX) {
        fb_mistake(b->m, at, "more than %d maps and lists within each other", FB_YAML_DEPTH_MAX);
        return false;
    }
    struct yaml_node *n = value_node(b, at);
    if (!n)
        return false;
    n->kind = kind;
    b->open = n;
    b->depth++;
    return true;
}

static bool close_node(struct builder *b)
{
    b->open = b->open->parent;
    b->depth--;
    return true;
}

static bool open_document(struct builder *b, struct fy_event *e)
{
    if (b->documents++ == 0)
        return true;
    fb_mistake(b->m, event_place(e), "a second document");
    return false;
}

static bool is_plain(struct builder *b, struct fy_event *e)
{
    struct fy_token *anchor = fy_event_get_anchor_token(e), *tag = fy_event_get_tag_token(e);
    bool is_alias = e->type == FYET_ALIAS;

    if (is_alias || anchor)
        fb_mistake(b->m, event_place(e), "anchors and aliases are not used here");
    else if (tag)
        fb_mistake(b->m, event_place(e), "tags are not used here");
    return !is_alias && !anchor && !tag;
}

static bool add_event(struct builder *b, struct fy_event *e)
{
    switch ((int)e->type) {
    case FYET_DOCUMENT_START:
        return open_document(b, e);
    case FYET_SCALAR:
        return is_plain(b, e) && add_text(b, e);
    case FYET_MAPPING_START:
        return is_plain(b, e) && open_node(b, e, YAML_MAP);
    case FYET_SEQUENCE_START:
        return is_plain(b, e) && open_node(b, e, YAML_LIST);
    case FYET_MAPPING_END:
    case FYET_SEQUENCE_END:
        return close_node(b);
    case FYET_ALIAS:
        return is_plain(b, e);
    default: /* where a stream or a document begins or ends */
        return true;
    }
}

/* ------------------------------------------------------------------------------------- reading */

/* What libfyaml would have printed: its first complaint is the one that counts. */
static void tell_errors(struct fy_diag *diag, const struct builder *b)
{
    void *iterator = NULL;
    const struct fy_diag_error *error = fy_diag_errors_iterate(diag, &iterator);
    struct place at = error ? (struct place){error->line, error->column} : (struct place){0, 0};
    const char *what = error ? error->msg : "not YAML";

    /* A bracket that is never closed is noticed at the end of the file only. */
    if (b->open)
        fb_mistake(b->m, at, "%s, in what begins at %d:%d", what, b->open->at.line,
                   b->open->at.column);
    else
        fb_mistake(b->m, at, "%s", what);
}

static int read_events(struct fy_parser *parser, struct fy_diag *diag, struct builder *b)
{
    for (struct fy_event *e; (e = fy_parser_parse(parser)) != NULL;) {
        bool is_right = add_event(b, e);
        fy_parser_event_free(parser, e);
        if (!is_right)
            return b->out_of_memory ? -ENOMEM : -EINVAL;
    }
    if (fy_parser_get_stream_error(parser)) {
        tell_errors(diag, b);
        return -EINVAL;
    }
    if (!b->root) {
        fb_mistake(b->m, (struct place){0, 0}, "nothing in it");
        return -EINVAL;
    }
    return 0;
}

static void print_nothing(struct fy_diag *diag, void *user, const char *bytes, size_t size)
{
    (void)diag;
    (void)user;
    (void)bytes;
    (void)size;
}

int fb_yaml_read_on(const char *bytes, size_t size, struct mistakes *m, struct yaml_node **ret_root)
{
    struct fy_diag_cfg quiet;
    struct builder b = {.m = m};
    int result = -ENOMEM;

    *ret_root = NULL;
    if (!is_readable(bytes, size, m))
        return -EINVAL;
    fy_diag_cfg_default(&quiet);
    quiet.fp = NULL;
    quiet.output_fn = print_nothing;
    struct fy_diag *diag = fy_diag_create(&quiet);
    if (!diag)
        return -ENOMEM;
    fy_diag_set_collect_errors(diag, true);

    struct fy_parse_cfg cfg = {.flags = FYPCF_QUIET | FYPCF_JSON_NONE, .diag = diag};
    struct fy_parser *parser = fy_parser_create(&cfg);
    if (parser && fy_parser_set_string(parser, bytes, size) == 0)
        result = read_events(parser, diag, &b);
    fy_parser_destroy(parser);
    fy_diag_destroy(diag);
    if (result == 0)
        *ret_root = b.root;
    else
        fb_yaml_free(b.root);
    return result == 0 && b.doubles > 0 ? -EINVAL : result;
}

int fb_yaml_read(const char *bytes, size_t size, struct mistakes *m, struct yaml_node **ret_root)
{
    struct yaml_node *root;
    int error = fb_yaml_read_on(bytes, size, m, &root);

    if (error)
        fb_yaml_free(root);
    else
        *ret_root = root;
    return error;
}

int fb_yaml_load(struct mistakes *m, struct yaml_node **ret_root)
{
    FILE *file = fopen(m->file, "rb");
    char *bytes = fb_alloc(FB_YAML_SIZE_MAX + 1);
    int result = -EINVAL;

    if (!file) {
        fb_mistake(m, (struct place){0, 0}, "%s", strerror(errno));
    } else if (!bytes) {
        result = -ENOMEM;
    } else {
        errno = 0;
        size_t size = fread(bytes, 1, FB_YAML_SIZE_MAX + 1, file);
        if (ferror(file))
            fb_mistake(m, (struct place){0, 0}, "%s", strerror(errno));
        else
            result = fb_yaml_read(bytes, size, m, ret_root);
    }
    if (file)
        fclose(file);
    fb_free(bytes);
    return result;
}
