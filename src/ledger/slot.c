/* SPDX-License-Identifier: MIT */
/*
 * slot.c - decisions that are made whole or not at all, whoever dies in the middle.
 *
 * STAGE_CLEAN: the books are the truth, and so is what was taken from the word since it was
 * opened. STAGE_CHANGING: the copy is the truth instead of the books. STAGE_CHANGED: the books are
 * the truth, and the word, unless it is open again already, says what was before.
 *
 * What a killed process has stored is what the instructions that it finished have stored, in their
 * order. So it is the order in the program that counts here, and a fence of the compiler keeps it.
 */
#include "ledger/slot.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "core/spec.h"
#include "ledger/ledger.h"
#include "ledger/life.h"

#define SWEEP_NS  (100 * FB_NS_PER_MS)
#define OUT_MAX   (INT64_C(1) << 40) /* more is nonsense, and sums stay in range */
#define MOVES_MAX 100                /* of a key, during one call: more go in a circle */

static void in_order(void)
{
    atomic_signal_fence(memory_order_seq_cst);
}

static void set_stage(struct slot *slot, enum slot_stage stage)
{
    in_order();
    atomic_store_explicit(&slot->stage, stage, memory_order_release);
    in_order();
}

static enum slot_stage stage_of(const struct slot *slot)
{
    return atomic_load_explicit(&slot->stage, memory_order_relaxed);
}

static void *undo_of(struct slot *slot)
{
    return (unsigned char *)slot + slot->undo_at;
}

/* ---- setting up ---- */

static uint64_t undo_at(const struct spec *s)
{
    return (sizeof(struct slot) + fb_accountant_bytes(s) + 7) / 8 * 8;
}

uint64_t fb_slot_bytes(const struct spec *s)
{
    return undo_at(s) + (fb_accountant_undo_bytes(s) + 7) / 8 * 8;
}

void fb_slot_init(struct slot *slot, const struct spec *s, const char *text, uint64_t seed,
                  int64_t origin_ns)
{
    struct body *b = &slot->body;
    size_t size = strlen(text);

    assert(size < FB_SLOT_SPEC_MAX);
    memcpy(slot->spec, text, size + 1);
    slot->origin_ns = origin_ns;
    slot->undo_at = undo_at(s);
    slot->undo_bytes = fb_accountant_undo_bytes(s);
    atomic_store(&b->lock.state, LOCK_ELSEWHERE);
    atomic_store(&b->open, FB_WORD_NONE);
    fb_accountant_init(&b->books, s, fb_body_memory(b), seed, 0);
}

/* ---- changing ---- */

void fb_slot_change(struct slot *slot)
{
    if (stage_of(slot) == STAGE_CHANGING)
        return;
    assert(stage_of(slot) == STAGE_CLEAN);
    memcpy(undo_of(slot), &slot->body.books, slot->undo_bytes);
    slot->record_changed = 0;
    set_stage(slot, STAGE_CHANGING);
}

/* Whether or not this process goes on. */
void fb_slot_settle(struct slot *slot)
{
    assert(stage_of(slot) == STAGE_CHANGING);
    set_stage(slot, STAGE_CHANGED);
    atomic_store(&slot->body.open, fb_word_of(&slot->body.books));
    set_stage(slot, STAGE_CLEAN);
}

static void set_record(struct slot *slot, uint32_t index, struct record r)
{
    assert(stage_of(slot) == STAGE_CHANGING && slot->record_changed == 0);
    slot->record_was = slot->record[index];
    in_order();
    slot->record_changed = index + 1;
    in_order();
    slot->record[index] = r;
}

static void undo(struct slot *slot)
{
    struct accountant *books = &slot->body.books;
    uint32_t record = slot->record_changed;

    memcpy(books, undo_of(slot), slot->undo_bytes);
    if (record > 0 && record <= FB_RECORDS)
        slot->record[record - 1] = slot->record_was;
    fb_accountant_mend(books);
}

void fb_slot_repair(struct slot *slot)
{
    struct body *b = &slot->body;
    enum slot_stage stage = stage_of(slot);

    if (stage == STAGE_CLEAN)
        return;
    if (stage == STAGE_CHANGING) {
        undo(slot);
        /* Who looked at the bucket's slots in the meantime must not find the same word again. */
        fb_word_close(b, slot);
        fb_accountant_skip_id(&b->books);
        fb_slot_settle(slot);
        return;
    }
    if (!fb_word_is_open(atomic_load(&b->open)))
        atomic_store(&b->open, fb_word_of(&b->books));
    set_stage(slot, STAGE_CLEAN);
}

/* ---- in and out ---- */

static struct seat *seat_of(struct slot *slot, uint32_t index)
{
    return &slot->seat[index % FB_SEATS];
}

static bool is_mine(struct share *g, struct slot *slot, uint64_t me)
{
    return atomic_load_explicit(&seat_of(slot, g->seat)->who, memory_order_relaxed) == me;
}

/* The child of a fork, and whoever followed a key that has moved, has no seat yet. */
static int sit_down(struct share *g, struct slot *slot, uint64_t me)
{
    uint32_t seat;

    if (is_mine(g, slot, me))
        return 0;
    int rc = fb_slot_sit(slot, me, &seat);
    if (rc < 0)
        return rc;
    atomic_store(&g->seat, seat);
    return 0;
}

bool fb_slot_move_on(struct share *g, struct slot *slot, uint64_t me)
{
    struct seat *seat = seat_of(slot, g->seat);

    if (!fb_ledger_follow(g, atomic_load(&slot->moved)))
        return false;
    if (atomic_load(&seat->who) == me && --seat->handles == 0)
        atomic_store(&seat->who, 0);
    return true;
}

/* A file that was emptied under us holds nothing, or what others have put there since. */
static bool is_its_own(struct share *g, const struct slot *slot)
{
    if (slot->id.word[0] == g->id.word[0] && slot->id.word[1] == g->id.word[1])
        return true;
    atomic_store(&g->lost, 1);
    return false;
}

/* The slot is locked. -EAGAIN: its key is elsewhere. */
static int enter_locked(struct share *g, struct slot *slot, uint64_t me)
{
    if (atomic_load(&g->slot) != slot)
        return -EAGAIN; /* another thread was faster; this may be somebody else's by now */
    if (!is_its_own(g, slot))
        return -ESTALE;
    if (atomic_load(&slot->moved) != 0)
        return fb_slot_move_on(g, slot, me) ? -EAGAIN : -ESTALE;
    fb_slot_repair(slot);
    fb_word_close(&slot->body, slot);
    int rc = sit_down(g, slot, me);
    if (rc < 0)
        fb_slot_finish(slot);
    return rc;
}

struct body *fb_slot_enter(struct share *g)
{
    uint64_t me = fb_life_me();
    int rc = -EAGAIN;

    for (int moves = 0; rc == -EAGAIN && moves < MOVES_MAX; moves++) {
        struct slot *slot = atomic_load(&g->slot);
        if (fb_robust_lock(&slot->lock, me) < 0)
            return NULL;
        rc = enter_locked(g, slot, me);
        if (rc == 0)
            return &slot->body;
        fb_robust_unlock(&slot->lock, me);
    }
    return NULL;
}

void fb_slot_finish(struct slot *slot)
{
    if (stage_of(slot) == STAGE_CHANGING)
        set_stage(slot, STAGE_CHANGED);
    fb_word_publish(&slot->body);
    set_stage(slot, STAGE_CLEAN);
}

void fb_slot_leave(struct share *g)
{
    struct slot *slot = atomic_load(&g->slot);

    fb_slot_finish(slot);
    fb_robust_unlock(&slot->lock, fb_life_me());
}

/* ---- whose grants ---- */

bool fb_slot_word_take(struct share *g, int64_t now_ns, uint64_t *ret_ticket)
{
    struct slot *slot = atomic_load_explicit(&g->slot, memory_order_acquire);
    struct seat *seat = seat_of(slot, atomic_load_explicit(&g->seat, memory_order_relaxed));

    if (atomic_load_explicit(&seat->who, memory_order_relaxed) != fb_life_me() ||
        slot->id.word[0] != g->id.word[0] ||
        !fb_word_is_open(atomic_load_explicit(&slot->body.open, memory_order_relaxed)))
        return false;
    /* Counted before it is made: nobody must think that less is out than is. */
    atomic_fetch_add_explicit(&seat->out, 1, memory_order_acq_rel);
    if (fb_word_take(&slot->body, now_ns, ret_ticket))
        return true;
    atomic_fetch_sub_explicit(&seat->out, 1, memory_order_relaxed);
    return false;
}

static uint32_t record_of(uint64_t ticket)
{
    return (uint32_t)(ticket >> 16 & 0xffff) % FB_RECORDS;
}

/* A grant that is out is not recorded any more, but counted. */
static void count(struct slot *slot, uint64_t who)
{
    for (uint32_t i = 0; i < FB_SEATS; i++)
        if (atomic_load(&slot->seat[i].who) == who)
            atomic_fetch_add(&slot->seat[i].out, 1);
}

void fb_slot_granted(struct share *g, uint64_t ticket)
{
    struct slot *slot = atomic_load(&g->slot);
    uint32_t index = record_of(ticket);

    if (slot->record[index].ticket != 0)
        count(slot, slot->record[index].who);
    set_record(slot, index, (struct record){.ticket = ticket, .who = fb_life_me()});
}

void fb_slot_ended(struct share *g, uint64_t ticket)
{
    struct slot *slot = atomic_load(&g->slot);
    uint32_t index = record_of(ticket);

    if (slot->record[index].ticket == ticket)
        set_record(slot, index, (struct record){0});
    else
        atomic_fetch_sub(&seat_of(slot, g->seat)->out, 1);
}

/* ---- seats ---- */

static int find_seat(struct slot *slot, uint64_t who)
{
    for (int i = 0; i < FB_SEATS; i++)
        if (atomic_load(&slot->seat[i].who) == who)
            return i;
    return -1;
}

int fb_slot_sit(struct slot *slot, uint64_t me, uint32_t *ret_seat)
{
    int index = find_seat(slot, me);

    if (index < 0) {
        index = find_seat(slot, 0);
        if (index < 0) {
            (void)fb_slot_is_deserted(slot, slot->body.books.now_ns);
            index = find_seat(slot, 0);
        }
        if (index < 0)
            return -EUSERS;
        slot->seat[index].handles = 0;
        atomic_store(&slot->seat[index].out, 0);
        atomic_store(&slot->seat[index].who, me);
    }
    slot->seat[index].handles++;
    *ret_seat = (uint32_t)index;
    return 0;
}

static void end_record(struct slot *slot, uint32_t index, int64_t now_ns)
{
    struct fly_outcome gone = FLY_OUTCOME_INIT;

    gone.ticket = slot->record[index].ticket;
    gone.sent_ns = now_ns;
    fb_slot_change(slot);
    fb_accountant_report(&slot->body.books, &gone, now_ns);
    set_record(slot, index, (struct record){0});
    fb_slot_settle(slot);
}

/* Grants that no living process knows of: they were counted in the seats of the dead. */
static int64_t orphans(struct slot *slot)
{
    int64_t known = 0;

    for (int i = 0; i < FB_SEATS; i++)
        if (atomic_load(&slot->seat[i].who) != 0)
            known += fb_clamp64(atomic_load(&slot->seat[i].out), 0, OUT_MAX);
    for (int i = 0; i < FB_RECORDS; i++)
        known += slot->record[i].ticket != 0;
    return slot->body.books.in_flight - known;
}

static bool forget_orphans(struct slot *slot)
{
    int64_t count_of_them = orphans(slot);

    if (count_of_them <= 0)
        return false;
    fb_slot_change(slot);
    fb_accountant_forget(&slot->body.books, count_of_them);
    fb_slot_settle(slot);
    return true;
}

void fb_slot_bury(struct slot *slot, uint64_t who, int64_t now_ns)
{
    int index = find_seat(slot, who);

    for (uint32_t i = 0; i < FB_RECORDS; i++)
        if (slot->record[i].ticket != 0 && slot->record[i].who == who)
            end_record(slot, i, now_ns);
    if (index >= 0)
        atomic_store(&slot->seat[index].who, 0);
    (void)forget_orphans(slot);
}

bool fb_slot_is_deserted(struct slot *slot, int64_t now_ns)
{
    bool deserted = true;

    for (int i = 0; i < FB_SEATS; i++) {
        uint64_t who = atomic_load(&slot->seat[i].who);
        if (who == 0)
            continue;
        if (fb_life_is_over(who))
            fb_slot_bury(slot, who, now_ns);
        else
            deserted = false;
    }
    return deserted;
}

/* What was learned is read first: a grant that ends is told to whoever learns. */
void fb_slot_empty(struct slot *slot, int64_t now_ns)
{
    fb_slot_relearn(slot);
    if (stage_of(slot) == STAGE_CHANGING)
        fb_slot_settle(slot);
    for (uint32_t i = 0; i < FB_RECORDS; i++)
        if (slot->record[i].ticket != 0)
            end_record(slot, i, now_ns);
    for (int i = 0; i < FB_SEATS; i++)
        atomic_store(&slot->seat[i].who, 0);
    (void)forget_orphans(slot);
}

/* ---- the sweep ---- */

/* Looked for before the lock is taken: it takes a while. */
static int find_dead(struct slot *slot, uint64_t dead[FB_SEATS])
{
    uint64_t me = fb_life_me();
    int found = 0;

    for (int i = 0; i < FB_SEATS; i++) {
        uint64_t who = atomic_load(&slot->seat[i].who);
        if (who != 0 && who != me && fb_life_is_over(who))
            dead[found++] = who;
    }
    return found;
}

bool fb_slot_sweep(struct share *g, int64_t now_ns)
{
    struct slot *slot = atomic_load(&g->slot);
    uint64_t since_ns = (uint64_t)now_ns - (uint64_t)atomic_load(&slot->swept_ns);
    uint64_t dead[FB_SEATS];

    if (since_ns < SWEEP_NS)
        return false;
    int found = find_dead(slot, dead);
    if (!fb_slot_enter(g))
        return false;
    slot = atomic_load(&g->slot);
    atomic_store(&slot->swept_ns, now_ns);
    for (int i = 0; i < found; i++)
        fb_slot_bury(slot, dead[i], now_ns);
    bool changed = forget_orphans(slot) || found > 0;
    fb_leave_changed(&g->handle);
    return changed;
}
