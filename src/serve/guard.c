/* SPDX-License-Identifier: MIT */
/* guard.c - Host, Origin, Sec-Fetch-Site, Authorization. */
#include "serve/guard.h"

#include <string.h>

struct slice fb_guard_field(const struct http_request *q, const char *name)
{
    for (size_t i = 0; i < q->head_count; i++)
        if (fb_slice_is(q->field[i].name, name))
            return q->field[i].value;
    return (struct slice){NULL, 0};
}

/* "[::1]" of "[::1]:8080", "localhost" of "localhost:8080". */
static struct slice without_port(struct slice host)
{
    size_t end = host.length > 0 && host.at[0] == '[' ? fb_slice_find(host, ']') + 1
                                                      : fb_slice_find(host, ':');

    return fb_slice_head(host, end);
}

/* A whole address below 127.0.0.0/8: digits and three dots. */
static bool is_loopback_number(struct slice host)
{
    int dots = 0;

    if (!fb_slice_begins(host, "127."))
        return false;
    for (size_t i = 0; i < host.length; i++) {
        if (host.at[i] != '.' && !fb_is_digit(host.at[i]))
            return false;
        dots += host.at[i] == '.';
    }
    return dots == 3;
}

static bool is_loopback(struct slice host)
{
    return is_loopback_number(host) || fb_slice_is(host, "localhost") || fb_slice_is(host, "[::1]");
}

bool fb_guard_host(const struct guard *g, const struct http_request *q)
{
    struct slice host = without_port(fb_guard_field(q, "Host"));

    if (g->is_trusted || is_loopback(host))
        return true;
    if (host.length > 0 && g->own[0] && fb_slice_is(host, g->own))
        return true;
    for (size_t i = 0; g->host && g->host[i]; i++)
        if (fb_slice_is(host, g->host[i]))
            return true;
    return false;
}

bool fb_guard_is_foreign(const struct http_request *q)
{
    struct slice site = fb_guard_field(q, "Sec-Fetch-Site");
    struct slice origin = fb_guard_field(q, "Origin");
    struct slice host = fb_guard_field(q, "Host");

    if (site.at && !fb_slice_is(site, "same-origin") && !fb_slice_is(site, "none"))
        return true;
    if (!origin.at)
        return false;
    if (!fb_slice_begins(origin, "http://"))
        return true;
    return !fb_slice_equal(fb_slice_after(origin, 7), host);
}

bool fb_guard_token(const struct guard *g, const struct http_request *q)
{
    struct slice given = fb_guard_field(q, "Authorization");
    unsigned different = 0;

    if (!g->token || !fb_slice_begins(given, "Bearer "))
        return false;
    given = fb_slice_trim(fb_slice_after(given, 7));
    if (given.length != strlen(g->token) || given.length == 0)
        return false;
    for (size_t i = 0; i < given.length; i++)
        different |= (unsigned)(given.at[i] ^ g->token[i]);
    return different == 0;
}
