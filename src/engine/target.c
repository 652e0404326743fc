/* SPDX-License-Identifier: MIT */
/*
 * target.c - a URL as libcurl's parts, of which the origin is kept.
 *
 * Invariant: where `origin` is not empty, scheme, user, host and port of `url` are what it says,
 * and there is no fragment.
 */
#include "engine/target.h"

#include <string.h>
#include <strings.h>

void fb_target_init(struct target *t)
{
    *t = (struct target){.url = curl_url()};
}

void fb_target_fini(struct target *t)
{
    curl_url_cleanup(t->url);
    fb_buffer_fini(&t->origin);
    fb_buffer_fini(&t->path);
}

/*
 * Whether libcurl takes what follows the origin as it is: from a path it takes dots out, of a part
 * that is set alone it changes escapes, and what is behind a '#' is not sent.
 */
static bool is_simple(const char *rest)
{
    if (rest[0] != '/')
        return false;
    for (const char *at = rest + 1; *at; at++) {
        if (*at <= ' ' || *at >= 0x7f || *at == '%' || *at == '#' || *at == '\\' ||
            (*at == '.' && at[-1] == '/'))
            return false;
    }
    return true;
}

static bool set_query(struct target *t, const char *query)
{
    return curl_url_set(t->url, CURLUPART_QUERY, query, 0) == CURLUE_OK;
}

/* What follows the origin that is there already. */
static bool set_rest(struct target *t, const char *rest)
{
    const char *query = strchr(rest, '?');

    if (query) {
        fb_buffer_clear(&t->path);
        fb_buffer_add(&t->path, rest, (size_t)(query - rest));
        rest = fb_buffer_text(&t->path);
    }
    return rest && (!query || query[1]) &&
           curl_url_set(t->url, CURLUPART_PATH, rest, 0) == CURLUE_OK &&
           set_query(t, query ? query + 1 : NULL);
}

/* Where the host begins, or 0: what is not whole libcurl would complete by what was there. */
static size_t host_at(const char *url)
{
    return strncasecmp(url, "http://", 7) == 0 ? 7 : strncasecmp(url, "https://", 8) == 0 ? 8 : 0;
}

/* All of it. The origin is kept where a later URL can begin with it. */
static bool set_whole(struct target *t, const char *url)
{
    size_t host = host_at(url);
    size_t size = strcspn(url + host, "/?");

    fb_buffer_clear(&t->origin);
    if (!t->url || host == 0 || curl_url_set(t->url, CURLUPART_URL, url, 0) != CURLUE_OK)
        return false;
    /* Of "http:///x" libcurl reads x as the host. */
    if (size > 0 && !strchr(url, '#'))
        fb_buffer_add(&t->origin, url, host + size);
    return true;
}

bool fb_target_set(struct target *t, const char *url)
{
    size_t size = t->origin.size;

    if (size > 0 && strncmp(url, t->origin.bytes, size) == 0 && is_simple(url + size) &&
        set_rest(t, url + size))
        return true;
    return set_whole(t, url);
}
