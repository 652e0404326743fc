/* SPDX-License-Identifier: MIT */
/*
 * news.c - rings under a lock, which is held for a copy and no longer.
 */
#include "daemon/news.h"

#include <errno.h>
#include <string.h>

#include "core/instant.h"
#include "engine/engine.h"
#include "engine/observers/log.h"
#include "util/alloc.h"
#include "util/hash.h"
#include "util/text.h"

#define WAIT_TOLD_NS FB_NS_PER_S /* shorter ones are over before anybody has read of them */

int fb_news_init(struct news *n, uint64_t start, int64_t anchor_ns)
{
    *n = (struct news){.start = start, .anchor_ns = anchor_ns};
    n->ring[NEWS_EVENTS].max = NEWS_MAX;
    n->ring[NEWS_ITEMS].max = NEWS_CHANGES;
    n->ring[NEWS_EVENTS].item = fb_alloc(NEWS_MAX * sizeof(struct news_item));
    if (!n->ring[NEWS_EVENTS].item)
        return -ENOMEM;
    (void)pthread_mutex_init(&n->lock, NULL);
    return 0;
}

static void free_ring(struct news_ring *r)
{
    for (size_t i = 0; r->item && i < r->max; i++)
        fb_buffer_fini(&r->item[i].data);
    fb_free(r->item);
    r->item = NULL;
}

void fb_news_fini(struct news *n)
{
    if (!n->ring[NEWS_EVENTS].item)
        return;
    free_ring(&n->ring[NEWS_EVENTS]);
    free_ring(&n->ring[NEWS_ITEMS]);
    (void)pthread_mutex_destroy(&n->lock);
}

static void put(struct news *n, struct news_ring *r, const struct news_item *head,
                struct slice data)
{
    struct news_item *i = &r->item[r->count % r->max];

    if (r->count++ >= r->max)
        r->dropped = i->number;
    i->number = ++n->last;
    i->about = head->about;
    memcpy(i->kind, head->kind, sizeof i->kind);
    i->data.failed = false;
    fb_buffer_clear(&i->data);
    fb_buffer_add(&i->data, data.at, data.length);
}

static void add_to(struct news *n, int ring, const struct news_item *head, struct slice data)
{
    (void)pthread_mutex_lock(&n->lock);
    put(n, &n->ring[ring], head, data);
    (void)pthread_mutex_unlock(&n->lock);
    if (n->wake)
        n->wake(n->context);
}

static void set_kind(struct news_item *i, const char *kind)
{
    struct text t;

    fb_text_init(&t, i->kind, sizeof i->kind);
    fb_text_add(&t, kind);
}

void fb_news_add(struct news *n, const char *kind, const char *data, size_t size)
{
    struct news_item head = {0};

    if (size > NEWS_ITEM_BYTES)
        return;
    set_kind(&head, kind);
    add_to(n, NEWS_EVENTS, &head, (struct slice){data, size});
}

/* Its ring is made by the first one: a daemon that watches nothing does not pay for it. */
bool fb_news_add_item(struct news *n, uint64_t about, const char *kind, struct slice data)
{
    struct news_ring *r = &n->ring[NEWS_ITEMS];
    struct news_item head = {.about = about};

    if (data.length > NEWS_ITEM_BYTES)
        return false;
    set_kind(&head, kind);
    (void)pthread_mutex_lock(&n->lock);
    if (!r->item)
        r->item = fb_alloc(r->max * sizeof *r->item);
    bool is_made = r->item != NULL;
    (void)pthread_mutex_unlock(&n->lock);
    if (is_made)
        add_to(n, NEWS_ITEMS, &head, data);
    return is_made;
}

uint64_t fb_news_about(const char *id)
{
    return fb_hash_end(fb_hash_add(FB_HASH_INIT, id, strlen(id))) | 1;
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
    [FB_EVENT_WAIT] = is_long_wait, [FB_EVENT_ANSWER] = is_refusal,  [FB_EVENT_FAILOVER] = always,
    [FB_EVENT_DEFERRAL] = always,   [FB_EVENT_OUTCOME] = is_failure, [FB_EVENT_BREAKER] = always,
    [FB_EVENT_PAUSE] = always,      [FB_EVENT_HEALTH] = always,      [FB_EVENT_RECYCLE] = always,
    [FB_EVENT_STUCK] = always,
};

bool fb_news_is_news(const struct event *e)
{
    return told[e->kind] && told[e->kind](e);
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

    if (!fb_news_is_news(e) || !has_budget(n, e->at_ns))
        return;
    fb_log_line(&line, LOG_JSON, n->anchor_ns, NULL, e);
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

static bool is_wanted(const struct news_want *want, int ring)
{
    return ring == NEWS_EVENTS || want->items;
}

/* The newest number of what is no longer there. */
static uint64_t dropped(const struct news *n, const struct news_want *want)
{
    uint64_t newest = 0;

    for (int i = 0; i < NEWS_RINGS; i++)
        if (is_wanted(want, i) && n->ring[i].dropped > newest)
            newest = n->ring[i].dropped;
    return newest;
}

uint64_t fb_news_cursor(struct news *n, const struct news_want *want, struct slice last_id,
                        bool *ret_gap)
{
    size_t dash = fb_slice_find(last_id, '-');
    uint64_t start = 0;
    uint64_t number = 0;

    *ret_gap = false;
    (void)pthread_mutex_lock(&n->lock);
    uint64_t last = n->last;
    uint64_t oldest = dropped(n, want);
    (void)pthread_mutex_unlock(&n->lock);
    if (last_id.length == 0)
        return last;
    if (read_number(fb_slice_head(last_id, dash), &start) && start == n->start &&
        read_number(fb_slice_after(last_id, dash + 1), &number) && number <= last)
        return number;
    *ret_gap = true;
    return oldest;
}

uint64_t fb_news_last(struct news *n)
{
    (void)pthread_mutex_lock(&n->lock);
    uint64_t last = n->last;
    (void)pthread_mutex_unlock(&n->lock);
    return last;
}

uint64_t fb_news_recent(struct news *n, uint64_t count)
{
    const struct news_ring *r = &n->ring[NEWS_EVENTS];

    (void)pthread_mutex_lock(&n->lock);
    uint64_t kept = r->count < r->max ? r->count : r->max;
    uint64_t back = count < kept ? count : kept;
    uint64_t at = back > 0 ? r->item[(r->count - back) % r->max].number - 1 : n->last;
    (void)pthread_mutex_unlock(&n->lock);
    return at;
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

/* The first one behind a number, by halving: numbers rise along a ring. NULL: there is none. */
static const struct news_item *first_after(const struct news_ring *r, uint64_t number)
{
    uint64_t low = r->count < r->max ? 0 : r->count - r->max;
    uint64_t high = r->count;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (r->item[middle % r->max].number <= number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->count ? &r->item[low % r->max] : NULL;
}

/* The next one of all rings that are wanted. */
static const struct news_item *next_of(const struct news *n, const struct news_want *want,
                                       uint64_t number)
{
    const struct news_item *next = NULL;

    for (int i = 0; i < NEWS_RINGS; i++) {
        const struct news_item *of = is_wanted(want, i) ? first_after(&n->ring[i], number) : NULL;

        if (of && (!next || of->number < next->number))
            next = of;
    }
    return next;
}

bool fb_news_next(struct news *n, const struct news_want *want, uint64_t *cursor,
                  struct buffer *out)
{
    const struct news_item *i;

    (void)pthread_mutex_lock(&n->lock);
    uint64_t gone = dropped(n, want);
    if (*cursor < gone) {
        fb_news_write(out, "gap", FB_SLICE("{}"));
        *cursor = gone;
    }
    while ((i = next_of(n, want, *cursor)) != NULL) {
        *cursor = i->number;
        if (i->data.failed || (want->about && i->about && i->about != want->about))
            continue;
        write_item(n, i, out);
        break;
    }
    (void)pthread_mutex_unlock(&n->lock);
    return i != NULL;
}
