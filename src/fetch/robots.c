/* SPDX-License-Identifier: MIT */
/* robots.c - one pass over the lines, for one name. */
#include "fetch/robots.h"

#include <string.h>
#include <strings.h>

struct line {
    const char *name;
    size_t name_size;
    const char *value;
    size_t value_size;
};

static void trim(const char **at, size_t *size)
{
    while (*size > 0 && (**at == ' ' || **at == '\t')) {
        ++*at;
        --*size;
    }
    while (*size > 0 &&
           ((*at)[*size - 1] == ' ' || (*at)[*size - 1] == '\t' || (*at)[*size - 1] == '\r'))
        --*size;
}

/* "name: value # remark". False: something else. */
static bool read_line(const char *at, size_t size, struct line *ret_line)
{
    const char *remark = memchr(at, '#', size);
    if (remark)
        size = (size_t)(remark - at);

    const char *colon = memchr(at, ':', size);
    if (!colon)
        return false;
    struct line l = {.name = at, .name_size = (size_t)(colon - at), .value = colon + 1};
    l.value_size = size - l.name_size - 1;
    trim(&l.name, &l.name_size);
    trim(&l.value, &l.value_size);
    *ret_line = l;
    return true;
}

static bool is_name(const struct line *l, const char *name)
{
    return l->name_size == strlen(name) && strncasecmp(l->name, name, l->name_size) == 0;
}

/* Whether the pattern fits the beginning of the path; '*' is anything, '$' at its end the end. */
static bool fits(const char *pattern, size_t size, const char *path)
{
    bool to_the_end = size > 0 && pattern[size - 1] == '$';
    size_t star = size; /* where the last '*' was */
    const char *star_path = NULL;
    size_t p = 0;

    size -= to_the_end;
    for (;;) {
        if (p < size && pattern[p] == '*') {
            star = p++;
            star_path = path;
        } else if (p == size && (!to_the_end || *path == '\0')) {
            return true;
        } else if (p < size && *path && pattern[p] == *path) {
            p++;
            path++;
        } else if (star_path && *star_path) {
            p = star + 1;
            path = ++star_path;
        } else {
            return false;
        }
    }
}

/* The rule that counts so far. */
struct verdict {
    size_t length;
    bool allow;
    bool any;
};

static void weigh(struct verdict *v, const struct line *l, bool allow, const char *path)
{
    if (l->value_size == 0 || !fits(l->value, l->value_size, path))
        return;
    if (!v->any || l->value_size > v->length || (l->value_size == v->length && allow))
        *v = (struct verdict){.length = l->value_size, .allow = allow, .any = true};
}

static bool is_agent(const struct line *l, const char *agent)
{
    return l->value_size == strlen(agent) && strncasecmp(l->value, agent, l->value_size) == 0;
}

bool fb_robots_allow(const char *text, size_t size, const char *agent, const char *path)
{
    struct verdict own = {0};
    struct verdict all = {0};
    bool has_own = false;
    bool in_own = false;
    bool in_all = false;
    bool in_names = false; /* the line before named an agent, too: one group */

    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end ? (size_t)(end - text) - at : size - at;
        struct line l;
        bool is_line = read_line(text + at, length, &l);

        at += length + 1;
        if (!is_line)
            continue;
        if (is_name(&l, "user-agent")) {
            in_own = is_agent(&l, agent) || (in_names && in_own);
            in_all = is_agent(&l, "*") || (in_names && in_all);
            has_own |= in_own;
            in_names = true;
            continue;
        }
        bool allow = is_name(&l, "allow");
        if (!allow && !is_name(&l, "disallow"))
            continue;
        in_names = false;
        if (in_own)
            weigh(&own, &l, allow, path);
        if (in_all)
            weigh(&all, &l, allow, path);
    }
    const struct verdict *v = has_own ? &own : &all;
    return !v->any || v->allow;
}
