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

/* Forty of them under a limit: how many had left after two seconds, and waited until then. */
static void forty(const char *limit, uint32_t cost, int64_t *ret_soon, int64_t *ret_most)
{
    struct engine_options o = rig_options();
    struct rig r;
    struct writer w = {.rig = &r};

    o.limit = limit;
    o.on_start = write_later;
    rig_open(&r, &o);
    r.more = &w;
    r.plan = slow;
    for (int i = 0; i < TASKS; i++)
        rig_submit(
            &r, &(struct engine_task){.url = "http://a.example/", .method = "POST", .cost = cost});
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
    static const struct {
        const char *limit;
        uint32_t cost;
        int64_t most, soon_least, soon_most;
    } cases[] = {
        {"rate=5/s burst=5", 1, 2, 14, 15},          {"rate=10/s burst=2", 3, 2, 6, 8},
        {"rate=100/s burst=1", 1, 26, TASKS, TASKS}, {"window=20/1h margin=0%", 1, 0, 20, 20},
        {"adapt=off concurrency=5", 1, 3, 20, 25},   {"adapt=off", 1, 0, TASKS, TASKS},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t soon, most;

        forty(cases[i].limit, cases[i].cost, &soon, &most);
        print_message("%s: %d waited, %d soon\n", cases[i].limit, (int)most, (int)soon);
        assert_in_range(most, 0, cases[i].most);
        assert_in_range(soon, cases[i].soon_least, cases[i].soon_most);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hardly_more_is_asked_about_than_leaves),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
