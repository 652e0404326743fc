/* SPDX-License-Identifier: MIT */
/* robots.c - one pass over the lines, for one name. */
#include "fetch/robots.h"

#include <string.h>
#include <strings.h>

#define BOM "\xef\xbb\xbf" /* some editors put it before the first line */

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

static int hex(char c)
{
    return c >= '0' && c <= '9'                 ? c - '0'
           : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                : -1;
}

/*
 * The octet at `at`, however it is written, and how long that is: an escape of a letter is that
 * letter, and one of what has a meaning of its own in a URL is not (RFC 9309, 2.2.2). '*' and '$'
 * can only be escaped; what is not ASCII may be.
 */
static int octet(const char *at, const char *end, size_t *ret_size)
{
    static const char plain[] = "-._~*$";
    bool is_escape = *at == '%' && end - at > 2 && hex(at[1]) >= 0 && hex(at[2]) >= 0;
    int c = is_escape ? hex(at[1]) * 16 + hex(at[2]) : (unsigned char)*at;
    bool is_letter = ((c | 32) >= 'a' && (c | 32) <= 'z') || (c >= '0' && c <= '9');

    *ret_size = is_escape ? 3 : 1;
    if (c >= 0x80 || !is_escape || is_letter || (c > 0 && strchr(plain, c)))
        return c;
    return 0x100 + c;
}

/* Whether the pattern fits the beginning of the path; '*' is anything, '$' at its end the end. */
static bool fits(const char *pattern, size_t size, const char *path, const char *path_end)
{
    bool to_the_end = size > 0 && pattern[size - 1] == '$';
    const char *end = pattern + size - to_the_end;
    const char *star = NULL; /* where the last '*' was */
    const char *star_path = NULL;
    size_t one, other;

    for (;;) {
        if (pattern < end && *pattern == '*') {
            star = pattern++;
            star_path = path;
        } else if (pattern == end && (!to_the_end || path == path_end)) {
            return true;
        } else if (pattern < end && path < path_end &&
                   octet(pattern, end, &one) == octet(path, path_end, &other)) {
            pattern += one;
            path += other;
        } else if (star && star_path < path_end) {
            (void)octet(star_path, path_end, &other);
            pattern = star + 1;
            path = star_path += other;
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
    /* What stands behind a '#' is not sent. */
    if (l->value_size == 0 || !fits(l->value, l->value_size, path, path + strcspn(path, "#")))
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

    for (size_t at = size >= 3 && memcmp(text, BOM, 3) == 0 ? 3 : 0; at < size;) {
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
