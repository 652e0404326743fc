/* SPDX-License-Identifier: MIT */
/* Tickets: sealed and opened, each ended exactly once, old ones at most as often as can be. */
#include "unit.h"

#include "core/rng.h"
#include "core/ticket.h"

#define RING FB_TICKET_RING

static void opens_what_was_sealed(void **state)
{
    static const struct ticket rows[] = {
        {.cost = 1},
        {.cost = 1, .id = 1, .in_flight = 1, .counted = true},
        {.cost = UINT32_MAX, .id = UINT16_MAX, .in_flight = 127, .counted = true},
        {.cost = 77, .id = 256, .in_flight = 0, .counted = true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        for (unsigned key = 0; key < 256; key++) {
            struct ticket t;
            uint64_t word = fb_ticket_seal(rows[i], (uint8_t)key);
            assert_true(fb_ticket_open(word, (uint8_t)key, &t));
            assert_int_equal(t.cost, rows[i].cost);
            assert_int_equal(t.id, rows[i].id);
            assert_int_equal(t.in_flight, rows[i].in_flight);
            assert_int_equal(t.counted, rows[i].counted);
            assert_false(fb_ticket_open(word, (uint8_t)(key + 1), &t));
        }
    }
}

static void one_of_which_only_the_id_is_known_is_sealed_alike(void **state)
{
    (void)state;
    for (unsigned id = 0; id <= UINT16_MAX; id++) {
        struct ticket t = {.cost = 1, .id = (uint16_t)id};
        uint8_t key = (uint8_t)(id * 7 + id / 256);
        assert_int_equal(fb_ticket_seal_one(t.id, key), fb_ticket_seal(t, key));
    }
}

static void any_flipped_bit_is_noticed(void **state)
{
    struct ticket t = {.cost = 3, .id = 1000, .in_flight = 5, .counted = true};
    uint64_t word = fb_ticket_seal(t, 0x5a);

    (void)state;
    for (int bit = 0; bit < 64; bit++) {
        struct ticket untouched = {.cost = 99};
        assert_false(fb_ticket_open(word ^ UINT64_C(1) << bit, 0x5a, &untouched));
        assert_int_equal(untouched.cost, 99);
    }
}

static void nothing_costs_nothing(void **state)
{
    struct ticket t = {.cost = 0, .id = 7};

    (void)state;
    assert_false(fb_ticket_open(fb_ticket_seal(t, 3), 3, &t));
    for (unsigned key = 0; key < 256; key++)
        assert_false(fb_ticket_open(0, (uint8_t)key, &t));
}

static uint16_t with_id(uint64_t id)
{
    return (uint16_t)id;
}

/* A ring of its own, or the one in the struct. */
struct rig {
    struct tickets t;
    uint64_t memory[FB_TICKET_RING_MAX / 64];
};

static struct rig *rig(int64_t grants)
{
    static struct rig r;

    memset(&r, 0x5a, sizeof(r));
    fb_tickets_init(&r.t, r.memory, fb_tickets_bytes(grants));
    return &r;
}

static void rings_are_as_large_as_needed(void **state)
{
    static const struct {
        int64_t grants;
        size_t bytes;
    } rows[] = {{0, 0},      {1, 0},        {512, 0},      {513, 128},    {1024, 128},
                {1025, 256}, {20000, 4096}, {32768, 4096}, {32769, 4096}, {INT64_MAX, 4096}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_int_equal(fb_tickets_bytes(rows[i].grants), rows[i].bytes);
}

static const int64_t sizes[] = {RING, 1024, 4096, FB_TICKET_RING_MAX};

static void before_the_first_grant_every_ticket_is_unknown(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        struct rig *r = rig(sizes[i]);
        for (uint64_t id = 0; id < 65536; id++)
            assert_int_equal(fb_tickets_end(&r->t, with_id(id)), TICKET_UNKNOWN);
    }
}

static void each_ends_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        struct rig *r = rig(sizes[i]);
        for (uint64_t id = 1; id <= 200000; id++) {
            assert_int_equal(fb_tickets_next(&r->t), id);
            assert_int_equal(fb_tickets_find(&r->t, with_id(id + 1)), TICKET_UNKNOWN);
            assert_int_equal(fb_tickets_find(&r->t, with_id(id)), TICKET_RECENT);
            assert_int_equal(fb_tickets_end(&r->t, with_id(id)), TICKET_RECENT);
            assert_int_equal(fb_tickets_find(&r->t, with_id(id)), TICKET_UNKNOWN);
            assert_int_equal(fb_tickets_end(&r->t, with_id(id)), TICKET_UNKNOWN);
        }
        assert_int_equal(r->t.old, 0);
    }
}

static void a_full_ring_is_remembered_exactly(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        struct rig *r = rig(sizes[i]);
        uint64_t size = (uint64_t)sizes[i];
        fb_tickets_add(&r->t, size / 2);
        fb_tickets_add(&r->t, size - size / 2);
        assert_int_equal(r->t.old, 0);
        for (uint64_t id = size; id >= 1; id--)
            assert_int_equal(fb_tickets_end(&r->t, with_id(id)), TICKET_RECENT);
        for (uint64_t id = 1; id <= size; id++)
            assert_int_equal(fb_tickets_end(&r->t, with_id(id)), TICKET_UNKNOWN);
    }
}

static void as_many_old_ones_end_as_can_be_out(void **state)
{
    struct rig *r = rig(RING);

    (void)state;
    fb_tickets_add(&r->t, RING);
    fb_tickets_add(&r->t, 3);
    assert_int_equal(r->t.old, 3);
    assert_int_equal(fb_tickets_find(&r->t, with_id(1)), TICKET_OLD);
    assert_int_equal(r->t.old, 3);
    assert_int_equal(fb_tickets_end(&r->t, with_id(1)), TICKET_OLD);
    assert_int_equal(fb_tickets_end(&r->t, with_id(2)), TICKET_OLD);
    assert_int_equal(fb_tickets_end(&r->t, with_id(3)), TICKET_OLD);
    assert_int_equal(fb_tickets_end(&r->t, with_id(3)), TICKET_UNKNOWN);
    assert_int_equal(fb_tickets_end(&r->t, with_id(4)), TICKET_RECENT);
}

static void ended_ones_do_not_become_old(void **state)
{
    struct rig *r = rig(RING);

    (void)state;
    fb_tickets_add(&r->t, 10);
    for (uint64_t id = 1; id <= 10; id += 2)
        fb_tickets_end(&r->t, with_id(id));
    fb_tickets_add(&r->t, RING);
    assert_int_equal(r->t.old, 5);
}

/* Many at once, more than the ring has room for: each of them is out and may end. */
static void many_at_once(void **state)
{
    struct rig *r = rig(RING);

    (void)state;
    fb_tickets_add(&r->t, 2);
    fb_tickets_end(&r->t, with_id(1));
    assert_int_equal(fb_tickets_add(&r->t, 3000), 3002);
    assert_int_equal(r->t.old, 1 + 3000 - RING);
    for (uint64_t id = 2; id <= 3002; id++)
        assert_int_equal(fb_tickets_end(&r->t, with_id(id)),
                         id <= 3002 - RING ? TICKET_OLD : TICKET_RECENT);
    assert_int_equal(r->t.old, 0);
    for (uint64_t id = 1; id <= 3002; id++)
        assert_int_equal(fb_tickets_end(&r->t, with_id(id)), TICKET_UNKNOWN);
    assert_int_equal(fb_tickets_add(&r->t, 0), 3002);
}

static void the_number_of_old_ones_ends_at_its_maximum(void **state)
{
    struct rig *r = rig(RING);

    (void)state;
    fb_tickets_add(&r->t, RING);
    r->t.old = UINT32_MAX - 1;
    fb_tickets_add(&r->t, RING);
    assert_int_equal(r->t.old, UINT32_MAX);
    fb_tickets_add(&r->t, 1);
    assert_int_equal(r->t.old, UINT32_MAX);
    fb_tickets_add(&r->t, UINT64_C(1) << 40);
    assert_int_equal(r->t.old, UINT32_MAX);
}

/* Against a plain table of what is out, over many laps of the 16 bits of an id. */
static void random_ends_against_a_table(void **state)
{
    enum { IDS = 300000 };
    unsigned char *out = calloc(IDS + 10, 1);
    struct rng rng = {seed_of_run()};

    (void)state;
    assert_non_null(out);
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        struct rig *r = rig(sizes[i]);
        uint64_t newest = 0;
        memset(out, 0, IDS + 10);
        while (newest < IDS) {
            if (fb_rng_next(&rng) % 2) {
                for (uint64_t n = 1 + fb_rng_next(&rng) % 3; n > 0; n--)
                    out[++newest] = 1;
                assert_int_equal(fb_tickets_add(&r->t, newest - r->t.newest), newest);
                continue;
            }
            uint64_t age = fb_rng_next(&rng) % (uint64_t)sizes[i];
            if (age >= newest)
                continue;
            uint64_t id = newest - age;
            enum ticket_end end = fb_tickets_end(&r->t, with_id(id));
            assert_int_equal(end, out[id] ? TICKET_RECENT : TICKET_UNKNOWN);
            out[id] = 0;
        }
        uint64_t old = 0;
        for (uint64_t id = 1; id + (uint64_t)sizes[i] <= newest; id++)
            old += out[id];
        assert_int_equal(r->t.old, old);
    }
    free(out);
}

/* ---- in a few bytes ---- */

/* A ring and its brief form, side by side: what one knows the other knows, for the last 64. */
static void brief_form_of_the_same_grants(void **state)
{
    struct tickets t;
    struct tickets_brief b = FB_TICKETS_BRIEF_NONE;
    struct rng rng = {seed_of_run()};

    (void)state;
    fb_tickets_init(&t, NULL, 0);
    for (int step = 0; step < 5000; step++) {
        if (fb_rng_next(&rng) % 2)
            assert_int_equal((uint16_t)fb_tickets_add(&t, 1), fb_tickets_brief_add(&b));
        uint16_t one = with_id(t.newest - fb_rng_next(&rng) % 64);
        assert_int_equal(fb_tickets_end(&t, one), fb_tickets_brief_end(&b, one));
        struct tickets_brief folded = fb_tickets_fold(&t);
        assert_int_equal(folded.ended, b.ended);
        assert_int_equal(folded.newest, b.newest);
        assert_int_equal(folded.old, b.old);

        struct tickets again;
        fb_tickets_init(&again, NULL, 0);
        fb_tickets_unfold(&again, b);
        folded = fb_tickets_fold(&again);
        assert_memory_equal(&folded.ended, &b.ended, sizeof(b.ended));
        assert_int_equal(folded.old, b.old);
    }
}

static void more_old_ones_than_can_be_counted(void **state)
{
    struct tickets_brief b = FB_TICKETS_BRIEF_NONE;

    (void)state;
    for (int i = 0; i < 70000; i++)
        fb_tickets_brief_add(&b);
    assert_int_equal(b.old, UINT16_MAX);
    assert_int_equal(fb_tickets_brief_out(&b), UINT16_MAX + 64);
    assert_int_equal(fb_tickets_brief_end(&b, with_id((uint64_t)b.newest - 64)), TICKET_OLD);
    assert_int_equal(b.old, UINT16_MAX - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opens_what_was_sealed),
        cmocka_unit_test(one_of_which_only_the_id_is_known_is_sealed_alike),
        cmocka_unit_test(any_flipped_bit_is_noticed),
        cmocka_unit_test(nothing_costs_nothing),
        cmocka_unit_test(rings_are_as_large_as_needed),
        cmocka_unit_test(before_the_first_grant_every_ticket_is_unknown),
        cmocka_unit_test(each_ends_once),
        cmocka_unit_test(a_full_ring_is_remembered_exactly),
        cmocka_unit_test(as_many_old_ones_end_as_can_be_out),
        cmocka_unit_test(ended_ones_do_not_become_old),
        cmocka_unit_test(many_at_once),
        cmocka_unit_test(the_number_of_old_ones_ends_at_its_maximum),
        cmocka_unit_test(random_ends_against_a_table),
        cmocka_unit_test(brief_form_of_the_same_grants),
        cmocka_unit_test(more_old_ones_than_can_be_counted),
    };

    return cmocka_run_group_tests_name("ticket", tests, NULL, NULL);
}
