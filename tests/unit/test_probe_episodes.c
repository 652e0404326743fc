/* SPDX-License-Identifier: MIT */
/* Episodes by hand: pings and stragglers, waits, outages, and which statuses are refusals. */
#include "test_probe_hand.h"

/* ---- one at a time ---- */

static void during_an_episode_one_ping_is_out(void **state)
{
    struct hand h = settled(10.0f, 300.0f);

    (void)state;
    refuse(&h);
    int64_t until_ns = h.pace.not_before_ns;
    h.now_ns = until_ns;
    assert_true(grant(&h));
    assert_int_equal(h.pace.not_before_ns, FB_NEVER); /* nothing besides it */
    h.now_ns += 10 * MS;
    assert_true(reply(&h, 429));
    assert_true(h.pace.not_before_ns > h.now_ns && h.pace.not_before_ns < FB_NEVER);
    assert_true(h.pace.burst == 1.0);
    h.now_ns = h.pace.not_before_ns;
    grant(&h);
    int64_t pinged_ns = h.now_ns;
    h.now_ns += 10 * MS;
    reply(&h, 200);
    double gap_s = 1.0 / (double)h.c.probe.rate; /* from then on at the pace of now */
    assert_close((double)(h.pace.not_before_ns - pinged_ns) / 1e9, gap_s, 1e-3);
}

/* A window has opened, or it was told when to come again: there is room at once. */
static void after_an_opening_nobody_waits(void **state)
{
    (void)state;
    for (int is_window = 0; is_window <= 1; is_window++) {
        struct hand h = settled(10.0f, 300.0f);

        h.c.probe.window_s = is_window ? 60.0f : 0.0f;
        h.o.retry_after_ns = is_window ? FLY_ABSENT : S;
        refuse(&h);
        h.o.retry_after_ns = FLY_ABSENT;
        recover(&h, NULL);
        assert_int_equal(h.c.probe.window_s > 0.0f, is_window);
        assert_true(h.pace.not_before_ns <= h.now_ns);
    }
}

/* Refused while another is out, which is answered next. */
static struct hand with_straggler(void)
{
    struct hand h = settled(10.0f, 300.0f);

    grant(&h);
    uint64_t straggler = h.id;
    refuse(&h);
    h.now_ns += 5 * MS;
    h.id = straggler;
    return h;
}

/* Whatever comes back of what was sent before a refusal changes nothing. */
static void stragglers_change_nothing(void **state)
{
    static const int32_t statuses[] = {429, 500, 0, 408};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(statuses); i++) {
        struct hand h = with_straggler();
        uint64_t straggler = h.id;
        h.o.retry_after_ns = i == 0 ? 100 * S : FLY_ABSENT;
        for (int n = 0; n < 30; n++) {
            if (i == 0 && n == 0)
                reply(&h, statuses[i]); /* but the first, which lengthens the pause */
            struct probe before = h.c.probe;
            assert_false(reply(&h, statuses[i]));
            before.soft_gap = h.c.probe.soft_gap;
            before.also_refused = h.c.probe.also_refused;
            assert_memory_equal(&before, &h.c.probe, sizeof(before));
            if (n == 9) { /* while the ping is out neither */
                h.now_ns = h.pace.not_before_ns;
                grant(&h);
            } else if (n == 19) { /* nor when all is over */
                h.o.retry_after_ns = FLY_ABSENT;
                h.id = h.latest;
                reply(&h, 200);
                assert_int_equal(h.c.probe.episode, EPISODE_NONE);
                h.o.retry_after_ns = i == 0 ? 100 * S : FLY_ABSENT;
            }
            h.id = straggler;
        }
    }
}

/* What is refused with it was no chance: the pause is as long as the limit needs, not the pace. */
static void refused_stragglers_lengthen_the_pause(void **state)
{
    struct hand h = with_straggler();
    struct probe *p = &h.c.probe;
    int64_t until_ns = h.pace.not_before_ns;

    (void)state;
    reply(&h, 429);
    assert_int_equal(p->also_refused, 1);
    assert_at_least(h.pace.not_before_ns, until_ns + 100 * MS);
    assert_close((double)(h.pace.not_before_ns - p->refused_ns) / 1e9, 0.8, 1e-3);
    for (int i = 0; i < 300; i++)
        reply(&h, 429);
    assert_int_equal(p->also_refused, UINT8_MAX);
    for (int i = 0; i < 300; i++)
        reply(&h, 200);
    assert_int_equal(p->also_accepted, UINT8_MAX);

    h = with_straggler(); /* a wait that was told is not lengthened, nor a window's */
    p->told_when = true;
    assert_false(reply(&h, 429));
    h = with_straggler();
    p->window_s = 60.0f;
    assert_false(reply(&h, 429));
    h = with_straggler();
    p->failed_pings = 1;
    assert_false(reply(&h, 429));
    h = with_straggler(); /* in an outage nothing was refused */
    p->outage = true;
    assert_false(reply(&h, 429));
    assert_int_equal(p->also_refused, 0);
}

/* In a climb out of doubt the limit says little; what counts by the second is soon there again. */
static void the_pause_is_by_what_is_made(void **state)
{
    static const struct {
        uint8_t phase;
        float lean;
        int second;
        double pause_s;
    } rows[] = {
        {PROBE_SETTLED, -MARGIN, 0, 8.0 / 10.0},
        {PROBE_DOUBT, -MARGIN, 0, 8.0 / 10.0},
        {PROBE_DOUBT, 4.0f, 0, 8.0 / 25.0}, /* half of the pace, as far as is known */
        {PROBE_DOUBT, 4.0f, 45, 8.0 / 45.0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = with_straggler();
        struct probe *p = &h.c.probe;

        p->phase = rows[i].phase;
        p->lean = rows[i].lean;
        p->limit = 10.0f;
        p->rate = 50.0f;
        p->pause_s = 0.01f;
        p->step_ns = p->refused_ns;
        p->log.second = p->log.second_before = (uint8_t)rows[i].second;
        reply(&h, 429);
        assert_close((double)p->pause_s, rows[i].pause_s, 1e-3);
    }
}

/* An accepted one is counted, but does not end the episode. */
/* Out of patience it waited for a window, not for what is made: most of that was not stored. */
static void a_minute_of_patience_is_not_measured(void **state)
{
    struct hand h = settled(600.0f, 3000.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    refuse(&h);
    p->pause_s = PATIENCE_S;
    int64_t pinged_ns = p->block_ns = h.now_ns + fb_span(PATIENCE_S);
    recover_at(&h, pinged_ns, NULL);
    assert_close((double)(pinged_ns - p->empty_ns) / 1e9, 8.0 / (double)p->limit, 1e-4);

    h = settled(0.1f, 3000.0f); /* a slow one has made no more than that in all the time */
    refuse(&h);
    p->pause_s = PATIENCE_S;
    pinged_ns = p->block_ns = h.now_ns + fb_span(PATIENCE_S);
    recover_at(&h, pinged_ns, NULL);
    assert_close((double)(pinged_ns - p->empty_ns) / 1e9, (double)PATIENCE_S, 1e-3);
}

static void an_accepted_straggler_does_not_end_the_episode(void **state)
{
    struct hand h = with_straggler();
    uint64_t straggler = h.id;
    int64_t until_ns = h.pace.not_before_ns;

    (void)state;
    assert_false(reply(&h, 200));
    assert_int_equal(h.c.probe.episode, EPISODE_WAITING);
    assert_int_equal(h.pace.not_before_ns, until_ns);
    assert_true(h.c.probe.accepted == 301.0f);
    /* While the ping is out neither. */
    h.now_ns = until_ns;
    grant(&h);
    h.id = straggler;
    reply(&h, 200);
    assert_int_equal(h.c.probe.episode, EPISODE_PINGED);
    assert_int_equal(h.pace.not_before_ns, FB_NEVER);
}

/* Ids come round after 65536 grants; what is recent never looks old. */
static void what_is_recent_is_no_straggler(void **state)
{
    struct hand h = settled(10.0f, 300.0f);

    (void)state;
    refuse(&h);
    recover(&h, NULL);
    for (int i = 0; i < 200000; i++) {
        h.now_ns += 10 * MS;
        grant(&h);
        uint16_t recent = (uint16_t)(h.latest - (uint64_t)(i < 4000 ? i : 4000));
        assert_false(fb_probe_is_straggler(&h.c.probe, recent));
    }
    assert_true(fb_probe_is_straggler(&h.c.probe, (uint16_t)(h.latest - 20000)));
}

static void a_cancelled_ping_is_sent_again(void **state)
{
    struct hand h = settled(10.0f, 300.0f);

    (void)state;
    assert_false(cancel(&h));
    refuse(&h);
    int64_t until_ns = h.pace.not_before_ns;
    h.now_ns = until_ns;
    grant(&h);
    assert_true(cancel(&h));
    assert_int_equal(h.pace.not_before_ns, until_ns);
    assert_int_equal(h.c.probe.episode, EPISODE_WAITING);
    ping(&h, 200);
    assert_int_equal(h.c.probe.episode, EPISODE_NONE);
}

/* One that left before the refusal comes back unsent: the ping is still out. */
static void cancelling_a_straggler_lets_no_second_ping_out(void **state)
{
    struct fly_limiter *l = limiter("adapt=probe rate=10/s", 0);
    uint64_t refused, straggler, ping, second;

    (void)state;
    assert_int_equal(fly_limiter_take(l, 0, 1, &refused), 0);
    assert_int_equal(fly_limiter_take(l, S, 1, &straggler), S);
    report(l, S + MS, refused, 429);
    int64_t at_ns = fly_limiter_take(l, S + MS, 1, &ping);
    assert_int_equal(fly_limiter_take(l, at_ns, 1, &ping), at_ns);
    assert_int_equal(fly_limiter_take(l, at_ns + 10 * S, 1, &second), FLY_NEVER);
    fly_limiter_cancel(l, at_ns + 10 * S, straggler);
    assert_int_equal(fly_limiter_take(l, at_ns + 10 * S, 1, &second), FLY_NEVER);
    fly_limiter_cancel(l, at_ns + 10 * S, ping);
    assert_int_equal(fly_limiter_take(l, at_ns + 10 * S, 1, &second), at_ns + 10 * S);
    fly_limiter_free(l);
}

/* When it was sent is the caller's word; nothing else is out, so it is the ping. */
static void an_answer_with_a_wrong_time_still_ends_the_ping(void **state)
{
    static const int32_t statuses[] = {200, 429, 500};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(statuses); i++) {
        struct hand h = settled(10.0f, 300.0f);
        refuse(&h);
        h.now_ns = h.pace.not_before_ns;
        grant(&h);
        h.o.sent_ns = 0;
        reply(&h, statuses[i]);
        assert_true(h.pace.not_before_ns < FB_NEVER);
    }
}

/* ---- waits ---- */

static void what_is_told_is_waited_for(void **state)
{
    struct hand h = settled(10.0f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    h.o.retry_after_ns = 300 * S;
    refuse(&h);
    assert_int_equal(h.pace.not_before_ns, h.now_ns + 300 * S);
    h.o.retry_after_ns = 10 * S;
    ping(&h, 429); /* and again */
    assert_int_equal(h.pace.not_before_ns, h.now_ns + 10 * S);
    assert_int_equal(p->failed_pings, 3);
    p->failed_pings = 7;
    ping(&h, 429); /* what is known better is not forgotten */
    assert_int_equal(p->failed_pings, 8);
    h.o.retry_after_ns = 999 * MS; /* too short to mean a window */
    ping(&h, 429);
    assert_true(h.pace.not_before_ns - h.now_ns > S);
}

/* What no server can mean is waited for as long as one might. */
static void an_absurd_wait_ends(void **state)
{
    static const struct {
        int64_t retry_after_ns, remaining, reset_ns;
    } rows[] = {{INT64_MAX, FLY_ABSENT, FLY_ABSENT},
                {FB_TIME_MAX, 0, FB_TIME_MAX},
                {FLY_ABSENT, 0, FB_TIME_MAX}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = settled(10.0f, 300.0f);
        h.c.probe.window_s = 60.0f;
        h.o.retry_after_ns = rows[i].retry_after_ns;
        h.o.remaining = rows[i].remaining;
        h.o.reset_ns = rows[i].reset_ns;
        refuse(&h);
        assert_at_most(h.pace.not_before_ns - h.now_ns, 33 * 86400 * S);
    }
}

static void pauses_between_pings_grow(void **state)
{
    struct hand h = settled(100.0f, 300.0f);
    int64_t pause_ns = 0;

    (void)state;
    refuse(&h);
    for (int i = 0; i < 300; i++) {
        int64_t next_ns = h.pace.not_before_ns - h.now_ns;
        assert_at_least(next_ns, pause_ns);
        assert_at_most(next_ns, 3600 * S);
        pause_ns = next_ns;
        ping(&h, 429);
    }
    assert_at_least(pause_ns, 3599 * S);
    assert_int_equal(h.c.probe.failed_pings, PINGS_MAX);
}

/* Once an opening was seen the next one is a round time after it. */
static void pings_aim_at_round_windows(void **state)
{
    struct hand h = settled(10.0f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->opening_seen = true;
    refuse(&h);
    p->empty_ns = h.now_ns - 50 * S;
    p->pause_s = 2.0f;
    h.now_ns += 2 * S;
    request(&h, 429);
    assert_close((double)(h.pace.not_before_ns - p->empty_ns) / 1e9, 60.05, 0.02);
    assert_true(fb_probe_window_from(0.2f) == 1.0f);
    assert_true(fb_probe_window_from(61.0f) == 120.0f);
    assert_true(fb_probe_window_from(60.0f) == 60.0f);
    assert_true(fb_probe_window_from(1e6f) == 86400.0f);
}

/* ---- failures ---- */

static void five_failures_in_a_row_are_an_outage(void **state)
{
    struct hand h = settled(10.0f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < OUTAGE_ROW - 1; i++)
            request(&h, i % 2 ? 500 : 0);
        assert_int_equal(p->episode, EPISODE_NONE);
        request(&h, 200); /* not in a row */
    }
    float limit = p->limit;
    for (int i = 0; i < OUTAGE_ROW; i++)
        request(&h, 502);
    assert_int_equal(p->episode, EPISODE_WAITING);
    assert_says(&h, "; failing, asked one at a time.");

    double pause_s = 1.0;
    for (int i = 0; i < 20; i++) {
        assert_close((double)(h.pace.not_before_ns - h.now_ns) / 1e9, pause_s, 1e-3);
        ping(&h, 0);
        pause_s = pause_s < 30.0 ? 2.0 * pause_s : 60.0;
    }
    float lean = p->lean;
    uint8_t reading = p->reading;
    ping(&h, 200);
    assert_int_equal(p->episode, EPISODE_NONE);
    assert_true(p->limit == limit && p->lean == lean && p->reading == reading); /* no learning */
    assert_true(h.pace.not_before_ns <= h.now_ns && !p->outage);
}

/* Refused during an outage: then there is something to learn. */
static void an_outage_that_ends_by_a_refusal_is_read(void **state)
{
    struct hand h = settled(10.0f, 300.0f);

    (void)state;
    for (int i = 0; i < OUTAGE_ROW; i++)
        request(&h, 500);
    ping(&h, 429);
    assert_int_equal(h.c.probe.failed_pings, 1);
    recover(&h, READ_SURPRISE);
    assert_false(h.c.probe.outage);
}

/* A ping that fails is sent again after the same pause. */
static void a_ping_that_fails_says_nothing(void **state)
{
    struct hand h = settled(10.0f, 300.0f);

    (void)state;
    refuse(&h);
    float pause_s = h.c.probe.pause_s;
    ping(&h, 500);
    assert_int_equal(h.c.probe.episode, EPISODE_WAITING);
    assert_true(h.c.probe.pause_s == pause_s && h.c.probe.failed_pings == 0);
    assert_close((double)(h.pace.not_before_ns - h.now_ns) / 1e9, (double)pause_s, 1e-3);
    recover(&h, READ_SURPRISE);
}

/* ---- statuses ---- */

static void what_was_served_was_served(void **state)
{
    static const int32_t served[] = {200, 204, 302, 400, 401, 404, 409, 422, 499};
    static const int32_t failed[] = {0, 100, 403, 408, 425, 500, 502, 503, 599};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(served); i++) {
        struct hand h = settled(10.0f, 300.0f);
        request(&h, served[i]);
        assert_true(h.c.probe.accepted == 301.0f);
        assert_int_equal(h.c.probe.failed_row, 0);
    }
    for (size_t i = 0; i < COUNT_OF(failed); i++) {
        struct hand h = settled(10.0f, 300.0f);
        request(&h, failed[i]);
        assert_true(h.c.probe.accepted == 300.0f);
        assert_int_equal(h.c.probe.failed_row, 1);
    }
}

/* Whatever the status: the reader of the response says that it was refused. */
static void a_flag_makes_it_a_refusal(void **state)
{
    static const int32_t statuses[] = {200, 404, 503, 400};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(statuses); i++) {
        struct hand h = settled(10.0f, 300.0f);
        h.o.flags = FLY_THROTTLED;
        request(&h, statuses[i]);
        assert_int_equal(h.c.probe.episode, EPISODE_WAITING);
    }
}

static void a_bare_403_is_a_refusal_when_it_comes_again(void **state)
{
    static const int32_t statuses[] = {403, 503};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(statuses); i++) {
        struct hand h = settled(10.0f, 300.0f);
        request(&h, statuses[i]);
        assert_int_equal(h.c.probe.episode, EPISODE_NONE);
        request(&h, statuses[i]);
        assert_int_equal(h.c.probe.episode, EPISODE_WAITING);
        ping(&h, statuses[i]);
        ping(&h, statuses[i]);
        ping(&h, 200);

        /* Here it is known now: the next counts at once. */
        serve(&h, 50);
        request(&h, statuses[i]);
        assert_int_equal(h.c.probe.episode, EPISODE_WAITING);
    }
}

static void lone_403s_are_mishaps(void **state)
{
    static const struct {
        int32_t status;
        uint8_t apart[2]; /* in turn: what comes like clockwork is no mishap */
        int alone;        /* so many times, then it is a habit */
    } rows[] = {
        {403, {240, 240}, 100},
        {403, {100, 100}, 7},
        {503, {120, 40}, 100},
        {503, {40, 40}, 25},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = settled(10.0f, 300.0f);
        int times = 0;
        while (times < 100 && h.c.probe.episode == EPISODE_NONE) {
            h.c.probe.soft_gap = rows[i].apart[times % 2];
            h.c.probe.failed_row = 0;
            request(&h, rows[i].status);
            times++;
        }
        assert_int_equal(times == 100, rows[i].alone == 100);
        assert_at_most(times, rows[i].alone);
    }
}

static void a_403_that_tells_a_wait_is_a_refusal(void **state)
{
    struct hand h = settled(10.0f, 300.0f);

    (void)state;
    h.o.retry_after_ns = 20 * S;
    request(&h, 503);
    assert_int_equal(h.c.probe.episode, EPISODE_WAITING);
    assert_int_equal(h.pace.not_before_ns, h.now_ns + 20 * S);
}

/* While more is asked for than usual it takes less to believe it. */
static void a_503_in_a_look_is_believed_sooner(void **state)
{
    struct hand h = looking(10.0f, 0.02f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(p->episode, EPISODE_NONE);
        p->soft_gap = 90;
        request(&h, 503);
    }
    assert_int_equal(p->episode, EPISODE_WAITING);

    h = looking(10.0f, 0.02f, 300.0f); /* but not where looks are refused by chance */
    p->surprises = 3;
    for (int i = 0; i < 3; i++) {
        p->soft_gap = 90;
        request(&h, 503);
        assert_int_equal(p->episode, EPISODE_NONE);
    }
}

/* A limit that is overrun by a little refuses like clockwork. */
static void regular_503s_are_refusals(void **state)
{
    struct hand h = settled(10.0f, 300.0f);
    struct probe *p = &h.c.probe;
    int times = 0;

    (void)state;
    p->soft_mean = 100.0f;
    while (times < 50 && p->episode == EPISODE_NONE) {
        p->soft_gap = times % 2 ? 95 : 105;
        p->failed_row = 0;
        request(&h, 503);
        times++;
    }
    assert_int_equal(times, 7);

    h = settled(10.0f, 300.0f); /* where noise is known frequent ones are not */
    p->noise_known = true;
    p->soft_mean = 20.0f;
    p->soft_gap = 60;
    request(&h, 503);
    assert_int_equal(p->episode, EPISODE_NONE);
}

/* What fails instead of being refused says nothing, but nothing is sent into a row of failures. */
static void pings_that_fail_come_ever_more_rarely(void **state)
{
    struct hand h = settled(10.0f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    refuse(&h);
    float pause_s = p->pause_s;
    ping(&h, 403);
    ping(&h, 403);
    assert_true(p->pause_s == pause_s);
    for (int i = 0; i < 40; i++)
        ping(&h, 403);
    assert_true(p->pause_s == OUTAGE_MAX_S);
    assert_int_equal(p->failed_pings, 0);
    assert_int_equal(p->failed_row, FAILED_ROW_MAX);
}

/* A provider that refuses by 429 means something else by a 503. */
static void after_a_429_bare_503s_are_failures(void **state)
{
    struct hand h = settled(10.0f, 300.0f);

    (void)state;
    refuse(&h);
    recover(&h, NULL);
    assert_true(fb_probe_says_429(&h.c.probe));
    for (int i = 0; i < 40; i++)
        request(&h, i % 5 < 2 ? 503 : 200);
    assert_int_equal(h.c.probe.episode, EPISODE_NONE);
    h.o.retry_after_ns = 20 * S; /* unless it says so */
    request(&h, 503);
    assert_int_equal(h.c.probe.episode, EPISODE_WAITING);
}

/* Two in five fail at any pace, however slow: after some cuts they say nothing any more. */
static struct hand stumbling(void)
{
    struct hand h = hand_of("");

    for (int i = 0; i < 100 && !fb_probe_stumbles(&h.c.probe); i++) {
        ping(&h, i % 5 < 2 ? 503 : 200);
        h.now_ns += fb_span(1.0 / h.pace.rate);
    }
    assert_int_equal(h.c.probe.soft_row, SOFT_ROW_MAX);
    return h;
}

static void a_share_that_fails_at_any_pace_is_no_limit(void **state)
{
    struct hand h = stumbling();
    struct probe *p = &h.c.probe;

    (void)state;
    assert_int_equal(p->phase, PROBE_FIRST);
    assert_true(p->rate >= 1.0f && p->window_s == 0.0f && !p->opening_seen);
    for (int i = 0; i < 200; i++) {
        h.now_ns += 10 * MS;
        request(&h, i % 5 < 2 ? 503 : 200);
        assert_int_equal(p->episode, EPISODE_NONE);
    }
    assert_true(h.pace.rate > 50.0);

    for (int i = 0; i < FAILED_ROW_MAX && p->episode == EPISODE_NONE; i++)
        request(&h, 503);
    assert_int_equal(p->episode, EPISODE_WAITING); /* but many in a row are an outage */
    assert_true(p->outage);
}

/* When nearly all of them fail, or hardly any, that was about something else. */
static void a_share_that_ends_is_forgotten(void **state)
{
    struct hand h = stumbling();
    struct probe *p = &h.c.probe;

    (void)state;
    p->soft_mean = 1.26f;
    request(&h, 503);
    request(&h, 503);
    assert_true(p->soft_row < SOFT_ROW_MAX);

    h = stumbling();
    p->soft_mean = 99.0f;
    p->soft_gap = 200;
    request(&h, 503);
    assert_true(p->soft_row < SOFT_ROW_MAX);

    h = stumbling(); /* a window that headers told is a window */
    p->soft_row = SOFT_ROW_MAX - 1;
    p->since_refusal = 2;
    p->told_reset_ns = h.now_ns;
    p->window_s = 60.0f;
    p->soft_gap = 1;
    request(&h, 503);
    assert_true(fb_probe_stumbles(p) && p->window_s == 60.0f);

    h = stumbling(); /* one that was guessed is none, and nothing echoes in it */
    p->soft_row = SOFT_ROW_MAX - 1;
    p->since_refusal = 2;
    p->window_s = 60.0f;
    p->echoes = 2;
    p->soft_gap = 1;
    request(&h, 503);
    assert_true(fb_probe_stumbles(p) && p->window_s == 0.0f && p->echoes == 0);
}

/* What was sent before the cut does not say whether it helped. */
static void a_straggler_is_not_counted(void **state)
{
    struct hand h = settled(10.0f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->since_refusal = 5;
    request(&h, 503);
    request(&h, 503);
    assert_int_equal(p->episode, EPISODE_WAITING);
    assert_int_equal(p->soft_row, 1);
    recover(&h, NULL);
    p->soft_row = 1;
    h.id = h.latest - 2;
    reply(&h, 503);
    assert_int_equal(p->soft_row, 1);
    assert_int_equal(p->episode, EPISODE_NONE);
}

/* Refusals by 503 that end when it slows down: what was counted says so. */
static void a_count_that_fits_the_pace_is_about_the_pace(void **state)
{
    struct hand h = settled(10.0f, 12.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->soft_row = 3;
    p->soft_gap = 1;
    p->since_refusal = 10;
    request(&h, 503);
    assert_int_equal(p->soft_row, 4);
    recover(&h, READ_SURPRISE);
    assert_int_equal(p->soft_row, 3);
}

/* By chance some come later: that does not undo what all the others showed. */
static void a_503_that_comes_late_outweighs_one(void **state)
{
    (void)state;
    for (uint8_t row = 0; row < SOFT_ROW_MAX; row++) {
        struct hand h = settled(10.0f, 300.0f);
        h.c.probe.soft_row = row & 7u;
        h.c.probe.soft_gap = 1;
        request(&h, 503);
        assert_int_equal(h.c.probe.episode, EPISODE_WAITING);
        assert_int_equal(h.c.probe.soft_row, row > 0 ? row - 1 : 0);
    }
}

static void counters_stay_at_their_ends(void **state)
{
    struct hand h = settled(10.0f, 300.0f);

    (void)state;
    h.c.probe.since_refusal = INT32_MAX;
    h.c.probe.soft_gap = UINT8_MAX;
    request(&h, 200);
    assert_int_equal(h.c.probe.since_refusal, INT32_MAX);
    assert_int_equal(h.c.probe.soft_gap, UINT8_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(during_an_episode_one_ping_is_out),
        cmocka_unit_test(after_an_opening_nobody_waits),
        cmocka_unit_test(stragglers_change_nothing),
        cmocka_unit_test(refused_stragglers_lengthen_the_pause),
        cmocka_unit_test(the_pause_is_by_what_is_made),
        cmocka_unit_test(a_minute_of_patience_is_not_measured),
        cmocka_unit_test(an_accepted_straggler_does_not_end_the_episode),
        cmocka_unit_test(what_is_recent_is_no_straggler),
        cmocka_unit_test(a_cancelled_ping_is_sent_again),
        cmocka_unit_test(cancelling_a_straggler_lets_no_second_ping_out),
        cmocka_unit_test(an_answer_with_a_wrong_time_still_ends_the_ping),
        cmocka_unit_test(what_is_told_is_waited_for),
        cmocka_unit_test(an_absurd_wait_ends),
        cmocka_unit_test(pauses_between_pings_grow),
        cmocka_unit_test(pings_aim_at_round_windows),
        cmocka_unit_test(five_failures_in_a_row_are_an_outage),
        cmocka_unit_test(an_outage_that_ends_by_a_refusal_is_read),
        cmocka_unit_test(a_ping_that_fails_says_nothing),
        cmocka_unit_test(what_was_served_was_served),
        cmocka_unit_test(a_flag_makes_it_a_refusal),
        cmocka_unit_test(a_bare_403_is_a_refusal_when_it_comes_again),
        cmocka_unit_test(lone_403s_are_mishaps),
        cmocka_unit_test(a_403_that_tells_a_wait_is_a_refusal),
        cmocka_unit_test(a_503_in_a_look_is_believed_sooner),
        cmocka_unit_test(regular_503s_are_refusals),
        cmocka_unit_test(after_a_429_bare_503s_are_failures),
        cmocka_unit_test(a_share_that_fails_at_any_pace_is_no_limit),
        cmocka_unit_test(a_share_that_ends_is_forgotten),
        cmocka_unit_test(a_straggler_is_not_counted),
        cmocka_unit_test(a_count_that_fits_the_pace_is_about_the_pace),
        cmocka_unit_test(a_503_that_comes_late_outweighs_one),
        cmocka_unit_test(pings_that_fail_come_ever_more_rarely),
        cmocka_unit_test(counters_stay_at_their_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
