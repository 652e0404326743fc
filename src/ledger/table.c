/* SPDX-License-Identifier: MIT */
/*
 * table.c - the keys of a program: which shelf they lie on, and what becomes of them there.
 *
 * The id of a key is 128 bits: one half says which shelf, the other is kept as its hash. Two keys
 * with the same of both would share a budget, which breaks no limit; among a million keys the
 * chance of it is one in ten billion.
 *
 * A key has brief books while a bucket alone decides, and an accountant while there is more to
 * know. It goes from one to the other within a call, so whoever asks sees no difference.
 *
 * Invariant: an entry and its books are touched only under the lock of their shelf; one shelf is
 * locked at a time.
 */
#include <flyball/table.h>

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/random.h>

#include "core/accountant.h"
#include "core/brief.h"
#include "core/instant.h"
#include "core/spec.h"
#include "ledger/origin.h"
#include "ledger/shelf.h"
#include "ledger/siphash.h"
#include "util/alloc.h"
#include "util/text.h"

#define SHELVES        256 /* a power of two */
#define KEYS_MAX       (UINT64_C(1) << 20)
#define ROOM_TRIES     8                    /* other shelves to look at when the table is full */
#define SWEEP_EVERY_NS (100 * FB_NS_PER_MS) /* a shelf is looked through so often at most */
#define MEMORY_HOLD_NS (60 * FB_NS_PER_S)   /* a refusal that tells no time */
#define FULL           INT64_MIN            /* no instant: there was no room for the key */

struct books {
    struct accountant a;
    _Alignas(8) unsigned char memory[]; /* fb_accountant_bytes() of the spec */
};

struct fly_table {
    struct spec spec;
    struct siphash_secret secret;
    int64_t origin_ns;
    uint64_t keys_max;
    size_t books_bytes;
    struct books *pattern; /* of a key that was never used */
    bool brief;            /* keys may be */
    _Atomic uint64_t keys;
    _Atomic uint64_t with_more;
    _Atomic uint64_t forgotten;
    _Atomic uint64_t refused;
    _Atomic uint32_t hand; /* the shelf to look through next */
    struct shelf shelf[SHELVES];
};

static struct shelf *shelf_of(struct fly_table *t, const struct fly_id *id)
{
    return &t->shelf[id->word[1] % SHELVES];
}

static uint64_t hash_of(const struct fly_id *id)
{
    return id->word[0] ? id->word[0] : 1;
}

/* Chance and seals of a key are its own. */
static uint64_t seed_of(const struct fly_table *t, uint64_t hash)
{
    return hash ^ t->secret.word[0];
}

static uint8_t seal_of(const struct fly_table *t, const struct entry *e)
{
    return fb_ticket_key(seed_of(t, e->hash));
}

static int64_t cost_of(uint32_t cost)
{
    return cost > 0 ? cost : 1;
}

/* ---- books ---- */

static struct books *books_new(struct fly_table *t, uint64_t seed, int64_t now_ns)
{
    struct books *b = fb_alloc(t->books_bytes);

    if (b)
        fb_accountant_init(&b->a, &t->spec, b->memory, seed, now_ns);
    return b;
}

/* The entry gets books of its own, and goes on in them. NULL: no memory, nothing changed. */
static struct books *unfold(struct fly_table *t, struct entry *e, int64_t now_ns)
{
    struct books *b = fb_entry_books(e);

    if (b)
        return b;
    b = books_new(t, seed_of(t, e->hash), now_ns);
    if (!b)
        return NULL;
    fb_brief_unfold(&e->brief, &b->a, now_ns);
    fb_entry_set_books(e, b);
    atomic_fetch_add_explicit(&t->with_more, 1, memory_order_relaxed);
    return b;
}

static void drop_books(struct fly_table *t, struct books *b)
{
    fb_free(b);
    atomic_fetch_sub_explicit(&t->with_more, 1, memory_order_relaxed);
}

/* Brief again, if nothing stands against it. */
static void fold(struct fly_table *t, struct entry *e, int64_t now_ns)
{
    struct books *b = fb_entry_books(e);

    if (!b || !t->brief || b->a.settled != 0)
        return;
    int64_t latest_ns = fb_max64(now_ns, b->a.now_ns);
    if (!fb_accountant_is_plain(&b->a, latest_ns))
        return;
    e->brief = fb_brief_fold(&b->a, latest_ns);
    drop_books(t, b);
}

/* ---- forgetting ---- */

static void forget(struct fly_table *t, struct shelf *s, struct entry *e)
{
    struct books *b = fb_entry_books(e);

    if (b)
        drop_books(t, b);
    fb_shelf_remove(s, e);
    atomic_fetch_sub_explicit(&t->keys, 1, memory_order_relaxed);
}

static bool is_rested(const struct entry *e, int64_t now_ns)
{
    const struct books *b = fb_entry_books(e);

    return b ? fb_accountant_is_rested(&b->a, now_ns) : fb_brief_is_rested(&e->brief, now_ns);
}

/* Forget what can be; the shelf is locked. Returns how many. */
static uint64_t sweep(struct fly_table *t, struct shelf *s, int64_t now_ns)
{
    uint64_t gone = 0;

    for (uint32_t i = 0; i < s->places;) {
        struct entry *e = &s->entry[i];
        if (e->hash == 0 || !is_rested(e, now_ns)) {
            i++;
            continue;
        }
        forget(t, s, e); /* and look at what moved here */
        gone++;
    }
    s->sweep_ns = fb_after(now_ns, SWEEP_EVERY_NS);
    atomic_fetch_add_explicit(&t->forgotten, gone, memory_order_relaxed);
    return gone;
}

static uint64_t sweep_if_due(struct fly_table *t, struct shelf *s, int64_t now_ns)
{
    return s->sweep_ns <= now_ns ? sweep(t, s, now_ns) : 0;
}

/* Look at some of the other shelves until one of them can do without a key. */
static bool make_room(struct fly_table *t, int64_t now_ns)
{
    uint64_t gone = 0;

    for (int i = 0; i < ROOM_TRIES && gone == 0; i++) {
        uint32_t at = atomic_fetch_add_explicit(&t->hand, 1, memory_order_relaxed);
        struct shelf *s = &t->shelf[at % SHELVES];
        fb_lock(&s->lock);
        gone = sweep_if_due(t, s, now_ns);
        fb_unlock(&s->lock);
    }
    return gone > 0;
}

/* ---- new keys ---- */

static bool count_key(struct fly_table *t)
{
    if (atomic_fetch_add_explicit(&t->keys, 1, memory_order_relaxed) < t->keys_max)
        return true;
    atomic_fetch_sub_explicit(&t->keys, 1, memory_order_relaxed);
    return false;
}

/* A place on the shelf: one that was forgotten, or more of them. */
static bool has_place(struct fly_table *t, struct shelf *s, int64_t now_ns)
{
    if (!fb_shelf_is_full(s))
        return true;
    /* A few are no gain: the next key would have to look through all of them again. */
    if (sweep_if_due(t, s, now_ns) > s->count / 2)
        return true;
    return fb_shelf_fit(s, s->count + 1) == 0;
}

/* NULL: there is no room for it. */
static struct entry *add(struct fly_table *t, struct shelf *s, uint64_t hash, int64_t now_ns)
{
    struct books *b = NULL;

    if (!has_place(t, s, now_ns))
        return NULL;
    if (!count_key(t) && !(sweep_if_due(t, s, now_ns) > 0 && count_key(t)))
        return NULL;
    if (!t->brief) {
        b = books_new(t, seed_of(t, hash), now_ns);
        if (!b) {
            atomic_fetch_sub_explicit(&t->keys, 1, memory_order_relaxed);
            return NULL;
        }
        atomic_fetch_add_explicit(&t->with_more, 1, memory_order_relaxed);
    }
    struct entry *e = fb_shelf_add(s, hash);
    if (b)
        fb_entry_set_books(e, b);
    else
        e->brief = fb_brief_new(now_ns);
    return e;
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
    t->pattern = books_new(t, 0, 0);
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
    for (int i = 0; i < SHELVES; i++) {
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

static struct verdict ask(const struct fly_table *t, const struct entry *e, int64_t cost,
                          int64_t now_ns)
{
    const struct books *b = e ? fb_entry_books(e) : t->pattern;

    if (b)
        return fb_accountant_ask(&b->a, cost, now_ns);
    return fb_brief_ask(&e->brief, &t->pattern->a, cost, now_ns);
}

static uint64_t spend(struct fly_table *t, struct entry *e, int64_t cost, int64_t now_ns)
{
    struct books *b = fb_entry_books(e);

    if (!b)
        return fb_brief_take(&e->brief, &t->pattern->a, cost, now_ns, seal_of(t, e));
    uint64_t ticket = fb_accountant_take(&b->a, cost, now_ns);
    fold(t, e, now_ns);
    return ticket;
}

/* One try: an instant, or FULL. */
static int64_t take(struct fly_table *t, const struct fly_id *id, int64_t now_ns, int64_t cost,
                    uint64_t *ret_ticket)
{
    struct shelf *s = shelf_of(t, id);

    fb_lock(&s->lock);
    struct entry *e = fb_shelf_find(s, hash_of(id));
    int64_t at_ns = ask(t, e, cost, now_ns).at_ns;
    if (at_ns <= now_ns) {
        if (!e)
            e = add(t, s, hash_of(id), now_ns);
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

    if (at_ns == FULL && make_room(t, now))
        at_ns = take(t, id, now, cost_of(cost), ret_ticket);
    if (at_ns == FULL) {
        atomic_fetch_add_explicit(&t->refused, 1, memory_order_relaxed);
        at_ns = fb_after(now, SWEEP_EVERY_NS);
    }
    return at_ns <= now ? now_ns : fb_to_clock(t->origin_ns, at_ns);
}

/* ---- what came of it ---- */

void fly_table_cancel(struct fly_table *t, const struct fly_id *id, int64_t now_ns, uint64_t ticket)
{
    struct shelf *s = shelf_of(t, id);
    int64_t now = fb_from_clock(t->origin_ns, now_ns);

    fb_lock(&s->lock);
    struct entry *e = fb_shelf_find(s, hash_of(id));
    struct books *b = e ? fb_entry_books(e) : NULL;
    if (b) {
        fb_accountant_cancel(&b->a, ticket, now);
        fold(t, e, now);
    } else if (e) {
        fb_brief_cancel(&e->brief, &t->pattern->a, ticket, now, seal_of(t, e));
    }
    fb_unlock(&s->lock);
}

void fly_table_settle(struct fly_table *t, const struct fly_id *id, int64_t now_ns, uint64_t ticket,
                      uint32_t cost)
{
    struct shelf *s = shelf_of(t, id);
    int64_t now = fb_from_clock(t->origin_ns, now_ns);

    fb_lock(&s->lock);
    struct entry *e = fb_shelf_find(s, hash_of(id));
    if (e) {
        struct books *b = unfold(t, e, now);
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
        b = unfold(t, e, now_ns);
        if (!b)
            fb_brief_hold(&e->brief, &t->pattern->a,
                          fb_min64(fb_after(now_ns, longest_hold(o, now_ns)), FB_TIME_MAX));
    }
    if (b) {
        fb_accountant_report(&b->a, o, now_ns);
        fold(t, e, now_ns);
    } else {
        fb_brief_report(&e->brief, o->ticket, seal_of(t, e));
    }
}

void fly_table_report(struct fly_table *t, const struct fly_id *id, int64_t now_ns,
                      const struct fly_outcome *o)
{
    struct shelf *s = shelf_of(t, id);
    int64_t now = fb_from_clock(t->origin_ns, now_ns);
    struct fly_outcome inner = fb_outcome_from_clock(t->origin_ns, o, now);

    fb_lock(&s->lock);
    struct entry *e = fb_shelf_find(s, hash_of(id));
    if (e)
        report(t, e, &inner, now);
    fb_unlock(&s->lock);
}

/* ---- seeing ---- */

static void explain(const struct fly_table *t, const struct verdict *v, const struct entry *e,
                    int64_t now_ns, struct fly_why *ret_why)
{
    const struct books *b = e ? fb_entry_books(e) : NULL;
    struct text text;

    ret_why->until_ns = fb_to_clock(t->origin_ns, v->at_ns);
    fb_text_init(&text, ret_why->cause, sizeof(ret_why->cause));
    fb_text_add(&text, fb_accountant_cause(v));
    fb_text_init(&text, ret_why->text, sizeof(ret_why->text));
    fb_accountant_explain(b ? &b->a : &t->pattern->a, v, now_ns, &text);
}

int fly_table_why(struct fly_table *t, const struct fly_id *id, int64_t now_ns, uint32_t cost,
                  struct fly_why *ret_why)
{
    struct shelf *s = shelf_of(t, id);
    int64_t now = fb_from_clock(t->origin_ns, now_ns);

    if (ret_why->size < sizeof(*ret_why))
        return -EINVAL;
    fb_lock(&s->lock);
    const struct entry *e = fb_shelf_find(s, hash_of(id));
    struct verdict v = ask(t, e, cost_of(cost), now);
    explain(t, &v, e, now, ret_why);
    fb_unlock(&s->lock);
    return 0;
}

int fly_table_usage(struct fly_table *t, struct fly_table_usage *ret_usage)
{
    uint64_t places = 0;

    if (ret_usage->size < sizeof(*ret_usage))
        return -EINVAL;
    for (int i = 0; i < SHELVES; i++) {
        fb_lock(&t->shelf[i].lock);
        places += t->shelf[i].places;
        fb_unlock(&t->shelf[i].lock);
    }
    uint64_t with_more = atomic_load_explicit(&t->with_more, memory_order_relaxed);
    *ret_usage = (struct fly_table_usage){
        .size = ret_usage->size,
        .keys = atomic_load_explicit(&t->keys, memory_order_relaxed),
        .keys_max = t->keys_max,
        .with_more = with_more,
        .bytes = sizeof(*t) + places * sizeof(struct entry) + (with_more + 1) * t->books_bytes,
        .forgotten = atomic_load_explicit(&t->forgotten, memory_order_relaxed),
        .refused = atomic_load_explicit(&t->refused, memory_order_relaxed),
    };
    return 0;
}

/* ---- forgetting on demand ---- */

uint64_t fly_table_sweep(struct fly_table *t, int64_t now_ns)
{
    int64_t now = fb_from_clock(t->origin_ns, now_ns);
    uint64_t gone = 0;

    for (int i = 0; i < SHELVES; i++) {
        struct shelf *s = &t->shelf[i];
        fb_lock(&s->lock);
        gone += sweep(t, s, now);
        /* A shelf that stays too wide is only too wide. */
        if (s->count < s->places / 8)
            (void)!fb_shelf_fit(s, s->count);
        fb_unlock(&s->lock);
    }
    return gone;
}

void fly_table_reset(struct fly_table *t, const struct fly_id *id)
{
    struct shelf *s = shelf_of(t, id);

    fb_lock(&s->lock);
    struct entry *e = fb_shelf_find(s, hash_of(id));
    if (e)
        forget(t, s, e);
    fb_unlock(&s->lock);
}
