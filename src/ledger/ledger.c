/* SPDX-License-Identifier: MIT */
/*
 * ledger.c - limiters in a mapped file: finding a key's slot, making it, and giving it up.
 *
 * Locks are taken in one order: first the head's, then a slot's.
 */
#include "ledger/ledger.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "core/spec.h"
#include "ledger/clock.h"
#include "ledger/life.h"
#include "util/alloc.h"

#define PATH_BYTES 4096

/* ---- the file ---- */

static int open_at(const char *path, uint64_t bytes, struct fly_ledger **ret_ledger,
                   struct fly_error *err)
{
    struct fly_ledger *ledger = fb_alloc(sizeof(*ledger));

    if (!ledger)
        return fb_ledger_fail(err, ENOMEM, path, "out of memory");
    int rc = fb_ledger_map(ledger, path, bytes, err);
    if (rc < 0) {
        fb_free(ledger);
        return rc;
    }
    ledger->ahead_ns = fb_clock_adopt(ledger->head->anchor_ns) - ledger->head->anchor_ns;
    *ret_ledger = ledger;
    return 0;
}

int fly_ledger_open(const char *path, const struct fly_ledger_options *options,
                    struct fly_ledger **ret_ledger, struct fly_error *err)
{
    char found[PATH_BYTES];

    if (options && options->size < sizeof(*options))
        return fb_ledger_fail(err, EINVAL, "options.size", "set it to the size of the options");
    if (!path) {
        int rc = fb_ledger_path(found, sizeof(found), err);
        if (rc < 0)
            return rc;
    }
    return open_at(path ? path : found, options ? options->bytes : 0, ret_ledger, err);
}

void fly_ledger_close(struct fly_ledger *ledger)
{
    if (!ledger)
        return;
    fb_ledger_unmap(ledger);
    fb_free(ledger);
}

/* ---- slots ---- */

static struct slot *slot_of(struct head *head, const struct entry *e)
{
    return fb_ledger_at(head, e->at);
}

/* The ledger's clock. */
static int64_t ledger_now(const struct head *head)
{
    return head->anchor_ns + fb_clock_boot_ns();
}

static int64_t books_now(const struct head *head, const struct slot *slot)
{
    return fb_from_clock(slot->origin_ns, ledger_now(head));
}

/* Locked, and all that was left half done is undone or finished. -EBUSY, -EIO: it is damaged. */
static int lock_slot(const struct entry *e, struct slot *slot)
{
    if (fb_robust_lock(&slot->lock, fb_life_me()) < 0)
        return -EBUSY;
    if (!fb_slot_is_sound(slot, e->bytes)) {
        fb_robust_unlock(&slot->lock, fb_life_me());
        return -EIO;
    }
    fb_slot_repair(slot);
    fb_word_close(&slot->body, slot);
    return 0;
}

static void unlock_slot(struct slot *slot)
{
    fb_slot_finish(slot);
    fb_robust_unlock(&slot->lock, fb_life_me());
}

/* Make a slot for the key. The entry is valid afterwards. */
static void make_slot(struct head *head, struct entry *e, struct siphash_wide id,
                      const struct spec *s, const char *text)
{
    struct siphash_secret secret = fb_siphash_secret(head->secret);
    struct slot *slot = slot_of(head, e);

    fb_slot_init(slot, s, text, id.word[0] ^ secret.word[0], ledger_now(head));
    slot->id = id;
    if (head->wary)
        fb_accountant_exhaust(&slot->body.books, 0);
    fb_slot_finish(slot);
    e->id = id;
    atomic_store(&e->state, ENTRY_USED);
}

/* ---- giving up ---- */

/* Nobody uses it and it has nothing to remember. */
static bool is_idle(struct head *head, const struct entry *e)
{
    struct slot *slot = slot_of(head, e);

    if (lock_slot(e, slot) < 0)
        return false;
    int64_t now_ns = books_now(head, slot);
    bool idle =
        fb_slot_is_deserted(slot, now_ns) && (atomic_load(&e->state) == ENTRY_LEFT ||
                                              fb_accountant_is_rested(&slot->body.books, now_ns));
    unlock_slot(slot);
    return idle;
}

static void give_up_idle(struct head *head)
{
    for (struct entry *e = head->entry; e < head->entry + head->entries; e++)
        if (atomic_load(&e->state) != ENTRY_FREE && is_idle(head, e))
            atomic_store(&e->state, ENTRY_FREE);
}

static struct entry *find_room(struct head *head, uint64_t bytes)
{
    struct entry *e = fb_index_room(head, bytes);

    if (!e) {
        give_up_idle(head);
        e = fb_index_room(head, bytes);
    }
    return e;
}

void fb_ledger_renew(struct head *head)
{
    int64_t boot_ns = fb_clock_boot_ns();
    int64_t anchor_ns = fb_clock_anchor_ns();

    (void)boot_ns;
    head->anchor_ns = fb_max64(anchor_ns, head->anchor_ns);
}

/* ---- limiters ---- */

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
    g->handle.origin_ns = slot->origin_ns + ledger->ahead_ns;
    atomic_store(&g->handle.near.open, FB_WORD_NONE);
    atomic_store(&g->handle.near.lock.state, LOCK_ELSEWHERE);
    atomic_store(&g->handle.away, &slot->body);
    atomic_store(&g->slot, slot);
    atomic_store(&g->seat, seat);
    *ret_share = g;
    return 0;
}

/* The slot of the key, locked; made where there is none. */
static int get_slot(struct head *head, struct siphash_wide id, const struct spec *s,
                    const char *text, struct slot **ret_slot, struct fly_error *err)
{
    struct entry *e = fb_index_find(head, id);

    if (!e) {
        e = find_room(head, fb_slot_bytes(s));
        if (!e)
            return fb_ledger_fail(err, ENOSPC, "ledger",
                                  "it is full, and every key in it is in use or has limits to "
                                  "remember; make a larger one");
        make_slot(head, e, id, s, text);
    }
    struct slot *slot = slot_of(head, e);
    int rc = lock_slot(e, slot);
    if (rc == -EBUSY)
        return fb_ledger_fail(err, EBUSY, "ledger",
                              "another process keeps this key and does not go on");
    if (rc < 0)
        return fb_ledger_fail(err, -rc, "ledger", "what it says about this key is damaged");
    *ret_slot = slot;
    return 0;
}

static int limiter_locked(struct fly_ledger *ledger, struct siphash_wide id, const struct spec *s,
                          const char *text, struct share **ret_share, struct fly_error *err)
{
    struct slot *slot = NULL;
    int rc = get_slot(ledger->head, id, s, text, &slot, err);

    if (rc < 0)
        return rc;
    rc = share_slot(ledger, slot, ret_share, err);
    unlock_slot(slot);
    return rc;
}

int fly_ledger_limiter(struct fly_ledger *ledger, const struct fly_key *key, const char *spec,
                       struct fly_limiter **ret_limiter, struct fly_error *err)
{
    struct head *head = ledger->head;
    struct siphash_secret secret = fb_siphash_secret(head->secret);
    const char *const text[] = {key->provider ? key->provider : "", key->pool ? key->pool : "",
                                key->credential ? key->credential : ""};
    struct share *g = NULL;
    struct spec s;

    int rc = fb_spec_read(spec, &s, err);
    if (rc < 0)
        return rc;
    if (spec && strlen(spec) >= FB_SLOT_SPEC_MAX)
        return fb_ledger_fail(err, EINVAL, "spec", "longer than a ledger keeps");
    if (fb_robust_lock(&head->lock, fb_life_me()) < 0)
        return fb_ledger_fail(err, EBUSY, "ledger", "another process keeps it and does not go on");
    rc = limiter_locked(ledger, fb_siphash_list(&secret, text, 3), &s, spec ? spec : "", &g, err);
    fb_robust_unlock(&head->lock, fb_life_me());
    if (rc == 0)
        *ret_limiter = &g->handle;
    return rc;
}

void fb_ledger_part(struct share *g)
{
    struct slot *slot = atomic_load(&g->slot);
    uint64_t me = fb_life_me();
    struct seat *seat = &slot->seat[atomic_load(&g->seat) % FB_SEATS];

    if (atomic_load(&seat->who) != me || !fb_slot_enter(g))
        return;
    if (--seat->handles == 0)
        fb_slot_bury(slot, me, books_now(g->ledger->head, slot));
    fb_leave_changed(&g->handle);
}

int fb_ledger_follow(struct share *g, uint64_t at)
{
    (void)g;
    (void)at;
    return -EIO;
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
