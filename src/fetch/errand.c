/* SPDX-License-Identifier: MIT */
/*
 * errand.c - an item on its way: past robots.txt and the cache into the engine.
 *
 * An errand counts as under way from fb_errand_begin() to fb_errand_end(), whoever holds it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "config/check.h"
#include "config/config.h"
#include "fetch/fetch_parts.h"
#include "fetch/place.h"
#include "util/alloc.h"

#define HEADERS_MAX 160
#define NS_PER_S    INT64_C(1000000000)

static size_t text_size(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

static size_t size_of(const struct item *i)
{
    size_t size = text_size(i->id) + text_size(i->url) + text_size(i->method) +
                  text_size(i->operation) + text_size(i->pool) + i->body_size;

    for (size_t h = 0; h < i->header_count; h++)
        size += text_size(i->header[h].name) + text_size(i->header[h].value);
    for (size_t a = 0; a < i->alternative_count; a++)
        size += text_size(i->alternative[a]);
    return size + i->header_count * sizeof *i->header +
           i->alternative_count * sizeof *i->alternative;
}

static const char *copy(char **at, const char *text, size_t size)
{
    char *to = *at;

    if (!text)
        return NULL;
    memcpy(to, text, size);
    *at += size;
    return to;
}

static const char *copy_text(char **at, const char *text)
{
    return copy(at, text, text_size(text));
}

/* Arrays first, so that they are aligned. */
static void copy_item(char *at, struct item *to, const struct item *i)
{
    *to = *i;
    to->header = (struct engine_header *)(void *)at;
    at += i->header_count * sizeof *i->header;
    to->alternative = (const char **)(void *)at;
    at += i->alternative_count * sizeof *i->alternative;
    for (size_t h = 0; h < i->header_count; h++) {
        to->header[h].name = copy_text(&at, i->header[h].name);
        to->header[h].value = copy_text(&at, i->header[h].value);
    }
    for (size_t a = 0; a < i->alternative_count; a++)
        to->alternative[a] = copy_text(&at, i->alternative[a]);
    to->id = copy_text(&at, i->id);
    to->url = copy_text(&at, i->url);
    to->method = copy_text(&at, i->method);
    to->operation = copy_text(&at, i->operation);
    to->pool = copy_text(&at, i->pool);
    to->body = copy(&at, i->body, i->body_size);
}

struct errand *fb_errand_new(struct fetch *f, const struct item *i, uint16_t check)
{
    size_t size = sizeof(struct errand) + size_of(i);
    struct errand *e = fb_blocks_get(&f->errands, size);

    if (!e)
        return NULL;
    *e = (struct errand){.fetch = f, .size = size, .check = check};
    copy_item((char *)(e + 1), &e->item, i);
    return e;
}

void fb_errand_end(struct errand *e)
{
    struct fetch *f = e->fetch;

    f->out--;
    fb_free(e->next_url);
    fb_free(e->linked);
    fb_blocks_put(&f->errands, e, e->size);
}

void fb_errand_fail(struct errand *e, enum entry_state state, const char *failure,
                    const char *sentence)
{
    struct result_facts facts = {.id = e->item.id,
                                 .url = e->item.url,
                                 .method = e->item.method,
                                 .failure = failure,
                                 .sentence = sentence};

    fb_end_item(e->fetch, e, state, &facts);
    fb_errand_end(e);
}

void fb_errand_id(const struct errand *e, struct buffer *to)
{
    fb_buffer_add_text(to, e->item.id);
    if (e->page <= 1)
        return;
    fb_buffer_add_char(to, '#');
    fb_buffer_add_int(to, e->page);
}

/* ------------------------------------------------------------------------------- the request */

struct headers {
    struct engine_header at[HEADERS_MAX];
    size_t count;
};

/* Whether one of the first `count` has that name. */
static bool has(const struct headers *h, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(h->at[i].name, name) == 0)
            return true;
    }
    return false;
}

/* Unless there is one of that name already. */
static void add(struct headers *h, const char *name, const char *value)
{
    if (h->count < HEADERS_MAX && !has(h, h->count, name))
        h->at[h->count++] = (struct engine_header){.name = name, .value = value};
}

static void collect_one(struct headers *h, const struct engine_header *header, bool is_foreign)
{
    if (h->count < HEADERS_MAX && !(is_foreign && fb_check_is_secret_header(header->name)))
        h->at[h->count++] = *header;
}

/*
 * The item's own headers, and those of all requests that it does not have itself. Where an answer
 * leads to a page of another origin, credentials do not follow.
 */
static void collect(const struct errand *e, const char *id, struct headers *h)
{
    const struct fetch_options *o = e->fetch->o;
    bool is_foreign = e->next_url && !fb_is_same_origin(e->next_url, e->item.url);

    for (size_t i = 0; i < e->item.header_count; i++)
        collect_one(h, &e->item.header[i], is_foreign);
    size_t own = h->count;
    for (size_t i = 0; i < o->header_count; i++) {
        if (!has(h, own, o->header[i].name))
            collect_one(h, &o->header[i], is_foreign);
    }
    if (o->request_id)
        add(h, "X-Request-Id", id);
}

static bool has_any(const struct headers *h, const struct config_provider *p)
{
    for (size_t i = 0; i < p->credential_count; i++) {
        if (has(h, h->count, p->credential[i].header))
            return true;
    }
    return false;
}

/*
 * What the configuration says of the provider that the URL leads to: its headers, its credential.
 * False with a sentence: it cannot be sent.
 */
static bool add_configured(struct errand *e, struct headers *h, struct engine_task *t,
                           struct fly_error *err)
{
    const struct config_provider *p = fb_provider_at(e->fetch, t->url);
    struct engine_header secret;

    if (!p)
        return true;
    if (!p->enabled && e->fetch->o->refuses_disabled) {
        (void)snprintf(err->text, sizeof err->text, "the provider %.60s is switched off", p->name);
        return false;
    }
    for (size_t i = 0; i < p->header_count; i++)
        add(h, p->header[i].name, p->header[i].value);
    if (p->credential_count == 0 || has_any(h, p))
        return true;
    if (fb_credential_get(e->fetch, p, &secret, err) < 0)
        return false;
    add(h, secret.name, secret.value);
    t->credential = secret.value;
    return true;
}

/* A large body goes straight to its file, unless somebody wants to look at all of it. */
static bool streams(const struct errand *e)
{
    const struct fetch_options *o = e->fetch->o;

    return o->folder && !o->cursor && !e->is_robots && !fb_conditional_applies(e);
}

static void submit_as(struct errand *e, const char *id, const struct cached *known)
{
    struct fetch *f = e->fetch;
    const struct item *i = &e->item;
    struct headers headers = {.count = 0};
    struct fly_error err = {""};

    collect(e, id, &headers);
    e->is_conditional = known != NULL;
    if (known && *known->etag)
        add(&headers, "If-None-Match", known->etag);
    if (known && *known->modified)
        add(&headers, "If-Modified-Since", known->modified);
    struct engine_task t = {
        .url = e->next_url ? e->next_url : i->url,
        .method = i->method,
        .header = headers.at,
        .body = i->body,
        .body_size = i->body_size,
        .id = i->id,
        .pool = i->pool,
        .operation = i->operation,
        .alternative = i->alternative,
        /* They stand for the first page: where theirs go on is not known. */
        .alternative_count = e->next_url ? 0 : i->alternative_count,
        .priority = i->priority,
        .cost = i->cost,
        .flags = i->retryable ? ENGINE_RETRYABLE : 0,
        .not_before_ns = e->not_before_s * NS_PER_S,
        .folder = streams(e) ? f->o->folder : NULL,
        .user = e,
        .client = f->client,
    };
    if (!add_configured(e, &headers, &t, &err)) {
        fb_errand_fail(e, ENTRY_failed, fb_failure_name(FAIL_POLICY), err.text);
        return;
    }
    t.header_count = headers.count;
    fb_provider_of(e, &t);
    int error = fb_engine_submit(f->engine, &t, NULL, &err);
    if (error == 0)
        return;
    if (error == -EINVAL) {
        fb_errand_fail(e, ENTRY_failed, fb_failure_name(FAIL_BAD_REQUEST), err.text);
        return;
    }
    fb_errand_end(e);
    if (error != -ESHUTDOWN) {
        fb_say(f, "flyball fetch: %s", strerror(-error));
        fb_end_worse(f, FETCH_BROKEN);
        fb_fetch_stop(f, 0);
    }
}

/* Under the id that its result will have: a page has one of its own. */
static void submit(struct errand *e, const struct cached *known)
{
    struct buffer id = BUFFER_INIT;

    fb_errand_id(e, &id);
    submit_as(e, fb_buffer_text(&id) ? id.bytes : e->item.id, known);
    fb_buffer_fini(&id);
}

/* What is known from an earlier answer, or NULL. */
static void looked_up(void *context, const struct cached *known)
{
    struct errand *e = context;
    struct fetch *f = e->fetch;

    if (f->stopping)
        fb_errand_end(e);
    else if (f->o->engine.mode == MODE_OFFLINE)
        fb_conditional_offline(e, known);
    else
        submit(e, known);
    fb_fetch_go_on(f);
}

void fb_errand_go(struct errand *e)
{
    struct fetch *f = e->fetch;

    if (f->stopping) {
        fb_errand_end(e);
        return;
    }
    if (f->o->robots && !e->is_allowed && !fb_gate_pass(e))
        return;
    if (fb_conditional_applies(e))
        fb_conditional_look_up(e, looked_up);
    else if (f->o->engine.mode == MODE_OFFLINE)
        fb_conditional_offline(e, NULL);
    else
        submit(e, NULL);
}

/* It was deferred, and its time is further away than anybody wants to wait. */
static bool is_put_off_again(struct errand *e)
{
    struct fetch *f = e->fetch;
    int64_t at_s = fb_journal_not_before(f->journal, e->item.number);
    int64_t wait_ns = at_s * NS_PER_S - fb_engine_now(f->engine);

    e->not_before_s = at_s;
    if (f->o->engine.hold_max_ns <= 0 || wait_ns <= f->o->engine.hold_max_ns)
        return false;
    struct result_facts facts = {.id = e->item.id,
                                 .url = e->item.url,
                                 .method = e->item.method,
                                 .failure = fb_failure_name(FAIL_LATE),
                                 .sentence = "still deferred",
                                 .not_before_s = at_s};
    fb_end_item(f, e, ENTRY_deferred, &facts);
    fb_errand_end(e);
    return true;
}

void fb_errand_begin(struct fetch *f, const struct item *i, uint16_t check)
{
    struct errand *e = fb_errand_new(f, i, check);

    if (!e) {
        fb_say(f, "flyball fetch: out of memory");
        fb_end_worse(f, FETCH_BROKEN);
        fb_fetch_stop(f, FETCH_DRAIN_MS);
        return;
    }
    f->out++;
    fb_errand_resume(e);
    if (!is_put_off_again(e))
        fb_errand_go(e);
}
