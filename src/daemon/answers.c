/* SPDX-License-Identifier: MIT */
/* answers.c - limits, learned, why, audit and config, for the commands of those names. */
#include <stdlib.h>
#include <string.h>

#include "config/show.h"
#include "daemon/parts.h"
#include "engine/control.h"
#include "engine/show.h"
#include "fetch/place.h"
#include "util/alloc.h"
#include "view/learned.h"
#include "view/limits.h"
#include "view/why.h"

#define KEYS_MAX 1024
#define NOTHING  "nothing was sent yet" /* the files may know more */

static int64_t number(const struct call *c, const char *name)
{
    char text[16] = "0";

    (void)fb_call_query(c, name, text, sizeof text);
    return (int64_t)strtol(text, NULL, 10);
}

bool fb_call_style(const struct call *c, struct view_style *ret_style)
{
    *ret_style = (struct view_style){.width = (size_t)number(c, "width"),
                                     .rows = (size_t)number(c, "rows"),
                                     .color = number(c, "color") != 0,
                                     .ascii = number(c, "ascii") != 0,
                                     .verbose = number(c, "verbose") != 0,
                                     .zone_s = number(c, "zone")};
    return number(c, "json") != 0;
}

void fb_call_send_text(struct call *c, struct buffer *text)
{
    if (text->failed)
        fb_call_refuse(c, 503, "out of memory");
    else
        fb_call_send(c, 200, "text/plain; charset=utf-8", (struct slice){text->bytes, text->size});
    fb_buffer_fini(text);
}

static void send_view(struct call *c, bool is_json, struct buffer *b)
{
    if (is_json)
        fb_call_send_json(c, 200, b);
    else
        fb_call_send_text(c, b);
}

/* Keys in memory of their own; NULL: there is none. */
static struct view_key *keys_of(struct daemon *d, size_t *ret_count)
{
    struct view_key *keys = fb_alloc(KEYS_MAX * sizeof *keys);

    *ret_count = keys ? fb_status_keys(d, keys, KEYS_MAX) : 0;
    return keys;
}

void fb_limits_answer(struct call *c)
{
    struct daemon *d = fb_daemon_of(c);
    struct view_limits v = {0};
    struct view_style style;
    struct buffer b = BUFFER_INIT;
    bool is_json = fb_call_style(c, &style);
    char provider[VIEW_NAME] = "";
    struct view_key *keys = keys_of(d, &v.key_count);
    size_t kept = 0;

    (void)fb_call_query(c, "provider", provider, sizeof provider);
    for (size_t i = 0; provider[0] && i < v.key_count; i++)
        if (strcmp(keys[i].provider, provider) == 0)
            keys[kept++] = keys[i];
    v.key_count = provider[0] ? kept : v.key_count;
    v.key = keys;
    if (v.key_count == 0) {
        fb_free(keys);
        fb_call_refuse(c, 404, NOTHING);
        return;
    }
    if (is_json)
        fb_view_limits_json(&v, fb_daemon_now(d), &b);
    else
        fb_view_limits_text(&v, &style, fb_daemon_now(d), &b);
    fb_free(keys);
    send_view(c, is_json, &b);
}

/* --------------------------------------------------------------------------------- learned */

struct learned_walk {
    const struct host *home;
    int64_t now_ns;
    const char *provider;
    struct view_learned_row row[256];
    char by[256][16];
    size_t count;
};

static void add_learned(void *arg, const struct engine_key_state *s)
{
    struct learned_walk *w = arg;
    struct fly_learned known = {.size = sizeof known};

    if (w->count == sizeof w->row / sizeof w->row[0] ||
        (w->provider[0] && strcmp(w->provider, s->key.provider) != 0) ||
        fb_show_learned(s, w->now_ns, &known) < 0 || strcmp(known.by, "off") == 0)
        return;
    memcpy(w->by[w->count], known.by, sizeof known.by);
    w->row[w->count] = (struct view_learned_row){
        .provider = s->key.provider,
        .host = s->key.provider,
        .pool = s->key.pool,
        .by = w->by[w->count],
        .rate = known.rate,
        .reduction = known.reduction,
        .confidence = known.confidence,
        .recovery_ns = known.recovery_ns,
        .changed_ns = fb_host_changed_ns(w->home, &s->key),
        .saved_ns = w->now_ns,
    };
    w->count++;
}

void fb_learned_answer(struct call *c)
{
    struct daemon *d = fb_daemon_of(c);
    struct learned_walk *w = fb_alloc(sizeof *w);
    struct view_style style;
    struct buffer b = BUFFER_INIT;
    bool is_json = fb_call_style(c, &style);
    char provider[VIEW_NAME] = "";

    if (!w) {
        fb_call_refuse(c, 503, "out of memory");
        return;
    }
    (void)fb_call_query(c, "provider", provider, sizeof provider);
    w->provider = provider;
    w->home = d->home;
    w->now_ns = fb_engine_now(d->engine);
    fb_engine_keys(d->engine, add_learned, w);
    const struct view_learned v = {.row = w->row, .row_count = w->count};
    if (w->count == 0) {
        fb_free(w);
        fb_call_refuse(c, 404, NOTHING);
        return;
    }
    if (is_json)
        fb_view_learned_json(&v, fb_daemon_now(d), &b);
    else
        fb_view_learned_text(&v, &style, fb_daemon_now(d), &b);
    fb_free(w);
    send_view(c, is_json, &b);
}

/* ------------------------------------------------------------------------------------- why */

/* The provider that a URL belongs to, or the subject itself: a provider, or "provider/pool". */
static void find_key(struct daemon *d, const char *subject, char *provider, char *pool)
{
    struct origin o;
    const char *slash = strchr(subject, '/');

    pool[0] = '\0';
    if (!strstr(subject, "://")) {
        size_t size = slash ? (size_t)(slash - subject) : strlen(subject);

        fb_view_put(provider, size + 1 < VIEW_NAME ? size + 1 : VIEW_NAME, subject);
        fb_view_put(pool, VIEW_NAME, slash ? slash + 1 : "");
        return;
    }
    fb_origin_of(subject, &o);
    struct slice host = {subject + o.host, o.host_size};
    const struct config_provider *p =
        fb_config_for_host(d->config, fb_slice_head(host, fb_slice_find(host, ':')));
    if (!p) {
        fb_view_put(provider, host.length + 1 < VIEW_NAME ? host.length + 1 : VIEW_NAME, host.at);
        return;
    }
    const char *path = subject[o.path] == '/' ? subject + o.path : "/";
    const struct config_pool *of = fb_config_pool(p, FB_SLICE("GET"), fb_slice_of(path));
    fb_view_put(provider, VIEW_NAME, p->name);
    fb_view_put(pool, VIEW_NAME, of ? of->name : "");
}

/* What is known of its key, at one moment: verdict and sentence. */
static void judge(struct view_why *v, int64_t now_ns)
{
    struct buffer why = BUFFER_INIT;

    struct view_key key = v->key;

    fb_view_why_judge(&key, true, now_ns, v);
    fb_view_key_why(&v->key, now_ns, &why);
    if (fb_buffer_text(&why))
        fb_view_put(v->sentence, sizeof v->sentence, why.bytes);
    fb_buffer_fini(&why);
}

static void find_why(struct daemon *d, const char *subject, struct view_why *v)
{
    char provider[VIEW_NAME] = "";
    char pool[VIEW_NAME] = "";
    size_t count = 0;
    struct view_key *keys = keys_of(d, &count);
    struct buffer shown = BUFFER_INIT;

    find_key(d, subject, provider, pool);
    if (strstr(subject, "://"))
        fb_place_add(&shown, subject);
    else
        fb_buffer_add_text(&shown, subject);
    fb_view_put(v->subject, sizeof v->subject, fb_buffer_text(&shown) ? shown.bytes : "");
    fb_buffer_fini(&shown);
    fb_view_put(v->source, sizeof v->source, "the daemon, which runs");
    for (size_t i = 0; i < count && !v->has_key; i++) {
        v->has_key = strcmp(keys[i].provider, provider) == 0 &&
                     (!pool[0] || strcmp(keys[i].pool, pool) == 0);
        if (v->has_key)
            v->key = keys[i];
    }
    fb_free(keys);
    if (!v->has_key && !fb_engine_is_enabled(d->engine, provider)) {
        v->has_key = true;
        fb_status_off(d, provider, &v->key);
    }
}

/* A batch by its name, or the one that began last: what it waits for, or how it has ended. */
static void find_batch(struct daemon *d, const char *name, struct view_why *v)
{
    const struct work *b = strcmp(name, "last") == 0 ? d->batches : fb_work_find(d, name);
    const struct view_batch *view = b && b->fetch ? fb_fetch_view(b->fetch) : NULL;
    const struct view_key *key = view ? fb_view_batch_waiting(view) : NULL;

    if (!b)
        return;
    fb_view_put(v->subject, sizeof v->subject, name);
    fb_view_put(v->batch, sizeof v->batch, b->name);
    fb_view_put(v->source, sizeof v->source, "the daemon, which runs");
    v->verdict = b->state == BATCH_RUNS ? VIEW_VERDICT_now : VIEW_VERDICT_done;
    if (!key)
        return;
    v->has_key = true;
    v->key = *key;
}

void fb_why_answer(struct call *c)
{
    struct daemon *d = fb_daemon_of(c);
    struct view_why v = {.verdict = VIEW_VERDICT_unknown};
    struct view_style style;
    struct buffer b = BUFFER_INIT;
    bool is_json = fb_call_style(c, &style);
    char subject[2048] = "";

    if (fb_call_query(c, "subject", subject, sizeof subject)) {
        find_why(d, subject, &v);
    } else if (fb_call_query(c, "batch", subject, sizeof subject)) {
        find_batch(d, subject, &v);
    } else {
        fb_call_refuse(c, 400, "of what? subject=URL, or a provider; or batch=NAME");
        return;
    }
    int64_t now_ns = fb_daemon_now(d);
    if (v.has_key)
        judge(&v, now_ns);
    if (is_json)
        fb_view_why_json(&v, now_ns, &b);
    else
        fb_view_why_text(&v, &style, now_ns, &b);
    if (v.verdict == VIEW_VERDICT_unknown) {
        /* The files may know more: an id, a batch that has ended. */
        fb_buffer_fini(&b);
        fb_call_refuse(c, 404, "the daemon has no limit for it");
        return;
    }
    send_view(c, is_json, &b);
}

/* ----------------------------------------------------------------------------------- audit */

void fb_audit_answer(struct call *c)
{
    struct daemon *d = fb_daemon_of(c);
    struct view_audit_event *events = NULL;
    struct view_audit v;
    struct view_style style;
    struct buffer b = BUFFER_INIT;
    bool is_json = fb_call_style(c, &style);

    if (fb_audit_view(&d->audit, &events, &v) < 0) {
        fb_call_refuse(c, 503, "out of memory");
        return;
    }
    if (is_json)
        fb_view_audit_json(&v, fb_daemon_now(d), &b);
    else
        fb_view_audit_text(&v, &style, fb_daemon_now(d), &b);
    fb_free(events);
    send_view(c, is_json, &b);
}

/* As `flyball config show --json` has it, with where each value came from. */
void fb_config_answer(struct call *c)
{
    struct buffer b = BUFFER_INIT;

    fb_config_show_json(fb_daemon_of(c)->config, &b);
    fb_call_send_json(c, 200, &b);
}
