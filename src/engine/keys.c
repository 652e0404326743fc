/* SPDX-License-Identifier: MIT */
/*
 * keys.c - keys and providers: made when a task first needs them, kept while it matters
 * (forget.c).
 *
 * A key is provider, pool and credential. What is not given comes from the request: the provider is
 * the host (and a port that is not the usual one), the credential a keyed hash of Authorization.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "engine/inside.h"
#include "ledger/siphash.h"
#include "util/alloc.h"
#include "util/text.h"

#define NAME_MAX_SIZE 512

/* provider NUL pool NUL credential NUL */
struct name {
    size_t size;
    size_t pool, credential;  /* where they begin */
    struct fly_preset preset; /* what is known of the provider; no name: nothing */
    char text[NAME_MAX_SIZE];
};

static int name_add(struct name *n, const char *text, size_t size)
{
    if (n->size + size + 1 > sizeof(n->text))
        return -EINVAL;
    memcpy(n->text + n->size, text, size);
    n->text[n->size + size] = '\0';
    n->size += size + 1;
    return 0;
}

static const char *authorization_of(const struct job *j)
{
    for (size_t i = 0; i < j->header_count; i++)
        if (strcasecmp(j->header[i].name, "Authorization") == 0)
            return j->header[i].value;
    return NULL;
}

/* 16 hexadecimal digits, or nothing for a request without a credential. */
static void credential_of(const struct engine *e, const struct job *j, const struct url_parts *url,
                          char digits[17])
{
    const char *secret = j->credential ? j->credential : j->is_foreign ? NULL : authorization_of(j);
    size_t size = secret ? strlen(secret) : url->userinfo_size;

    digits[0] = '\0';
    if (size == 0)
        return;

    uint64_t hash = fb_siphash(&e->secret, secret ? secret : url->userinfo, size);

    for (int i = 0; i < 16; i++)
        digits[i] = "0123456789abcdef"[hash >> (60 - 4 * i) & 15];
    digits[16] = '\0';
}

struct provider *fb_provider_find(const struct engine *e, const char *name)
{
    struct table_entry *found = fb_table_find(&e->providers, name, strlen(name));

    return found ? FB_HEAP_OWNER(found, struct provider, entry) : NULL;
}

/* By the host, else by the given name. Of most providers it is known that there is none. */
static struct fly_preset preset_of(const struct engine *e, const struct job *j,
                                   const struct url_parts *url, const char *provider)
{
    struct fly_preset p = {.size = sizeof(p)};
    const struct provider *known = fb_provider_find(e, provider);
    const char *rest;
    char host[256];

    if ((known && !known->has_preset) || url->host_size >= sizeof(host))
        return p;
    rest = url->host + strcspn(url->host, "/?#");
    if (j->preset && !j->is_foreign && fly_preset_find(j->preset, &p) == 0)
        return p;
    memcpy(host, url->host, url->host_size);
    host[url->host_size] = '\0';
    if (fly_preset_for(host, j->method, rest[0] == '/' ? rest : "/", &p) < 0 && j->provider)
        (void)fly_preset_find(j->provider, &p);
    return p;
}

static int name_of(const struct engine *e, const struct job *j, struct name *ret_name)
{
    struct url_parts url;
    char digits[17];
    bool given = j->provider && !j->is_foreign;
    const char *pool = j->pool && !j->is_foreign ? j->pool : NULL;
    int rc = fb_url_read(j->url, &url);

    if (rc < 0)
        return rc;
    ret_name->size = 0;
    rc = given ? name_add(ret_name, j->provider, strlen(j->provider))
               : name_add(ret_name, url.authority, url.authority_size);
    if (rc < 0)
        return rc;
    for (size_t i = 0; !given && i < ret_name->size; i++)
        if (ret_name->text[i] >= 'A' && ret_name->text[i] <= 'Z')
            ret_name->text[i] = (char)(ret_name->text[i] - 'A' + 'a');
    ret_name->preset = preset_of(e, j, &url, ret_name->text);
    if (!pool)
        pool = ret_name->preset.pool ? ret_name->preset.pool : "default";
    ret_name->pool = ret_name->size;
    rc = name_add(ret_name, pool, strlen(pool));
    if (rc < 0)
        return rc;
    ret_name->credential = ret_name->size;
    credential_of(e, j, &url, digits);
    return name_add(ret_name, digits, strlen(digits));
}

struct provider *fb_provider_get(struct engine *e, const char *name, bool has_preset)
{
    size_t size = strlen(name);
    struct provider *p = fb_provider_find(e, name);

    if (p)
        return p;
    p = fb_alloc(sizeof(*p) + size + 1);
    if (!p)
        return NULL;
    p->has_preset = has_preset;
    memcpy(p->name, name, size + 1);
    p->entry = (struct table_entry){.name = p->name, .name_size = size};
    fb_retry_budget_init(&p->budget, e->now_ns);
    if (fb_table_add(&e->providers, &p->entry) < 0) {
        fb_free(p);
        return NULL;
    }
    return p;
}

/* What the caller says, else the text for all keys, else what the provider documents. */
static struct fly_limiter *limiter_new(struct engine *e, const struct engine_key *k,
                                       const struct fly_preset *preset, struct fly_error *err)
{
    const struct engine_options *o = &e->options;
    const char *limit = o->limit ? o->limit : preset->limit;
    struct fly_limiter *l = NULL;

    err->text[0] = '\0';
    if (o->limiter_of)
        l = o->limiter_of(o->user, k, e->now_ns, err);
    if (!l && !err->text[0])
        l = fly_limiter_new(limit, e->now_ns, fb_rng_next(&e->rng), err);
    return l;
}

void fb_key_free(struct key *k)
{
    fb_pools_forget(k);
    fly_limiter_free(k->limiter);
    fb_free(k);
}

/* Its settings; what it has counted stays. */
void fb_key_set_breaker(struct key *k, const struct engine_options *o)
{
    k->breaker.failures_max = o->breaker_failures > 0 ? o->breaker_failures : INT32_MAX;
    k->breaker.open_ns = o->breaker_ns;
    k->breaker.counts_429 = o->breaker_counts_429;
    k->pause.failures_max = o->pause_failures;
    k->pause.span_ns = o->pause_ns;
}

static int key_new(struct engine *e, const struct name *n, struct key **ret_key,
                   struct fly_error *err)
{
    struct key *k = fb_alloc(sizeof(*k) + n->size);

    if (!k)
        return -ENOMEM;
    memcpy(k->name, n->text, n->size);
    k->pool = k->name + n->pool;
    k->credential = k->name + n->credential;
    k->entry = (struct table_entry){.name = k->name, .name_size = n->size};
    k->down_since_ns = FB_NEVER;
    k->said = -1;
    k->promised_most = 1;
    fb_breaker_init(&k->breaker);
    fb_pause_init(&k->pause, e->options.pause_failures, e->options.pause_ns);
    fb_key_set_breaker(k, &e->options);
    k->provider = fb_provider_get(e, k->name, n->preset.name != NULL);
    k->preset = n->preset.name;
    k->limiter =
        limiter_new(e, &(struct engine_key){k->name, k->pool, k->credential}, &n->preset, err);
    if (!k->provider || !k->limiter || fb_table_add(&e->keys, &k->entry) < 0) {
        int rc = k->limiter ? -ENOMEM : -EINVAL;

        fb_key_free(k);
        return rc;
    }
    k->rate = fly_limiter_rate(k->limiter);
    k->provider->keys++;
    fb_keys_forget_some(e);
    fb_key_enlist(e, k);
    *ret_key = k;
    return 0;
}

int fb_key_get(struct engine *e, const struct job *j, struct key **ret_key, struct fly_error *err)
{
    struct name n;
    int rc = name_of(e, j, &n);
    struct table_entry *found;

    if (rc < 0) {
        struct text t;

        fb_text_init(&t, err->text, sizeof(err->text));
        fb_text_add(&t, "a URL is http://HOST/... or https://HOST/..., without blanks");
        return rc;
    }
    found = fb_table_find(&e->keys, n.text, n.size);
    if (found) {
        *ret_key = FB_HEAP_OWNER(found, struct key, entry);
        return 0;
    }
    return key_new(e, &n, ret_key, err);
}

static void free_one_key(void *arg, struct table_entry *entry)
{
    (void)arg;
    fb_key_free(FB_HEAP_OWNER(entry, struct key, entry));
}

static void free_one_provider(void *arg, struct table_entry *entry)
{
    struct provider *p = FB_HEAP_OWNER(entry, struct provider, entry);

    (void)arg;
    fb_quota_forget(p);
    fb_free(p->manners);
    fb_free(p);
}

void fb_keys_fini(struct engine *e)
{
    fb_table_each(&e->keys, free_one_key, NULL);
    fb_table_each(&e->providers, free_one_provider, NULL);
    fb_table_fini(&e->keys);
    fb_table_fini(&e->providers);
}

static void try_one_key(void *arg, struct table_entry *entry)
{
    struct engine *e = arg;
    struct key *k = FB_HEAP_OWNER(entry, struct key, entry);

    /* Only a breaker knows how to let one through: what is merely paused stays so. */
    if (k->breaker.state != BREAKER_OPEN)
        return;
    fb_breaker_try(&k->breaker, e->now_ns);
    fb_pause_end(&k->pause, e->now_ns);
    fb_queue_wake(&e->queue, &k->q);
}

void fb_keys_try(struct engine *e)
{
    fb_table_each(&e->keys, try_one_key, e);
}

/* From when on the limiter lets something leave, or `at_ns` where that is later. */
static int64_t permit_at(const struct engine *e, const struct key *k, int64_t at_ns)
{
    struct fly_why why = {.size = sizeof(why)};

    fb_pools_why(k, e->now_ns, 1, &why);
    return why.until_ns == FLY_NEVER ? at_ns : fb_max64(at_ns, why.until_ns);
}

static int64_t after_queued(const struct key *k, int64_t at_ns)
{
    double rate = fly_limiter_rate(k->limiter);

    if (rate <= 0.0 || k->q.count == 0)
        return at_ns;
    return fb_after(at_ns, fb_span((double)k->q.count / rate));
}

/* When one more task of this key would start: after what it waits for and what is queued before. */
int64_t fb_key_estimate(const struct engine *e, const struct key *k)
{
    int64_t at_ns = permit_at(e, k, e->now_ns);

    at_ns = fb_max64(at_ns, fb_pause_ready_at(&k->pause));
    if (fb_breaker_ready_at(&k->breaker, e->now_ns) != FB_NEVER)
        at_ns = fb_max64(at_ns, fb_breaker_ready_at(&k->breaker, e->now_ns));
    return after_queued(k, at_ns);
}

/* What stands in a queue behind a breaker does not stand before one that passes it. */
int64_t fb_job_estimate(const struct job *j)
{
    const struct engine *e = j->engine;
    const char *cause;

    if (!fb_job_has_own_trials(j))
        return fb_key_estimate(e, j->key);

    int64_t at_ns = permit_at(e, j->key, e->now_ns);

    return fb_key_broken_until(e, j->key, &cause) > e->now_ns ? at_ns : after_queued(j->key, at_ns);
}

/* Told to observers when it has changed by more than a hundredth. */
void fb_key_note_rate(struct engine *e, struct key *k)
{
    double rate = e->observe ? fly_limiter_rate(k->limiter) : k->rate;
    double change = rate - k->rate;

    if (change > k->rate / 100 || -change > k->rate / 100) {
        k->rate = rate;
        fb_engine_tell(e, FB_EVENT_RATE, NULL, k, &(struct event){.rate = rate});
    }
}

struct each {
    struct engine *engine;
    void (*each)(void *arg, const struct engine_key_state *s);
    void *arg;
};

/* Within a priority the oldest is the first, but for what was put back. */
static int64_t oldest_of(const struct queue_key *q)
{
    int64_t oldest_ns = FB_NEVER;

    for (int i = 0; i < FB_QUEUE_LEVELS; i++)
        if (q->level[i].first)
            oldest_ns = fb_min64(oldest_ns, q->level[i].first->queued_ns);
    return oldest_ns == FB_NEVER ? 0 : oldest_ns;
}

void fb_key_describe(const struct engine *e, const struct key *k, struct engine_key_state *ret)
{
    const char *cause;

    *ret = (struct engine_key_state){
        .key = {k->name, k->pool, k->credential},
        .limiter = k->limiter,
        .queued = k->q.count,
        .queued_by = k->q.in_level,
        .oldest_ns = oldest_of(&k->q),
        .in_flight = k->in_flight,
        .left_ns = k->left_ns,
        .requests = k->requests,
        .refused = k->refused,
        .is_broken = k->down_since_ns != FB_NEVER,
        .broken_until_ns = fb_key_broken_until(e, k, &cause),
        .is_enabled = !k->provider->is_disabled,
        .ready_at_ns = k->q.lane ? e->now_ns : k->q.wait_ns,
        .cause = k->q.lane ? "" : k->cause,
        .told = &k->told,
        .failures = k->failures,
    };
}

static void tell_one(void *arg, struct table_entry *entry)
{
    const struct each *to = arg;
    struct engine_key_state s;

    fb_key_describe(to->engine, FB_HEAP_OWNER(entry, struct key, entry), &s);
    to->each(to->arg, &s);
}

void fb_engine_keys(struct engine *e, void (*each)(void *arg, const struct engine_key_state *s),
                    void *arg)
{
    struct each to = {e, each, arg};

    fb_table_each(&e->keys, tell_one, &to);
}
