/* SPDX-License-Identifier: MIT */
/* table_see.c - what a table knows: of one key, to keep or to explain; and of all of them. */
#include "ledger/table.h"

#include <errno.h>

#include <flyball/table.h>

#include "core/accountant.h"
#include "core/instant.h"
#include "core/state.h"
#include "ledger/origin.h"
#include "util/text.h"

/* ---- what lasts ---- */

/* The state of one key; its shelf is locked. */
static int save(struct fly_table *t, struct entry *e, int64_t now_ns, void *bytes, size_t size)
{
    bool was_brief = !fb_entry_books(e);
    struct books *b = fb_key_unfold(t, e, now_ns);

    if (!b)
        return -ENOMEM;
    size_t needed = fb_state_bytes(&b->a);
    if (needed <= size)
        fb_state_write(&b->a, now_ns, bytes);
    if (was_brief)
        fb_key_fold(t, e, now_ns);
    return needed <= size ? (int)needed : -ENOSPC;
}

int fly_table_save(struct fly_table *t, const struct fly_id *id, int64_t now_ns, void *bytes,
                   size_t size)
{
    struct shelf *s = fb_shelf_of(t, id);

    fb_lock(&s->lock);
    struct entry *e = fb_shelf_find(s, fb_key_hash(id));
    int result = e ? save(t, e, fb_from_clock(t->origin_ns, now_ns), bytes, size) : 0;
    fb_unlock(&s->lock);
    return result;
}

static void explain_failure(struct fly_error *err, const char *sentence)
{
    struct text t;

    if (!err)
        return;
    fb_text_init(&t, err->text, sizeof(err->text));
    fb_text_add(&t, sentence);
}

static int load(struct fly_table *t, struct entry *e, int64_t now_ns, int64_t passed_ns,
                const void *bytes, size_t size, struct fly_error *err)
{
    struct books *b = fb_key_unfold(t, e, now_ns);

    if (!b)
        return -ENOMEM;
    int result = fb_state_read(&b->a, now_ns, passed_ns, bytes, size, err);
    fb_key_fold(t, e, now_ns);
    return result;
}

int fly_table_load(struct fly_table *t, const struct fly_id *id, int64_t now_ns, int64_t passed_ns,
                   const void *bytes, size_t size, struct fly_error *err)
{
    struct shelf *s = fb_shelf_of(t, id);
    int64_t now = fb_from_clock(t->origin_ns, now_ns);

    fb_lock(&s->lock);
    struct entry *e = fb_shelf_find(s, fb_key_hash(id));
    bool is_new = !e;
    if (is_new)
        e = fb_key_add(t, s, fb_key_hash(id), now);
    int result = -ENOSPC;
    if (e)
        result = load(t, e, now, fb_clamp64(passed_ns, 0, FB_TIME_MAX), bytes, size, err);
    if (e && is_new && result < 0)
        fb_key_forget(t, s, e);
    fb_unlock(&s->lock);
    if (result == -ENOSPC || result == -ENOMEM)
        explain_failure(err, result == -ENOSPC ? "the table is full" : "out of memory");
    return result;
}

/* ---- seeing ---- */

static void explain(const struct fly_table *t, const struct verdict *v, const struct entry *e,
                    int64_t cost, int64_t now_ns, struct fly_why *ret_why)
{
    const struct books *b = e ? fb_entry_books(e) : NULL;
    struct text text;

    ret_why->until_ns = fb_to_clock(t->origin_ns, v->at_ns);
    fb_text_init(&text, ret_why->cause, sizeof(ret_why->cause));
    fb_text_add(&text, fb_accountant_cause(v));
    fb_text_init(&text, ret_why->text, sizeof(ret_why->text));
    fb_accountant_explain(b ? &b->a : &t->pattern->a, v, cost, now_ns, &text);
}

int fly_table_why(struct fly_table *t, const struct fly_id *id, int64_t now_ns, uint32_t cost,
                  struct fly_why *ret_why)
{
    struct shelf *s = fb_shelf_of(t, id);
    int64_t now = fb_from_clock(t->origin_ns, now_ns);

    if (ret_why->size < sizeof(*ret_why))
        return -EINVAL;
    fb_lock(&s->lock);
    const struct entry *e = fb_shelf_find(s, fb_key_hash(id));
    struct verdict v = fb_key_ask(t, e, fb_max64(1, cost), now);
    explain(t, &v, e, fb_max64(1, cost), now, ret_why);
    fb_unlock(&s->lock);
    return 0;
}

/* Of one key, whose shelf is locked; a key that is not there is as one that was never used. */
static int key_usage(struct fly_table *t, struct entry *e, int64_t now_ns, struct fly_usage *ret_u)
{
    bool was_brief = e && !fb_entry_books(e);
    const struct books *b = e ? fb_key_unfold(t, e, now_ns) : t->pattern;

    if (!b)
        return -ENOMEM;
    *ret_u = fb_usage_of(&b->a, fb_max64(now_ns, b->a.now_ns));
    if (was_brief)
        fb_key_fold(t, e, now_ns);
    return 0;
}

int fly_table_key_usage(struct fly_table *t, const struct fly_id *id, int64_t now_ns,
                        struct fly_usage *ret_usage)
{
    struct shelf *s = fb_shelf_of(t, id);
    struct fly_usage u;

    if (ret_usage->size < sizeof(*ret_usage))
        return -EINVAL;
    fb_lock(&s->lock);
    struct entry *e = fb_shelf_find(s, fb_key_hash(id));
    int result = key_usage(t, e, fb_from_clock(t->origin_ns, now_ns), &u);
    fb_unlock(&s->lock);
    if (result < 0)
        return result;
    u.size = ret_usage->size;
    u.next_ns = u.limited ? fb_to_clock(t->origin_ns, u.next_ns) : now_ns;
    *ret_usage = u;
    return 0;
}

int fly_table_usage(struct fly_table *t, struct fly_table_usage *ret_usage)
{
    uint64_t places = 0;

    if (ret_usage->size < sizeof(*ret_usage))
        return -EINVAL;
    for (int i = 0; i < FB_SHELVES; i++) {
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

    for (int i = 0; i < FB_SHELVES; i++) {
        struct shelf *s = &t->shelf[i];
        fb_lock(&s->lock);
        gone += fb_keys_sweep(t, s, now);
        /* A shelf that stays too wide is only too wide. */
        if (s->count < s->places / 8)
            (void)!fb_shelf_fit(s, s->count);
        fb_unlock(&s->lock);
    }
    return gone;
}

void fly_table_reset(struct fly_table *t, const struct fly_id *id)
{
    struct shelf *s = fb_shelf_of(t, id);

    fb_lock(&s->lock);
    struct entry *e = fb_shelf_find(s, fb_key_hash(id));
    if (e)
        fb_key_forget(t, s, e);
    fb_unlock(&s->lock);
}
