/* SPDX-License-Identifier: MIT */
/*
 * transfer.c - one request through libcurl, from start to what came of it.
 *
 * Easy handles are kept and used again: for each request only what differs is set.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include <flyball/flyball.h>

#include "core/instant.h"
#include "engine/head.h"
#include "engine/net.h"
#include "util/alloc.h"

#define BUFFER_KEPT_MAX (64 << 10) /* larger ones are given back after each request */
#define IDLE_MOST_S     118L       /* a connection that was idle for longer is not used again */
#define IDLE_ONCE_S     1L         /* the same, for what must not be sent twice */
#define LARGE_BODY      (64 << 10) /* of a request: its upload is watched */

/* -------------------------------------------------------------------------- keeping and freeing */

static struct transfer *transfer_get(struct net_pool *p)
{
    struct transfer *t = p->idle;

    if (t) {
        p->idle = t->next;
        return t;
    }
    t = fb_alloc(sizeof(*t));
    if (!t)
        return NULL;
    t->pool = p;
    if (fb_transfer_setup(t) < 0) {
        fb_free(t);
        return NULL;
    }
    t->behind = p->all;
    if (p->all)
        p->all->before = t;
    p->all = t;
    return t;
}

static void shrink(struct buffer *b)
{
    if (b->room > BUFFER_KEPT_MAX || b->failed)
        fb_buffer_fini(b);
    else
        fb_buffer_clear(b);
}

/* Off the multi handle: an unfinished one closes its connection. */
static void put_back(struct transfer *t)
{
    struct net_pool *p = t->pool;

    if (t->is_running) {
        curl_multi_remove_handle(p->multi, t->easy);
        t->is_running = false;
        p->running--;
    }
    if (t->headers) {
        curl_slist_free_all(t->headers);
        t->headers = NULL;
    }
    t->attempt = NULL;
    shrink(&t->head);
    fb_spill_end(t);
    shrink(&t->body);
    t->next = p->idle;
    p->idle = t;
}

void fb_transfer_free(struct transfer *t)
{
    assert(!t->is_running);
    *(t->before ? &t->before->behind : &t->pool->all) = t->behind;
    if (t->behind)
        t->behind->before = t->before;
    curl_slist_free_all(t->headers);
    curl_easy_cleanup(t->easy);
    fb_target_fini(&t->target);
    fb_buffer_fini(&t->head);
    fb_buffer_fini(&t->body);
    fb_free(t->folder);
    fb_free(t->header);
    fb_free(t);
}

/* ------------------------------------------------------------------------------------- starting */

static bool add_header(struct transfer *t, const char *name, const char *value)
{
    struct buffer b = BUFFER_INIT;
    struct curl_slist *more = NULL;
    const char *line;

    fb_buffer_add_text(&b, name);
    /* libcurl's way to send a header without a value. */
    fb_buffer_add_text(&b, value[0] ? ": " : ";");
    fb_buffer_add_text(&b, value);
    line = fb_buffer_text(&b);
    if (line)
        more = curl_slist_append(t->headers, line);
    fb_buffer_fini(&b);
    if (more)
        t->headers = more;
    return more != NULL;
}

static bool names(const struct attempt_request *r, const char *name)
{
    for (size_t i = 0; i < r->header_count; i++)
        if (strcasecmp(r->header[i].name, name) == 0)
            return true;
    return false;
}

/* libcurl adds these to requests with a body; nobody asked for them. */
static bool drop_header(struct transfer *t, const struct attempt_request *r, const char *line,
                        const char *name)
{
    struct curl_slist *more;

    if (names(r, name))
        return true;
    more = curl_slist_append(t->headers, line);
    if (more)
        t->headers = more;
    return more != NULL;
}

static int set_headers(struct transfer *t, const struct attempt_request *r)
{
    bool good = true;

    if (r->header_count == 0 && r->body_size == 0) {
        curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, t->pool->net->usual);
        return 0;
    }
    if (t->pool->net->usual && !names(r, "User-Agent"))
        good = (t->headers = curl_slist_append(NULL, t->pool->net->usual->data)) != NULL;
    for (size_t i = 0; good && i < r->header_count; i++)
        good = add_header(t, r->header[i].name, r->header[i].value);
    if (good && r->body_size > 0)
        good = drop_header(t, r, "Content-Type:", "Content-Type") &&
               drop_header(t, r, "Expect:", "Expect");
    curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, t->headers);
    return good ? 0 : -ENOMEM;
}

static void set_method(CURL *h, const struct attempt_request *r)
{
    bool has_body = r->body_size > 0 || strcmp(r->method, "POST") == 0;
    bool is_usual = strcmp(r->method, has_body ? "POST" : "GET") == 0;

    curl_easy_setopt(h, CURLOPT_HTTPGET, 1L); /* undoes what the last request set */
    curl_easy_setopt(h, CURLOPT_CUSTOMREQUEST, is_usual ? NULL : r->method);
    if (has_body) {
        curl_easy_setopt(h, CURLOPT_POST, 1L);
        curl_easy_setopt(h, CURLOPT_POSTFIELDS, r->body_size ? r->body : "");
        curl_easy_setopt(h, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body_size);
    } else if (strcmp(r->method, "HEAD") == 0) {
        curl_easy_setopt(h, CURLOPT_NOBODY, 1L);
        curl_easy_setopt(h, CURLOPT_CUSTOMREQUEST, NULL);
    }
}

/* What sets this request apart from the usual one: a GET with nothing added to it. */
static bool is_usual(const struct attempt_request *r)
{
    return strcmp(r->method, "GET") == 0 && r->header_count == 0 && r->body_size == 0 &&
           !r->is_once;
}

/* Everything but the URL. */
static int set_request(struct transfer *t, const struct attempt_request *r)
{
    curl_easy_setopt(t->easy, CURLOPT_MAXAGE_CONN, r->is_once ? IDLE_ONCE_S : IDLE_MOST_S);
    curl_easy_setopt(t->easy, CURLOPT_FORBID_REUSE, 0L);
    curl_easy_setopt(t->easy, CURLOPT_NOPROGRESS, (long)(r->body_size < LARGE_BODY));
    /* Our own deadlines cut it off; this is for name lookups that would outlive them. */
    curl_easy_setopt(t->easy, CURLOPT_CONNECTTIMEOUT_MS,
                     (long)fb_min64(r->connect_ns / FB_NS_PER_MS + 1000, 86400000));
    set_method(t->easy, r);
    return set_headers(t, r);
}

/*
 * Read here, libcurl does not write it out again letter by letter. Where it cannot be read, it is
 * libcurl that says so.
 */
static void set_url(struct transfer *t, const char *url)
{
    const struct engine_connect *c = &t->pool->net->options.connect;
    bool is_read = fb_target_set(&t->target, url);
    bool waits = !c->http1_only && strncasecmp(url, "https:", 6) == 0;

    curl_easy_setopt(t->easy, CURLOPT_URL, url);
    curl_easy_setopt(t->easy, CURLOPT_CURLU, is_read ? t->target.url : NULL);
    /* Wait whether a connection that is being made can be shared (HTTP/2). */
    if (waits != t->waits)
        curl_easy_setopt(t->easy, CURLOPT_PIPEWAIT, (long)waits);
    t->waits = waits;
}

static int prepare(struct transfer *t, const struct attempt_request *r)
{
    bool was_usual = t->is_usual && t->connect_ns == r->connect_ns;
    const struct engine_options *o = &t->pool->net->options;
    struct http_limits limits = {
        .line = (size_t)o->head_bytes_max,
        .head = (size_t)o->head_bytes_max,
        .fields = (size_t)o->headers_max,
        .body = INT64_MAX,
    };

    fb_http_answer_init(&t->answer, &limits);
    t->fault = HTTP_FINE;
    t->was_refused = t->lacks_fds = t->was_not_paid = t->is_too_large = t->from_public = false;
    t->refuses_private = r->refuse_private;
    t->uploaded = 0;
    t->body_size = 0;
    t->connect_ns = r->connect_ns;
    t->wants_file = r->folder != NULL;
    if (r->folder && !fb_spill_begin(t, r->folder))
        return -ENOMEM;
    t->error[0] = '\0';
    t->is_usual = is_usual(r);
    set_url(t, r->url);
    return was_usual && t->is_usual ? 0 : set_request(t, r);
}

int fb_transfer_start(struct net *n, struct attempt *a, const struct attempt_request *r,
                      struct transfer **ret_transfer)
{
    struct transfer *t = transfer_get(n->pool);
    int rc;

    if (!t)
        return -ENOMEM;
    t->attempt = a;
    rc = prepare(t, r);
    if (rc == 0 && curl_multi_add_handle(t->pool->multi, t->easy) != CURLM_OK)
        rc = -ENOMEM;
    if (rc < 0) {
        put_back(t);
        return rc;
    }
    t->is_running = true;
    t->pool->running++;
    *ret_transfer = t;
    return 0;
}

void fb_transfer_abort(struct transfer *t)
{
    put_back(t);
}

/* ------------------------------------------------------------------------------ what came of it */

static const struct {
    CURLcode code;
    enum failure failure;
} codes[] = {
    {CURLE_COULDNT_RESOLVE_HOST, FAIL_DNS},
    {CURLE_COULDNT_RESOLVE_PROXY, FAIL_DNS},
    {CURLE_COULDNT_CONNECT, FAIL_REFUSED},
    {CURLE_OPERATION_TIMEDOUT, FAIL_CONNECT_TIMEOUT},
    {CURLE_GOT_NOTHING, FAIL_RESET},
    {CURLE_SEND_ERROR, FAIL_RESET},
    {CURLE_RECV_ERROR, FAIL_RESET},
    {CURLE_PARTIAL_FILE, FAIL_PAYLOAD},
    {CURLE_WEIRD_SERVER_REPLY, FAIL_PAYLOAD},
    {CURLE_UNSUPPORTED_PROTOCOL, FAIL_PAYLOAD},
    {CURLE_BAD_CONTENT_ENCODING, FAIL_PAYLOAD},
    {CURLE_SSL_CONNECT_ERROR, FAIL_TLS},
    {CURLE_PEER_FAILED_VERIFICATION, FAIL_TLS},
    {CURLE_SSL_CERTPROBLEM, FAIL_TLS},
    {CURLE_SSL_CIPHER, FAIL_TLS},
    {CURLE_SSL_CACERT_BADFILE, FAIL_TLS},
    {CURLE_SSL_ISSUER_ERROR, FAIL_TLS},
    {CURLE_SSL_PINNEDPUBKEYNOTMATCH, FAIL_TLS},
    {CURLE_SSL_INVALIDCERTSTATUS, FAIL_TLS},
    {CURLE_URL_MALFORMAT, FAIL_BAD_REQUEST},
    {CURLE_OUT_OF_MEMORY, FAIL_MEMORY},
};

static enum failure failure_of(const struct transfer *t, CURLcode code)
{
    /* The same code as for a lost connection; only the text tells them apart. */
    if (code == CURLE_RECV_ERROR && strstr(t->error, "chunked-encoding"))
        return FAIL_PAYLOAD;
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        if (codes[i].code == code)
            return codes[i].failure;
    return FAIL_NETWORK;
}

/* libcurl keeps no line of a head that is above 100 KiB, and says that memory was short. */
static bool is_line_too_long(const struct transfer *t, CURLcode code)
{
    long sent = 0;

    (void)curl_easy_getinfo(t->easy, CURLINFO_REQUEST_SIZE, &sent);
    return code == CURLE_OUT_OF_MEMORY && sent > 0 && !t->answer.complete;
}

/* Our own reasons first: libcurl only knows that a callback said no. */
static void judge(struct transfer *t, CURLcode code, struct attempt_end *end)
{
    const struct {
        bool is_so;
        enum failure failure;
        const char *sentence;
    } ours[] = {
        {t->was_refused, FAIL_POLICY, "a private address, where only public ones are allowed"},
        {t->lacks_fds, FAIL_NETWORK, "too few file descriptors; 'ulimit -n' allows more"},
        {t->was_not_paid, FAIL_RESET, "the connection was lost; sending again had no permit"},
        {t->is_too_large, FAIL_TOO_LARGE, NULL},
        {t->body.failed || t->head.failed, FAIL_MEMORY, NULL},
        {t->fault != HTTP_FINE, FAIL_PAYLOAD, fb_http_fault_reason(t->fault)},
        {is_line_too_long(t, code), FAIL_PAYLOAD, fb_http_fault_reason(HTTP_LINE_LONG)},
    };

    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        if (ours[i].is_so) {
            end->failure = ours[i].failure;
            end->sentence = ours[i].sentence;
            return;
        }
    if (code != CURLE_OK) {
        end->failure = failure_of(t, code);
        end->sentence = t->error[0] ? t->error : curl_easy_strerror(code);
    } else if (fb_http_answer_end(&t->answer) != HTTP_FINE) {
        end->failure = FAIL_PAYLOAD;
        end->sentence = fb_http_fault_reason(fb_http_answer_end(&t->answer));
    }
}

/* In tenths: 10, 11, 20, 30; 0: not known. */
static int32_t version_of(const struct transfer *t)
{
    long version = CURL_HTTP_VERSION_NONE;

    (void)curl_easy_getinfo(t->easy, CURLINFO_HTTP_VERSION, &version);
    return version == CURL_HTTP_VERSION_1_0   ? 10
           : version == CURL_HTTP_VERSION_1_1 ? 11
           : version == CURL_HTTP_VERSION_2_0 ? 20
           : version == CURL_HTTP_VERSION_3   ? 30
                                              : 0;
}

void fb_transfer_done(struct transfer *t, CURLcode code)
{
    struct attempt_end end = {.from_public = t->from_public};
    struct attempt *a = t->attempt;

    judge(t, code, &end);
    /* Of an answer that is not to be believed nothing is handed on. */
    if (end.failure == FAIL_NONE) {
        end.status = t->answer.status;
        end.http = version_of(t);
        end.header_count = fb_head_split(&t->head, &t->header, &t->header_room);
        end.header = t->header;
        end.body = t->body.size ? fb_buffer_text(&t->body) : "";
        end.body_size = end.body ? (size_t)t->body_size : 0;
        end.beginning_size = t->body.size;
        end.body_fd = t->spill_fd;
    }
    fb_attempt_done(a, &end);
    put_back(t);
}
