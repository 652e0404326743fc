/* SPDX-License-Identifier: MIT */
/* Slots in states that only deaths, damage and want of room bring about. */
#include "ledger_rig.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "ledger/life.h"

#define SPEC "rate=1/1h burst=5"

struct scene {
    struct place place;
    struct fly_ledger *ledger;
    struct fly_limiter *l;
};

static struct scene scene_new(uint64_t bytes, const char *spec)
{
    struct fly_ledger_options options = {.size = sizeof(options), .bytes = bytes};
    struct scene s = {.place = place_new()};

    assert_int_equal(fly_ledger_open(s.place.path, &options, &s.ledger, NULL), 0);
    s.l = limiter_of(s.ledger, "core", spec);
    return s;
}

static void scene_free(struct scene *s)
{
    fly_limiter_free(s->l);
    fly_ledger_close(s->ledger);
    place_free(&s->place);
}

static struct slot *slot_of(struct fly_limiter *l)
{
    return atomic_load(&((struct share *)l)->slot);
}

/* ---- deaths ---- */

/* In the middle of a grant that was written down already. */
static int die_granting(struct fly_limiter *l)
{
    struct body *b = fb_enter(l);

    fb_change(l);
    fb_slot_granted(fb_share_of(l), fb_accountant_take(&b->books, 1, b->books.now_ns));
    return 0;
}

/* While ending one that it has. */
static int die_ending(struct fly_limiter *l)
{
    int64_t now_ns = fly_now();
    uint64_t ticket = 0;

    if (fly_limiter_take(l, now_ns, 1, &ticket) > now_ns)
        return 1;
    struct body *b = fb_enter(l);
    fb_change(l);
    fb_accountant_cancel(&b->books, ticket, b->books.now_ns);
    fb_slot_ended(fb_share_of(l), ticket);
    return 0;
}

static void in_child(int (*work)(struct fly_limiter *l), struct fly_limiter *l)
{
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0)
        _exit(work(l));
    assert_int_equal(status_of(child), 0);
}

static void a_record_is_put_back(void **state)
{
    struct scene s = scene_new(1 << 20, "concurrency=2 adapt=off");

    (void)state;
    in_child(die_granting, s.l);
    assert_true(slot_of(s.l)->record_changed > 0);
    assert_int_equal(grants_now(s.l, 9), 2); /* it was undone, and with it the record */
    scene_free(&s);
}

static void a_grant_of_the_dead_is_ended_once(void **state)
{
    struct scene s = scene_new(1 << 20, "concurrency=2 adapt=off");
    int64_t now_ns = fly_now();
    uint64_t ticket;

    (void)state;
    in_child(die_ending, s.l);
    for (int i = 0; i < 2; i++)
        assert_at_most(fly_limiter_take(s.l, now_ns + S, 1, &ticket), now_ns + S);
    struct body *b = fb_enter(s.l);
    fb_slot_bury(slot_of(s.l), 12345, 0); /* whom nobody knows */
    assert_int_equal(b->books.in_flight, 2);
    fb_leave(s.l);
    scene_free(&s);
}

/* ---- damage while in use ---- */

/* Where the key is said to be there is nothing: better nothing than anything. */
static void a_key_that_moved_to_nowhere(void **state)
{
    struct scene s = scene_new(1 << 20, SPEC);

    (void)state;
    atomic_store(&slot_of(s.l)->moved, 8);
    atomic_store(&slot_of(s.l)->body.open, FB_WORD_NONE);
    assert_int_equal(grants_now(s.l, 9), 0);
    atomic_store(&slot_of(s.l)->moved, 0);
    assert_int_equal(grants_now(s.l, 9), 5);
    scene_free(&s);
}

/* Said to be where it is already: nobody walks in a circle for ever, and a new handle mends it. */
static void a_key_that_moved_to_itself(void **state)
{
    struct scene s = scene_new(1 << 20, SPEC);
    struct slot *slot = slot_of(s.l);

    (void)state;
    atomic_store(&slot->moved, (uint64_t)((uintptr_t)slot - (uintptr_t)s.ledger->head));
    atomic_store(&slot->body.open, FB_WORD_NONE);
    assert_int_equal(grants_now(s.l, 9), 0);
    fly_limiter_free(s.l);
    s.l = limiter_of(s.ledger, "core", SPEC);
    assert_int_equal(slot_of(s.l)->moved, 0);
    assert_true(fly_limiter_take(s.l, fly_now(), 1, NULL) < FLY_NEVER);
    scene_free(&s);
}

static void half_an_id_is_none(void **state)
{
    struct scene s = scene_new(1 << 20, SPEC);

    (void)state;
    atomic_store(&slot_of(s.l)->body.open, FB_WORD_NONE);
    slot_of(s.l)->id.word[1] ^= 1;
    assert_int_equal(grants_now(s.l, 9), 0);
    slot_of(s.l)->id.word[1] ^= 1;
    scene_free(&s);
}

/* Its entry is gone from the index. */
static void a_slot_without_an_entry_stays_where_it_is(void **state)
{
    struct scene s = scene_new(1 << 20, SPEC);
    struct entry *e = &s.ledger->head->entry[0];
    struct fly_error err = {""};

    (void)state;
    uint32_t was = atomic_exchange(&e->state, ENTRY_FREE);
    assert_int_equal(fly_limiter_reconfigure(s.l, "rate=2/1h", fly_now(), &err), -ENOSPC);
    atomic_store(&e->state, was);
    assert_int_equal(fly_limiter_reconfigure(s.l, "rate=2/1h burst=5", fly_now(), &err), 0);
    assert_int_equal(grants_now(s.l, 9), 5);
    scene_free(&s);
}

/* ---- want of room ---- */

static int fill(struct fly_ledger *ledger, const char *name, struct fly_limiter **l, int most)
{
    char pool[32];
    int made = 0;
    int rc = 0;

    while (made < most && rc == 0) {
        (void)snprintf(pool, sizeof(pool), "%s %d", name, made);
        struct fly_key key = {"api", pool, ""};
        rc = fly_ledger_limiter(ledger, &key, SPEC, &l[made], NULL);
        made += rc == 0;
    }
    return made;
}

static void free_all(struct fly_limiter **l, int count)
{
    for (int i = 0; i < count; i++)
        fly_limiter_free(l[i]);
}

/* Where a key was before is used again, when nobody can be looking at it any more. */
static void the_old_place_of_a_key_is_used_again(void **state)
{
    struct scene s = scene_new(65536, SPEC);
    struct fly_limiter *l[32];
    struct slot *old = slot_of(s.l);

    (void)state;
    assert_int_equal(fly_limiter_reconfigure(s.l, "rate=2/1h burst=5", fly_now(), NULL), 0);
    assert_true(slot_of(s.l) != old);
    int first = fill(s.ledger, "first", l, 32);
    free_all(l, first);
    atomic_store(&old->swept_ns, atomic_load(&old->swept_ns) - 11 * S);
    assert_int_equal(fill(s.ledger, "second", l, 32), first + 1);
    free_all(l, first + 1);
    scene_free(&s);
}

/* So it is after the clock was set back, as far as can be told. */
static void an_old_place_from_times_to_come(void **state)
{
    struct scene s = scene_new(65536, SPEC);
    struct fly_limiter *l[32];
    struct slot *old = slot_of(s.l);

    (void)state;
    assert_int_equal(fly_limiter_reconfigure(s.l, "rate=2/1h burst=5", fly_now(), NULL), 0);
    int first = fill(s.ledger, "first", l, 32);
    free_all(l, first);
    atomic_store(&old->swept_ns, atomic_load(&old->swept_ns) + 3600 * S);
    assert_int_equal(fill(s.ledger, "second", l, 32), first + 1);
    free_all(l, first + 1);
    scene_free(&s);
}

/* A key that is there and cannot move to its new limits is not handed out under the old ones. */
static void no_room_for_other_limits(void **state)
{
    struct scene s = scene_new(65536, SPEC);
    struct fly_limiter *l[32];
    struct fly_limiter *other = NULL;
    struct fly_key key = {"api.example.com", "core", "secret"};
    struct fly_error err = {""};

    (void)state;
    int made = fill(s.ledger, "other", l, 32);
    assert_int_equal(fly_ledger_limiter(s.ledger, &key, "rate=9/1h", &other, &err), -ENOSPC);
    assert_contains(err.text, "full");
    assert_null(other);
    assert_int_equal(grants_now(s.l, 9), 5);
    free_all(l, made);
    scene_free(&s);
}

/* ---- another boot ---- */

static bool half_moved;

static void boot_again(struct head *head)
{
    struct slot *slot = fb_ledger_at(head, head->entry[0].at);

    head->boot[0] ^= 1;
    if (half_moved)
        atomic_store(&head->entry[0].state, ENTRY_LEFT);
    else
        atomic_store(&slot->moved, 8);
}

/* A key that was moved from is not used any more; what cannot be right makes all others wary. */
static void a_boot_after_a_move(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct scene s = scene_new(1 << 20, SPEC);
        fly_limiter_free(s.l);
        fly_ledger_close(s.ledger);
        half_moved = i == 1;
        change_head(s.place.path, boot_again);
        s.ledger = ledger_at(s.place.path);
        s.l = limiter_of(s.ledger, "core", SPEC);
        assert_int_equal(grants_now(s.l, 9), half_moved ? 5 : 0);
        scene_free(&s);
    }
}

/* ---- clocks ---- */

/* Instants as far from each other as can be. */
static void the_ends_of_time(void **state)
{
    struct fly_limiter *early = limiter("rate=1/s burst=1", -10);
    struct fly_limiter *late = limiter("rate=1/s burst=1", 10);
    uint64_t ticket = 0;

    (void)state;
    assert_at_most(fly_limiter_take(early, INT64_MAX - 1, 1, &ticket), INT64_MAX - 1);
    assert_at_most(fly_limiter_take(late, INT64_MIN + 1, 1, &ticket), INT64_MIN + 1);
    assert_at_least(fly_limiter_take(late, INT64_MIN + 1, 1, &ticket), INT64_MIN + 2);
    fly_limiter_free(early);
    fly_limiter_free(late);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_is_put_back),
        cmocka_unit_test(a_grant_of_the_dead_is_ended_once),
        cmocka_unit_test(a_key_that_moved_to_nowhere),
        cmocka_unit_test(a_key_that_moved_to_itself),
        cmocka_unit_test(half_an_id_is_none),
        cmocka_unit_test(a_slot_without_an_entry_stays_where_it_is),
        cmocka_unit_test(the_old_place_of_a_key_is_used_again),
        cmocka_unit_test(an_old_place_from_times_to_come),
        cmocka_unit_test(no_room_for_other_limits),
        cmocka_unit_test(a_boot_after_a_move),
        cmocka_unit_test(the_ends_of_time),
    };

    return cmocka_run_group_tests_name("ledger, slots", tests, NULL, NULL);
}
