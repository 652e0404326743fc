/* SPDX-License-Identifier: MIT */
/* place.c - cutting a URL where it must be cut. The URL has been checked: it has a host. */
#include "fetch/place.h"

#include <string.h>
#include <strings.h>

void fb_origin_of(const char *url, struct origin *ret_origin)
{
    const char *colon = strstr(url, "://");
    size_t begin = colon ? (size_t)(colon - url) + 3 : 0;
    size_t authority = strcspn(url + begin, "/?#");
    size_t user = 0; /* up to the last '@' of the authority */

    for (size_t i = 0; i < authority; i++) {
        if (url[begin + i] == '@')
            user = i + 1;
    }
    *ret_origin = (struct origin){.scheme_size = colon ? (size_t)(colon - url) : 0,
                                  .host = begin + user,
                                  .host_size = authority - user,
                                  .path = begin + authority};
}

/* How long the host is with its port, unless that is the usual one. */
static size_t host_size(const char *url, const struct origin *o)
{
    const char *usual = o->scheme_size == 5 ? ":443" : ":80"; /* "https" or "http" */
    size_t size = strlen(usual);
    bool is_said =
        o->host_size > size && strncmp(url + o->host + o->host_size - size, usual, size) == 0;

    return is_said ? o->host_size - size : o->host_size;
}

bool fb_is_same_origin(const char *a, const char *b)
{
    struct origin p, q;

    fb_origin_of(a, &p);
    fb_origin_of(b, &q);
    size_t size = host_size(a, &p);
    return p.scheme_size == q.scheme_size && size == host_size(b, &q) &&
           strncasecmp(a + p.host, b + q.host, size) == 0;
}

void fb_place_add(struct buffer *out, const char *url)
{
    struct origin o;

    fb_origin_of(url, &o);
    fb_buffer_add(out, url, o.scheme_size);
    fb_buffer_add(out, "://", 3);
    fb_buffer_add(out, url + o.host, o.host_size);
    fb_buffer_add(out, url + o.path, strcspn(url + o.path, "?#"));
}

/* "api_key", "access-token", "X-Amz-Signature", ... */
static bool is_secret_name(const char *name, size_t size)
{
    static const char *const PARTS[] = {"key", "token", "sig", "secret", "pass", "auth", "cred"};

    for (size_t at = 0; at < size; at++) {
        for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++) {
            size_t length = strlen(PARTS[i]);
            if (at + length <= size && strncasecmp(name + at, PARTS[i], length) == 0)
                return true;
        }
    }
    return false;
}

void fb_place_add_shown(struct buffer *out, const char *url)
{
    const char *at = url + strcspn(url, "?#");

    fb_place_add(out, url);
    while (*at == '?' || *at == '&') {
        size_t name = 1 + strcspn(at + 1, "=&#");
        size_t size = 1 + strcspn(at + 1, "&#");
        bool secret = size > name && is_secret_name(at + 1, name - 1);

        fb_buffer_add(out, at, secret ? name + 1 : size);
        if (secret)
            fb_buffer_add_text(out, "...");
        at += size;
    }
}

bool fb_is_secret_header(const char *name)
{
    static const char *const NAMES[] = {"authorization", "proxy-authorization", "cookie",
                                        "set-cookie",    "x-api-key",           "api-key",
                                        "x-auth-token"};

    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        if (strcasecmp(name, NAMES[i]) == 0)
            return true;
    }
    return false;
}
