/* SPDX-License-Identifier: MIT */
/* Damaged ledgers: whatever the bytes and modes are, no limit is passed and time goes on. */
#include "ledger_rig.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "core/instant.h"
#include "ledger/life.h"

/* Bytes of a structure and what is written there. */
struct damage {
    size_t at;
    size_t size;
    uint64_t value;
};

#define IN(type, member, value)                                                \
    {                                                                          \
        offsetof(type, member), sizeof(((type *)0)->member), (uint64_t)(value) \
    }

static void hurt(void *at, const struct damage *d)
{
    uint32_t narrow = (uint32_t)d->value;

    assert_true(d->size == sizeof(narrow) || d->size == sizeof(d->value));
    memcpy((unsigned char *)at + d->at,
           d->size == sizeof(narrow) ? (const void *)&narrow : (const void *)&d->value, d->size);
}

/* ---- the file ---- */

static const struct damage of_head[] = {
    IN(struct head, version, 0),
    IN(struct head, entries, 0),
    IN(struct head, bytes, 0),
    IN(struct head, wary, 2),
    IN(struct head, reserved, 1),
    IN(struct head, anchor_ns, 0),
    IN(struct head, anchor_ns, FB_TIME_MAX),
};

static const struct damage of_entry[] = {
    IN(struct entry, state, 77),
    IN(struct entry, at, 8),                    /* not where slots begin */
    IN(struct entry, at, 0),                    /* on the head */
    IN(struct entry, at, UINT64_C(1) << 40),    /* behind the end */
    IN(struct entry, bytes, UINT64_C(1) << 40), /* over the end */
    IN(struct entry, bytes, sizeof(struct slot) - 1),
};

static const struct damage *damage;

static void hurt_head(struct head *head)
{
    hurt(head, damage);
}

static void hurt_entry(struct head *head)
{
    hurt(&head->entry[0], damage);
}

static void hurt_boot(struct head *head)
{
    memset(head->boot, 'x', sizeof(head->boot));
}

static void hurt_overlap(struct head *head)
{
    head->entry[1] = (struct entry){.id = {{1, 2}},
                                    .at = head->entry[0].at,
                                    .bytes = head->entry[0].bytes,
                                    .state = ENTRY_USED};
}

static void is_set_aside(void (*change)(struct head *head))
{
    struct place place = place_new();
    struct fly_ledger *ledger = ledger_at(place.path);
    char aside[128];

    fly_limiter_free(limiter_of(ledger, "core", "rate=10/s"));
    fly_ledger_close(ledger);
    change_head(place.path, change);

    /* What was spent is not known: there is nothing left of the limit, but time goes on. */
    ledger = ledger_at(place.path);
    struct fly_limiter *l = limiter_of(ledger, "core", "rate=1/1h burst=5 window=9/1h");
    assert_int_equal(grants_now(l, 99), 0);
    fly_limiter_free(l);
    fly_ledger_close(ledger);
    (void)snprintf(aside, sizeof(aside), "%s.damaged", place.path);
    assert_int_equal(access(aside, R_OK), 0);
    place_free(&place);
}

static void a_damaged_ledger_is_set_aside(void **state)
{
    (void)state;
    is_set_aside(hurt_boot);
    is_set_aside(hurt_overlap);
    for (damage = of_head; damage < of_head + COUNT_OF(of_head); damage++)
        is_set_aside(hurt_head);
    for (damage = of_entry; damage < of_entry + COUNT_OF(of_entry); damage++)
        is_set_aside(hurt_entry);
}

/* Where there may be room is a guess: whatever it says, keys do not lie on each other. */
static uint64_t guess;

static void hurt_guess(struct head *head)
{
    head->room_at = guess ? guess : head->entry[0].at;
}

static void a_wrong_guess_of_where_there_is_room(void **state)
{
    static const uint64_t guesses[] = {0, 8, 64, 12345, UINT64_C(1) << 62, UINT64_MAX - 63};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(guesses); i++) {
        struct place place = place_new();
        struct fly_ledger *ledger = ledger_at(place.path);
        struct fly_limiter *l[3];

        fly_limiter_free(limiter_of(ledger, "first", "rate=10/s"));
        fly_ledger_close(ledger);
        guess = guesses[i];
        change_head(place.path, hurt_guess);
        ledger = ledger_at(place.path);
        l[0] = limiter_of(ledger, "first", "rate=10/s");
        l[1] = limiter_of(ledger, "second", "window=9/1h");
        l[2] = limiter_of(ledger, "third", "rate=10/s");
        assert_true(fb_index_is_sound(ledger->head));
        for (int n = 0; n < 3; n++)
            fly_limiter_free(l[n]);
        fly_ledger_close(ledger);
        place_free(&place);
    }
}

/* ---- a slot ---- */

#define SLOT_SPEC "rate=1/1h burst=5"

static const struct damage of_slot[] = {
    IN(struct slot, undo_at, UINT64_C(1) << 40),
    IN(struct slot, undo_at, 8),
    IN(struct slot, undo_bytes, 8),
    IN(struct slot, stage, 77),
    IN(struct slot, record_changed, FB_RECORDS + 1),
    IN(struct slot, origin_ns, -FB_TIME_MAX),
    IN(struct slot, origin_ns, FB_TIME_MAX),
    IN(struct slot, body.lock.state, LOCK_FREE),
    IN(struct slot, body.open, -2),               /* no word at all */
    IN(struct slot, body.books.now_ns, 7200 * S), /* a time to come */
};

static const char *const specs[] = {"hello", "window=9/1h", ""};

static struct slot *slot_of(struct fly_limiter *l)
{
    return atomic_load(&((struct share *)l)->slot);
}

/* Damage a slot that nobody uses; how many permits are left to whoever comes next? */
static int left_after(const struct damage *d, const char *spec)
{
    struct place place = place_new();
    struct fly_ledger *ledger = ledger_at(place.path);
    struct fly_limiter *l = limiter_of(ledger, "core", SLOT_SPEC);
    struct slot *slot = slot_of(l);

    fly_limiter_free(l);
    if (d)
        hurt(slot, d);
    if (spec)
        (void)snprintf(slot->spec, sizeof(slot->spec), "%s", spec);
    l = limiter_of(ledger, "core", SLOT_SPEC);
    int left = grants_now(l, 99);
    fly_limiter_free(l);
    fly_ledger_close(ledger);
    place_free(&place);
    return left;
}

static void a_damaged_slot_is_made_anew_with_nothing_left(void **state)
{
    (void)state;
    assert_int_equal(left_after(NULL, NULL), 5);
    for (size_t i = 0; i < COUNT_OF(of_slot); i++)
        if (left_after(&of_slot[i], NULL) != 0)
            fail_msg("slot, row %zu", i);
    for (size_t i = 0; i < COUNT_OF(specs); i++)
        if (left_after(NULL, specs[i]) != 0)
            fail_msg("spec: %s", specs[i]);
}

static void a_spec_without_an_end(void **state)
{
    struct place place = place_new();
    struct fly_ledger *ledger = ledger_at(place.path);
    struct fly_limiter *l = limiter_of(ledger, "core", SLOT_SPEC);
    struct slot *slot = slot_of(l);

    (void)state;
    fly_limiter_free(l);
    memset(slot->spec, ' ', sizeof(slot->spec));
    l = limiter_of(ledger, "core", SLOT_SPEC);
    assert_int_equal(grants_now(l, 99), 0);
    fly_limiter_free(l);
    fly_ledger_close(ledger);
    place_free(&place);
}

static void a_word_below_the_books(void **state)
{
    struct place place = place_new();
    struct fly_ledger *ledger = ledger_at(place.path);
    struct fly_limiter *l = limiter_of(ledger, "core", SLOT_SPEC);
    struct slot *slot = slot_of(l);

    (void)state;
    assert_int_equal(grants_now(l, 99), 5);
    fly_limiter_free(l);
    assert_true(slot->body.books.plain);
    atomic_store(&slot->body.open, 0); /* would give back what is spent */
    l = limiter_of(ledger, "core", SLOT_SPEC);
    assert_int_equal(grants_now(l, 99), 0);
    fly_limiter_free(l);
    fly_ledger_close(ledger);
    place_free(&place);
}

static void a_damaged_slot_in_use_is_refused(void **state)
{
    struct place place = place_new();
    struct fly_ledger *ledger = ledger_at(place.path);
    struct fly_limiter *l = limiter_of(ledger, "core", SLOT_SPEC);
    struct fly_key key = {"api.example.com", "core", "secret"};
    struct fly_limiter *other = NULL;
    struct fly_error err = {""};

    (void)state;
    slot_of(l)->body.books.in_flight = -5;
    assert_int_equal(fly_ledger_limiter(ledger, &key, SLOT_SPEC, &other, &err), -EIO);
    assert_contains(err.text, "damaged");
    slot_of(l)->body.books.in_flight = 0;
    fly_limiter_free(l);
    fly_ledger_close(ledger);
    place_free(&place);
}

/* ---- a lie about who uses it ---- */

#define CROWDED "concurrency=3"

/* A process that lives, but never heard of this ledger, is said to have all of it. */
static void claim(struct head *head)
{
    struct slot *slot = fb_ledger_at(head, head->entry[0].at);
    struct probe *learned = &slot->body.books.learned.probe;

    atomic_store(&slot->seat[0].who, (uint64_t)getppid());
    atomic_store(&slot->seat[0].out, 1);
    for (int i = 0; i < FB_RECORDS; i++)
        slot->record[i].who = 12345; /* nobody who has a seat */
    learned->share = -6e35f;
    learned->lean = -7.0f;
    learned->rate = -1.0f;
}

static void refuse_and_accept(struct fly_limiter *l)
{
    int64_t now_ns = fly_now();

    for (int i = 0; i < 40; i++, now_ns += S) {
        struct fly_outcome o = FLY_OUTCOME_INIT;
        (void)fly_limiter_take(l, now_ns, 1, &o.ticket);
        o.sent_ns = now_ns;
        o.status = i % 9 == 8 ? 429 : 200;
        o.limit = 100;
        o.remaining = 100 - i;
        o.reset_ns = now_ns + 60 * S;
        fly_limiter_report(l, now_ns, &o);
    }
}

static void nobody_uses_what_nobody_has_open(void **state)
{
    struct place place = place_new();

    (void)state;
    pid_t child = fork();
    if (child == 0)
        _exit(grants_now(limiter_of(ledger_at(place.path), "core", CROWDED), 1));
    assert_int_equal(status_of(child), 1);
    change_head(place.path, claim);
    struct fly_ledger *ledger = ledger_at(place.path);
    struct fly_limiter *l = limiter_of(ledger, "core", CROWDED);
    struct slot *slot = slot_of(l);
    assert_int_equal(slot->body.books.in_flight, 0);
    for (int i = 0; i < FB_RECORDS; i++)
        assert_int_equal(slot->record[i].ticket, 0);
    assert_true(slot->body.books.learned.probe.share > 0.0f);
    refuse_and_accept(l);
    assert_true(fly_limiter_rate(l) > 0.0);
    fly_limiter_free(l);
    fly_ledger_close(ledger);
    place_free(&place);
}

/* Who opens it beside somebody else leaves all as it is. */
static void a_ledger_in_use_stays_of_its_era(void **state)
{
    struct place place = place_new();
    struct fly_ledger *ledger = ledger_at(place.path);
    struct fly_limiter *l = limiter_of(ledger, "core", CROWDED " adapt=off");
    uint64_t era = ledger->head->era;

    (void)state;
    assert_int_equal(grants_now(l, 2), 2);
    struct fly_ledger *beside = ledger_at(place.path);
    struct fly_limiter *other = limiter_of(beside, "core", CROWDED " adapt=off");
    assert_true(beside->head->era == era);
    assert_int_equal(grants_now(other, 9), 1);
    fly_limiter_free(l);
    fly_ledger_close(ledger);
    ledger = ledger_at(place.path);
    assert_true(ledger->head->era == era);
    fly_ledger_close(ledger);
    fly_limiter_free(other);
    fly_ledger_close(beside);
    ledger = ledger_at(place.path);
    assert_true(ledger->head->era != era);
    fly_ledger_close(ledger);
    place_free(&place);
}

/* ---- left in the middle ---- */

/* A change that its process did not live to finish never was. */
static void half_a_change_is_undone(void **state)
{
    struct place place = place_new();
    struct fly_ledger *ledger = ledger_at(place.path);
    struct fly_limiter *l = limiter_of(ledger, "core", "concurrency=3 adapt=off");
    struct slot *slot = slot_of(l);

    (void)state;
    assert_int_equal(grants_now(l, 1), 1);
    fb_slot_change(slot);
    slot->body.books.in_flight = -77;
    struct fly_limiter *other = limiter_of(ledger, "core", "concurrency=3 adapt=off");
    assert_int_equal(slot->body.books.in_flight, 1);
    assert_int_equal(grants_now(other, 9), 2);
    fly_limiter_free(other);
    fly_limiter_free(l);
    fly_ledger_close(ledger);
    place_free(&place);
}

/* One that was finished holds, whether or not the word was opened again. */
static void a_whole_change_holds(void **state)
{
    (void)state;
    for (int opened = 0; opened <= 1; opened++) {
        struct place place = place_new();
        struct fly_ledger *ledger = ledger_at(place.path);
        struct fly_limiter *l = limiter_of(ledger, "core", SLOT_SPEC);
        struct slot *slot = slot_of(l);

        assert_int_equal(grants_now(l, 2), 2);
        assert_non_null(fb_slot_enter((struct share *)l));
        if (opened)
            fb_word_publish(&slot->body);
        atomic_store(&slot->stage, STAGE_CHANGED);
        fb_robust_unlock(&slot->lock, fb_life_me());
        struct fly_limiter *other = limiter_of(ledger, "core", SLOT_SPEC);
        assert_int_equal(atomic_load(&slot->stage), STAGE_CLEAN);
        assert_int_equal(grants_now(other, 99), 3);
        fly_limiter_free(other);
        fly_limiter_free(l);
        fly_ledger_close(ledger);
        place_free(&place);
    }
}

/* A key that was to move and did not: the place it was to go to is free again. */
static void leave_a_place(struct head *head)
{
    head->entry[1] = (struct entry){.id = head->entry[0].id,
                                    .at = head->entry[0].at + (UINT64_C(1) << 18),
                                    .bytes = head->entry[0].bytes,
                                    .state = ENTRY_NEXT};
}

static void half_a_move_never_was(void **state)
{
    struct place place = place_new();
    struct fly_ledger *ledger = ledger_at(place.path);
    struct fly_limiter *l = limiter_of(ledger, "core", SLOT_SPEC);

    (void)state;
    assert_int_equal(grants_now(l, 2), 2);
    fly_limiter_free(l);
    fly_ledger_close(ledger);
    change_head(place.path, leave_a_place);
    ledger = ledger_at(place.path);
    l = limiter_of(ledger, "core", SLOT_SPEC);
    assert_int_equal(grants_now(l, 99), 3);
    assert_int_equal(atomic_load(&ledger->head->entry[1].state), ENTRY_FREE);
    fly_limiter_free(l);
    fly_ledger_close(ledger);
    place_free(&place);
}

/* As a user for whom the mode of a file counts. */
static _Noreturn void open_what_may_not_be_written(const char *path)
{
    struct fly_ledger *ledger = NULL;
    struct fly_error err = {""};

    if (geteuid() == 0 && (setgid(12345) < 0 || setuid(12345) < 0))
        _exit(2);
    if (fly_ledger_open(path, NULL, &ledger, &err) < 0)
        _exit(3);
    fly_ledger_close(ledger);
    if (chmod(path, 0400) < 0)
        _exit(4);
    bool is_refused = fly_ledger_open(path, NULL, &ledger, &err) == -EACCES;
    _exit(is_refused && strstr(err.text, "readable and writable") ? 0 : 1);
}

static void a_file_that_may_not_be_written_is_refused(void **state)
{
    struct place place = place_new();

    (void)state;
    if (geteuid() == 0)
        assert_int_equal(chown(place.folder, 12345, 12345), 0);
    pid_t child = fork();
    if (child == 0)
        open_what_may_not_be_written(place.path);
    assert_int_equal(status_of(child), 0);
    struct stat st;
    assert_int_equal(stat(place.path, &st), 0); /* and is left as it was */
    assert_int_equal(st.st_mode & 0777, 0400);
    place_free(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_damaged_ledger_is_set_aside),
        cmocka_unit_test(a_wrong_guess_of_where_there_is_room),
        cmocka_unit_test(a_damaged_slot_is_made_anew_with_nothing_left),
        cmocka_unit_test(a_spec_without_an_end),
        cmocka_unit_test(a_word_below_the_books),
        cmocka_unit_test(a_damaged_slot_in_use_is_refused),
        cmocka_unit_test(nobody_uses_what_nobody_has_open),
        cmocka_unit_test(a_ledger_in_use_stays_of_its_era),
        cmocka_unit_test(half_a_change_is_undone),
        cmocka_unit_test(a_whole_change_holds),
        cmocka_unit_test(half_a_move_never_was),
        cmocka_unit_test(a_file_that_may_not_be_written_is_refused),
    };

    return cmocka_run_group_tests_name("ledger, damaged", tests, NULL, NULL);
}
