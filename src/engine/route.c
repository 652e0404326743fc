/* SPDX-License-Identifier: MIT */
/*
 * route.c - a job goes on elsewhere: where a redirect leads, or to the next source.
 *
 * Each hop is a request like any other: it is queued under the key of the host that it goes to, and
 * pays there. Credentials never follow to another origin.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "config/check.h"
#include "engine/inside.h"
#include "util/alloc.h"

static const char *header_find(const struct attempt_end *end, const char *name)
{
    for (size_t i = 0; i < end->header_count; i++)
        if (strcasecmp(end->header[i].name, name) == 0)
            return end->header[i].value;
    return NULL;
}

/* Whether this answer sends the job somewhere else. */
bool fb_route_is_redirect(const struct job *j, const struct attempt_end *end)
{
    static const int32_t codes[] = {301, 302, 303, 307, 308};

    if (j->flags & ENGINE_NO_REDIRECT)
        return false;
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        if (end->status == codes[i])
            return header_find(end, "Location") != NULL;
    return false;
}

/* 303 asks for a GET; 301 and 302 after a POST have become one (RFC 9110, 15.4). */
static bool becomes_get(const struct job *j, int32_t status)
{
    if (strcmp(j->method, "GET") == 0 || strcmp(j->method, "HEAD") == 0)
        return false;
    return status == 303 || (status < 303 && strcmp(j->method, "POST") == 0);
}

static int move(struct job *j, char *url)
{
    bool foreign = !fb_url_same_origin(j->url, url);
    struct job before = *j;
    struct key *key = NULL;
    struct fly_error err;
    int rc;

    j->is_foreign |= foreign;
    j->url = url;
    rc = fb_key_get(j->engine, j, &key, &err);
    if (rc < 0) {
        *j = before;
        fb_free(url);
        return rc;
    }
    fb_job_set_key(j, key);
    fb_free(j->moved);
    j->moved = url;
    return 0;
}

int fb_route_redirect(struct job *j, const struct attempt_end *end, const char **ret_sentence)
{
    char *url = NULL;
    int rc = fb_url_follow(j->url, header_find(end, "Location"), &url);

    if (j->redirects >= j->engine->options.redirects_max) {
        *ret_sentence = "redirected too often";
        fb_free(url);
        return -ELOOP;
    }
    if (rc < 0) {
        *ret_sentence = rc == -EPROTONOSUPPORT ? "redirected to what is not http or https"
                                               : "redirected to what is not a URL";
        return rc;
    }
    rc = move(j, url);
    if (rc < 0) {
        *ret_sentence = "redirected to where no limiter could be made";
        return rc;
    }
    if (becomes_get(j, end->status)) {
        j->method = "GET";
        j->drops_body = true;
    }
    j->from_public = end->from_public;
    j->redirects++;
    j->engine->stats.redirects++;
    return 0;
}

int fb_route_failover(struct job *j)
{
    struct job before = *j;
    struct key *key = NULL;
    struct fly_error err;
    int rc;

    if (j->source >= j->alternative_count)
        return -ENOENT;
    j->url = j->alternative[j->source++];
    /* Another host is another provider, whatever the first one was called. */
    j->is_foreign = !fb_url_same_origin(j->first_url, j->url);
    j->from_public = false;
    rc = fb_key_get(j->engine, j, &key, &err);
    if (rc < 0) {
        *j = before;
        return rc;
    }
    fb_job_set_key(j, key);
    fb_free(j->moved);
    j->moved = NULL;
    j->tries = 0;
    j->engine->stats.failovers++;
    return 0;
}

/* Of these the credentials are for the first origin only, and the others describe a body. */
bool fb_route_sends_header(const struct job *j, const char *name)
{
    static const char *const of_body[] = {"Content-Type", "Content-Length", "Content-Encoding",
                                          "Content-Language", "Transfer-Encoding"};

    if (j->is_foreign && fb_check_is_secret_header(name))
        return false;
    for (size_t i = 0; j->drops_body && i < sizeof(of_body) / sizeof(of_body[0]); i++)
        if (strcasecmp(name, of_body[i]) == 0)
            return false;
    return true;
}
