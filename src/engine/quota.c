/* SPDX-License-Identifier: MIT */
/*
 * quota.c - the path by which a provider tells its quota for free: asked once, before the first
 * request under a credential leaves.
 *
 * It is a task like any other, under a key of its own (pool "(quota)"), so that it takes nothing
 * from the limits that it tells of. Until it has ended, for ten seconds at most, what is queued
 * under that provider and credential waits; then each limiter hears of its pool, once, without
 * being charged for it. An answer that comes later than that, or is older than what a header told
 * meanwhile, is dropped. Nothing depends on it: headers of later answers tell the same.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include <jansson.h>

#include "engine/inside.h"
#include "signal/httpdate.h"
#include "util/alloc.h"
#include "util/text.h"

#define POOL         "(quota)" /* no name that a configuration may give to a pool */
#define PATIENCE_NS  (10 * FB_NS_PER_S)
#define POOLS_MAX    32
#define BODY_MAX     ((size_t)1 << 20)
#define RESET_MAX_NS (32 * INT64_C(86400) * FB_NS_PER_S)
#define HEADERS_MAX  32
#define ASKS_MAX     64 /* of one provider, that are remembered */

struct quota_told {
    char pool[FLY_POOL_NAME_SIZE];
    int64_t limit, remaining, reset_ns;
    bool is_given; /* what it says is older than what was spent since */
};

struct quota_ask {
    struct quota_ask *next; /* of the provider's */
    int64_t until_ns;       /* nobody waits longer for it */
    bool is_open;
    int64_t sent_ns, told_ns; /* what was spent since it left, it may not know */
    int32_t count;
    struct quota_told told[POOLS_MAX];
    char credential[];
};

/* As the configuration has it, else as it is documented; or NULL. */
static const char *path_of(const struct key *k)
{
    struct fly_preset p = {.size = sizeof(p)};

    if (k->provider->quota_path || !k->preset)
        return k->provider->quota_path;
    return fly_preset_find(k->preset, &p) == 0 ? p.quota_path : NULL;
}

/* ------------------------------------------------------------------------------------- reading */

/* How far the server's clock is ahead of ours. */
static int64_t skew_of(const struct engine_result *r, int64_t now_ns)
{
    int64_t date_ns = 0;

    for (size_t i = 0; i < r->header_count; i++)
        if (strcasecmp(r->header[i].name, "Date") == 0 &&
            fb_httpdate_read(fb_slice_of(r->header[i].value), now_ns, &date_ns))
            return date_ns - now_ns;
    return 0;
}

/* An object with a limit, what is left of it, and when it begins anew: seconds since 1970. */
static void read_pool(struct quota_ask *a, const char *name, const json_t *o, int64_t skew_ns,
                      int64_t now_ns)
{
    const json_t *limit = json_object_get(o, "limit");
    const json_t *left = json_object_get(o, "remaining");
    const json_t *reset = json_object_get(o, "reset");
    int64_t reset_s = (int64_t)json_integer_value(reset);
    struct text t;

    if (!json_is_integer(limit) || !json_is_integer(left) || !json_is_integer(reset) ||
        reset_s <= 0 || reset_s > FB_TIME_MAX / FB_NS_PER_S || a->count == POOLS_MAX)
        return;
    struct quota_told *told = &a->told[a->count];
    *told = (struct quota_told){
        .limit = (int64_t)json_integer_value(limit),
        .remaining = (int64_t)json_integer_value(left),
        .reset_ns = reset_s * FB_NS_PER_S - skew_ns,
    };
    fb_text_init(&t, told->pool, sizeof(told->pool));
    fb_text_add(&t, name);
    if (told->limit > 0 && told->remaining >= 0 && told->remaining <= told->limit &&
        told->reset_ns > now_ns && told->reset_ns - now_ns <= RESET_MAX_NS)
        a->count++;
}

/* {"resources": {"core": {...}, "search": {...}}}: whatever the outer names are. */
static void read_body(struct quota_ask *a, const struct engine_result *r, int64_t now_ns)
{
    json_error_t wrong;
    json_t *all = r->body && r->body_size <= BODY_MAX
                      ? json_loadb(r->body, r->body_size, JSON_REJECT_DUPLICATES, &wrong)
                      : NULL;
    int64_t skew_ns = skew_of(r, now_ns);
    const char *outer, *name;
    json_t *group, *pool;

    json_object_foreach(all, outer, group)
    {
        read_pool(a, outer, group, skew_ns, now_ns);
        json_object_foreach(group, name, pool)
        {
            read_pool(a, name, pool, skew_ns, now_ns);
        }
    }
    json_decref(all);
}

/* -------------------------------------------------------------------------------------- giving */

static struct quota_told *find_told(struct quota_ask *a, const char *pool)
{
    for (int32_t i = 0; i < a->count; i++)
        if (strcasecmp(a->told[i].pool, pool) == 0)
            return &a->told[i];
    return NULL;
}

static void remember_path(struct key *k)
{
    const char *path = path_of(k);
    struct text text;

    fb_text_init(&text, k->told.header, sizeof(k->told.header));
    fb_text_add(&text, path ? path : "the body");
}

/*
 * A grant that costs nothing carries it to the limiter. One that grants nothing now knows more, and
 * so does a key that was told something else meanwhile.
 */
static void give(struct engine *e, struct quota_ask *a, struct key *k)
{
    struct quota_told *t = find_told(a, k->pool);
    struct fly_outcome o = FLY_OUTCOME_INIT;

    if (!t || t->is_given || t->reset_ns <= e->now_ns || k->told.told_ns > a->sent_ns ||
        fly_limiter_take(k->limiter, e->now_ns, 1, &o.ticket) > e->now_ns)
        return;
    t->is_given = true;
    fly_limiter_settle(k->limiter, e->now_ns, o.ticket, 0);
    o.sent_ns = a->sent_ns;
    o.latency_ns = fb_max64(0, a->told_ns - a->sent_ns);
    o.status = 200;
    o.limit = t->limit;
    o.remaining = t->remaining;
    o.reset_ns = t->reset_ns;
    fly_limiter_report(k->limiter, e->now_ns, &o);
    fb_told_remember(&k->told, &o, FLY_ABSENT, a->told_ns);
    remember_path(k);
}

struct ended {
    struct engine *engine;
    struct quota_ask *ask;
};

static void go_on(void *arg, struct table_entry *entry)
{
    const struct ended *x = arg;
    struct key *k = FB_HEAP_OWNER(entry, struct key, entry);

    if (k->ask != x->ask)
        return;
    k->ask = NULL;
    give(x->engine, x->ask, k);
    fb_queue_wake(&x->engine->queue, &k->q);
}

/* One that comes when nobody waits any more does not know what was spent instead of waiting. */
static void on_result(void *user, const struct engine_result *r)
{
    struct ended x = {.engine = user, .ask = r->user};

    x.ask->is_open = false;
    x.ask->sent_ns = r->sent_ns;
    x.ask->told_ns = r->ended_ns;
    if (r->end == ENGINE_OK && r->status == 200 && r->ended_ns < x.ask->until_ns)
        read_body(x.ask, r, x.engine->now_ns);
    fb_table_each(&x.engine->keys, go_on, &x);
    fb_engine_want_turn(x.engine);
}

/* -------------------------------------------------------------------------------------- asking */

static struct quota_ask *find_ask(const struct key *k)
{
    struct quota_ask *a = k->provider->asks;

    while (a && strcmp(a->credential, k->credential) != 0)
        a = a->next;
    return a;
}

/* Of many credentials those asked about longest ago are forgotten; nobody waits for them. */
static void forget_some(struct provider *p)
{
    struct quota_ask **oldest = NULL;
    int count = 0;

    for (struct quota_ask **at = &p->asks; *at; at = &(*at)->next, count++)
        if (!(*at)->is_open)
            oldest = at;
    if (count < ASKS_MAX || !oldest)
        return;
    struct quota_ask *gone = *oldest;
    *oldest = gone->next;
    fb_free(gone);
}

static struct quota_ask *ask_new(struct engine *e, struct key *k)
{
    size_t size = strlen(k->credential) + 1;
    struct quota_ask *a = fb_alloc(sizeof(*a) + size);

    if (!a)
        return NULL;
    forget_some(k->provider);
    memcpy(a->credential, k->credential, size);
    a->until_ns = fb_after(e->now_ns, PATIENCE_NS);
    a->next = k->provider->asks;
    k->provider->asks = a;
    return a;
}

/* Whatever shows who asks; not what is about the one request. */
static bool is_for_all(const char *name)
{
    static const char *const OTHERS[] = {"If-", "Content-", "Range", "Accept", "Idempotency-"};

    for (size_t i = 0; i < sizeof(OTHERS) / sizeof(OTHERS[0]); i++)
        if (strncasecmp(name, OTHERS[i], strlen(OTHERS[i])) == 0)
            return false;
    return true;
}

static int submit(struct engine *e, const struct job *j, const char *url, struct quota_ask *a)
{
    struct engine_header header[HEADERS_MAX];
    struct engine_task t = {
        .url = url,
        .id = POOL,
        .header = header,
        .provider = j->key->name,
        .preset = j->key->preset,
        .pool = POOL,
        .credential = j->credential,
        .priority = PRIORITY_HIGH,
        .flags = ENGINE_NO_REDIRECT,
        .patience_ns = PATIENCE_NS,
        .user = a,
        .client = e->asker,
    };

    for (size_t i = 0; i < j->header_count; i++) {
        if (!is_for_all(j->header[i].name))
            continue;
        if (t.header_count == HEADERS_MAX)
            return -E2BIG; /* what is left out may be what shows who asks */
        header[t.header_count++] = j->header[i];
    }
    return fb_engine_submit(e, &t, NULL, NULL);
}

/* At the origin of the first request, user and password included. */
static void ask(struct engine *e, const struct job *j, const char *path, struct quota_ask *a)
{
    const struct engine_caller caller = {.user = e, .on_result = on_result};
    const char *host = strstr(j->url, "://");
    char url[512];
    struct text t;

    size_t origin = host ? (size_t)(host + 3 - j->url) + strcspn(host + 3, "/?#") : 0;
    if (origin == 0 || origin + strlen(path) >= sizeof(url))
        return;
    memcpy(url, j->url, origin);
    url[origin] = '\0';
    fb_text_init(&t, url + origin, sizeof(url) - origin);
    fb_text_add(&t, path);
    if (!e->asker && fb_engine_client_new(e, &caller, &e->asker) < 0)
        return;
    a->is_open = submit(e, j, url, a) == 0;
}

void fb_quota_begin(struct job *j)
{
    struct engine *e = j->engine;
    struct key *k = j->key;
    const char *path;

    if (!e->options.asks_quota || k->has_asked || strcmp(k->pool, POOL) == 0)
        return;
    path = path_of(k);
    struct quota_ask *a = path ? find_ask(k) : NULL;
    if (path && !a && fb_queue_is_full(&e->queue))
        return; /* it would push out a task; the next one asks */
    k->has_asked = true;
    if (path && !a) {
        a = ask_new(e, k);
        if (a)
            ask(e, j, path, a);
    }
    if (a && a->is_open)
        k->ask = a;
    else if (a)
        give(e, a, k);
}

int64_t fb_quota_awaited_until(const struct key *k)
{
    return k->ask && k->ask->is_open ? k->ask->until_ns : FB_LONG_AGO;
}

int fb_engine_set_quota(struct engine *e, const char *provider, const char *path)
{
    /* Of whom nothing is known there is nothing to take back. */
    struct provider *p = path ? fb_provider_get(e, provider, true) : fb_provider_find(e, provider);
    char *copy = p && path ? fb_alloc(strlen(path) + 1) : NULL;

    if (path && !copy)
        return -ENOMEM;
    if (copy)
        memcpy(copy, path, strlen(path) + 1);
    if (!p)
        return 0;
    fb_free(p->quota_path);
    p->quota_path = copy;
    return 0;
}

void fb_quota_forget(struct provider *p)
{
    while (p->asks) {
        struct quota_ask *a = p->asks;

        p->asks = a->next;
        fb_free(a);
    }
    fb_free(p->quota_path);
    p->quota_path = NULL;
}
