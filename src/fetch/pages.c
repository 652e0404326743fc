/* SPDX-License-Identifier: MIT */
/* pages.c - Link headers, JSON cursors, and the parameters of URLs. */
#include "fetch/pages.h"

#include <jansson.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "fetch/place.h"

/* Stands for a value that is taken from the list again; no URL has a bare brace. */
#define SAME "{}"

/* ---------------------------------------------------------------------------------------- Link */

/* Whether a list of relations, with blanks between them, has "next" in it. */
static bool has_next(const char *at, size_t size)
{
    for (size_t i = 0; i + 4 <= size; i++) {
        bool begins = i == 0 || at[i - 1] == ' ' || at[i - 1] == '\t';
        bool ends = i + 4 == size || at[i + 4] == ' ' || at[i + 4] == '\t';
        if (begins && ends && strncasecmp(at + i, "next", 4) == 0)
            return true;
    }
    return false;
}

static size_t span(const char *at, size_t size, const char *until)
{
    size_t i = 0;

    while (i < size && !strchr(until, at[i]))
        i++;
    return i;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static size_t blanks(const char *at, size_t size)
{
    size_t i = 0;

    while (i < size && is_blank(at[i]))
        i++;
    return i;
}

/* The name of a parameter, with blanks around it. */
static bool is_rel_name(const char *at, size_t size)
{
    size_t begin = blanks(at, size);

    while (size > begin && is_blank(at[size - 1]))
        size--;
    return size - begin == 3 && strncasecmp(at + begin, "rel", 3) == 0;
}

/* Whether the parameters behind a target say rel=next; the first rel is the one that counts. */
static bool says_next(const char *at, size_t size)
{
    while (size > 0) {
        size_t name = span(at, size, "=;");
        bool is_rel = is_rel_name(at, name);
        bool has_value = name < size && at[name] == '=';
        size_t to_value = name + (has_value ? 1 + blanks(at + name + 1, size - name - 1) : 0);
        at += to_value;
        size -= to_value;
        bool quoted = has_value && size > 0 && *at == '"';
        size_t value = !has_value ? 0
                       : quoted   ? 1 + span(at + 1, size - 1, "\"")
                                  : span(at, size, "; \t");
        if (is_rel)
            return has_next(at + (quoted ? 1 : 0), value - (quoted ? 1 : 0));
        size_t used = value + span(at + value, size - value, ";");
        used += used < size ? 1 : 0;
        at += used;
        size -= used;
    }
    return false;
}

/* The end of one link's parameters: a comma outside of quotes. */
static size_t parameters(const char *at)
{
    bool quoted = false;
    size_t i = 0;

    for (; at[i] && (quoted || at[i] != ','); i++)
        quoted ^= at[i] == '"';
    return i;
}

size_t fb_pages_link(const char *value, const char **ret_target)
{
    for (const char *at = value; (at = strchr(at, '<'));) {
        const char *target = at + 1;
        const char *close = strchr(target, '>');

        if (!close)
            return 0;
        size_t size = parameters(close + 1);
        if (says_next(close + 1, size)) {
            *ret_target = target;
            return (size_t)(close - target);
        }
        at = close + 1 + size;
    }
    return 0;
}

/* -------------------------------------------------------------------------------------- cursor */

/* One step of a pointer: "~1" is '/', "~0" is '~'. Returns where the next step begins. */
static const char *step(const char *at, struct buffer *name)
{
    for (; *at && *at != '/'; at++) {
        char c = *at;
        if (c == '~' && (at[1] == '0' || at[1] == '1'))
            c = *++at == '1' ? '/' : '~';
        fb_buffer_add_char(name, c);
    }
    return at;
}

static json_t *into(json_t *value, const char *name)
{
    size_t index = 0;

    if (json_is_object(value))
        return json_object_get(value, name);
    if (!json_is_array(value) || !*name)
        return NULL;
    for (; *name >= '0' && *name <= '9' && index < 1000000; name++)
        index = 10 * index + (size_t)(*name - '0');
    return *name ? NULL : json_array_get(value, index);
}

static int add_value(const json_t *v, struct buffer *out)
{
    if (json_is_string(v))
        fb_buffer_add_text(out, json_string_value(v));
    else if (json_is_integer(v))
        fb_buffer_add_int(out, json_integer_value(v));
    return out->size > 0;
}

int fb_pages_cursor(const char *body, size_t size, const char *pointer, struct buffer *out)
{
    json_t *whole = json_loadb(body, size, JSON_DECODE_ANY, NULL);
    json_t *value = whole;

    while (value && *pointer == '/') {
        struct buffer name = BUFFER_INIT;

        pointer = step(pointer + 1, &name);
        const char *text = fb_buffer_text(&name);
        value = text ? into(value, text) : NULL;
        fb_buffer_fini(&name);
    }
    int found = value ? add_value(value, out) : 0;
    json_decref(whole);
    return found;
}

/* ---------------------------------------------------------------------------------- parameters */

/* One "name=value" of a query. */
struct parameter {
    const char *at;
    size_t name;
    size_t size;
};

/* The next one at or behind *at, which moves on; false at the end. */
static bool next_parameter(const char **at, struct parameter *ret)
{
    while (**at == '?' || **at == '&')
        ++*at;
    ret->at = *at;
    ret->size = strcspn(*at, "&#");
    ret->name = strcspn(*at, "=&#");
    *at += ret->size;
    return ret->size > 0;
}

static const char *query_of(const char *url)
{
    return url + strcspn(url, "?#");
}

/* The parameter of that name in the query of `url`. */
static bool find(const char *url, const struct parameter *like, struct parameter *ret)
{
    const char *at = query_of(url);

    if (*at != '?')
        return false;
    while (next_parameter(&at, ret)) {
        if (ret->name == like->name && memcmp(ret->at, like->at, like->name) == 0)
            return true;
    }
    return false;
}

static bool is_unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           strchr("-._~", c);
}

static void add_escaped(struct buffer *out, const char *text)
{
    static const char HEX[] = "0123456789ABCDEF";

    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (is_unreserved(*text))
            fb_buffer_add_char(out, *text);
        else
            fb_buffer_add(out, (char[]){'%', HEX[c >> 4], HEX[c & 15]}, 3);
    }
}

void fb_pages_set(const char *url, const char *name, const char *value, struct buffer *out)
{
    const char *at = query_of(url);
    struct parameter p;
    char between = '?';

    fb_buffer_add(out, url, (size_t)(at - url));
    while (*at == '?' || *at == '&') {
        if (!next_parameter(&at, &p))
            break;
        if (p.name == strlen(name) && memcmp(p.at, name, p.name) == 0)
            continue;
        fb_buffer_add_char(out, between);
        fb_buffer_add(out, p.at, p.size);
        between = '&';
    }
    fb_buffer_add_char(out, between);
    fb_buffer_add_text(out, name);
    fb_buffer_add_char(out, '=');
    add_escaped(out, value);
}

/* Each parameter of `url` as `turn` wants it. */
static void turn_all(const char *base, const char *url, struct buffer *out,
                     void (*turn)(const char *base, const struct parameter *p, struct buffer *out))
{
    const char *at = query_of(url);
    struct parameter p;

    for (char between = '?'; *at == '?' || *at == '&'; between = '&') {
        if (!next_parameter(&at, &p))
            return;
        fb_buffer_add_char(out, between);
        turn(base, &p, out);
    }
}

static void strip(const char *base, const struct parameter *p, struct buffer *out)
{
    struct parameter same;

    if (p->size > p->name && find(base, p, &same) && same.size == p->size &&
        memcmp(same.at, p->at, p->size) == 0) {
        fb_buffer_add(out, p->at, p->name);
        fb_buffer_add_text(out, "=" SAME);
        return;
    }
    fb_buffer_add(out, p->at, p->size);
}

static void restore(const char *base, const struct parameter *p, struct buffer *out)
{
    struct parameter same;
    bool is_same = p->size == p->name + 1 + strlen(SAME) &&
                   memcmp(p->at + p->name + 1, SAME, strlen(SAME)) == 0;

    if (is_same && find(base, p, &same))
        fb_buffer_add(out, same.at, same.size);
    else
        fb_buffer_add(out, p->at, p->size);
}

void fb_pages_strip(const char *base, const char *url, struct buffer *out)
{
    fb_place_add(out, url);
    turn_all(base, url, out, strip);
}

void fb_pages_restore(const char *base, const char *kept, struct buffer *out)
{
    struct origin b;
    struct origin k;

    fb_origin_of(base, &b);
    fb_origin_of(kept, &k);
    size_t before = strstr(base, "://") ? b.scheme_size + 3 : 0;
    /* What was said over TLS is not for anybody who listens. */
    bool same_origin = b.scheme_size == k.scheme_size &&
                       strncasecmp(base, kept, b.scheme_size) == 0 && b.host_size == k.host_size &&
                       strncasecmp(base + b.host, kept + k.host, b.host_size) == 0;

    fb_buffer_add(out, kept, k.host);
    if (same_origin && b.host > before)
        fb_buffer_add(out, base + before, b.host - before); /* user:password@ */
    fb_buffer_add(out, kept + k.host, (size_t)(query_of(kept) - kept) - k.host);
    turn_all(base, kept, out, restore);
}
