/* SPDX-License-Identifier: MIT */
/* A window of a second that slides: what was not sent in a stall is made up for, and no more. */
#include "test_probe_hand.h"

#include "core/rng.h"

#define LIMIT     50
#define GRANTS    20000
#define PACE      48.9f
#define GUARD_NS  (2 * MS)
#define BIN_NS    ((S + GUARD_NS) / 63 + 1) /* given back when all of it is a second ago */
#define AT_ONCE   8.0
#define UNLIMITED 1e6f

/* Headers tell of 50 a second, of which 49 are used all the time. */
static struct hand sliding(void)
{
    struct hand h = settled(PACE, 300.0f);
    struct probe *p = &h.c.probe;

    p->told_left = 1.0f;
    p->told_own = 200.0f;
    p->told_pace = PACE;
    p->told_until_ns = h.now_ns + S;
    p->told_reset_ns = h.now_ns + S;
    p->window_s = 1.0f;
    p->limit = (float)LIMIT;
    assert_true(fb_probe_slides(p));
    return h;
}

/* A request leaves as soon as it may, `late_ns` later. */
static void leave(struct hand *h, int64_t late_ns)
{
    struct probe *p = &h->c.probe;

    h->now_ns = fb_max64(h->now_ns, p->block_ns) + late_ns;
    p->told_until_ns = h->now_ns + S;
    (void)fb_probe_take_slot(p, h->now_ns, 1);
}

/* Whoever asks as fast as it is let, and stands still now and then. */
static void no_second_holds_more_than_the_limit(void **state)
{
    static int64_t at_ns[GRANTS];
    struct hand h = sliding();
    struct rng rng = {seed_of_run()};
    int64_t stalled_ns = 0;

    (void)state;
    for (int i = 0; i < GRANTS; i++) {
        bool stalls = fb_rng_unit(&rng) < 0.02;
        int64_t late_ns = stalls ? (int64_t)(60e6 * fb_rng_unit(&rng)) : 0;
        leave(&h, late_ns);
        stalled_ns += late_ns;
        at_ns[i] = h.now_ns;
        if (i >= LIMIT)
            assert_true(at_ns[i] - at_ns[i - LIMIT] >= S + GUARD_NS);
    }
    double spent_s = (double)(at_ns[GRANTS - 1] - at_ns[0]) / 1e9;
    assert_true((double)stalled_ns > 0.2e9);
    assert_true(GRANTS / spent_s > 0.96 * LIMIT); /* though it stood still for a hundredth of it */
}

/* Right at first nothing is known of the second before: all of it was used. */
static void what_left_before_is_taken_to_be_all(void **state)
{
    struct hand h = sliding();
    int64_t from_ns = h.now_ns;

    (void)state;
    for (int i = 0; i < LIMIT; i++)
        leave(&h, 0);
    assert_true(h.now_ns - from_ns > 950 * MS);
}

/* What was not sent in a stall is, three at a time; and the same gap is there a second later. */
static void a_stall_is_made_up_for(void **state)
{
    struct hand h = sliding();
    struct probe *p = &h.c.probe;

    (void)state;
    for (int i = 0; i < 3 * LIMIT; i++)
        leave(&h, 0);
    (void)cancel(&h); /* the pace follows */
    assert_true(p->slotted && h.pace.burst == AT_ONCE);
    int64_t stalled_ns = h.now_ns += 160 * MS;
    int soon = 0;
    do {
        leave(&h, 0);
        soon++;
    } while (h.now_ns < stalled_ns + 3 * BIN_NS);
    assert_in_range(soon, 8, 12);
    for (int i = 0; i < LIMIT - soon; i++)
        leave(&h, 0);
    assert_true(h.now_ns < stalled_ns + 900 * MS);
    leave(&h, 0);
    assert_true(h.now_ns >= stalled_ns + S);
}

/* After a second without a request all places are free. */
static void after_a_second_all_is_given_back(void **state)
{
    struct hand h = sliding();

    (void)state;
    leave(&h, 0);
    h.now_ns = fb_max64(h.now_ns, h.c.probe.block_ns) + S + 2 * BIN_NS;
    for (int i = 0; i < LIMIT - 1; i++)
        assert_false(fb_probe_take_slot(&h.c.probe, h.now_ns + i * 10 * MS, 1));
    assert_true(fb_probe_take_slot(&h.c.probe, h.now_ns + LIMIT * 10 * MS, 1));
}

/* Three have room in a bin, and then the next begins; who does not wait is not counted twice. */
static void three_leave_at_once(void **state)
{
    struct hand h = sliding();
    struct probe *p = &h.c.probe;

    (void)state;
    leave(&h, 0);
    h.now_ns += 3 * S;
    int64_t burst_ns = h.now_ns = h.now_ns / BIN_NS * BIN_NS;
    for (int i = 0; i < LIMIT; i++) {
        leave(&h, 0);
        assert_int_equal(h.now_ns - burst_ns, i / 3 * BIN_NS);
    }
    assert_int_equal(p->block_ns, burst_ns + 64 * BIN_NS);
    h.now_ns += 3 * S;
    for (int i = 0; i < 5; i++)
        assert_int_equal(fb_probe_take_slot(p, h.now_ns, 1), i >= 2);
    int used = 0;
    for (int i = 0; i < PROBE_SLOT_WORDS; i++)
        used += __builtin_popcountll(p->slots[i]);
    assert_int_equal(used, 2);
}

/* A file may say anything. */
static void a_latest_bin_that_is_to_come_is_not_waited_for(void **state)
{
    struct hand h = sliding();

    (void)state;
    leave(&h, 0);
    h.c.probe.slot_bin = (uint16_t)(h.c.probe.slot_bin + 3000);
    leave(&h, 0);
    assert_true(h.c.probe.block_ns < h.now_ns + 2 * S);
}

/* What is in their place otherwise is counted from now on. */
static void forgotten_slots_leave_nothing_behind(void **state)
{
    struct hand h = sliding();
    struct probe *p = &h.c.probe;

    (void)state;
    leave(&h, 0);
    (void)reply(&h, 200);
    assert_true(p->slotted);
    p->told_until_ns = h.now_ns - 1;
    (void)reply(&h, 200); /* nothing was told for a second */
    assert_true(!p->slotted && p->total == 1.0f && p->ahead == 1.0f);
    assert_true(p->total_ns == h.now_ns && p->ahead_ns == h.now_ns);
    (void)reply(&h, 200);
    assert_true(p->total == 2.0f);

    h = sliding();
    leave(&h, 0);
    fb_probe_count_anew(p, h.now_ns);
    assert_true(!p->slotted && p->ahead == 0.0f);

    h = sliding();
    leave(&h, 0);
    (void)reply(&h, 500);
    assert_true(!p->slotted && p->total_ns == h.now_ns);
}

/* Where places are not what counts, none are. */
static void only_what_slides_within_a_second_is_counted(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        struct hand h = sliding();
        struct probe *p = &h.c.probe;
        leave(&h, 0);
        (void)cancel(&h); /* the pace follows */
        assert_true(p->slotted && h.pace.burst == AT_ONCE);
        p->told_own = i == 0 ? 0.0f : p->told_own; /* it may begin anew */
        p->window_s = i == 1 ? 2.0f : p->window_s;
        p->told_pace = i == 2 ? UNLIMITED : p->told_pace;
        p->unit = i == 3 ? 1.5f : p->unit;
        p->sway_s = i == 4 ? 0.02f : p->sway_s; /* what leaves at once does not arrive so */
        p->lean = i == 6 ? 0.02f : p->lean;     /* while looking nothing is saved up */
        h.cost = i == 7 ? 2 : 1;                /* a place is one */
        int64_t block_ns = p->block_ns;
        h.now_ns += 5 * S;
        p->told_until_ns = i == 5 ? h.now_ns - 1 : h.now_ns + S; /* headers are told no more */
        (void)grant(&h);
        assert_false(p->slotted);
        assert_true(p->block_ns == block_ns && h.pace.burst < AT_ONCE);
    }
}

/* In an episode a ping is in its place; after it nothing is known. */
static void after_an_episode_it_begins_anew(void **state)
{
    struct hand h = sliding();
    struct probe *p = &h.c.probe;

    (void)state;
    leave(&h, 0);
    refuse(&h);
    h.now_ns = fb_max64(h.now_ns, h.pace.not_before_ns);
    p->told_until_ns = h.now_ns + S;
    assert_true(grant(&h));
    assert_int_equal(p->episode, EPISODE_PINGED);
    assert_true(p->pinged_ns == h.now_ns);
    h.now_ns += 10 * MS;
    (void)reply(&h, 200);
    assert_int_equal(p->episode, EPISODE_NONE);
    assert_false(p->slotted);
}

/* Through the accountant's eyes: with all places taken nothing leaves before one is given back. */
static void a_grant_tells_the_next_to_wait(void **state)
{
    struct hand h = sliding();
    struct probe *p = &h.c.probe;
    int waits = 0;

    (void)state;
    for (int i = 0; i < LIMIT; i++) {
        p->told_until_ns = h.now_ns + S;
        if (grant(&h) && h.pace.not_before_ns > h.now_ns) {
            waits++;
            assert_true(h.pace.not_before_ns <= h.now_ns + S + BIN_NS + GUARD_NS);
        }
        h.now_ns = fb_max64(h.now_ns, h.pace.not_before_ns);
    }
    assert_true(waits > LIMIT / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_second_holds_more_than_the_limit),
        cmocka_unit_test(what_left_before_is_taken_to_be_all),
        cmocka_unit_test(a_stall_is_made_up_for),
        cmocka_unit_test(after_a_second_all_is_given_back),
        cmocka_unit_test(three_leave_at_once),
        cmocka_unit_test(a_latest_bin_that_is_to_come_is_not_waited_for),
        cmocka_unit_test(forgotten_slots_leave_nothing_behind),
        cmocka_unit_test(only_what_slides_within_a_second_is_counted),
        cmocka_unit_test(after_an_episode_it_begins_anew),
        cmocka_unit_test(a_grant_tells_the_next_to_wait),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
