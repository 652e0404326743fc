/* SPDX-License-Identifier: MIT */
/*
 * keep.c - an item as a record that survives kill -9, and back.
 *
 * A record says what each domain said, not the picture: that is made anew from it. Between the
 * last record and the end more versions may have been given out, so after a restart numbers go on
 * further up: no number is ever used for two versions.
 *
 * A record is read as anything from a disk is: every length is checked, and a hash over all of it
 * must fit.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "util/hash.h"
#include "watch/inside.h"

#define MAGIC    UINT64_C(0x0131484354415746) /* the version is in its first byte */
#define SEQ_JUMP 1000                         /* more versions than an interval can bring */

/* ---- writing ---- */

static void put_int(struct buffer *b, int64_t value)
{
    fb_buffer_add(b, &value, sizeof(value));
}

static void put_text(struct buffer *b, const char *text)
{
    size_t size = strlen(text) + 1;

    put_int(b, (int64_t)size);
    fb_buffer_add(b, text, size);
}

static void put_said(struct buffer *b, const struct said *s)
{
    put_int(b, s ? (int64_t)s->says.count : -1);
    if (!s)
        return;
    put_int(b, s->asked_ns);
    for (size_t n = 0; n < s->says.count; n++) {
        put_text(b, s->field[n].name);
        put_text(b, s->field[n].value);
    }
}

static void put_link(struct buffer *b, const struct link *l)
{
    put_text(b, l->domain->plan.name);
    put_text(b, l->domain_id);
    put_said(b, l->live);
    put_said(b, l->fixed);
}

static int64_t count_links(const struct watch_item *i)
{
    int64_t links = 0;

    for (size_t d = 0; d < WATCH_DOMAINS_MAX; d++)
        links += i->link[d] != NULL;
    return links;
}

static void put_item(struct buffer *b, const struct watch_item *i)
{
    put_int(b, (int64_t)MAGIC);
    put_text(b, i->id);
    put_int(b, i->state);
    put_int(b, i->state_ns);
    put_int(b, i->freshness.known_ns);
    put_int(b, i->freshness.fresh_ns);
    put_int(b, (int64_t)i->seq);
    put_int(b, i->is_paused ? i->pause.until_ns : 0);
    put_int(b, i->is_over);
    put_int(b, count_links(i));
    for (size_t d = 0; d < WATCH_DOMAINS_MAX; d++)
        if (i->link[d])
            put_link(b, i->link[d]);
    put_int(b, (int64_t)fb_hash_end(fb_hash_add(FB_HASH_INIT, b->bytes, b->size)));
}

void fb_watch_keep(struct watch *w, struct watch_item *i)
{
    struct buffer *b = &w->record;

    i->is_dirty = false;
    if (!w->ports.keep)
        return;
    fb_buffer_clear(b);
    put_item(b, i);
    /* Without memory it is tried again at the end of the next interval. */
    if (b->failed) {
        i->is_dirty = true;
        fb_buffer_fini(b);
        return;
    }
    w->ports.keep(w->ports.self, i->id, b->bytes, b->size);
}

void fb_watch_keep_all(struct watch *w)
{
    for (size_t n = 0; n < w->count; n++)
        if (w->item[n]->is_dirty)
            fb_watch_keep(w, w->item[n]);
}

/* ---- reading ---- */

struct reader {
    const char *at;
    size_t left;
    bool is_bad;
};

static int64_t get_int(struct reader *r)
{
    int64_t value = 0;

    if (r->left < sizeof(value)) {
        r->is_bad = true;
        return 0;
    }
    memcpy(&value, r->at, sizeof(value));
    r->at += sizeof(value);
    r->left -= sizeof(value);
    return value;
}

static int64_t get_within(struct reader *r, int64_t least, int64_t most)
{
    int64_t value = get_int(r);

    if (value < least || value > most) {
        r->is_bad = true;
        return least;
    }
    return value;
}

/* Never NULL. */
static const char *get_text(struct reader *r)
{
    int64_t size = get_within(r, 1, WATCH_PAYLOAD_BYTES);
    const char *text = r->at;

    if (r->is_bad || (size_t)size > r->left || memchr(text, 0, (size_t)size) != text + size - 1) {
        r->is_bad = true;
        return "";
    }
    r->at += size;
    r->left -= (size_t)size;
    return text;
}

/* What was said, or NULL: nothing, damaged, or no memory. */
static struct said *get_said(struct watch *w, struct reader *r)
{
    struct snapshot_field field[WATCH_FIELDS_MAX];
    int64_t count = get_within(r, -1, WATCH_FIELDS_MAX);
    bool is_bad;

    if (count < 0 || r->is_bad)
        return NULL;
    int64_t asked_ns = fb_min64(get_within(r, -FB_TIME_MAX, FB_TIME_MAX), w->now_ns);
    for (int64_t n = 0; n < count; n++) {
        field[n].name = get_text(r);
        field[n].value = get_text(r);
    }
    if (r->is_bad)
        return NULL;
    struct snapshot s = {.field = field, .count = (size_t)count};
    struct said *said = fb_watch_copy(w, &s, asked_ns, &is_bad);
    r->is_bad |= is_bad;
    return said;
}

/* A domain that is not in the plan, or an id that is taken, is read over. 0 or -ENOMEM. */
static int get_link(struct watch *w, struct reader *r, struct watch_item *i)
{
    int n = fb_watch_domain_find(w, get_text(r));
    const char *domain_id = get_text(r);
    struct said *live = get_said(w, r);
    struct said *fixed = get_said(w, r);
    struct domain *d = n < 0 ? NULL : w->domain[n];
    int error = 0;

    if (!r->is_bad && d && !i->link[n] && strlen(domain_id) < WATCH_ID_BYTES &&
        domain_id[0] != '\0' && !fb_watch_mapped(w, d, domain_id)) {
        error = fb_watch_join(w, i, d, domain_id);
        if (error == 0) {
            i->link[n]->live = live;
            i->link[n]->fixed = fixed;
            return 0;
        }
    }
    fb_watch_unsay(w, &live);
    fb_watch_unsay(w, &fixed);
    return error;
}

static bool is_whole(const void *record, size_t size)
{
    uint64_t hash;

    if (size < 2 * sizeof(hash))
        return false;
    memcpy(&hash, (const char *)record + size - sizeof(hash), sizeof(hash));
    return hash == fb_hash_end(fb_hash_add(FB_HASH_INIT, record, size - sizeof(hash)));
}

/* The numbers of an item, in the order of put_item(). */
static void get_numbers(struct watch *w, struct reader *r, struct watch_item *i)
{
    i->state_ns = fb_min64(get_within(r, -FB_TIME_MAX, FB_TIME_MAX), w->now_ns);
    i->freshness.known_ns = fb_min64(get_within(r, -FB_TIME_MAX, FB_TIME_MAX), w->now_ns);
    i->freshness.fresh_ns = fb_min64(get_within(r, -FB_TIME_MAX, FB_TIME_MAX), w->now_ns);
    i->seq = (uint64_t)get_within(r, 0, FB_TIME_MAX);
    i->pause.until_ns = get_within(r, 0, FB_TIME_MAX);
    i->is_paused = i->pause.until_ns > w->now_ns;
    i->is_over = get_within(r, 0, 1) != 0;
}

/* The picture from what was said, silently: nobody has to be told what was told before. */
static void show_again(struct watch *w, struct watch_item *i)
{
    void (*tell)(void *self, const struct watch_event *e) = w->ports.tell;

    if (i->seq > 0)
        i->seq += SEQ_JUMP - 1;
    w->ports.tell = fb_watch_tell_nobody;
    fb_watch_reconcile(w, i);
    w->ports.tell = tell;
    fb_watch_replan(w, i);
}

static int get_item(struct watch *w, struct reader *r, struct watch_item *i)
{
    get_numbers(w, r, i);
    int64_t links = get_within(r, 0, WATCH_DOMAINS_MAX);
    int error = 0;

    for (int64_t n = 0; n < links && error == 0 && !r->is_bad; n++)
        error = get_link(w, r, i);
    if (error == 0 && (r->is_bad || r->left != sizeof(uint64_t)))
        error = -EINVAL;
    return error;
}

int fb_watch_restore(struct watch *w, const void *record, size_t size)
{
    struct reader r = {.at = record, .left = size};

    fb_watch_read_clock(w);
    if (!is_whole(record, size) || get_int(&r) != (int64_t)MAGIC)
        return -EINVAL;
    const char *id = get_text(&r);
    int64_t state = get_within(&r, 0, ITEM_STATES - 1);
    if (r.is_bad || id[0] == '\0' || strlen(id) >= WATCH_ID_BYTES)
        return -EINVAL;
    if (fb_watch_get(w, id))
        return -EEXIST;
    if (w->count >= (size_t)w->plan.items_max)
        return -ENOSPC;
    struct watch_item *i = fb_watch_add(w, id, (enum item_state)state);
    if (!i)
        return -ENOMEM;
    int error = get_item(w, &r, i);
    if (error < 0)
        fb_watch_remove(w, i);
    else
        show_again(w, i);
    return error;
}
