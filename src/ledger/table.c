/* SPDX-License-Identifier: MIT */
/* table.c - the public table: ids, decisions on one key, and what came of them. */
#include "ledger/table.h"

#include <assert.h>
#include <sys/random.h>

#include <flyball/table.h>

#include "core/accountant.h"
#include "core/brief.h"
#include "core/instant.h"
#include "core/spec.h"
#include "ledger/origin.h"
#include "util/alloc.h"
#include "util/text.h"

#define KEYS_MAX       (UINT64_C(1) << 20)
#define MEMORY_HOLD_NS (60 * FB_NS_PER_S) /* a refusal that tells no time */
#define FULL           INT64_MIN          /* no instant: there was no room for the key */

static int64_t cost_of(uint32_t cost)
{
    return cost > 0 ? cost : 1;
}

/* ---- life ---- */

static struct fly_table *fail(struct fly_error *err, const char *sentence)
{
    struct text t;

    if (err) {
        fb_text_init(&t, err->text, sizeof(err->text));
        fb_text_add(&t, sentence);
    }
    return NULL;
}

static bool read_secret(struct fly_table *t, const unsigned char *given)
{
    unsigned char drawn[FB_SIPHASH_SECRET_BYTES];

    static_assert(FB_SIPHASH_SECRET_BYTES == FLY_SECRET_BYTES, "one secret, two headers");
    if (!given && getrandom(drawn, sizeof(drawn), 0) != (ssize_t)sizeof(drawn))
        return false;
    t->secret = fb_siphash_secret(given ? given : drawn);
    return true;
}

struct fly_table *fly_table_new(const char *spec, int64_t now_ns,
                                const struct fly_table_options *options, struct fly_error *err)
{
    static const struct fly_table_options none = {.size = sizeof(none)};
    const struct fly_table_options *o = options ? options : &none;
    struct spec s;

    if (fb_spec_read(spec, &s, err) < 0)
        return NULL;
    if (o->size < sizeof(*o))
        return fail(err, "options: their size is not set");
    struct fly_table *t = fb_alloc(sizeof(*t));
    if (!t)
        return fail(err, "out of memory");
    t->spec = s;
    t->origin_ns = now_ns;
    t->keys_max = o->keys_max > 0 ? o->keys_max : KEYS_MAX;
    t->books_bytes = sizeof(struct books) + fb_accountant_bytes(&s);
    t->pattern = fb_books_new(t, 0, 0);
    if (!t->pattern || !read_secret(t, o->secret)) {
        bool has_memory = t->pattern != NULL;
        fly_table_free(t);
        return fail(err, has_memory ? "no secret: the system gives no chance" : "out of memory");
    }
    t->brief = fb_brief_fits(&t->pattern->a);
    return t;
}

void fly_table_free(struct fly_table *t)
{
    if (!t)
        return;
    for (int i = 0; i < FB_SHELVES; i++) {
        struct shelf *s = &t->shelf[i];
        for (uint32_t at = 0; at < s->places; at++)
            if (s->entry[at].hash != 0)
                fb_free(fb_entry_books(&s->entry[at]));
        fb_shelf_fini(s);
    }
    fb_free(t->pattern);
    fb_free(t);
}

static const char *text_of(const char *s)
{
    return s ? s : "";
}

void fly_table_id(const struct fly_table *t, const struct fly_key *key, struct fly_id *ret_id)
{
    const char *const part[] = {text_of(key->provider), text_of(key->pool),
                                text_of(key->credential)};
    struct siphash_wide hash = fb_siphash_list(&t->secret, part, sizeof(part) / sizeof(part[0]));

    *ret_id = (struct fly_id){{hash.word[0], hash.word[1]}};
}

/* ---- decisions ---- */

static uint64_t spend(struct fly_table *t, struct entry *e, int64_t cost, int64_t now_ns)
{
    struct books *b = fb_entry_books(e);

    if (!b)
        return fb_brief_take(&e->brief, &t->pattern->a, cost, now_ns, fb_key_seal(t, e));
    uint64_t ticket = fb_accountant_take(&b->a, cost, now_ns);
    fb_key_fold(t, e, now_ns);
    return ticket;
}

/* One try: an instant, or FULL. */
static int64_t take(struct fly_table *t, const struct fly_id *id, int64_t now_ns, int64_t cost,
                    uint64_t *ret_ticket)
{
    struct shelf *s = fb_shelf_of(t, id);

    fb_lock(&s->lock);
    struct entry *e = fb_shelf_find(s, fb_key_hash(id));
    int64_t at_ns = fb_key_ask(t, e, cost, now_ns).at_ns;
    if (at_ns <= now_ns) {
        if (!e)
            e = fb_key_add(t, s, fb_key_hash(id), now_ns);
        if (e)
            *ret_ticket = spend(t, e, cost, now_ns);
        else
            at_ns = FULL;
    }
    fb_unlock(&s->lock);
    return at_ns;
}

int64_t fly_table_take(struct fly_table *t, const struct fly_id *id, int64_t now_ns, uint32_t cost,
                       uint64_t *ret_ticket)
{
    int64_t now = fb_from_clock(t->origin_ns, now_ns);
    int64_t at_ns = take(t, id, now, cost_of(cost), ret_ticket);

    if (at_ns == FULL && fb_keys_make_room(t, now))
        at_ns = take(t, id, now, cost_of(cost), ret_ticket);
    if (at_ns == FULL) {
        atomic_fetch_add_explicit(&t->refused, 1, memory_order_relaxed);
        at_ns = fb_after(now, FB_SWEEP_EVERY_NS);
    }
    return at_ns <= now ? now_ns : fb_to_clock(t->origin_ns, at_ns);
}

/* ---- what came of it ---- */

void fly_table_cancel(struct fly_table *t, const struct fly_id *id, int64_t now_ns, uint64_t ticket)
{
    struct shelf *s = fb_shelf_of(t, id);
    int64_t now = fb_from_clock(t->origin_ns, now_ns);

    fb_lock(&s->lock);
    struct entry *e = fb_shelf_find(s, fb_key_hash(id));
    struct books *b = e ? fb_entry_books(e) : NULL;
    if (b) {
        fb_accountant_cancel(&b->a, ticket, now);
        fb_key_fold(t, e, now);
    } else if (e) {
        fb_brief_cancel(&e->brief, &t->pattern->a, ticket, now, fb_key_seal(t, e));
    }
    fb_unlock(&s->lock);
}

void fly_table_settle(struct fly_table *t, const struct fly_id *id, int64_t now_ns, uint64_t ticket,
                      uint32_t cost)
{
    struct shelf *s = fb_shelf_of(t, id);
    int64_t now = fb_from_clock(t->origin_ns, now_ns);

    fb_lock(&s->lock);
    struct entry *e = fb_shelf_find(s, fb_key_hash(id));
    if (e) {
        struct books *b = fb_key_unfold(t, e, now);
        /* Without memory: all of it once more, towards waiting. */
        if (b)
            fb_accountant_settle(&b->a, ticket, cost, now);
        else
            fb_brief_charge(&e->brief, &t->pattern->a, cost, now);
    }
    fb_unlock(&s->lock);
}

/* The longest wait that the outcome can mean. */
static int64_t longest_hold(const struct fly_outcome *o, int64_t now_ns)
{
    bool throttled = o->status == 429 || (o->flags & FLY_THROTTLED);
    int64_t wait_ns = fb_clamp64(o->retry_after_ns, throttled ? MEMORY_HOLD_NS : 0, FB_WAIT_MAX);

    if (throttled && o->reset_ns != FLY_ABSENT)
        wait_ns = fb_max64(wait_ns, fb_clamp64(o->reset_ns - now_ns, 0, FB_RESET_MAX));
    return wait_ns;
}

static void report(struct fly_table *t, struct entry *e, const struct fly_outcome *o,
                   int64_t now_ns)
{
    struct books *b = fb_entry_books(e);

    if (!b && fb_brief_is_told(o)) {
        b = fb_key_unfold(t, e, now_ns);
        if (!b)
            fb_brief_hold(&e->brief, &t->pattern->a,
                          fb_min64(fb_after(now_ns, longest_hold(o, now_ns)), FB_TIME_MAX));
    }
    if (b) {
        fb_accountant_report(&b->a, o, now_ns);
        fb_key_fold(t, e, now_ns);
    } else {
        fb_brief_report(&e->brief, o->ticket, fb_key_seal(t, e));
    }
}

void fly_table_report(struct fly_table *t, const struct fly_id *id, int64_t now_ns,
                      const struct fly_outcome *o)
{
    struct shelf *s = fb_shelf_of(t, id);
    int64_t now = fb_from_clock(t->origin_ns, now_ns);
    struct fly_outcome inner = fb_outcome_from_clock(t->origin_ns, o, now);

    fb_lock(&s->lock);
    struct entry *e = fb_shelf_find(s, fb_key_hash(id));
    if (e)
        report(t, e, &inner, now);
    fb_unlock(&s->lock);
}
