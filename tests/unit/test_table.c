/* SPDX-License-Identifier: MIT */
/* Many keys under one spec: each as a limiter of its own, forgotten only when that is safe. */
#include "limiter_rig.h"

#include <errno.h>

#include "util/alloc.h"

static const unsigned char SECRET[FLY_SECRET_BYTES] = "a secret of ours";

static struct fly_table *table(const char *spec, uint64_t keys_max)
{
    struct fly_table_options o = {sizeof(o), keys_max, SECRET};
    struct fly_error err = {""};
    struct fly_table *t = fly_table_new(spec, 0, &o, &err);

    if (!t)
        fail_msg("%s: %s", spec, err.text);
    return t;
}

static struct fly_id id_of(const struct fly_table *t, int number)
{
    char credential[32];
    struct fly_key key = {"api.example", "core", credential};
    struct fly_id id;

    (void)snprintf(credential, sizeof(credential), "token-%d", number);
    fly_table_id(t, &key, &id);
    return id;
}

static int64_t take_key(struct fly_table *t, int number, int64_t now_ns, uint64_t *ret_ticket)
{
    struct fly_id id = id_of(t, number);

    return fly_table_take(t, &id, now_ns, 1, ret_ticket);
}

static void end_key(struct fly_table *t, int number, int64_t now_ns, uint64_t ticket,
                    int64_t retry_after_ns)
{
    struct fly_id id = id_of(t, number);
    struct fly_outcome o = outcome(ticket, retry_after_ns >= 0 ? 429 : 200, now_ns);

    if (retry_after_ns >= 0)
        o.retry_after_ns = retry_after_ns;
    fly_table_report(t, &id, now_ns, &o);
}

static struct fly_usage key_usage(struct fly_table *t, int number, int64_t now_ns)
{
    struct fly_id id = id_of(t, number);
    struct fly_usage u = {.size = sizeof(u)};

    assert_int_equal(fly_table_key_usage(t, &id, now_ns, &u), 0);
    return u;
}

#define OK INT64_C(-1)

static struct fly_table_usage usage(struct fly_table *t)
{
    struct fly_table_usage u = {.size = sizeof(u)};

    assert_int_equal(fly_table_usage(t, &u), 0);
    return u;
}

/* ---- ids ---- */

static void ids_are_of_this_secret(void **state)
{
    struct fly_table *t = table("rate=1/s", 0);
    struct fly_table *same = table("rate=9/s", 0);
    struct fly_table *other = fly_table_new("rate=1/s", 0, NULL, NULL);
    struct fly_key key = {"a", "b", "c"};
    struct fly_key none = {NULL, NULL, NULL};
    struct fly_key empty = {"", "", ""};
    struct fly_id id[5];

    (void)state;
    assert_non_null(other);
    fly_table_id(t, &key, &id[0]);
    fly_table_id(same, &key, &id[1]);
    fly_table_id(other, &key, &id[2]);
    fly_table_id(t, &none, &id[3]);
    fly_table_id(t, &empty, &id[4]);
    assert_memory_equal(&id[0], &id[1], sizeof(id[0]));
    assert_memory_not_equal(&id[0], &id[2], sizeof(id[0]));
    assert_memory_equal(&id[3], &id[4], sizeof(id[3]));
    assert_memory_not_equal(&id[0], &id[3], sizeof(id[0]));
    fly_table_free(t);
    fly_table_free(same);
    fly_table_free(other);
    fly_table_free(NULL);
}

static void mistakes_are_told(void **state)
{
    struct fly_table_options o = {.size = 1};
    struct fly_error err = {""};

    (void)state;
    assert_null(fly_table_new("rate=ten/s", 0, NULL, &err));
    assert_contains(err.text, "rate=ten/s");
    assert_null(fly_table_new("rate=1/s", 0, &o, &err));
    assert_contains(err.text, "size");
    for (size_t n = 1; n <= 2; n++) {
        fb_alloc_fail_at(n);
        assert_null(fly_table_new("rate=1/s", 0, NULL, &err));
        assert_contains(err.text, "out of memory");
        fb_alloc_fail_at(1);
        assert_null(fly_table_new("rate=1/s", 0, NULL, NULL));
        fb_alloc_fail_at(0);
    }
}

/* Any id is one; none is taken for a place that is free. */
static void every_id_is_a_key(void **state)
{
    static const struct fly_id ids[] = {{{0, 0}}, {{0, 1}}, {{UINT64_MAX, UINT64_MAX}}, {{5, 0}}};
    struct fly_table *t = table("rate=1/s burst=1", 0);
    uint64_t ticket;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        assert_int_equal(fly_table_take(t, &ids[i], 0, 1, &ticket), 0);
        assert_int_equal(fly_table_take(t, &ids[i], 0, 1, &ticket), S);
    }
    assert_int_equal(usage(t).keys, COUNT_OF(ids));
    fly_table_free(t);
}

/* However alike keys are, they spread evenly: nobody can make one shelf the place of all. */
static void keys_that_are_alike_spread(void **state)
{
    struct fly_table *t = table("rate=1/s", 0);
    int count[256] = {0};

    (void)state;
    for (int key = 0; key < 100 * 256; key++) {
        struct fly_id id = id_of(t, key);
        count[id.word[1] % 256]++;
    }
    for (size_t i = 0; i < COUNT_OF(count); i++) {
        assert_at_least(count[i], 50);
        assert_at_most(count[i], 150);
    }
    fly_table_free(t);
}

/* ---- each key by itself ---- */

static void keys_do_not_delay_each_other(void **state)
{
    struct fly_table *t = table("rate=1/s burst=3", 0);
    uint64_t ticket;

    (void)state;
    for (int key = 0; key < 1000; key++)
        for (int i = 0; i < 4; i++)
            assert_int_equal(take_key(t, key, 0, &ticket), i < 3 ? 0 : S);
    assert_int_equal(usage(t).keys, 1000);
    assert_int_equal(usage(t).with_more, 0);
    fly_table_free(t);
}

static struct fly_outcome draw_outcome(struct rng *rng, uint64_t ticket, int64_t now_ns)
{
    struct fly_outcome o = random_outcome(rng, ticket, now_ns);

    /* Jitter is drawn from a seed of its own: a wait told would be longer by another amount. */
    if (o.status == 429)
        o.status = 200;
    o.limit = o.remaining = o.reset_ns = o.retry_after_ns = FLY_ABSENT;
    return o;
}

/* A key and a limiter of the same spec: the same calls, the same answers. */
static void a_key_is_a_limiter(void **state)
{
    struct rng rng = {seed_of_run()};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(every_kind); i++) {
        struct fly_limiter *l = limiter(every_kind[i], 0);
        struct fly_table *t = table(every_kind[i], 0);
        struct fly_id id = id_of(t, (int)i);
        int64_t now_ns = 0;
        for (int step = 0; step < 1000; step++) {
            uint64_t a = 0;
            uint64_t b = 0;
            uint32_t cost = (uint32_t)(fb_rng_next(&rng) % 3);
            /* The first at 0: a key begins with its first request. */
            if (step > 0)
                now_ns += (int64_t)(fb_rng_next(&rng) % (uint64_t)(S / 3));
            struct fly_why why = {.size = sizeof(why)};
            assert_int_equal(fly_table_why(t, &id, now_ns, cost, &why), 0);
            int64_t at_ns = fly_limiter_take(l, now_ns, cost, &a);
            assert_int_equal(fly_table_take(t, &id, now_ns, cost, &b), at_ns);
            assert_int_equal(why.until_ns, at_ns);
            if (at_ns > now_ns)
                continue;
            struct fly_outcome o = draw_outcome(&rng, a, now_ns);
            if (fb_rng_next(&rng) % 4 == 0) {
                fly_limiter_settle(l, now_ns, a, 2);
                fly_table_settle(t, &id, now_ns, b, 2);
            }
            if (fb_rng_next(&rng) % 4 == 0) {
                fly_limiter_cancel(l, now_ns, a);
                fly_table_cancel(t, &id, now_ns, b);
            } else {
                fly_limiter_report(l, now_ns, &o);
                o.ticket = b;
                fly_table_report(t, &id, now_ns, &o);
            }
        }
        fly_limiter_free(l);
        fly_table_free(t);
    }
}

static void a_refusal_holds_its_key_alone(void **state)
{
    struct fly_table *t = table("rate=10/s burst=10", 0);
    uint64_t ticket[2];

    (void)state;
    for (int key = 0; key < 2; key++)
        assert_int_equal(take_key(t, key, 0, &ticket[key]), 0);
    end_key(t, 0, 0, ticket[0], 30 * S);
    end_key(t, 1, 0, ticket[1], OK);
    assert_int_equal(usage(t).with_more, 1);
    assert_at_least(take_key(t, 0, S, &ticket[0]), 30 * S);
    assert_int_equal(take_key(t, 1, S, &ticket[1]), S);

    /* After the hold it comes back gently, one by one, and is brief again when that is over. */
    int64_t now_ns = 40 * S;
    for (int i = 0; i < 45; i++, now_ns += S) {
        assert_int_equal(take_key(t, 0, now_ns, &ticket[0]), now_ns);
        end_key(t, 0, now_ns, ticket[0], OK);
    }
    assert_int_equal(usage(t).with_more, 0);
    fly_table_free(t);
}

/* A true cost keeps the books open until its answer has come. */
static void a_true_cost_is_kept_until_it_is_reported(void **state)
{
    struct fly_table *t = table("rate=1/s burst=10", 0);
    struct fly_id id = id_of(t, 1);
    uint64_t ticket[2];

    (void)state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(fly_table_take(t, &id, 0, 1, &ticket[i]), 0);
    fly_table_settle(t, &id, 0, ticket[0], 5);
    end_key(t, 1, 0, ticket[1], OK);
    assert_int_equal(usage(t).with_more, 1);
    end_key(t, 1, 0, ticket[0], OK);
    assert_int_equal(usage(t).with_more, 0);
    fly_table_free(t);
}

static void tickets_are_of_their_key(void **state)
{
    struct fly_table *t = table("rate=1/s burst=1", 0);
    struct fly_id one = id_of(t, 1);
    struct fly_id two = id_of(t, 2);
    struct fly_id absent = id_of(t, 3);
    struct fly_outcome o = FLY_OUTCOME_INIT;
    uint64_t ticket[2];

    (void)state;
    assert_int_equal(fly_table_take(t, &one, 0, 1, &ticket[0]), 0);
    assert_int_equal(fly_table_take(t, &two, 0, 1, &ticket[1]), 0);
    fly_table_cancel(t, &one, 0, ticket[0] ^ 1);
    fly_table_cancel(t, &absent, 0, ticket[0]);
    fly_table_settle(t, &absent, 0, ticket[0], 5);
    fly_table_report(t, &absent, 0, &o);
    fly_table_reset(t, &absent);
    assert_int_equal(usage(t).keys, 2);
    assert_int_equal(fly_table_take(t, &one, 0, 1, &ticket[1]), S);
    fly_table_cancel(t, &one, 0, ticket[0]);
    assert_int_equal(fly_table_take(t, &one, 0, 1, &ticket[0]), 0);
    fly_table_free(t);
}

static void why_of_keys_that_are_there_and_not(void **state)
{
    struct fly_table *t = table("rate=1/s burst=1", 0);
    struct fly_id id = id_of(t, 1);
    struct fly_why why = {.size = sizeof(why)};
    struct fly_why small = {.size = 8};
    struct fly_table_usage no_room = {.size = 8};
    uint64_t ticket;

    (void)state;
    assert_int_equal(fly_table_why(t, &id, 0, 1, &small), -EINVAL);
    assert_int_equal(fly_table_usage(t, &no_room), -EINVAL);
    assert_int_equal(fly_table_why(t, &id, 0, 1, &why), 0);
    assert_string_equal(why.cause, "go");
    assert_int_equal(usage(t).keys, 0);
    assert_int_equal(fly_table_take(t, &id, 0, 1, &ticket), 0);
    assert_int_equal(fly_table_why(t, &id, 0, 1, &why), 0);
    assert_string_equal(why.cause, "bucket");
    assert_int_equal(why.until_ns, S);
    assert_contains(why.text, "1.00/s as stated");
    end_key(t, 1, 0, ticket, 30 * S);
    assert_int_equal(fly_table_why(t, &id, 0, 1, &why), 0);
    assert_string_equal(why.cause, "hold");
    fly_table_free(t);
}

/* ---- forgetting ---- */

static void usage_of_one_key_is_that_of_a_limiter(void **state)
{
    static const char *const SPECS[] = {"rate=2/s burst=4", "window=10/1m",
                                        "concurrency=3 rate=9/s"};
    struct fly_usage small = {.size = sizeof(small) - 1};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(SPECS); i++) {
        struct fly_table *t = table(SPECS[i], 8);
        struct fly_limiter *l = fly_limiter_new(SPECS[i], 0, 1, NULL);
        struct fly_id id = id_of(t, 1);
        uint64_t ticket;

        for (int n = 0; n < 12; n++) {
            struct fly_usage mine = {.size = sizeof(mine)};
            int64_t now_ns = n * S / 8;
            assert_int_equal(fly_limiter_usage(l, now_ns, &mine), 0);
            struct fly_usage of_key = key_usage(t, 1, now_ns);
            assert_memory_equal(&of_key, &mine, sizeof(mine));
            int64_t at_ns = fly_limiter_take(l, now_ns, 1, &ticket);
            assert_int_equal(take_key(t, 1, now_ns, &ticket), at_ns);
        }
        assert_true(key_usage(t, 1, 2 * S).in_flight > 2);
        assert_int_equal(key_usage(t, 2, 2 * S).used, 0); /* which is not there, and stays so */
        assert_int_equal(usage(t).keys, 1);
        assert_int_equal(fly_table_key_usage(t, &id, 0, &small), -EINVAL);
        fly_limiter_free(l);
        fly_table_free(t);
    }
}

/* A hold is told, and a key that was brief is so again. */
static void usage_of_a_key_changes_nothing(void **state)
{
    struct fly_table *t = table("rate=2/s burst=4", 8);
    struct fly_id id = id_of(t, 1);
    struct fly_usage u = {.size = sizeof(u)};
    uint64_t ticket;

    (void)state;
    assert_int_equal(take_key(t, 1, 0, &ticket), 0);
    assert_int_equal(key_usage(t, 1, 0).in_flight, 1);
    assert_int_equal(usage(t).with_more, 0);
    fb_alloc_fail_at(1);
    assert_int_equal(fly_table_key_usage(t, &id, 0, &u), -ENOMEM);
    fb_alloc_fail_at(0);
    end_key(t, 1, 0, ticket, 30 * S);
    u = key_usage(t, 1, S);
    assert_int_equal(u.limited, 1);
    assert_at_least(u.next_ns, 30 * S);
    assert_int_equal(usage(t).with_more, 1);
    fly_table_free(t);
}

static void only_what_is_safe_is_forgotten(void **state)
{
    struct fly_table *t = table("rate=1/s burst=2", 0);
    uint64_t ticket[4];

    (void)state;
    for (int key = 0; key < 4; key++)
        assert_int_equal(take_key(t, key, 0, &ticket[key]), 0);
    end_key(t, 1, 0, ticket[1], OK);
    end_key(t, 2, 0, ticket[2], 10 * S);
    end_key(t, 3, 0, ticket[3], OK);
    (void)take_key(t, 3, 0, &ticket[3]);
    end_key(t, 3, 0, ticket[3], OK);
    assert_int_equal(fly_table_sweep(t, S - 1), 0);
    assert_int_equal(fly_table_sweep(t, S), 1);      /* key 1: full again */
    assert_int_equal(fly_table_sweep(t, 2 * S), 1);  /* key 3 */
    assert_int_equal(fly_table_sweep(t, 20 * S), 0); /* key 0 has one out, 2 comes back gently */
    assert_int_equal(fly_table_sweep(t, 1000 * S), 1);
    assert_int_equal(usage(t).with_more, 0);
    end_key(t, 0, 1000 * S, ticket[0], OK);
    assert_int_equal(fly_table_sweep(t, 1000 * S), 1);
    assert_int_equal(usage(t).keys, 0);
    assert_int_equal(usage(t).forgotten, 4);
    fly_table_free(t);
}

static void windows_are_forgotten_when_empty(void **state)
{
    struct fly_table *t = table("window=10/10s margin=0%", 0);
    uint64_t ticket;

    (void)state;
    assert_int_equal(take_key(t, 1, 0, &ticket), 0);
    end_key(t, 1, 0, ticket, OK);
    assert_int_equal(usage(t).with_more, 1);
    assert_int_equal(fly_table_sweep(t, 10 * S - 1), 0);
    assert_int_equal(fly_table_sweep(t, 10 * S), 1);
    fly_table_free(t);
}

static void bounds_on_what_is_out_are_forgotten_with_it(void **state)
{
    struct fly_table *t = table("adapt=off concurrency=2", 0);
    uint64_t ticket;

    (void)state;
    assert_int_equal(take_key(t, 1, 0, &ticket), 0);
    assert_int_equal(fly_table_sweep(t, S), 0);
    end_key(t, 1, 0, ticket, OK);
    assert_int_equal(fly_table_sweep(t, S), 1);
    fly_table_free(t);
}

static void what_was_learned_is_kept(void **state)
{
    struct fly_table *t = table("adapt=aimd", 0);
    struct fly_id id = id_of(t, 1);
    uint64_t ticket;

    (void)state;
    assert_int_equal(take_key(t, 1, 0, &ticket), 0);
    end_key(t, 1, 0, ticket, S);
    assert_int_equal(fly_table_sweep(t, 100000 * S), 0);
    fly_table_reset(t, &id);
    assert_int_equal(usage(t).keys, 0);
    assert_int_equal(usage(t).with_more, 0);
    fly_table_free(t);
}

static void a_quota_that_was_told_is_kept_until_its_reset(void **state)
{
    struct fly_table *t = table("rate=100/s", 0);
    struct fly_id id = id_of(t, 1);
    struct fly_outcome o = FLY_OUTCOME_INIT;

    (void)state;
    assert_int_equal(fly_table_take(t, &id, 0, 1, &o.ticket), 0);
    o.status = 200;
    o.limit = 100;
    o.remaining = 0;
    o.reset_ns = 50 * S;
    fly_table_report(t, &id, 0, &o);
    assert_at_least(fly_table_take(t, &id, 10 * S, 1, &o.ticket), 50 * S);
    assert_int_equal(fly_table_sweep(t, 49 * S), 0);
    assert_int_equal(fly_table_sweep(t, 60 * S), 1);
    fly_table_free(t);
}

/* Forgetting at any time changes no answer: two tables, one of which is swept all the time. */
static void forgetting_changes_no_answer(void **state)
{
    struct fly_table *kept = table("rate=2/s burst=3", 0);
    struct fly_table *swept = table("rate=2/s burst=3", 0);
    struct rng rng = {seed_of_run()};
    int64_t now_ns = 0;

    (void)state;
    for (int step = 0; step < 3000; step++) {
        int key = (int)(fb_rng_next(&rng) % 7);
        uint64_t a = 0;
        uint64_t b = 0;
        now_ns += (int64_t)(fb_rng_next(&rng) % (uint64_t)(300 * MS));
        (void)fly_table_sweep(swept, now_ns);
        assert_int_equal(take_key(kept, key, now_ns, &a), take_key(swept, key, now_ns, &b));
        if (a != 0) {
            end_key(kept, key, now_ns, a, OK);
            end_key(swept, key, now_ns, b, OK);
        }
    }
    assert_true(usage(swept).forgotten > 100);
    fly_table_free(kept);
    fly_table_free(swept);
}

/* ---- bounds ---- */

static void a_full_table_refuses_new_keys_only(void **state)
{
    struct fly_table *t = table("rate=1/s burst=2", 50);
    uint64_t ticket;

    (void)state;
    for (int key = 0; key < 50; key++)
        assert_int_equal(take_key(t, key, 0, &ticket), 0);
    assert_at_least(take_key(t, 50, 0, &ticket), 1);
    assert_int_equal(usage(t).keys, 50);
    assert_int_equal(usage(t).refused, 1);
    assert_int_equal(take_key(t, 7, 0, &ticket), 0);
    fly_table_free(t);
}

static void a_full_table_forgets_to_make_room(void **state)
{
    struct fly_table *t = table("rate=1000/s burst=2", 300);
    uint64_t ticket;
    int64_t now_ns = 0;

    (void)state;
    for (int key = 0; key < 20000; key++) {
        int64_t at_ns = take_key(t, key, now_ns, &ticket);
        while (at_ns > now_ns) {
            now_ns = at_ns;
            at_ns = take_key(t, key, now_ns, &ticket);
        }
        end_key(t, key, now_ns, ticket, OK);
        now_ns += MS;
        assert_at_most((int64_t)usage(t).keys, 300);
    }
    assert_at_least((int64_t)usage(t).forgotten, 19000);
    fly_table_free(t);
}

static void keys_that_come_and_go_need_no_more_room(void **state)
{
    struct fly_table *t = table("rate=1000/s burst=2", 0);
    uint64_t ticket;
    int64_t now_ns = 0;

    (void)state;
    for (int key = 0; key < 50000; key++, now_ns += MS) {
        assert_int_equal(take_key(t, key, now_ns, &ticket), now_ns);
        end_key(t, key, now_ns, ticket, OK);
    }
    /* A shelf of eight places is looked through before it gets wider. */
    assert_at_most((int64_t)usage(t).keys, 256 * 12);
    fly_table_free(t);
}

static void an_idle_key_costs_little(void **state)
{
    enum { KEYS = 100000 };
    struct fly_table *t = table("rate=1/1h burst=5", 0);
    uint64_t empty = usage(t).bytes;
    uint64_t ticket;

    (void)state;
    for (int key = 0; key < KEYS; key++) {
        assert_int_equal(take_key(t, key, 0, &ticket), 0);
        end_key(t, key, 0, ticket, OK);
    }
    assert_int_equal(usage(t).keys, KEYS);
    assert_at_most((int64_t)(usage(t).bytes / KEYS), 96);
    assert_int_equal(fly_table_sweep(t, 5 * 3600 * S), KEYS);
    assert_at_most((int64_t)usage(t).bytes, (int64_t)empty + 256 * 8 * 32);
    fly_table_free(t);
}

/* ---- what lasts ---- */

static void what_a_key_knows_outlasts_the_table(void **state)
{
    static const char *const specs[] = {"rate=1/s burst=10", "adapt=aimd rate=1/s burst=10",
                                        "window=10/1h margin=0%"};
    unsigned char bytes[FLY_STATE_BYTES];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        struct fly_table *t = table(specs[i], 0);
        struct fly_table *next = table(specs[i], 0);
        struct fly_id id = id_of(t, 1);
        uint64_t ticket;
        assert_int_equal(fly_table_save(t, &id, 0, bytes, sizeof(bytes)), 0);
        for (int grants = 0; grants < 7; grants++)
            assert_int_equal(fly_table_take(t, &id, 0, 1, &ticket), 0);
        uint64_t with_more = usage(t).with_more;
        assert_int_equal(fly_table_save(t, &id, 0, bytes, 40), -ENOSPC);
        int size = fly_table_save(t, &id, 0, bytes, sizeof(bytes));
        assert_true(size > 0);
        assert_int_equal(usage(t).with_more, with_more);

        assert_int_equal(fly_table_load(next, &id, 0, 0, bytes, (size_t)size, NULL), 0);
        assert_int_equal(usage(next).with_more, with_more);
        int left = 0;
        while (fly_table_take(next, &id, 0, 1, &ticket) == 0)
            left++;
        assert_int_equal(left, 3);
        fly_table_free(t);
        fly_table_free(next);
    }
}

static void a_bad_state_leaves_no_key(void **state)
{
    struct fly_table *t = table("adapt=aimd", 1);
    struct fly_table *plain = table("rate=1/s", 0);
    struct fly_id id = id_of(t, 1);
    struct fly_id other = id_of(t, 2);
    struct fly_error err = {""};
    unsigned char bytes[FLY_STATE_BYTES];
    uint64_t ticket;

    (void)state;
    assert_int_equal(fly_table_load(t, &id, 0, 0, "nonsense", 8, &err), -EINVAL);
    assert_contains(err.text, "saved state: ");
    assert_int_equal(usage(t).keys, 0);
    assert_int_equal(fly_table_take(t, &id, 0, 1, &ticket), 0);
    assert_int_equal(fly_table_load(t, &id, 0, 0, "nonsense", 8, &err), -EINVAL);
    assert_int_equal(usage(t).keys, 1);
    int size = fly_table_save(t, &id, 0, bytes, sizeof(bytes));
    assert_int_equal(fly_table_load(t, &other, 0, 0, bytes, (size_t)size, &err), -ENOSPC);
    assert_contains(err.text, "full");

    assert_int_equal(fly_table_take(plain, &id, 0, 1, &ticket), 0);
    fb_alloc_fail_at(1);
    assert_int_equal(fly_table_save(plain, &id, 0, bytes, sizeof(bytes)), -ENOMEM);
    fb_alloc_fail_at(1);
    assert_int_equal(fly_table_load(plain, &id, 0, 0, bytes, (size_t)size, &err), -ENOMEM);
    assert_contains(err.text, "out of memory");
    fly_table_free(t);
    fly_table_free(plain);
}

/* ---- without memory ---- */

static void without_memory_a_key_waits(void **state)
{
    struct fly_table *t = table("rate=10/s burst=5", 0);
    struct fly_table *more = table("rate=10/s window=100/1m", 0);
    struct fly_id id = id_of(t, 1);
    uint64_t ticket = 0;

    (void)state;
    fb_alloc_fail_at(1);
    assert_at_least(take_key(t, 1, 0, &ticket), 1);
    assert_int_equal(take_key(t, 1, 0, &ticket), 0);
    for (size_t n = 1; n <= 2; n++) {
        fb_alloc_fail_at(n);
        assert_at_least(take_key(more, 1, 0, &ticket), 1);
        assert_int_equal(usage(more).keys, 0);
    }
    assert_int_equal(take_key(more, 1, 0, &ticket), 0);

    /* No room to write a hold down: the bucket owes it. */
    fly_table_reset(t, &id);
    assert_int_equal(take_key(t, 1, 0, &ticket), 0);
    fb_alloc_fail_at(1);
    end_key(t, 1, 0, ticket, 90 * S);
    assert_at_least(take_key(t, 1, 0, &ticket), 90 * S);
    fly_table_reset(t, &id);
    struct fly_outcome o = outcome(0, 429, 0);
    assert_int_equal(take_key(t, 1, 0, &o.ticket), 0);
    o.reset_ns = 300 * S;
    o.status = 503;
    o.flags = FLY_THROTTLED;
    fb_alloc_fail_at(1);
    fly_table_report(t, &id, 0, &o);
    assert_at_least(take_key(t, 1, 0, &ticket), 300 * S);
    fly_table_reset(t, &id);
    assert_int_equal(take_key(t, 1, 0, &o.ticket), 0);
    o.flags = 0; /* an outage: what it says of the limit's reset is no wait, Retry-After is */
    o.retry_after_ns = 60 * S;
    fb_alloc_fail_at(1);
    fly_table_report(t, &id, 0, &o);
    assert_at_least(take_key(t, 1, 0, &ticket), 60 * S);
    assert_at_most(take_key(t, 1, 0, &ticket), 299 * S);

    /* Nor a true cost: it is charged. */
    fly_table_reset(t, &id);
    assert_int_equal(take_key(t, 1, 0, &ticket), 0);
    fb_alloc_fail_at(1);
    fly_table_settle(t, &id, 0, ticket, 9);
    assert_at_least(take_key(t, 1, 0, &ticket), S / 2);
    assert_int_equal(usage(t).with_more, 0);
    fb_alloc_fail_at(0);
    fly_table_free(t);
    fly_table_free(more);
}

static void any_clock_will_do(void **state)
{
    static const int64_t origins[] = {0, INT64_MIN, INT64_MAX - 10 * S, -S, 1700000000 * S};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(origins); i++) {
        struct fly_table *t = fly_table_new("rate=1/s burst=1", origins[i], NULL, NULL);
        struct fly_id id = id_of(t, 1);
        uint64_t ticket;
        assert_int_equal(fly_table_take(t, &id, origins[i], 1, &ticket), origins[i]);
        assert_int_equal(fly_table_take(t, &id, origins[i], 1, &ticket), origins[i] + S);
        fly_table_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_of_this_secret),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(every_id_is_a_key),
        cmocka_unit_test(keys_that_are_alike_spread),
        cmocka_unit_test(keys_do_not_delay_each_other),
        cmocka_unit_test(a_key_is_a_limiter),
        cmocka_unit_test(a_refusal_holds_its_key_alone),
        cmocka_unit_test(a_true_cost_is_kept_until_it_is_reported),
        cmocka_unit_test(tickets_are_of_their_key),
        cmocka_unit_test(why_of_keys_that_are_there_and_not),
        cmocka_unit_test(usage_of_one_key_is_that_of_a_limiter),
        cmocka_unit_test(usage_of_a_key_changes_nothing),
        cmocka_unit_test(only_what_is_safe_is_forgotten),
        cmocka_unit_test(windows_are_forgotten_when_empty),
        cmocka_unit_test(bounds_on_what_is_out_are_forgotten_with_it),
        cmocka_unit_test(what_was_learned_is_kept),
        cmocka_unit_test(a_quota_that_was_told_is_kept_until_its_reset),
        cmocka_unit_test(forgetting_changes_no_answer),
        cmocka_unit_test(a_full_table_refuses_new_keys_only),
        cmocka_unit_test(a_full_table_forgets_to_make_room),
        cmocka_unit_test(keys_that_come_and_go_need_no_more_room),
        cmocka_unit_test(an_idle_key_costs_little),
        cmocka_unit_test(what_a_key_knows_outlasts_the_table),
        cmocka_unit_test(a_bad_state_leaves_no_key),
        cmocka_unit_test(without_memory_a_key_waits),
        cmocka_unit_test(any_clock_will_do),
    };

    return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
