/* SPDX-License-Identifier: MIT */
/* inner.c - looking into limiters and ledgers, under their locks. */
#include "ledger/inner.h"

#include <errno.h>
#include <string.h>

#include "core/accountant.h"
#include "core/instant.h"
#include "core/state.h"
#include "ledger/body.h"
#include "ledger/ledger.h"
#include "ledger/life.h"
#include "ledger/slot.h"

int fb_limiter_load_first(struct fly_limiter *l, int64_t now_ns, int64_t passed_ns,
                          const void *bytes, size_t size)
{
    struct body *b = fb_enter(l);

    if (!b)
        return -EBUSY;
    if (b->books.tickets.newest > 0) {
        fb_leave(l);
        return -EALREADY;
    }
    fb_change(l);
    int result = fb_state_read(&b->books, fb_inner(l, now_ns),
                               fb_clamp64(passed_ns, 0, FB_TIME_MAX), bytes, size, NULL);
    fb_leave_changed(l);
    return result;
}

bool fb_limiter_is_rested(struct fly_limiter *l, int64_t now_ns)
{
    if (fb_is_shared(l))
        return true;
    struct body *b = fb_enter(l);
    bool rested = b && fb_accountant_is_idle(&b->books, fb_inner(l, now_ns));
    if (b)
        fb_leave(l);
    return rested;
}

bool fb_limiter_is_shared(const struct fly_limiter *l)
{
    return fb_is_shared(l);
}

static bool is_alone(const struct slot *slot)
{
    for (int i = 0; i < FB_SEATS; i++) {
        uint64_t who = atomic_load(&slot->seat[i].who);

        if (who != fb_life_me() && !fb_life_is_over(who))
            return false;
    }
    return true;
}

bool fb_limiter_spec(struct fly_limiter *l, char ret_text[FB_SPEC_BYTES], bool *ret_alone)
{
    _Static_assert(FB_SPEC_BYTES == FB_SLOT_SPEC_MAX, "a text of a slot fits");

    if (!fb_is_shared(l) || !fb_enter(l))
        return false;
    const struct slot *slot = atomic_load(&fb_share_of(l)->slot);
    memcpy(ret_text, slot->spec, FB_SPEC_BYTES);
    ret_text[FB_SPEC_BYTES - 1] = '\0';
    *ret_alone = is_alone(slot);
    fb_leave(l);
    return true;
}

static bool has_keys(struct head *head)
{
    for (const struct entry *e = head->entry; e < head->entry + head->entries; e++)
        if (atomic_load(&e->state) != ENTRY_FREE)
            return true;
    return false;
}

int fb_ledger_secret(struct fly_ledger *ledger, const unsigned char *wanted,
                     unsigned char ret_secret[FB_SIPHASH_SECRET_BYTES])
{
    struct head *head = ledger->head;

    if (fb_robust_lock(&head->lock, fb_life_me()) < 0)
        return -EBUSY;
    if (wanted && !has_keys(head))
        memcpy(head->secret, wanted, sizeof(head->secret));
    memcpy(ret_secret, head->secret, sizeof(head->secret));
    fb_robust_unlock(&head->lock, fb_life_me());
    return 0;
}
