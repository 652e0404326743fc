/* SPDX-License-Identifier: MIT */
/*
 * transfer_options.c - what every request of an easy handle has in common, and its callbacks.
 *
 * The callbacks only note and count; whoever refuses here is asked afterwards why
 * (fb_transfer_done), because libcurl's own code for it says nothing.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <flyball/flyball.h>

#include "core/instant.h"
#include "engine/address.h"
#include "engine/net.h"

#define INFLATE_FREE (1 << 20) /* decompressed bytes of which no ratio is asked */
#define NAMES_S      1L        /* libcurl walks over all names that it keeps, at every lookup */

/* One line of a head, as it came, its end included; or of the trailers. */
static size_t on_header(char *line, size_t one, size_t size, void *arg)
{
    struct transfer *t = arg;
    bool is_new = size > 5 && line[0] == 'H' && line[4] == '/';
    bool was_complete = t->answer.complete;

    (void)one;
    fb_attempt_moves(t->attempt, true);
    t->fault = fb_http_answer_line(&t->answer, (struct slice){line, size});
    if (t->fault != HTTP_FINE)
        return 0;
    if (was_complete && !t->answer.complete && is_new)
        fb_buffer_clear(&t->head);
    if (!was_complete || !t->answer.complete)
        fb_buffer_add(&t->head, line, size);
    /* It says twice where it ends: what comes behind it must not be read as another answer. */
    if (fb_http_answer_taints(&t->answer)) {
        curl_easy_setopt(t->easy, CURLOPT_FORBID_REUSE, 1L);
        t->is_usual = false;
    }
    return size;
}

static bool inflates_too_much(const struct transfer *t, size_t more)
{
    const struct engine_options *o = &t->pool->net->options;
    curl_off_t wire = 0;

    if (!o->connect.decompress || t->body_size + (int64_t)more <= INFLATE_FREE)
        return false;
    curl_easy_getinfo(t->easy, CURLINFO_SIZE_DOWNLOAD_T, &wire);
    return (t->body_size + (int64_t)more) / o->inflate_max > (int64_t)wire;
}

static size_t on_body(char *bytes, size_t one, size_t size, void *arg)
{
    struct transfer *t = arg;
    const struct engine_options *o = &t->pool->net->options;

    (void)one;
    fb_attempt_moves(t->attempt, true);
    if (t->body_size + (int64_t)size > o->body_bytes_max || inflates_too_much(t, size)) {
        t->is_too_large = true;
        return 0;
    }
    return fb_spill_add(t, bytes, size) ? size : 0;
}

/* Most requests go where the one before went. */
static bool is_private(struct net *n, const char *address)
{
    size_t size;

    if (strcmp(n->address, address) == 0)
        return n->address_is_private;
    size = strlen(address) + 1;
    n->address_is_private = fb_address_text_is_private(address);
    n->address[0] = '\0';
    if (size <= sizeof(n->address))
        memcpy(n->address, address, size);
    return n->address_is_private;
}

/* Before each request on a connection that is ready; again when libcurl sends it once more. */
static int on_leaves(void *arg, char *address, char *local, int port, int local_port)
{
    struct transfer *t = arg;

    (void)local;
    (void)port;
    (void)local_port;
    t->from_public = !is_private(t->pool->net, address);
    if (t->refuses_private && !t->from_public) {
        t->was_refused = true;
        return CURL_PREREQFUNC_ABORT;
    }
    if (!fb_attempt_leaves(t->attempt)) {
        t->was_not_paid = true;
        return CURL_PREREQFUNC_ABORT;
    }
    return CURL_PREREQFUNC_OK;
}

/* Only for requests with a large body: that something leaves is also a sign of life. */
static int on_progress(void *arg, curl_off_t down_all, curl_off_t down, curl_off_t up_all,
                       curl_off_t up)
{
    struct transfer *t = arg;

    (void)down_all;
    (void)down;
    if (up > t->uploaded && up < up_all)
        fb_attempt_moves(t->attempt, false);
    t->uploaded = up;
    return 0;
}

static void set_callbacks(struct transfer *t)
{
    CURL *h = t->easy;

    curl_easy_setopt(h, CURLOPT_PRIVATE, t);
    curl_easy_setopt(h, CURLOPT_ERRORBUFFER, t->error);
    curl_easy_setopt(h, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(h, CURLOPT_HEADERDATA, t);
    curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(h, CURLOPT_WRITEDATA, t);
    curl_easy_setopt(h, CURLOPT_PREREQFUNCTION, on_leaves);
    curl_easy_setopt(h, CURLOPT_PREREQDATA, t);
    curl_easy_setopt(h, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(h, CURLOPT_XFERINFODATA, t);
    curl_easy_setopt(h, CURLOPT_OPENSOCKETFUNCTION, fb_net_open_socket);
    curl_easy_setopt(h, CURLOPT_OPENSOCKETDATA, t);
    curl_easy_setopt(h, CURLOPT_CLOSESOCKETFUNCTION, fb_net_close_socket);
    curl_easy_setopt(h, CURLOPT_CLOSESOCKETDATA, t->pool->net);
}

static void set_text(CURL *h, CURLoption option, const char *text)
{
    if (text)
        curl_easy_setopt(h, option, text);
}

static void set_connect(CURL *h, const struct engine_connect *c, struct curl_slist *resolve)
{
    set_text(h, CURLOPT_USERAGENT, c->user_agent);
    set_text(h, CURLOPT_PROXY, c->proxy);
    set_text(h, CURLOPT_NOPROXY, c->no_proxy);
    set_text(h, CURLOPT_PROXYUSERPWD, c->proxy_user);
    set_text(h, CURLOPT_CAINFO, c->ca_file);
    set_text(h, CURLOPT_CAPATH, c->ca_path);
    set_text(h, CURLOPT_SSLCERT, c->client_cert);
    set_text(h, CURLOPT_SSLKEY, c->client_key);
    set_text(h, CURLOPT_INTERFACE, c->interface);
    if (resolve)
        curl_easy_setopt(h, CURLOPT_RESOLVE, resolve);
    if (c->insecure) {
        curl_easy_setopt(h, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(h, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    if (c->decompress)
        curl_easy_setopt(h, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(h, CURLOPT_HTTP_VERSION,
                     (long)(c->http1_only ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS));
}

int fb_transfer_setup(struct transfer *t)
{
    const struct net *n = t->pool->net;
    CURL *h = curl_easy_init();

    if (!h)
        return -ENOMEM;
    t->easy = h;
    fb_target_init(&t->target); /* without it, libcurl reads URLs by itself */
    set_callbacks(t);
    set_connect(h, &n->options.connect, n->resolve);
    curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(h, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(h, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(h, CURLOPT_DNS_CACHE_TIMEOUT, NAMES_S);
    return 0;
}
