/* SPDX-License-Identifier: MIT */
/*
 * ledger.c - limiters in mapped memory: finding a key's slot, making it, and giving it up.
 *
 * Locks are taken in one order: first the head's, then a slot's.
 */
#include "ledger/ledger.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "core/spec.h"
#include "ledger/clock.h"
#include "ledger/life.h"
#include "util/alloc.h"

#define LEFT_NS      (10 * FB_NS_PER_S)
#define AHEAD_MAX_NS (3600 * FB_NS_PER_S) /* that books may be of the clock: more is damage */

void fb_ledger_unmap(struct fly_ledger *ledger)
{
    if (ledger->head)
        (void)munmap(ledger->head, ledger->bytes);
    ledger->head = NULL;
}

/* ---- slots ---- */

static struct slot *slot_of(const struct head *head, const struct entry *e)
{
    return (struct slot *)((uintptr_t)head + e->at);
}

/* The ledger's clock. */
static int64_t ledger_now(const struct head *head)
{
    return head->anchor_ns + fb_clock_boot_ns();
}

int64_t fb_books_now(const struct head *head, const struct slot *slot)
{
    return fb_from_clock(slot->origin_ns, ledger_now(head));
}

/*
 * Of an entry in use, with the index settled: its key is here. Books that have seen times to come
 * would stand still until then.
 */
static bool is_sound(const struct head *head, const struct entry *e, struct slot *slot)
{
    return atomic_load(&slot->moved) == 0 && fb_slot_is_sound(slot, e->bytes) &&
           slot->body.books.now_ns <= fb_after(fb_books_now(head, slot), AHEAD_MAX_NS);
}

bool fb_slot_settled(const struct head *head, const struct entry *e, struct slot *slot)
{
    if (!is_sound(head, e, slot))
        return false;
    fb_slot_repair(slot);
    fb_word_close(&slot->body, slot);
    return true;
}

/* Locked, and all that was left half done is undone or finished. -EBUSY, -EIO: it is damaged. */
static int lock_slot(const struct head *head, const struct entry *e, struct slot *slot)
{
    if (fb_robust_lock(&slot->lock, fb_life_me()) < 0)
        return -EBUSY;
    if (!fb_slot_settled(head, e, slot)) {
        fb_robust_unlock(&slot->lock, fb_life_me());
        return -EIO;
    }
    if (slot->era != head->era)
        fb_slot_empty(slot, fb_books_now(head, slot));
    slot->era = head->era;
    return 0;
}

static void unlock_slot(struct slot *slot)
{
    fb_slot_finish(slot);
    fb_robust_unlock(&slot->lock, fb_life_me());
}

/* Make a slot for the key. The entry is valid afterwards. */
static void make_slot(struct head *head, struct entry *e, struct siphash_wide id,
                      const struct spec *s, const char *text, bool wary)
{
    struct siphash_secret secret = fb_siphash_secret(head->secret);
    struct slot *slot = slot_of(head, e);

    fb_slot_init(slot, s, text, id.word[0] ^ secret.word[0], ledger_now(head));
    slot->id = id;
    slot->era = head->era;
    if (wary)
        fb_accountant_exhaust(&slot->body.books, 0);
    fb_slot_finish(slot);
    e->id = id;
    atomic_store(&e->state, ENTRY_USED);
}

/* ---- giving up ---- */

static bool is_lived_in(const struct head *head, struct slot *slot)
{
    if (slot->era != head->era)
        return false;
    for (int i = 0; i < FB_SEATS; i++)
        if (!fb_life_is_over(atomic_load(&slot->seat[i].who)))
            return true;
    return false;
}

/* Its key has moved on, and no thread can be looking at it any more. */
static bool is_left(const struct head *head, const struct slot *slot)
{
    int64_t since_ns = fb_books_now(head, slot) - atomic_load(&slot->swept_ns);

    return since_ns < 0 || since_ns > LEFT_NS;
}

typedef bool may_go_fn(const struct accountant *books, int64_t now_ns);

/* Nobody uses it, and its books may go. */
static bool is_idle(struct head *head, const struct entry *e, may_go_fn *may_go)
{
    struct slot *slot = slot_of(head, e);

    if (atomic_load(&e->state) == ENTRY_LEFT)
        return !is_lived_in(head, slot) && is_left(head, slot);
    if (atomic_load(&slot->lock.owner) == fb_life_me() || lock_slot(head, e, slot) < 0)
        return false;
    int64_t now_ns = fb_books_now(head, slot);
    bool idle = fb_slot_is_deserted(slot, now_ns) && may_go(&slot->body.books, now_ns);
    unlock_slot(slot);
    return idle;
}

static void give_up_rested(struct head *head)
{
    for (struct entry *e = head->entry; e < head->entry + head->entries; e++)
        if (atomic_load(&e->state) != ENTRY_FREE && is_idle(head, e, fb_accountant_is_rested))
            atomic_store(&e->state, ENTRY_FREE);
}

/*
 * What was learned of keys that nobody uses goes as well: as much as has to, and some more, so that
 * not every new key has to look at all.
 */
static struct entry *give_up_learned(struct head *head, uint64_t bytes)
{
    struct entry *room = NULL;
    uint32_t given = 0;

    for (struct entry *e = head->entry; e < head->entry + head->entries; e++) {
        if (room && given > head->entries / 16)
            break;
        if (atomic_load(&e->state) != ENTRY_USED || !is_idle(head, e, fb_accountant_is_idle))
            continue;
        atomic_store(&e->state, ENTRY_FREE);
        if (given++ == 0)
            head->room_at = e->at;
        room = room ? room : fb_index_room(head, bytes);
    }
    return room;
}

static struct entry *find_room(struct head *head, uint64_t bytes)
{
    struct entry *e = fb_index_room(head, bytes);

    if (!e) {
        give_up_rested(head);
        e = fb_index_room(head, bytes);
    }
    return e ? e : give_up_learned(head, bytes);
}

/* ---- a new boot ---- */

/* Whoever had it is gone, and the last of what was spent may not have reached the disk. */
static bool renew_slot(const struct head *head, const struct entry *e)
{
    struct slot *slot = slot_of(head, e);

    atomic_store(&slot->lock.owner, 0);
    if (!is_sound(head, e, slot))
        return false;
    fb_slot_repair(slot);
    fb_word_close(&slot->body, slot);
    for (int i = 0; i < FB_SEATS; i++)
        atomic_store(&slot->seat[i].who, 0);
    memset(slot->record, 0, sizeof(slot->record));
    fb_slot_change(slot);
    fb_accountant_forget(&slot->body.books, slot->body.books.in_flight);
    fb_accountant_exhaust(&slot->body.books, fb_books_now(head, slot));
    fb_slot_relearn(slot);
    fb_slot_finish(slot);
    return true;
}

/* The latest instant that any slot has seen, on the clock of the ledger. */
static int64_t latest_seen(const struct head *head)
{
    int64_t latest_ns = 0;

    for (const struct entry *e = head->entry; e < head->entry + head->entries; e++) {
        const struct slot *slot = slot_of(head, e);
        if (atomic_load(&e->state) == ENTRY_USED && fb_slot_is_sound(slot_of(head, e), e->bytes))
            latest_ns = fb_max64(latest_ns, slot->origin_ns + slot->body.books.now_ns);
    }
    return latest_ns;
}

void fb_ledger_renew(struct head *head)
{
    int64_t boot_ns = fb_clock_boot_ns();
    int64_t latest_ns = latest_seen(head);

    atomic_store(&head->lock.owner, 0);
    fb_index_settle(head);
    /* A clock that was set back must not let time stand still. */
    head->anchor_ns = fb_max64(fb_clock_anchor_ns(), latest_ns - boot_ns);
    for (struct entry *e = head->entry; e < head->entry + head->entries; e++) {
        if (atomic_load(&e->state) == ENTRY_FREE)
            continue;
        if (atomic_load(&e->state) != ENTRY_USED || !renew_slot(head, e)) {
            head->wary |= atomic_load(&e->state) == ENTRY_USED;
            atomic_store(&e->state, ENTRY_FREE);
        }
    }
}

/* ---- handles ---- */

static int share_slot(struct fly_ledger *ledger, struct slot *slot, struct share **ret_share,
                      struct fly_error *err)
{
    struct share *g = fb_alloc(sizeof(*g));
    uint32_t seat;

    if (!g)
        return fb_ledger_fail(err, ENOMEM, "ledger", "out of memory");
    if (fb_slot_sit(slot, fb_life_me(), &seat) < 0) {
        fb_free(g);
        return fb_ledger_fail(err, EUSERS, "ledger", "64 processes use this key already");
    }
    g->ledger = ledger;
    g->id = slot->id;
    g->handle.origin_ns = slot->origin_ns + ledger->ahead_ns;
    atomic_store(&g->handle.near.open, FB_WORD_NONE);
    atomic_store(&g->handle.near.lock.state, LOCK_ELSEWHERE);
    atomic_store(&g->handle.away, &slot->body);
    atomic_store(&g->slot, slot);
    atomic_store(&g->seat, seat);
    *ret_share = g;
    return 0;
}

static int fail_slot(struct fly_error *err, int rc)
{
    if (rc == -ENOSPC)
        return fb_ledger_fail(err, ENOSPC, "ledger",
                              "it is full, and every key in it is in use or has limits to "
                              "remember; make a larger one");
    if (rc == -EBUSY)
        return fb_ledger_fail(err, EBUSY, "ledger",
                              "another process keeps this key and does not go on");
    return fb_ledger_fail(err, EIO, "ledger",
                          "what it says about this key is damaged, and processes are using it");
}

/* The entry of the key; made where there is none, and made anew where it is damaged. */
static int get_entry(struct head *head, struct siphash_wide id, const struct spec *s,
                     const char *text, struct entry **ret_entry)
{
    struct entry *e = fb_index_find(head, id);
    bool damaged =
        e && !is_lived_in(head, slot_of(head, e)) && !is_sound(head, e, slot_of(head, e));

    if (damaged) {
        atomic_store(&e->state, ENTRY_FREE);
        e = NULL;
    }
    if (!e) {
        e = find_room(head, fb_slot_bytes(s));
        if (!e)
            return -ENOSPC;
        make_slot(head, e, id, s, text, damaged || head->wary);
    }
    *ret_entry = e;
    return 0;
}

/* ---- another spec ---- */

/* The slot of `e` is locked; the key moves to a new one. Returns that, or NULL for want of room. */
static struct slot *move_slot(struct head *head, struct entry *e, const struct change *c,
                              int64_t now_ns)
{
    struct slot *old = slot_of(head, e);
    struct entry *next = find_room(head, fb_slot_bytes(c->spec));

    if (!next)
        return NULL;
    struct slot *slot = slot_of(head, next);
    fb_slot_init(slot, c->spec, c->text, 0, old->origin_ns);
    /* Opened again at the present: the books begin where the old ones are. */
    memset(&slot->body.books, 0, sizeof(struct accountant) + fb_accountant_bytes(c->spec));
    fb_accountant_init(&slot->body.books, c->spec, fb_body_memory(&slot->body), 0,
                       fb_max64(now_ns, old->body.books.now_ns));
    c->carry(&slot->body.books, &old->body.books);
    slot->id = old->id;
    slot->era = old->era;
    memcpy(slot->record, old->record, sizeof(slot->record));
    for (int i = 0; i < FB_SEATS; i++) {
        atomic_store(&slot->seat[i].out, atomic_load(&old->seat[i].out));
        slot->seat[i].handles = old->seat[i].handles;
        atomic_store(&slot->seat[i].who, atomic_load(&old->seat[i].who));
    }
    fb_slot_finish(slot);
    next->id = e->id;
    atomic_store(&next->state, ENTRY_NEXT);
    atomic_store(&old->swept_ns, fb_books_now(head, old));
    atomic_store(&old->moved, next->at); /* from here on it has moved */
    fb_index_settle(head);
    return slot;
}

/* Leave a slot for good, waking whoever waits at it. */
static void abandon(struct slot *old)
{
    atomic_store(&old->body.open, FB_WORD_NONE);
    fb_robust_unlock(&old->lock, fb_life_me());
    atomic_fetch_add(&old->body.changed, 2);
    fb_futex_wake(&old->body.changed, FB_EVERYBODY);
}

static int reconfigure_locked(struct share *g, const struct change *c, int64_t now_ns,
                              struct fly_error *err)
{
    struct head *head = g->ledger->head;
    struct body *b = fb_enter(&g->handle);

    if (!b)
        return fail_slot(err, -EBUSY);
    struct slot *old = atomic_load(&g->slot);
    struct entry *e = fb_index_at(head, (uint64_t)((uintptr_t)old - (uintptr_t)head));
    struct slot *slot = e ? move_slot(head, e, c, fb_inner(&g->handle, now_ns)) : NULL;
    if (!slot) {
        fb_slot_leave(g);
        return fail_slot(err, -ENOSPC);
    }
    (void)fb_slot_move_on(g, old, fb_life_me());
    abandon(old);
    return 0;
}

int fb_ledger_reconfigure(struct share *g, const struct change *c, int64_t now_ns,
                          struct fly_error *err)
{
    struct head *head = g->ledger->head;

    if (strlen(c->text) >= FB_SLOT_SPEC_MAX)
        return fb_ledger_fail(err, EINVAL, "spec", "longer than a ledger keeps");
    if (fb_robust_lock(&head->lock, fb_life_me()) < 0)
        return fail_slot(err, -EBUSY);
    fb_index_settle(head);
    int rc = reconfigure_locked(g, c, now_ns, err);
    fb_robust_unlock(&head->lock, fb_life_me());
    return rc;
}

bool fb_ledger_follow(struct share *g, uint64_t at)
{
    struct entry *e = fb_index_at(g->ledger->head, at);

    if (!e)
        return false;
    struct slot *slot = slot_of(g->ledger->head, e);
    atomic_store(&g->slot, slot);
    atomic_store(&g->handle.away, &slot->body);
    return true;
}

/* ---- limiters ---- */

static int limiter_locked(struct fly_ledger *ledger, struct siphash_wide id, const struct spec *s,
                          const char *text, struct share **ret_share, struct fly_error *err)
{
    struct head *head = ledger->head;
    struct entry *e = NULL;

    fb_index_settle(head);
    int rc = get_entry(head, id, s, text, &e);
    if (rc < 0)
        return fail_slot(err, rc);
    struct slot *slot = slot_of(head, e);
    rc = lock_slot(head, e, slot);
    if (rc < 0)
        return fail_slot(err, rc);
    if (fb_slot_is_deserted(slot, fb_books_now(head, slot)))
        fb_slot_relearn(slot);
    bool same = strcmp(slot->spec, text) == 0;
    rc = share_slot(ledger, slot, ret_share, err);
    unlock_slot(slot);
    if (rc < 0 || same)
        return rc;
    struct change change = {.spec = s, .text = text, .carry = fb_accountant_transfer};
    rc = reconfigure_locked(*ret_share, &change, fly_now(), err);
    if (rc < 0)
        fly_limiter_free(&(*ret_share)->handle);
    return rc;
}

struct siphash_wide fb_key_id(const struct head *head, const struct fly_key *key)
{
    const char *const names[] = {key->provider ? key->provider : "", key->pool ? key->pool : "",
                                 key->credential ? key->credential : ""};
    struct siphash_secret secret = fb_siphash_secret(head->secret);

    return fb_siphash_list(&secret, names, 3);
}

int fb_slots_limiter(struct fly_ledger *ledger, const struct fly_key *key, const struct spec *s,
                     const char *text, struct fly_limiter **ret_limiter, struct fly_error *err)
{
    struct head *head = ledger->head;
    struct share *g = NULL;

    if (strlen(text) >= FB_SLOT_SPEC_MAX)
        return fb_ledger_fail(err, EINVAL, "spec", "longer than a ledger keeps");
    if (fb_robust_lock(&head->lock, fb_life_me()) < 0)
        return fb_ledger_fail(err, EBUSY, "ledger", "another process keeps it and does not go on");
    int rc = limiter_locked(ledger, fb_key_id(head, key), s, text, &g, err);
    fb_robust_unlock(&head->lock, fb_life_me());
    if (rc == 0)
        *ret_limiter = &g->handle;
    return rc;
}

void fb_ledger_part(struct share *g)
{
    if (!fb_enter(&g->handle))
        return;
    struct slot *slot = atomic_load(&g->slot);
    struct seat *seat = &slot->seat[atomic_load(&g->seat) % FB_SEATS];
    if (--seat->handles == 0)
        fb_slot_bury(slot, fb_life_me(), fb_books_now(g->ledger->head, slot));
    fb_leave_changed(&g->handle);
}

bool fb_ledger_is_before(const struct share *a, const struct share *b)
{
    const struct fly_ledger *of_a = a->ledger;
    const struct fly_ledger *of_b = b->ledger;

    if (of_a->device != of_b->device)
        return of_a->device < of_b->device;
    if (of_a->inode != of_b->inode)
        return of_a->inode < of_b->inode;
    return (uintptr_t)atomic_load(&a->slot) - (uintptr_t)of_a->head <
           (uintptr_t)atomic_load(&b->slot) - (uintptr_t)of_b->head;
}
