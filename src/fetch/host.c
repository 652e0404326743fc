/* SPDX-License-Identifier: MIT */
/*
 * host.c - an engine with its ledger and its memory, from the beginning to the end.
 *
 * Every key gets a limiter here: that of the ledger, so that all processes of the user spend one
 * budget; one of this process where there is no ledger or no room in it.
 */
#include "fetch/host.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include <flyball/ledger.h>

#include "fetch/host_parts.h"
#include "ledger/clock.h"
#include "ledger/inner.h"
#include "ledger/ledger.h"
#include "util/alloc.h"

#define TICK_MS        1000
#define SAVE_TICKS     10
#define KEYS_MANY      4096 /* of more, limits are saved when it is time */
#define STORE_CLOSE_MS 10000
#define PATH_BYTES     4096
#define FULL_NS        INT64_C(10000000000)

void fb_host_say(struct host *h, const char *format, ...)
{
    char text[1024];
    va_list words;

    va_start(words, format);
    (void)vsnprintf(text, sizeof text, format, words);
    va_end(words);
    if (h->o.say)
        h->o.say(h->o.user, text);
}

struct engine *fb_host_engine(const struct host *h)
{
    return h->engine;
}

uv_loop_t *fb_host_loop(const struct host *h)
{
    return h->loop;
}

const char *fb_host_ledger(const struct host *h)
{
    return h->ledger ? h->ledger_path : NULL;
}

/* ------------------------------------------------------------------------------------ limiters */

static struct fly_limiter *from_ledger(struct host *h, const struct engine_key *k, const char *spec)
{
    struct fly_key key = {k->provider, k->pool, k->credential};
    struct fly_limiter *l = NULL;
    struct fly_error err = {""};

    if (!h->ledger || fly_now() < h->full_until_ns)
        return NULL;
    int rc = fly_ledger_limiter(h->ledger, &key, spec, &l, &err);
    if (rc == 0)
        return l;
    /* A full one looks at all its keys each time. */
    if (rc == -ENOSPC)
        h->full_until_ns = fly_now() + FULL_NS;
    if (!h->told_ledger)
        fb_host_say(h, "%s; from now on this process keeps some limits by itself", err.text);
    h->told_ledger = true;
    return NULL;
}

/* As it is in the ledger, for who only asks: a copy, under the limit of this process. */
static struct fly_limiter *as_in_ledger(const struct host *h, const struct engine_key *k,
                                        const char *spec, int64_t now_ns)
{
    struct fly_key key = {k->provider, k->pool, k->credential};
    struct fly_limiter *l = NULL;

    if (!h->sight || fb_sight_key(h->sight, &key, now_ns, &l) < 0)
        return NULL;
    if (fly_limiter_reconfigure(l, spec, now_ns, NULL) == 0)
        return l;
    fly_limiter_free(l);
    return NULL;
}

static struct fly_limiter *limiter_of(void *user, const struct engine_key *k, int64_t now_ns,
                                      struct fly_error *err)
{
    struct host *h = user;
    const char *spec = h->o.limit_of ? h->o.limit_of(h->o.user, k) : NULL;
    struct fly_limiter *l =
        h->o.forgets ? as_in_ledger(h, k, spec, now_ns) : from_ledger(h, k, spec);

    if (l && h->o.forgets)
        return l; /* newer than what is remembered */
    if (!l)
        l = fly_limiter_new(spec, now_ns, fb_rng_next(&h->rng), err);
    if (l)
        fb_memory_recall(h, k, l, now_ns);
    return l;
}

/* -------------------------------------------------------------------------------------- saving */

static void save_one(void *context, const struct engine_key_state *s)
{
    (void)fb_memory_save_key(context, s);
}

/*
 * Of a key that was never refused nothing is worth keeping; what a ledger has is kept there. Else
 * it must be in the store before it may go.
 */
static bool on_forget(void *user, const struct engine_key_state *s)
{
    struct host *h = user;
    bool is_saved = !h->o.forgets && fb_memory_save_key(h, s);

    return is_saved || s->refused == 0 || fb_limiter_is_shared(s->limiter);
}

void fb_host_save(struct host *h)
{
    if (h->file && h->engine && !h->o.forgets)
        fb_engine_keys(h->engine, save_one, h);
}

static void save_first(void *context, const struct engine_key_state *s)
{
    fb_memory_save_first(context, s);
}

/* A limit that was found out is told to whoever asks for it, and not only ten seconds later. */
static void save_new(struct host *h)
{
    struct engine_stats s;

    if (!h->file || !h->engine || h->o.forgets)
        return;
    fb_engine_stats(h->engine, &s);
    if (s.keys <= KEYS_MANY)
        fb_engine_keys(h->engine, save_first, h);
}

static void on_clock(uv_timer_t *timer)
{
    struct host *h = timer->data;

    if (++h->ticks % SAVE_TICKS != 0) {
        save_new(h);
        return;
    }
    fb_host_save(h);
    fb_host_restate(h);
}

static void wake(void *context)
{
    struct host *h = context;

    (void)uv_async_send(&h->wake);
}

static void store_turn(uv_async_t *async)
{
    struct host *h = async->data;

    if (!h->is_closing)
        (void)fb_store_turn(h->store);
}

/* What was learned is in memory: whatever is wrong, nothing has to stop for it. */
static void trouble(void *context, int error, const char *sentence)
{
    if (error < 0)
        fb_host_say(context, "%s; what is learned is kept when that works again", sentence);
}

/* -------------------------------------------------------------------------------------- the end */

static void host_free(struct host *h)
{
    void (*done)(void *arg) = h->done;
    void *arg = h->done_arg;

    fb_memory_fini(h);
    fb_free(h->ledger_path);
    fb_free(h);
    if (done)
        done(arg);
}

static void handle_closed(uv_handle_t *handle)
{
    struct host *h = handle->data;

    if (--h->handles_open == 0)
        host_free(h);
}

/* The limiters are gone: now the ledger may, and the worker. */
static void engine_closed(void *arg)
{
    struct host *h = arg;

    h->engine = NULL;
    h->is_closing = true;
    fly_ledger_close(h->ledger);
    h->ledger = NULL;
    fb_sight_close(h->sight);
    h->sight = NULL;
    if (h->store && fb_store_close(h->store, STORE_CLOSE_MS) == -ETIMEDOUT)
        return; /* its thread hangs in a write: nothing can be freed under it */
    uv_close((uv_handle_t *)&h->wake, handle_closed);
    uv_close((uv_handle_t *)&h->clock, handle_closed);
}

void fb_host_close(struct host *h, void (*done)(void *arg), void *arg)
{
    if (!h)
        return;
    h->done = done;
    h->done_arg = arg;
    fb_host_save(h);
    (void)uv_timer_stop(&h->clock);
    if (h->engine)
        fb_engine_close(h->engine, engine_closed, h);
    else
        engine_closed(h);
}

/* ------------------------------------------------------------------------------------ beginning */

/* Its name is looked up here, so that people can be told. */
static int find_ledger(struct host *h, struct fly_error *err)
{
    char path[PATH_BYTES];
    const char *said = h->o.ledger;
    int rc = said ? 0 : fb_ledger_path(path, sizeof path, err);

    if (rc < 0)
        return rc;
    said = said ? said : path;
    h->ledger_path = fb_alloc(strlen(said) + 1);
    if (!h->ledger_path)
        return -ENOMEM;
    memcpy(h->ledger_path, said, strlen(said) + 1);
    return fly_ledger_open(h->ledger_path, NULL, &h->ledger, err);
}

/* Nothing is sent: it is read, if there is one that can be, and stays as it is. */
static void look_at_ledger(struct host *h)
{
    if (fb_sight_open(h->o.ledger, &h->sight, NULL) == 0)
        fb_sight_secret(h->sight, h->secret);
    else
        h->sight = NULL;
}

/* All who share a ledger hash credentials alike; a new one takes the secret of the store. */
static void open_ledger(struct host *h)
{
    struct fly_error err = {""};
    unsigned char secret[FB_SIPHASH_SECRET_BYTES];

    if (h->o.ledger && strcmp(h->o.ledger, "none") == 0)
        return;
    if (h->o.forgets) {
        look_at_ledger(h);
        return;
    }
    int rc = find_ledger(h, &err);
    if (rc == 0 && fb_ledger_secret(h->ledger, h->secret, secret) == 0) {
        if (memcmp(secret, h->secret, sizeof secret) != 0) {
            memcpy(h->secret, secret, sizeof secret);
            fb_memory_keep_secret(h);
        }
        return;
    }
    fly_ledger_close(h->ledger);
    h->ledger = NULL;
    fb_host_say(h, "%s; the limits are this process's own, others do not see what it spends",
                err.text[0] ? err.text : "the ledger is kept by a process that does not go on");
}

static void open_handles(struct host *h)
{
    (void)uv_async_init(h->loop, &h->wake, store_turn);
    (void)uv_timer_init(h->loop, &h->clock);
    h->wake.data = h->clock.data = h;
    h->handles_open = 2;
    (void)uv_timer_start(&h->clock, on_clock, TICK_MS, TICK_MS);
    /* What there is to do keeps the loop going, not what watches it. */
    uv_unref((uv_handle_t *)&h->wake);
    uv_unref((uv_handle_t *)&h->clock);
}

static void stuck(void *user, int64_t still_ns)
{
    struct host *h = user;

    h->o.on_stuck(h->o.user, still_ns);
}

static void ended(void *user, const struct engine_result *r)
{
    const struct host *h = user;

    h->o.on_result(h->o.user, r);
}

/* So that what hashes of credentials are made with is not what keys are hashed with. */
static void derive(const unsigned char secret[FB_SIPHASH_SECRET_BYTES],
                   unsigned char ret[FB_SIPHASH_SECRET_BYTES])
{
    struct siphash_secret s = fb_siphash_secret(secret);
    struct siphash_wide w = fb_siphash_wide(&s, "credential", 10);

    memcpy(ret, w.word, FB_SIPHASH_SECRET_BYTES);
}

static int open_engine(struct host *h, struct fly_error *err)
{
    struct engine_options e = h->o.engine;

    e.user = h;
    e.on_result = h->o.on_result ? ended : NULL;
    e.on_start = NULL;
    e.on_room = NULL;
    e.limiter_of = limiter_of;
    e.asks_quota = true;
    e.on_forget = on_forget;
    e.on_stuck = h->o.on_stuck ? stuck : NULL;
    derive(h->secret, e.secret);
    /* The clock of a ledger is fly_now()'s, and the same in every process. */
    e.anchor_ns = fb_clock_adopt(fb_clock_anchor_ns());
    return fb_engine_open(h->loop, &e, &h->engine, err);
}

/* A seed of the caller's makes a run repeatable, secrets included. */
static int draw(struct host *h)
{
    uint64_t seed = h->o.engine.seed;
    bool is_given = seed != 0;

    if (!is_given && (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed ||
                      getrandom(h->secret, FB_SIPHASH_SECRET_BYTES, 0) != FB_SIPHASH_SECRET_BYTES))
        return -EIO;
    h->rng.state = seed;
    h->rows.seed = fb_rng_next(&h->rng);
    for (size_t i = 0; is_given && i < FB_SIPHASH_SECRET_BYTES; i++)
        h->secret[i] = (unsigned char)(fb_rng_next(&h->rng) >> 32);
    return 0;
}

int fb_host_open(uv_loop_t *loop, const struct host_options *o, struct host **ret_host,
                 struct fly_error *err)
{
    struct host *h = fb_alloc(sizeof *h);

    err->text[0] = '\0';
    if (!h)
        return -ENOMEM;
    h->o = *o;
    h->loop = loop;
    open_handles(h);
    struct store_options so = {.wake = wake, .trouble = trouble, .context = h};
    int rc = draw(h);
    if (rc == 0)
        rc = fb_store_open(&so, &h->store);
    if (rc == 0) {
        fb_memory_open(h);
        open_ledger(h);
        rc = open_engine(h, err);
    }
    if (rc < 0) {
        fb_host_close(h, NULL, NULL);
        return rc;
    }
    *ret_host = h;
    return 0;
}
