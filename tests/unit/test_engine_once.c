/* SPDX-License-Identifier: MIT */
/*
 * Requests that must not be sent twice: what is asked about counts as started, and who is killed
 * then does not know whether it left. So hardly more is asked about than leaves.
 */
#include "engine_rig.h"

#define TASKS 40

/* Whoever writes it down takes a moment; of what is written, so many had not left at a time. */
struct writer {
    struct rig *rig;
    struct job *job[TASKS];
    int64_t asked, written, most;
};

static void write_later(void *user, struct job *j, void *task_user, int32_t attempt)
{
    struct writer *w = ((struct rig *)user)->more;

    (void)task_user;
    (void)attempt;
    w->job[w->asked++] = j;
}

/* Whoever writes it down at once. */
static void write_now(void *user, struct job *j, void *task_user, int32_t attempt)
{
    (void)task_user;
    (void)attempt;
    fb_engine_go(((struct rig *)user)->engine, j, 0);
}

static struct plan slow(struct rig *r, const struct attempt_request *q)
{
    (void)r;
    (void)q;
    return (struct plan){.answer_ns = 500 * MS};
}

static void run_for(struct writer *w, int64_t span_ns)
{
    for (int64_t end_ns = w->rig->now_ns + span_ns; w->rig->now_ns < end_ns;) {
        rig_run_until(w->rig, w->rig->now_ns + 10 * MS);
        w->most = fb_max64(w->most, w->written - w->rig->sends);
        while (w->written < w->asked)
            fb_engine_go(w->rig->engine, w->job[w->written++], 0);
    }
}

struct bounds {
    const char *limit;
    uint32_t cost;
    int32_t key, provider; /* under way, of each at a time; 0: any number */
    int64_t most, soon_least, soon_most;
};

/* Forty of them under a limit: how many had left after two seconds, and waited until then. */
static void forty(const struct bounds *b, int64_t *ret_soon, int64_t *ret_most)
{
    const char *pool = b->provider > 0 ? "other" : NULL;
    struct engine_options o = rig_options();
    struct rig r;
    struct writer w = {.rig = &r};

    o.limit = b->limit;
    o.concurrency_key = b->key;
    o.concurrency_provider = b->provider;
    o.on_start = write_later;
    rig_open(&r, &o);
    r.more = &w;
    r.plan = slow;
    for (int i = 0; i < TASKS; i++)
        rig_submit(&r, &(struct engine_task){.url = "http://a.example/",
                                             .method = "POST",
                                             .pool = i % 2 ? pool : NULL,
                                             .cost = b->cost});
    run_for(&w, 2 * S);
    *ret_soon = r.sends;
    *ret_most = w.most;
    for (int hours = 0; hours < 3; hours++)
        run_for(&w, 3600 * S);
    assert_int_equal(w.asked, TASKS);
    assert_int_equal(r.ends[ENGINE_OK], TASKS);
    rig_fini(&r);
}

static void hardly_more_is_asked_about_than_leaves(void **state)
{
    static const struct bounds cases[] = {
        {"rate=5/s burst=5", 1, 0, 0, 2, 14, 15},
        {"rate=10/s burst=2", 3, 0, 0, 2, 6, 8},
        {"rate=100/s burst=1", 1, 0, 0, 26, TASKS, TASKS},
        {"window=20/1h margin=0%", 1, 0, 0, 0, 20, 20},
        {"adapt=off concurrency=5", 1, 0, 0, 3, 20, 25},
        {"adapt=off", 1, 0, 0, 0, TASKS, TASKS},
        {"adapt=off", 1, 1, 0, 0, 3, 4},
        {"adapt=off", 1, 3, 0, 0, 10, 12},
        {"adapt=off", 1, 0, 1, 1, 3, 4},
        {"adapt=off", 1, 0, 4, 1, 13, 16},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t soon, most;

        forty(&cases[i], &soon, &most);
        print_message("%s, %d of a key, %d of a provider: %d waited, %d soon\n", cases[i].limit,
                      cases[i].key, cases[i].provider, (int)most, (int)soon);
        assert_in_range(most, 0, cases[i].most);
        assert_in_range(soon, cases[i].soon_least, cases[i].soon_most);
    }
}

/* Two keys and one slot: who was asked about first does not leave, so that the other one may. */
static void a_slot_that_was_not_used_is_for_the_next(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;
    struct writer w = {.rig = &r};

    (void)state;
    o.concurrency_provider = 1;
    o.on_start = write_later;
    rig_open(&r, &o);
    r.more = &w;
    rig_submit(&r, &(struct engine_task){.url = "http://a.example/", .method = "POST"});
    rig_submit(
        &r, &(struct engine_task){.url = "http://a.example/", .method = "POST", .pool = "other"});
    rig_run_until(&r, RIG_EPOCH + 10 * MS);
    assert_int_equal(w.asked, 1);
    fb_engine_go(r.engine, w.job[w.written++], 1);
    run_for(&w, S);
    assert_int_equal(r.sends, 1);
    assert_int_equal(r.ends[ENGINE_CANCELLED], 1);
    rig_run(&r);
    rig_fini(&r);
}

/* ---------------------------------------------------------------------------------- who leaves */

/* One permit, which somebody else has. */
static struct fly_limiter *taken(void *user, const struct engine_key *k, int64_t now_ns,
                                 struct fly_error *err)
{
    struct fly_limiter *l = fly_limiter_new("adapt=off concurrency=1", now_ns, 1, err);
    struct rig *r = user;
    uint64_t ticket;

    (void)k;
    assert_int_equal(fly_limiter_take(l, now_ns, 1, &ticket), now_ns);
    r->more = l;
    return l;
}

/* So many turns a second while there is no time to wait for. */
static int turns_while_taken(const char *method)
{
    struct engine_options o = rig_options();
    struct rig r;
    int turns = 0;

    o.limiter_of = taken;
    o.on_start = write_now;
    rig_open(&r, &o);
    rig_submit(&r, &(struct engine_task){.url = "http://a.example/", .method = method});
    for (; turns < 1000 && r.wake_ns < RIG_EPOCH + S; turns++)
        rig_run_until(&r, r.wake_ns);
    assert_int_equal(r.sends, 0);
    fb_engine_stop(r.engine, r.now_ns);
    rig_run(&r);
    rig_fini(&r);
    return turns;
}

static void nobody_spins_for_a_time_that_is_a_guess(void **state)
{
    int turns = turns_while_taken("GET");

    (void)state;
    assert_in_range(turns, 10, 100);
    assert_in_range(turns_while_taken("POST"), turns - 1, turns + 1);
}

static struct plan broken_later(struct rig *r, const struct attempt_request *q)
{
    rig_copy(r->more, 64, q->url);
    if (strstr(q->url, "/lost"))
        return (struct plan){.answer_ns = 50 * MS, .failure = FAIL_RESET};
    return (struct plan){.answer_ns = 10 * S};
}

/* An own trial passes the breaker; what was written down before it and is no trial does not. */
static void a_breaker_keeps_what_was_written_down(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;
    char last[64] = "";

    (void)state;
    o.limit = "adapt=off rate=5/s burst=1";
    o.on_start = write_now;
    o.breaker_failures = 1;
    rig_open(&r, &o);
    r.more = last;
    r.plan = broken_later;
    rig_get(&r, "http://a.example/lost");
    rig_submit(&r, &(struct engine_task){.url = "http://a.example/kept", .method = "POST"});
    rig_run_until(&r, RIG_EPOCH + 100 * MS); /* written down, then broken */
    rig_submit(&r, &(struct engine_task){.url = "http://a.example/trial",
                                         .method = "POST",
                                         .flags = ENGINE_OWN_TRIALS});
    rig_run_until(&r, RIG_EPOCH + 300 * MS);
    assert_int_equal(r.sends, 2);
    assert_string_equal(last, "http://a.example/trial");
    rig_run(&r);
    rig_fini(&r);
}

/* Bulk work that was written down waits for a slot of its own, also behind interactive work. */
static void the_reserved_share_is_not_for_what_was_written_down(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;
    char last[64] = "";

    (void)state;
    o.limit = "adapt=off rate=5/s burst=1";
    o.concurrency = 3;
    o.reserved = 2;
    o.on_start = write_now;
    rig_open(&r, &o);
    r.more = last;
    r.plan = broken_later;
    rig_submit(&r, &(struct engine_task){.url = "http://a.example/lost",
                                         .method = "POST",
                                         .priority = PRIORITY_LIVE});
    rig_submit(&r, &(struct engine_task){.url = "http://a.example/bulk",
                                         .method = "POST",
                                         .priority = PRIORITY_NORMAL});
    rig_run_until(&r, RIG_EPOCH + 60 * MS);
    rig_get(&r, "http://b.example/"); /* has the one slot for bulk */
    rig_run_until(&r, RIG_EPOCH + 190 * MS);
    assert_string_equal(last, "http://b.example/");
    rig_submit(&r, &(struct engine_task){.url = "http://a.example/live",
                                         .method = "POST",
                                         .priority = PRIORITY_LIVE});
    rig_run_until(&r, RIG_EPOCH + 300 * MS);
    assert_int_equal(r.sends, 3);
    assert_string_equal(last, "http://a.example/live");
    rig_run(&r);
    rig_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hardly_more_is_asked_about_than_leaves),
        cmocka_unit_test(a_slot_that_was_not_used_is_for_the_next),
        cmocka_unit_test(nobody_spins_for_a_time_that_is_a_guess),
        cmocka_unit_test(a_breaker_keeps_what_was_written_down),
        cmocka_unit_test(the_reserved_share_is_not_for_what_was_written_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
