/* SPDX-License-Identifier: MIT */
/*
 * request_line.c - method, target and version; one blank between them, and nothing else.
 */
#include "http1/request_line.h"

#include <string.h>

static bool is_visible(char c)
{
    return c > ' ' && c < 0x7f;
}

/* Visible ASCII without `except`; an empty text is fine. */
static bool is_clean(struct slice s, const char *except)
{
    for (size_t i = 0; i < s.length; i++)
        if (!is_visible(s.at[i]) || strchr(except, s.at[i]))
            return false;
    return true;
}

bool fb_http_is_host(struct slice value)
{
    return is_clean(value, "/?#@\\,<>\"{}|^`");
}

/* What follows "http://" or "https://"; at NULL: it begins otherwise. */
static struct slice after_scheme(struct slice target)
{
    static const char *const schemes[] = {"http://", "https://"};

    for (size_t i = 0; i < 2; i++)
        if (fb_slice_begins(target, schemes[i]))
            return fb_slice_after(target, strlen(schemes[i]));
    return (struct slice){NULL, 0};
}

static size_t authority_length(struct slice rest)
{
    size_t path = fb_slice_find(rest, '/');
    size_t query = fb_slice_find(rest, '?');

    return path < query ? path : query;
}

struct slice fb_http_path(struct slice target)
{
    struct slice rest = after_scheme(target);

    if (!rest.at)
        return target;
    rest = fb_slice_after(rest, authority_length(rest));
    return rest.length > 0 ? rest : FB_SLICE("/");
}

static bool is_absolute(struct slice target)
{
    struct slice rest = after_scheme(target);
    size_t length = authority_length(rest);

    return length > 0 && fb_http_is_host(fb_slice_head(rest, length));
}

static bool is_authority(struct slice target)
{
    return fb_slice_find(target, ':') < target.length && fb_http_is_host(target);
}

static bool is_target(struct slice method, struct slice target)
{
    if (target.length == 0 || !is_clean(target, "#"))
        return false;
    if (fb_slice_is(method, "CONNECT"))
        return is_authority(target);
    if (fb_slice_is(method, "OPTIONS") && fb_slice_is(target, "*"))
        return true;
    return target.at[0] == '/' || is_absolute(target);
}

static enum http_fault read_version(struct slice version, int *ret_minor)
{
    if (version.length != 8 || memcmp(version.at, "HTTP/", 5) != 0 || version.at[6] != '.')
        return HTTP_REQUEST_LINE;
    if (!fb_is_digit(version.at[5]) || !fb_is_digit(version.at[7]))
        return HTTP_REQUEST_LINE;
    if (version.at[5] != '1' || version.at[7] > '1')
        return HTTP_VERSION;
    *ret_minor = version.at[7] - '0';
    return HTTP_FINE;
}

enum http_fault fb_http_request_line(struct slice line, struct http_request *q)
{
    size_t method = fb_slice_find(line, ' ');
    struct slice rest = fb_slice_after(line, method + 1);
    size_t target = fb_slice_find(rest, ' ');

    if (method == line.length || target == rest.length)
        return HTTP_REQUEST_LINE;
    enum http_fault fault = read_version(fb_slice_after(rest, target + 1), &q->minor);
    if (fault != HTTP_FINE)
        return fault;
    q->method = fb_slice_head(line, method);
    q->target = fb_slice_head(rest, target);
    if (!fb_http_is_token(q->method))
        return HTTP_METHOD;
    return is_target(q->method, q->target) ? HTTP_FINE : HTTP_TARGET;
}
