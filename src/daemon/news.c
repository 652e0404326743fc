/* SPDX-License-Identifier: MIT */
/*
 * news.c - a ring under a lock, which is held for a copy and no longer.
 */
#include "daemon/news.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "core/instant.h"
#include "engine/engine.h"
#include "engine/observers/log.h"
#include "util/alloc.h"
#include "util/hash.h"
#include "util/text.h"

#define RATE_TOLD_SHARE 0.1
#define WAIT_TOLD_NS    FB_NS_PER_S /* shorter ones are over before anybody has read of them */

int fb_news_init(struct news *n, uint64_t start, int64_t anchor_ns)
{
    *n = (struct news){.start = start, .anchor_ns = anchor_ns};
    n->item = fb_alloc(NEWS_MAX * sizeof *n->item);
    if (!n->item)
        return -ENOMEM;
    (void)pthread_mutex_init(&n->lock, NULL);
    return 0;
}

void fb_news_fini(struct news *n)
{
    if (!n->item)
        return;
    for (size_t i = 0; i < NEWS_MAX; i++)
        fb_buffer_fini(&n->item[i].data);
    fb_free(n->item);
    n->item = NULL;
    (void)pthread_mutex_destroy(&n->lock);
}

void fb_news_add(struct news *n, const char *kind, const char *data, size_t size)
{
    struct text t;

    if (size > NEWS_ITEM_BYTES)
        return;
    (void)pthread_mutex_lock(&n->lock);
    struct news_item *i = &n->item[(n->last + 1) % NEWS_MAX];
    i->number = ++n->last;
    fb_text_init(&t, i->kind, sizeof i->kind);
    fb_text_add(&t, kind);
    i->data.failed = false;
    fb_buffer_clear(&i->data);
    fb_buffer_add(&i->data, data, size);
    (void)pthread_mutex_unlock(&n->lock);
    if (n->wake)
        n->wake(n->context);
}

/* ------------------------------------------------------------------------------ the engine's */

static bool is_long_wait(const struct event *e)
{
    return e->until_ns != INT64_MIN && e->until_ns - e->at_ns >= WAIT_TOLD_NS;
}

static bool is_failure(const struct event *e)
{
    return strcmp(e->outcome, fb_engine_end_name(ENGINE_FAILED)) == 0 ||
           strcmp(e->outcome, fb_engine_end_name(ENGINE_UNKNOWN)) == 0;
}

static bool is_refusal(const struct event *e)
{
    return strcmp(e->error, fb_failure_name(FAIL_THROTTLED)) == 0;
}

static bool always(const struct event *e)
{
    (void)e;
    return true;
}

static bool (*const told[FB_EVENT_KINDS])(const struct event *e) = {
    [FB_EVENT_WAIT] = is_long_wait, [FB_EVENT_ANSWER] = is_refusal, [FB_EVENT_FAILOVER] = always,
    [FB_EVENT_RATE] = always,       [FB_EVENT_DEFERRAL] = always,   [FB_EVENT_OUTCOME] = is_failure,
    [FB_EVENT_BREAKER] = always,    [FB_EVENT_PAUSE] = always,      [FB_EVENT_HEALTH] = always,
    [FB_EVENT_RECYCLE] = always,    [FB_EVENT_STUCK] = always,
};

bool fb_news_is_news(const struct event *e)
{
    return told[e->kind] && told[e->kind](e);
}

/* A slot that two share forgets: then one of them is told more often. */
static bool is_same_rate(struct news *n, const struct event *e)
{
    uint64_t hash = fb_hash_add(FB_HASH_INIT, e->provider, strlen(e->provider) + 1);
    uint64_t key = fb_hash_end(fb_hash_add(hash, e->pool, strlen(e->pool)));
    struct news_rate *r = &n->rate[key % NEWS_RATES];

    if (e->kind != FB_EVENT_RATE)
        return false;
    if (r->key == key &&
        (e->at_ns - r->at_ns < FB_NS_PER_S || fabs(e->rate - r->rate) < RATE_TOLD_SHARE * r->rate))
        return true;
    *r = (struct news_rate){.key = key, .at_ns = e->at_ns, .rate = e->rate};
    return false;
}

/* Only the observers' thread comes here, so the counts need no lock. */
static bool has_budget(struct news *n, int64_t at_ns)
{
    int64_t second = at_ns / FB_NS_PER_S;

    if (second != n->second) {
        n->second = second;
        n->in_second = 0;
    }
    if (n->in_second >= NEWS_PER_SECOND) {
        n->skipped++;
        return false;
    }
    n->in_second++;
    return true;
}

void fb_news_on_event(void *self, const struct event *e)
{
    struct news *n = self;
    struct buffer line = BUFFER_INIT;

    if (!fb_news_is_news(e) || is_same_rate(n, e) || !has_budget(n, e->at_ns))
        return;
    fb_log_line(&line, LOG_JSON, n->anchor_ns, e);
    if (!line.failed && line.size > 0)
        fb_news_add(n, fb_event_name(e->kind), line.bytes, line.size - 1);
    fb_buffer_fini(&line);
}

/* ----------------------------------------------------------------------------------- readers */

static bool read_number(struct slice s, uint64_t *ret_number)
{
    uint64_t value = 0;

    if (s.length == 0 || s.length > 18)
        return false;
    for (size_t i = 0; i < s.length; i++) {
        if (!fb_is_digit(s.at[i]))
            return false;
        value = value * 10 + (uint64_t)(s.at[i] - '0');
    }
    *ret_number = value;
    return true;
}

uint64_t fb_news_cursor(struct news *n, struct slice last_id, bool *ret_gap)
{
    size_t dash = fb_slice_find(last_id, '-');
    uint64_t start = 0;
    uint64_t number = 0;

    *ret_gap = false;
    (void)pthread_mutex_lock(&n->lock);
    uint64_t last = n->last;
    (void)pthread_mutex_unlock(&n->lock);
    if (last_id.length == 0)
        return last;
    if (read_number(fb_slice_head(last_id, dash), &start) && start == n->start &&
        read_number(fb_slice_after(last_id, dash + 1), &number) && number <= last)
        return number;
    *ret_gap = true;
    return last > NEWS_MAX ? last - NEWS_MAX : 0;
}

void fb_news_write(struct buffer *out, const char *kind, struct slice data)
{
    fb_buffer_add_text(out, "event: ");
    fb_buffer_add_text(out, kind);
    fb_buffer_add_text(out, "\ndata: ");
    fb_buffer_add(out, data.at, data.length);
    fb_buffer_add_text(out, "\n\n");
}

static void write_item(const struct news *n, const struct news_item *i, struct buffer *out)
{
    fb_buffer_add_text(out, "id: ");
    fb_buffer_add_int(out, (int64_t)n->start);
    fb_buffer_add_char(out, '-');
    fb_buffer_add_int(out, (int64_t)i->number);
    fb_buffer_add_char(out, '\n');
    fb_news_write(out, i->kind, (struct slice){i->data.bytes, i->data.size});
}

bool fb_news_next(struct news *n, uint64_t *cursor, struct buffer *out)
{
    bool found = false;

    (void)pthread_mutex_lock(&n->lock);
    uint64_t oldest = n->last > NEWS_MAX ? n->last - NEWS_MAX + 1 : 1;
    if (*cursor + 1 < oldest) {
        fb_news_write(out, "gap", FB_SLICE("{}"));
        *cursor = oldest - 1;
    }
    if (*cursor < n->last) {
        const struct news_item *i = &n->item[++*cursor % NEWS_MAX];

        found = true;
        if (!i->data.failed)
            write_item(n, i, out);
    }
    (void)pthread_mutex_unlock(&n->lock);
    return found;
}
