/* SPDX-License-Identifier: MIT */
/*
 * environment.c - variables and flags, put into the tree over what the file says.
 *
 * FLYBALL_PROVIDERS__GITHUB__RATE is providers.github.rate: two underscores are between keys, and
 * case, hyphens and dots do not count. A name that no key has gets into the tree all the same, so
 * that it is told like one in the file. A value that begins with [ or { is read as YAML.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "config/reading.h"
#include "util/alloc.h"

#define PREFIX    "FLYBALL_"
#define PARTS_MAX 8
#define PART_SIZE 64

/* One setting: where it goes, what it is, who says so. */
struct setting {
    char part[PARTS_MAX][PART_SIZE];
    size_t count;
    const char *value;
    const char *from;
};

/* ----------------------------------------------------------------------------- into the tree */

/* Is a name the part of a path? "chat.postMessage" is CHAT_POSTMESSAGE. */
static bool is_named(const char *name, const char *part)
{
    for (; *name && *part; name++, part++) {
        int a = strchr("-.", *name) ? '_' : tolower((unsigned char)*name);
        int b = strchr("-.", *part) ? '_' : tolower((unsigned char)*part);
        if (a != b)
            return false;
    }
    return !*name && !*part;
}

static const struct config_key *find_key(const struct config_table *t, const char *part)
{
    for (const struct config_key *k = t->keys; k->name; k++) {
        if (is_named(k->name, part))
            return k;
    }
    return NULL;
}

/* The value of a part in a map, found by its name or added under the part itself. */
static struct yaml_node *step(struct reading *r, struct yaml_node *map, const char *part,
                              const char *from)
{
    if (map->kind == YAML_TEXT && !map->text[0])
        fb_tree_set_kind(map, YAML_MAP, from);
    if (map->kind != YAML_MAP)
        return NULL; /* the file has something wrong there, which is told */
    for (struct yaml_node *n = map->child; n; n = n->next) {
        if (is_named(n->key, part))
            return n;
    }
    struct yaml_node *n = fb_tree_put(map, part, from);
    r->is_out_of_memory |= !n;
    return n;
}

static void set_from(struct yaml_node *n, const char *from)
{
    n->from = from;
    n->at = n->key_at = (struct place){0, 0};
    for (struct yaml_node *c = n->child; c; c = c->next)
        set_from(c, from);
}

struct telling {
    struct reading *r;
    const struct setting *s;
};

static void tell(void *user, const char *sentence)
{
    const struct telling *t = user;
    struct yaml_node about = {.from = t->s->from};

    (void)sentence;
    fb_reading_tell(t->r, &about, ABOUT_VALUE, "expected a list or a map such as [a, b] or {a: b}");
}

static void set_value(struct reading *r, struct yaml_node *n, const struct setting *s)
{
    struct telling user = {r, s};
    struct mistakes m = {.file = s->from, .tell = tell, .user = &user};
    struct yaml_node *tree = NULL;

    if (s->value[0] != '[' && s->value[0] != '{') {
        r->is_out_of_memory |= !fb_tree_set_text(n, s->value, strlen(s->value), s->from);
    } else if (fb_yaml_read(s->value, strlen(s->value), &m, &tree) == 0) {
        set_from(tree, s->from);
        fb_tree_replace(n, tree);
    }
    n->at = n->key_at = (struct place){0, 0};
}

/* The rate of a provider is kept in its limit. */
static bool is_rate_of_limit(const struct config_table *t, const struct config_key *k)
{
    return k->type == CONFIG_RATE && k->offset == CONFIG_NO_FIELD && fb_config_key_find(t, "limit");
}

static void put(struct reading *r, const struct setting *s)
{
    const struct config_table *table = &fb_config_keys;
    struct yaml_node *owner = r->root, *n = r->root;

    for (size_t i = 0; i < s->count && n; i++) {
        const struct config_key *k = table ? find_key(table, s->part[i]) : NULL;

        owner = n;
        if (k && is_rate_of_limit(table, k))
            n = step(r, n, "limit", s->from);
        n = n ? step(r, n, k ? k->name : s->part[i], s->from) : NULL;
        if (k && (k->type == CONFIG_MAP || k->type == CONFIG_PAIRS) && i + 1 < s->count && n)
            n = step(r, n, s->part[++i], s->from);
        table = k ? k->table : NULL;
    }
    if (n && !r->is_out_of_memory)
        set_value(r, n, s);
    if (n && strcmp(n->key, "limit") == 0)
        fb_limit_unfold(r, owner);
}

/* -------------------------------------------------------------------------------- from a name */

/* Cut `name` (its first `size` bytes) at every `between`. False: too many parts, or too long. */
static bool split(struct setting *s, const char *name, size_t size, const char *between)
{
    size_t gap = strlen(between), length = 0;

    s->count = 0;
    for (size_t i = 0; i < size; i++) {
        bool is_gap = length > 0 && i + gap < size && memcmp(name + i, between, gap) == 0;

        if (is_gap) {
            s->part[s->count++][length] = '\0';
            length = 0;
            i += gap - 1;
        } else if (length < PART_SIZE - 1 && s->count < PARTS_MAX) {
            s->part[s->count][length++] = (char)tolower((unsigned char)name[i]);
        } else {
            return false;
        }
        if (s->count == PARTS_MAX)
            return false;
    }
    s->part[s->count++][length] = '\0';
    return length > 0;
}

/* Of names without two underscores only those of keys are ours: FLYBALL_LEDGER is the library's. */
static bool is_setting(const char *name, size_t size)
{
    char part[PART_SIZE] = "";

    for (size_t i = 0; i + 1 < size; i++) {
        if (name[i] == '_' && name[i + 1] == '_')
            return true;
    }
    if (size >= sizeof part)
        return false;
    memcpy(part, name, size);
    const struct config_key *k = find_key(&fb_config_keys, part);
    return k && k->type != CONFIG_SECTION && k->type != CONFIG_MAP;
}

static void add_variable(struct reading *r, const char *line)
{
    size_t size = strcspn(line, "=");
    const char *name = fb_reading_piece(r, line, size);
    struct setting s = {.value = line[size] ? line + size + 1 : ""};

    s.from = name ? fb_reading_text(r, "environment ", name) : NULL;
    if (!s.from)
        return;
    struct yaml_node about = {.from = s.from};
    if (split(&s, line + strlen(PREFIX), size - strlen(PREFIX), "__"))
        put(r, &s);
    else
        fb_reading_tell(r, &about, ABOUT_VALUE, "no key has such a name");
}

/* ------------------------------------------------------------------------ names of an older one */

#define OLD_PREFIX "PACING__"

static const struct {
    const char *name;
    const char *path;
    const char *unit;
    bool is_share; /* "0.1" is 10% */
} old_names[] = {
    {"MIN_REQUEST_INTERVAL_MS", "pacing.min_request_interval", "ms", false},
    {"MAX_REQUEST_INTERVAL_MS", "pacing.max_request_interval", "ms", false},
    {"RESERVE_BUFFER_PCT", "pacing.reserve", "%", true},
    {"BURST_ALLOWANCE", "pacing.burst_allowance", "", false},
    {"MAX_CONCURRENT", "pacing.concurrency", "", false},
};

/* "0.125" into "12.5": the point two places to the right. */
static void as_percent(const char *value, char *to, size_t size)
{
    char digits[32] = "";
    size_t whole = strcspn(value, "."), used = 0;

    for (size_t i = 0; value[i] && used < sizeof digits - 1; i++) {
        if (value[i] != '.')
            digits[used++] = value[i];
    }
    while (used < whole + 2 && used < sizeof digits - 1)
        digits[used++] = '0';
    const char *rest = used > whole + 2 ? digits + whole + 2 : "";
    size_t zeroes = strspn(digits, "0");
    zeroes = zeroes < whole + 1 ? zeroes : whole + 1;
    (void)snprintf(to, size, "%.*s%s%s", (int)(whole + 2 - zeroes), digits + zeroes,
                   *rest ? "." : "", rest);
}

enum { OLD_NAMES = sizeof old_names / sizeof old_names[0] };

/* It may be meant for another program: that is no mistake, but perhaps it is. */
static void tell_old(struct reading *r, const char *from)
{
    const struct yaml_node about = {.from = from};
    char expected[200] = "";

    for (size_t i = 0; i < OLD_NAMES; i++) {
        (void)strncat(expected, i > 0 ? ", " : "", sizeof expected - strlen(expected) - 1);
        (void)strncat(expected, old_names[i].name, sizeof expected - strlen(expected) - 1);
    }
    fb_reading_tell(r, &about, WARN_VALUE, "no such name, expected " OLD_PREFIX " and one of %s",
                    expected);
}

static void add_old(struct reading *r, const char *line)
{
    size_t size = strcspn(line, "=");
    const char *name = fb_reading_piece(r, line, size);
    const char *value = line[size] ? line + size + 1 : "";
    bool is_known = false;
    char text[64];

    for (size_t i = 0; name && i < OLD_NAMES; i++) {
        struct setting s = {.from = fb_reading_text(r, "environment ", name), .value = text};

        if (strcmp(name + strlen(OLD_PREFIX), old_names[i].name) != 0)
            continue;
        is_known = true;
        if (old_names[i].is_share && !strchr(value, '%'))
            as_percent(value, text, sizeof text);
        else
            (void)snprintf(text, sizeof text, "%s", value);
        if (text[0] && strchr("0123456789", text[strlen(text) - 1]))
            (void)strncat(text, old_names[i].unit, sizeof text - strlen(text) - 1);
        if (s.from && split(&s, old_names[i].path, strlen(old_names[i].path), "."))
            put(r, &s);
    }
    if (name && !is_known)
        tell_old(r, fb_reading_text(r, "environment ", name));
}

/* ------------------------------------------------------------------------------- all of them */

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* A whole limit comes before a word of it. */
static bool is_whole(const char *line)
{
    size_t size = strcspn(line, "=");

    return size >= 5 && memcmp(line + size - 5, "LIMIT", 5) == 0;
}

void fb_environment_add(struct reading *r, const char *const *environment)
{
    for (const char *const *line = environment; line && *line; line++) {
        if (begins(*line, OLD_PREFIX) && strchr(*line, '='))
            add_old(r, *line);
    }
    for (int pass = 0; pass < 2; pass++) {
        for (const char *const *line = environment; line && *line; line++) {
            size_t size = strcspn(*line, "=");

            if (begins(*line, PREFIX) && (*line)[size] && (*line)[size + 1] &&
                is_whole(*line) == (pass == 0) &&
                is_setting(*line + strlen(PREFIX), size - strlen(PREFIX)))
                add_variable(r, *line);
        }
    }
}

void fb_flags_add(struct reading *r, const char *const *flags)
{
    for (; flags && *flags; flags++) {
        size_t size = strcspn(*flags, "=");
        const char *path = fb_reading_piece(r, *flags, size);
        struct setting s = {.value = (*flags)[size] ? *flags + size + 1 : ""};

        s.from = path ? fb_reading_text(r, "flag --set ", path) : NULL;
        struct yaml_node about = {.from = s.from};
        if (!s.from)
            return;
        if ((*flags)[size] != '=' || !split(&s, *flags, size, "."))
            fb_reading_tell(r, &about, ABOUT_VALUE,
                            "expected a key and a value such as providers.github.rate=5/s");
        else
            put(r, &s);
    }
}
