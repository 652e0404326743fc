/* SPDX-License-Identifier: MIT */
/*
 * url.c - as much of a URL as a key needs; the rest is libcurl's.
 *
 * Read strictly: a byte that could end a request line early is refused here, before it gets
 * anywhere near a socket.
 */
#include <curl/curl.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "engine/inside.h"
#include "util/alloc.h"
#include "util/eight.h"

static bool is_clean(const char *url, size_t size)
{
    size_t at = 0;

    for (; at + 8 <= size; at += 8) {
        uint64_t eight = fb_eight_load(url + at);

        if (fb_eight_odd(eight) | fb_eight_is(eight, ' ') | fb_eight_is(eight, '\\'))
            break;
    }
    for (; at < size; at++)
        if ((unsigned char)url[at] <= ' ' || url[at] == 0x7f || url[at] == '\\')
            return false;
    return true;
}

/* "host", "host:80", "[::1]:80": the size of the host, or 0. */
static size_t host_size(const char *at, size_t size)
{
    const char *close = at[0] == '[' ? memchr(at, ']', size) : NULL;
    size_t host = close ? (size_t)(close - at) + 1 : size;

    if (!close) {
        const char *colon = memchr(at, ':', size);

        host = colon ? (size_t)(colon - at) : size;
    }
    if (host == size)
        return host;
    if (at[host] != ':' || size - host - 1 > 5)
        return 0;
    for (size_t i = host + 1; i < size; i++)
        if (at[i] < '0' || at[i] > '9')
            return 0;
    return host;
}

int fb_url_read(const char *url, struct url_parts *ret_parts)
{
    struct url_parts p = {.is_https = strncasecmp(url, "https://", 8) == 0};

    if ((!p.is_https && strncasecmp(url, "http://", 7) != 0) || !is_clean(url, strlen(url)))
        return -EINVAL;

    const char *at = url + (p.is_https ? 8 : 7);
    size_t size = strcspn(at, "/?#");
    const char *sign = NULL;

    for (size_t i = 0; i < size; i++)
        sign = at[i] == '@' ? at + i : sign;
    if (sign) {
        p.userinfo = at;
        p.userinfo_size = (size_t)(sign - at);
        size -= p.userinfo_size + 1;
        at = sign + 1;
    }
    p.authority = p.host = at;
    p.authority_size = size;
    p.host_size = size ? host_size(at, size) : 0;
    if (p.host_size == 0)
        return -EINVAL;

    size_t port = size - p.host_size;
    const char *usual = p.is_https ? ":443" : ":80";

    if (port == 1 || (port == strlen(usual) && memcmp(at + p.host_size, usual, port) == 0))
        p.authority_size = p.host_size;
    *ret_parts = p;
    return 0;
}

bool fb_url_same_origin(const char *a, const char *b)
{
    struct url_parts x, y;

    if (fb_url_read(a, &x) < 0 || fb_url_read(b, &y) < 0)
        return false;
    return x.is_https == y.is_https && x.authority_size == y.authority_size &&
           strncasecmp(x.authority, y.authority, x.authority_size) == 0;
}

static char *copy(const char *text)
{
    size_t size = strlen(text) + 1;
    char *c = fb_alloc(size);

    return c ? memcpy(c, text, size) : NULL;
}

int fb_url_follow(const char *base, const char *location, char **ret_url)
{
    CURLU *u = curl_url();
    char *whole = NULL;
    struct url_parts parts;
    int rc = -EINVAL;

    if (!u)
        return -ENOMEM;
    /* A user and password of the first URL are not for wherever it leads. */
    if (curl_url_set(u, CURLUPART_URL, base, 0) == CURLUE_OK &&
        curl_url_set(u, CURLUPART_URL, location, CURLU_URLENCODE | CURLU_NON_SUPPORT_SCHEME) ==
            CURLUE_OK &&
        curl_url_set(u, CURLUPART_FRAGMENT, NULL, 0) == CURLUE_OK &&
        curl_url_get(u, CURLUPART_URL, &whole, 0) == CURLUE_OK) {
        rc = fb_url_read(whole, &parts) < 0 ? -EPROTONOSUPPORT : 0;
        if (rc == 0) {
            *ret_url = copy(whole);
            rc = *ret_url ? 0 : -ENOMEM;
        }
    }
    curl_free(whole);
    curl_url_cleanup(u);
    return rc;
}
