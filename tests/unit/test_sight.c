/* SPDX-License-Identifier: MIT */
/* A ledger that is looked at: it stays as it is, whatever is wrong, and nobody waits for that. */
#include "ledger_rig.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>

#include "ledger/inner.h"
#include "ledger/life.h"
#include "util/alloc.h"

/* ---- reading that fails on demand ---- */

static int reads;        /* so far */
static int fail_from;    /* from this one on there is nothing more; 0: never */
static bool is_restless; /* what is read twice is never the same */

ssize_t __real_pread(int fd, void *bytes, size_t size, off_t at);
ssize_t __wrap_pread(int fd, void *bytes, size_t size, off_t at);

ssize_t __wrap_pread(int fd, void *bytes, size_t size, off_t at)
{
    reads++;
    if (fail_from > 0 && reads >= fail_from)
        return 0;
    if (reads % 3 == 0) { /* a signal, and less than was asked for */
        errno = EINTR;
        return -1;
    }
    ssize_t got = __real_pread(fd, bytes, size > 1000 ? size / 2 : size, at);
    if (is_restless && got > 0)
        *(unsigned char *)bytes = (unsigned char)reads;
    return got;
}

/* ---- a ledger with a key that is held for a minute ---- */

static const struct fly_key KEY = {"api.example.com", "core", "secret"};

struct scene {
    struct place place;
    struct fly_ledger *ledger;
    struct fly_limiter *l;
};

static void refuse(struct fly_limiter *l, int64_t hold_ns)
{
    uint64_t ticket;
    int64_t now_ns = fly_now();

    assert_at_most(fly_limiter_take(l, now_ns, 1, &ticket), now_ns);
    struct fly_outcome o = outcome(ticket, 429, now_ns);
    o.retry_after_ns = hold_ns;
    fly_limiter_report(l, now_ns, &o);
}

static struct scene held(void)
{
    struct scene s = {.place = place_new()};

    s.ledger = ledger_at(s.place.path);
    s.l = limiter_of(s.ledger, "core", "rate=1/s burst=9");
    refuse(s.l, 60 * S);
    return s;
}

static void end(struct scene *s)
{
    fly_limiter_free(s->l);
    fly_ledger_close(s->ledger);
    place_free(&s->place);
}

/* What a request would wait for, by a copy; a negative errno where there is none. */
static int64_t wait_at(const char *path)
{
    struct fly_why why = {.size = sizeof(why)};
    struct ledger_sight *sight = NULL;
    struct fly_limiter *copy = NULL;
    int rc = fb_sight_open(path, &sight, NULL);

    if (rc == 0)
        rc = fb_sight_key(sight, &KEY, 0, &copy); /* on any clock */
    fb_sight_close(sight);
    if (rc < 0)
        return rc;
    assert_false(fb_limiter_is_shared(copy));
    assert_int_equal(fly_limiter_why(copy, 0, 1, &why), 0);
    fly_limiter_free(copy);
    return why.until_ns;
}

static bool is_held(int64_t wait_ns)
{
    return wait_ns > 50 * S && wait_ns <= 62 * S;
}

/* All of a file, and when it was changed. */
static unsigned char *bytes_of(const char *path, struct stat *ret_stat)
{
    int fd = open(path, O_RDONLY);

    assert_true(fd >= 0 && fstat(fd, ret_stat) == 0);
    unsigned char *all = fb_alloc((size_t)ret_stat->st_size + 1);
    assert_non_null(all);
    assert_int_equal(read(fd, all, (size_t)ret_stat->st_size), ret_stat->st_size);
    assert_int_equal(close(fd), 0);
    return all;
}

/* Whatever is answered: nothing was written, made or put aside. */
static int64_t look_and_leave(const struct place *place)
{
    struct stat before, after;
    unsigned char *was = bytes_of(place->path, &before);
    int64_t wait_ns = wait_at(place->path);
    unsigned char *is = bytes_of(place->path, &after);
    char aside[128];

    assert_int_equal(before.st_ino, after.st_ino);
    assert_int_equal(before.st_size, after.st_size);
    assert_memory_equal(was, is, (size_t)after.st_size);
    assert_true(before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
    (void)snprintf(aside, sizeof(aside), "%s.damaged", place->path);
    assert_int_equal(access(aside, F_OK), -1);
    fb_free(was);
    fb_free(is);
    return wait_ns;
}

static void a_key_is_looked_at_and_not_taken(void **state)
{
    struct scene s = held();
    unsigned char secret[FB_SIPHASH_SECRET_BYTES], seen[FB_SIPHASH_SECRET_BYTES];
    struct fly_key other = {"api.example.com", "other", "secret"};
    struct ledger_sight *sight = NULL;
    struct fly_limiter *copy = NULL;

    (void)state;
    assert_true(is_held(look_and_leave(&s.place)));
    assert_int_equal(fb_sight_open(s.place.path, &sight, NULL), 0);
    assert_int_equal(fb_sight_key(sight, &other, 0, &copy), -ENOENT);
    assert_int_equal(fb_ledger_secret(s.ledger, NULL, secret), 0);
    fb_sight_secret(sight, seen);
    assert_memory_equal(secret, seen, sizeof(seen));
    fb_sight_close(sight);
    fb_sight_close(NULL);
    assert_int_equal(setenv("FLYBALL_LEDGER", s.place.path, 1), 0);
    assert_true(is_held(wait_at(NULL)));
    assert_int_equal(unsetenv("FLYBALL_LEDGER"), 0);
    fly_limiter_free(s.l); /* nobody has it any more */
    s.l = NULL;
    fly_ledger_close(s.ledger);
    s.ledger = NULL;
    assert_true(is_held(look_and_leave(&s.place)));
    end(&s);
}

/* Who decides keeps the head and the slot, in the middle of a change: what was before is told. */
static void nobody_is_waited_for(void **state)
{
    struct scene s = held();
    struct head *head = s.ledger->head;
    struct slot *slot = fb_ledger_at(head, head->entry[0].at);
    int64_t *hold = &slot->body.books.slot[FB_SLOT_hold];

    (void)state;
    assert_int_equal(fb_robust_lock(&head->lock, fb_life_me()), 0);
    assert_non_null(fb_enter(s.l));
    fb_slot_change(slot);
    int64_t was = hold[0];
    hold[0] = 0;
    assert_true(is_held(look_and_leave(&s.place)));
    hold[0] = was;
    fb_leave(s.l);
    fb_robust_unlock(&head->lock, fb_life_me());
    assert_true(is_held(look_and_leave(&s.place)));
    end(&s);
}

static void a_key_that_has_moved_is_followed(void **state)
{
    struct scene s = held();
    struct ledger_sight *early = NULL;
    struct fly_limiter *copy = NULL;
    struct fly_error err;

    (void)state;
    assert_int_equal(fb_sight_open(s.place.path, &early, NULL), 0);
    assert_int_equal(fly_limiter_reconfigure(s.l, "rate=2/s", fly_now(), &err), 0);
    assert_true(is_held(look_and_leave(&s.place)));
    assert_int_equal(fb_sight_key(early, &KEY, 0, &copy), -ENOENT); /* to where it did not know */
    fb_sight_close(early);

    /* Whoever moved it died before it was said in the index. */
    struct head *head = s.ledger->head;
    assert_int_equal(atomic_load(&head->entry[0].state), ENTRY_LEFT);
    atomic_store(&head->entry[0].state, ENTRY_USED);
    atomic_store(&head->entry[1].state, ENTRY_NEXT);
    assert_true(is_held(look_and_leave(&s.place)));
    fb_index_settle(head);
    end(&s);
}

/* Takes and reports as fast as it can, until it is killed; says so when it has begun. */
static void decide_for_ever(const char *path, int begun)
{
    struct fly_ledger *ledger = ledger_at(path);
    struct fly_limiter *l =
        limiter_of(ledger, "core", "rate=1000000/s burst=1000 window=900000/1s");
    struct fly_outcome o = FLY_OUTCOME_INIT;

    (void)alarm(20); /* whatever becomes of the test */
    for (;;) {
        int64_t now_ns = fly_now();

        if (fly_limiter_take(l, now_ns, 1, &o.ticket) > now_ns)
            continue;
        o.status = 200;
        o.sent_ns = now_ns;
        fly_limiter_report(l, fly_now(), &o);
        if (begun >= 0) {
            assert_int_equal(write(begun, "!", 1), 1);
            begun = -1;
        }
    }
}

/* A process that decides, once it has begun to. */
static pid_t decider_at(const char *path)
{
    int ends[2];
    char said;

    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0)
        decide_for_ever(path, ends[1]);
    assert_int_equal(close(ends[1]), 0);
    assert_int_equal(read(ends[0], &said, 1), 1);
    assert_int_equal(close(ends[0]), 0);
    return child;
}

/* A slot that changes all the time is seen whole, or not at all; and killed at any instruction. */
static void who_decides_does_not_confuse_who_looks(void **state)
{
    struct scene s = {.place = place_new()};
    int seen = 0;

    (void)state;
    s.ledger = ledger_at(s.place.path);
    for (int round = 0; round < 5; round++) {
        pid_t child = decider_at(s.place.path);
        for (int i = 0; i < 40; i++) {
            int64_t rc = wait_at(s.place.path);

            if (!(rc >= 0 || rc == -EBUSY))
                fail_msg("round %d, look %d: %lld", round, i, (long long)rc);
            seen += rc >= 0;
        }
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(status_of(child), -SIGKILL);
        assert_true(wait_at(s.place.path) >= 0);
    }
    assert_true(seen > 0);
    end(&s);
}

/* ---- what is wrong ---- */

static void hurt_form(struct head *head)
{
    head->wary = 2;
}

static void hurt_entries(struct head *head)
{
    head->entries = UINT32_MAX;
}

static void hurt_boot(struct head *head)
{
    head->boot[0] ^= 1;
}

static void hurt_magic(struct head *head)
{
    atomic_store(&head->magic, 1);
}

static void hurt_slot(struct head *head)
{
    struct slot *slot = fb_ledger_at(head, head->entry[0].at);

    memset(slot->spec, 'x', sizeof(slot->spec));
}

static void hurt_id(struct head *head)
{
    struct slot *slot = fb_ledger_at(head, head->entry[0].at);

    slot->id.word[1] ^= 1;
}

static void hurt_moved(struct head *head)
{
    struct slot *slot = fb_ledger_at(head, head->entry[0].at);

    atomic_store(&slot->moved, head->entry[0].at); /* to where it is */
}

static void what_is_damaged_stays_as_it_is(void **state)
{
    static const struct {
        void (*hurt)(struct head *head);
        int rc;
    } rows[] = {{hurt_form, -EUCLEAN}, {hurt_entries, -EUCLEAN}, {hurt_boot, -ENOENT},
                {hurt_magic, -ENOENT}, {hurt_slot, -EIO},        {hurt_id, -ENOENT},
                {hurt_moved, -ENOENT}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct scene s = held();

        fly_limiter_free(s.l);
        fly_ledger_close(s.ledger);
        s.l = NULL;
        s.ledger = NULL;
        change_head(s.place.path, rows[i].hurt);
        assert_int_equal(look_and_leave(&s.place), rows[i].rc);
        end(&s);
    }
}

static void what_is_no_ledger_is_not_read(void **state)
{
    struct scene s = held();
    struct fly_error err = {""};
    struct ledger_sight *sight = NULL;

    (void)state;
    assert_int_equal(wait_at("/nowhere/at/all"), -ENOENT);
    assert_int_equal(wait_at(s.place.folder), -EINVAL);
    assert_int_equal(chmod(s.place.path, 0622), 0);
    assert_int_equal(fb_sight_open(s.place.path, &sight, &err), -EPERM);
    assert_contains(err.text, "others may write to it");
    assert_int_equal(chmod(s.place.path, 0600), 0);
    fly_limiter_free(s.l);
    fly_ledger_close(s.ledger);
    s.l = NULL;
    s.ledger = NULL;
    assert_int_equal(truncate(s.place.path, 100), 0);
    assert_int_equal(look_and_leave(&s.place), -EUCLEAN);
    end(&s);
}

static void a_file_that_ends_or_never_rests(void **state)
{
    struct scene s = held();
    struct ledger_sight *sight = NULL;
    struct fly_limiter *copy = NULL;

    (void)state;
    assert_int_equal(fb_sight_open(s.place.path, &sight, NULL), 0);
    is_restless = true;
    assert_int_equal(fb_sight_key(sight, &KEY, 0, &copy), -EBUSY);
    is_restless = false;
    fail_from = reads + 1;
    assert_int_equal(fb_sight_key(sight, &KEY, 0, &copy), -EIO);
    assert_int_equal(wait_at(s.place.path), -EUCLEAN);
    fail_from = reads + 4; /* behind the first of the head */
    assert_int_equal(wait_at(s.place.path), -EUCLEAN);
    fail_from = 0;
    fb_sight_close(sight);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_is_looked_at_and_not_taken),
        cmocka_unit_test(nobody_is_waited_for),
        cmocka_unit_test(a_key_that_has_moved_is_followed),
        cmocka_unit_test(who_decides_does_not_confuse_who_looks),
        cmocka_unit_test(what_is_damaged_stays_as_it_is),
        cmocka_unit_test(what_is_no_ledger_is_not_read),
        cmocka_unit_test(a_file_that_ends_or_never_rests),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
