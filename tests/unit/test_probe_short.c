/* SPDX-License-Identifier: MIT */
/* What is told of short windows, by hand: read like a gauge, whether they begin anew or slide. */
#include "test_probe_hand.h"

/* The next answers tell this. */
static void tell(struct hand *h, int64_t limit, int64_t remaining, int64_t reset_ns)
{
    h->o.limit = limit;
    h->o.remaining = remaining;
    h->o.reset_ns = reset_ns;
    h->c.probe.told_own = (float)limit - (float)remaining; /* nobody else uses it */
}

/* Settled in a sliding window of 50 a second, told in whole seconds; it always has `left` left. */
static struct hand sliding(int64_t left)
{
    struct hand h = settled(25.0f, 300.0f);

    tell(&h, 50, left, h.now_ns + S);
    request(&h, 200);
    h.c.probe.opened_ns = h.now_ns;
    h.c.probe.spent = 0.0f;
    return h;
}

/* A little more than a second of requests at 25/s. */
static void one_second(struct hand *h, int64_t left)
{
    for (int i = 0; i < 27; i++) {
        h->c.probe.late = 0.0f;
        h->now_ns += 30 * MS;
        tell(h, 50, left, h->now_ns + S);
        request(h, 200);
    }
}

static void what_is_always_left_of_a_short_window_may_be_used(void **state)
{
    struct hand h = sliding(25);

    (void)state;
    one_second(&h, 25);
    /* 25 of 50 were used at 25/s: 49 can be, at 49/s. */
    assert_close(h.pace.rate, 49.0, 3.0);
    assert_false(fb_probe_verifying(&h.c.probe)); /* nothing has to be refused for that */
}

static void with_little_left_of_a_short_window_it_slows_down(void **state)
{
    struct hand h = sliding(30);

    (void)state;
    one_second(&h, 30);
    double fast = h.pace.rate;
    tell(&h, 50, 1, h.now_ns + S);
    request(&h, 200);
    assert_close(h.pace.rate, 0.5 * fast, 0.1 * fast);
    tell(&h, 50, 0, h.now_ns + S);
    request(&h, 200);
    assert_true(h.pace.not_before_ns >= h.now_ns + S - 20 * MS);
}

static void what_is_under_way_takes_of_what_is_left(void **state)
{
    struct hand h = sliding(30);

    (void)state;
    one_second(&h, 30);
    double fast = h.pace.rate;
    tell(&h, 50, 4, h.now_ns + S);
    request(&h, 200);
    assert_close(h.pace.rate, fast, 0.1 * fast);
    h.in_flight = 6;
    request(&h, 200);
    assert_close(h.pace.rate, 0.5 * fast, 0.1 * fast);
}

/* A window in which `spent` were accepted and `low` left at the least is over. */
static void over(struct probe *p, float spent, float low, float span_s)
{
    p->late = 0.0f;
    p->spent = spent;
    p->told_low = low;
    fb_probe_window_over(p, 50.0f, span_s);
    assert_true(p->told_low == PLENTY && p->spent == 0.0f);
}

/* Blocked at first it used 20 of 50 in 0.4 s: of the next window it can use 49 in a second. */
static void a_part_of_a_window_does_not_make_it_shorter(void **state)
{
    struct hand h = sliding(30);
    struct probe *p = &h.c.probe;

    (void)state;
    over(p, 20.0f, 30.0f, 0.4f);
    assert_close((double)p->told_pace, 49.0, 0.5);
    over(p, 80.0f, 25.0f, 1.0f); /* more than the quota: it is shorter than was told */
    assert_close((double)p->told_pace, 80.0 * 49.0 / 25.0, 4.0);
    over(p, 50.0f, 0.0f, 1.0f); /* all of it was used: a little less */
    assert_close((double)p->told_pace, 49.0, 0.1);
}

/* Few requests, or an application that asks for less, prove nothing about what could be used. */
static void a_short_window_that_was_hardly_used_says_nothing(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct hand h = sliding(30);
        h.c.probe.late = i == 0 ? 0.0f : 1.0f;
        h.c.probe.spent = i == 0 ? 2.0f : 20.0f;
        if (i == 2)
            h.c.probe.window_s = 60.0f; /* nor does what is told of a long one need it */
        fb_probe_window_over(&h.c.probe, 50.0f, 1.0f);
        assert_true(h.c.probe.told_pace == 0.0f && h.c.probe.told_low == PLENTY);
    }
}

/* The same sliding window, where more was accepted by now than is used. */
static struct hand slid(int64_t left)
{
    struct hand h = sliding(left);

    tell(&h, 50, left, h.now_ns + S);
    h.c.probe.told_own = 100.0f;
    request(&h, 200);
    assert_true(fb_probe_slides(&h.c.probe));
    return h;
}

static void tell_slid(struct hand *h, int64_t left)
{
    h->now_ns += 20 * MS;
    tell(h, 50, left, h->now_ns + S);
    h->c.probe.told_own = 100.0f;
    request(h, 200);
}

/* 49 of 50 in a second, of which one may be late; and whatever the second of its reset says. */
static void what_slides_is_used_but_for_one(void **state)
{
    struct hand h = slid(20);

    (void)state;
    assert_close(h.pace.rate, 49.0, 0.1);
    assert_close((double)h.pace.burst, 5.0, 1e-6); /* where much is left, a quarter of that may */
    tell_slid(&h, 1);
    assert_close(h.pace.rate, 49.0, 0.1);
    assert_close((double)h.pace.burst, 8.0, 1e-6); /* places are counted, so more may be late */
    h.o.reset_ns = h.now_ns + 10 * MS;             /* 20 left in 10 ms are no 2000 a second */
    tell(&h, 50, 20, h.o.reset_ns);
    h.c.probe.told_own = 100.0f;
    request(&h, 200);
    assert_close(h.pace.rate, 49.0, 0.1);
    h.c.probe.told_until_ns = FB_LONG_AGO; /* told long ago */
    assert_false(fb_probe_slides(&h.c.probe));
}

/* Half a second after the first answer that told anything. */
static struct hand begun(int64_t left_first, int64_t left)
{
    struct hand h = settled(25.0f, 300.0f);

    h.c.probe.opened_ns = h.now_ns - S / 5;
    tell(&h, 50, left_first, h.now_ns + S);
    request(&h, 200);
    h.now_ns += S / 2;
    tell(&h, 50, left, h.now_ns + S);
    h.c.probe.spent = 50.0f - (float)left;
    request(&h, 200);
    return h;
}

/* Used by nobody before, it lasts a second from the first answer on at the longest. */
static void a_window_that_is_all_ours_begins_with_the_first_answer(void **state)
{
    struct hand ours = begun(49, 30);
    struct hand late = begun(49, 12);
    struct hand used = begun(40, 30);

    (void)state;
    assert_true(ours.c.probe.opened_ns > used.c.probe.opened_ns);
    assert_close(ours.pace.rate, 49.0, 0.1);
    assert_close(late.pace.rate, 24.0, 0.5); /* with less than half left, twice as many a second */
}

/* It gives back what was taken a window ago: no need to wait for the reset. */
static void what_slides_and_has_nothing_left_goes_on_slowly(void **state)
{
    struct hand h = slid(20);

    (void)state;
    tell_slid(&h, 0);
    assert_close(h.pace.rate, 0.6 * 49.0, 0.1);
    assert_true(h.pace.not_before_ns <= h.now_ns + 40 * MS);
    tell_slid(&h, 1);
    assert_close(h.pace.rate, 49.0, 0.1);
}

/* Seen to count what was sent, it need not be climbed to. */
static void what_slides_is_not_climbed_to(void **state)
{
    struct hand h = slid(45);
    struct probe *p = &h.c.probe;

    (void)state;
    p->phase = PROBE_FIRST;
    p->limit = 2.0f;
    p->lean = 1.0f;
    p->rate = 4.0f;
    p->told_own = 0.0f;
    tell(&h, 50, 45, h.now_ns + S);
    request(&h, 200);
    assert_true(p->phase == PROBE_FIRST && h.pace.rate < 49.0 / 2.0);
    tell_slid(&h, 45);
    assert_int_equal(p->phase, PROBE_SETTLED);
    assert_close(h.pace.rate, 49.0, 0.1);
}

/* What left late, or what a bucket had stored, changes what is believed by little. */
static void what_slides_is_measured_with_care(void **state)
{
    struct hand h = slid(20);
    struct probe *p = &h.c.probe;

    (void)state;
    over(p, 30.0f, 1.0f, 1.0f); /* a stall */
    assert_close((double)p->told_pace, 0.999 * 49.0, 0.02);
    over(p, 48.0f, 1.0f, 1.0f);
    assert_close((double)p->told_pace, 49.0, 0.1);
    over(p, 90.0f, 20.0f, 1.0f); /* what was stored */
    assert_close((double)p->told_pace, 49.0, 0.1);
    /* Much was left all the time: it is shorter than was told, unless none is. */
    p->window_s = 2.0f;
    p->told_pace = 24.5f;
    over(p, 60.0f, 20.0f, 2.0f);
    assert_close((double)p->told_pace, 1.25 * 24.5, 0.1);
}

/* Much is left at a pace that would have used up a window: it is a bucket, and makes more. */
static void a_bucket_bears_more_than_it_tells(void **state)
{
    struct hand h = slid(45);
    struct probe *p = &h.c.probe;

    (void)state;
    over(p, 10.0f, 45.0f, 1.0f); /* hardly asked for: that shows nothing */
    assert_close((double)p->told_pace, 49.0, 0.1);
    over(p, 49.0f, 45.0f, 1.0f);
    over(p, 54.0f, 45.0f, 1.0f);
    assert_close((double)p->told_pace, 1.1 * 1.1 * 49.0, 0.1);
    assert_close((double)fb_probe_limit_shown(p), 1.1 * 1.1 * 49.0, 0.1);
    over(p, 59.0f, 20.0f, 1.0f); /* less than half: that is more than it makes */
    assert_close((double)p->told_pace, 0.95 * 1.1 * 1.1 * 49.0, 0.1);
    over(p, 56.0f, 2.0f, 1.0f);
    assert_close((double)p->told_pace, 49.0, 0.6);
    assert_close((double)fb_probe_limit_shown(p), 50.0, 0.1);
    p->told_until_ns = FB_LONG_AGO;
    p->told_pace = 60.0f;
    assert_close((double)fb_probe_limit_shown(p), 50.0, 0.1);
    p->told_pace = 40.0f; /* not reached yet */
    over(p, 40.0f, 45.0f, 1.0f);
    assert_close((double)p->told_pace, 49.0, 0.1);
    p->told_left = -1.0f; /* never told */
    assert_close((double)fb_probe_limit_shown(p), 50.0, 0.1);
}

/* Over an uneven line what was sent evenly arrives in clusters. */
static void an_uneven_line_leaves_more_unused(void **state)
{
    struct hand h = slid(20);
    struct probe *p = &h.c.probe;

    (void)state;
    for (int i = 0; i < 200; i++) {
        h.o.latency_ns = i % 2 ? 20 * MS : 80 * MS;
        tell_slid(&h, 20);
    }
    assert_close((double)p->sway_s, 0.03, 0.003);
    p->told_pace = 0.0f;
    tell_slid(&h, 20);
    assert_close(h.pace.rate, 49.0 / 1.08, 0.5);
    p->sway_s = 10.0f; /* at most a quarter of the window */
    p->told_pace = 0.0f;
    h.o.latency_ns = 50 * MS;
    tell_slid(&h, 20);
    assert_close(h.pace.rate, 49.0 / 1.25, 0.1);

    refuse(&h); /* in an episode it is not known */
    p->told_pace = 0.0f;
    p->told_own = 100.0f;
    over(p, 48.0f, 1.0f, 1.0f);
    assert_close((double)p->told_pace, 49.0 / 1.25, 0.1);
}

/* Of one request a second the half must do. */
static void the_least_that_slides(void **state)
{
    struct hand h = settled(1.0f, 300.0f);

    (void)state;
    for (int i = 0; i < 2; i++) {
        h.now_ns += 2 * S;
        tell(&h, 1, 0, h.now_ns + S);
        h.c.probe.told_own = 100.0f;
        request(&h, 200);
    }
    assert_true(h.pace.rate > 0.0 && h.pace.rate <= 0.5);
}

/* Its resets move on, and one more is left: it has not opened, and is no longer than it was. */
static void what_slides_does_not_open(void **state)
{
    struct hand h = slid(3);

    (void)state;
    h.now_ns += S / 2;
    tell(&h, 50, 4, h.o.reset_ns + 2 * S);
    h.c.probe.told_own = 100.0f;
    request(&h, 200);
    assert_true(h.c.probe.window_s == 1.0f && h.c.probe.told_own > 100.0f);
    h.now_ns += S / 2;
    tell(&h, 50, 48, h.o.reset_ns); /* nearly all came back at once */
    h.c.probe.told_own = 100.0f;
    request(&h, 200);
    assert_true(h.c.probe.told_own == 1.0f && h.c.probe.opened_ns == h.now_ns);
    assert_false(fb_probe_slides(&h.c.probe));
    assert_close((double)h.pace.burst, 1.0, 1e-6);
}

/* After a stall nearly all of it is left, and the reset has moved: that is no window of two. */
static void a_stall_is_no_window(void **state)
{
    (void)state;
    for (int slides = 0; slides < 2; slides++) {
        struct hand h = slid(3);
        h.now_ns += 9 * S / 10;
        tell(&h, 50, 48, h.c.probe.told_reset_ns + 2 * S);
        h.c.probe.told_own = slides ? 100.0f : 47.0f;
        request(&h, 200);
        assert_close((double)h.c.probe.window_s, slides ? 1.0 : 2.0, 1e-6);
    }
}

/* It would be over before it is used; where there is no room it is as steep as ever. */
static void told_of_room_in_a_short_window_the_climb_is_steep(void **state)
{
    struct hand h = hand_of("");
    struct probe *p = &h.c.probe;

    (void)state;
    tell(&h, 50, 49, h.now_ns + S);
    request(&h, 200);
    assert_close((double)p->lean, 4.0, 1e-6);

    h = hand_of("");
    p->verified = 4; /* a bound only */
    p->limit = 4.0f;
    p->rate = 8.0f;
    p->answered = true;
    p->step_count = 10;
    h.now_ns += S / 2;
    p->next_ns = h.now_ns;
    h.now_ns += S / 2;
    tell(&h, 50, 1, h.now_ns + S);
    request(&h, 200);
    assert_close((double)p->lean, 2.0, 1e-6);
}

/* From the last reset before a pause to the first after it several windows may have passed. */
static void after_a_pause_a_window_is_as_long_as_before(void **state)
{
    (void)state;
    for (int dropped = 0; dropped < 2; dropped++) {
        struct hand h = slid(3);
        struct probe *p = &h.c.probe;
        if (dropped)
            p->verified = 5;
        int64_t told_ns = p->told_reset_ns;
        fb_probe_count_anew(p, h.now_ns + 3 * S);
        assert_true(p->told_reset_ns == (dropped ? told_ns : FB_LONG_AGO));
        if (dropped)
            continue;
        h.now_ns += 3 * S;
        tell(&h, 50, 49, h.now_ns + S);
        request(&h, 200);
        assert_true(p->window_s == 1.0f);
    }
}

/* A window of ten seconds whose opening was seen: its end is known better than by whole seconds. */
static void a_short_window_ends_where_it_was_seen_to(void **state)
{
    struct hand h = settled(8.0f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    tell(&h, 100, 5, h.now_ns + 10 * S + S / 2);
    request(&h, 200);
    assert_true(p->window_s == 10.0f);
    h.now_ns += 10 * S;
    p->next_ns = h.now_ns; /* there was no pause */
    tell(&h, 100, 99, h.o.reset_ns + 10 * S);
    request(&h, 200);
    int64_t opened_ns = h.now_ns;
    assert_true(p->opened_ns == opened_ns);
    p->told_pace = 0.0f;
    for (int i = 0; i < 40; i++) {
        h.now_ns += S / 10;
        tell(&h, 100, 98 - i, h.o.reset_ns);
        request(&h, 200);
    }
    assert_close(h.pace.rate, 59.0 / fb_seconds(opened_ns + 10 * S - h.now_ns), 0.05);
    p->spent = 0.0f; /* when it opened was not seen */
    tell(&h, 100, 58, h.o.reset_ns);
    request(&h, 200);
    assert_close(h.pace.rate, 58.0 / fb_seconds(h.o.reset_ns - h.now_ns), 0.05);
    p->spent = 42.0f;
    p->told_own = 0.0f; /* most of it was used by others, or before */
    h.o.remaining = 57;
    request(&h, 200);
    assert_close(h.pace.rate, 57.0 / fb_seconds(h.o.reset_ns - h.now_ns), 0.05);
}

/* Told as spans, and as late as their answers: they last ten seconds all the same. */
static void a_short_window_lasts_whole_seconds(void **state)
{
    struct hand h = settled(8.0f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    tell(&h, 100, 5, h.now_ns + 10 * S);
    request(&h, 200);
    h.now_ns += 10 * S;
    p->next_ns = h.now_ns;
    tell(&h, 100, 99, h.o.reset_ns + 10 * S + S / 10);
    request(&h, 200);
    assert_true(p->window_s == 10.0f);
    assert_false(fb_probe_verifying(p));
    tell(&h, 100, 2, h.o.reset_ns);
    request(&h, 200);
    h.now_ns += 10 * S;
    p->next_ns = h.now_ns;
    tell(&h, 100, 99, h.o.reset_ns + 60 * S + S / 10); /* it was a long one */
    request(&h, 200);
    assert_close((double)p->window_s, 60.1, 0.01);
}

/* Told of when a second of it was left; then of all of the next. */
static struct hand nearly_over(int64_t length_ns)
{
    struct hand h = settled(8.0f, 300.0f);

    tell(&h, 100, 98, h.now_ns + S);
    request(&h, 200);
    assert_true(h.c.probe.window_s == 1.0f);
    h.now_ns += S / 2;
    h.c.probe.next_ns = h.now_ns;
    tell(&h, 100, 99, h.o.reset_ns + length_ns);
    request(&h, 200);
    return h;
}

static void what_was_nearly_over_is_no_short_window(void **state)
{
    const struct {
        int64_t next_ns;
        float lasts_s;
    } cases[] = {
        {10 * S, 10.0f}, {9 * S, 10.0f}, /* as late as its answer was: rather ten */
        {7 * S, 7.0f},                   /* nobody means another by that */
        {30 * S, 30.0f},                 /* to the moment: that is not counted in seconds */
        {3 * S, 1.0f},                   /* may be a bucket that is full again later */
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hand h = nearly_over(cases[i].next_ns);
        assert_close((double)h.c.probe.window_s, (double)cases[i].lasts_s, 1e-6);
    }
}

/* Half of ten seconds was taken for the whole, and 95 of 100 used in it: 20/s are too many. */
static void a_pace_that_was_found_in_a_shorter_window_is_not_kept(void **state)
{
    struct hand h = settled(8.0f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    tell(&h, 100, 95, h.now_ns + 5 * S);
    request(&h, 200);
    tell(&h, 100, 5, h.o.reset_ns);
    request(&h, 200);
    p->told_pace = 19.0f;
    h.now_ns = h.o.reset_ns;
    p->next_ns = h.now_ns;
    p->opened_ns = h.now_ns - S;
    tell(&h, 100, 99, h.o.reset_ns + 10 * S);
    request(&h, 200);
    assert_close((double)p->window_s, 10.0, 1e-6);
    assert_true(p->told_pace <= 9.81f);
}

/* Ten seconds, told as eleven because resets are told in whole ones. */
static void a_reset_is_rounded_up(void **state)
{
    struct hand h = hand_of("");

    (void)state;
    tell(&h, 600, 599, h.now_ns + 10 * S + S / 2);
    request(&h, 200);
    assert_true(h.c.probe.window_s == 10.0f);
}

/* 1.3 s after the first answer of a window that is taken to last one; all of it still counts. */
static struct hand still(void)
{
    struct hand h = settled(25.0f, 300.0f);
    struct probe *p = &h.c.probe;

    tell(&h, 40, 39, h.now_ns + 2 * S);
    request(&h, 200);
    assert_true(p->own_all && p->window_s == 1.0f);
    h.now_ns += 13 * S / 10;
    p->next_ns = h.now_ns;
    p->opened_ns = h.now_ns - 3 * S / 10;
    tell(&h, 40, 9, h.now_ns + S);
    p->told_own = 30.0f;
    p->spent = 8.0f;
    return h;
}

static void what_still_counts_makes_a_window_longer(void **state)
{
    struct hand h = still();
    struct probe *p = &h.c.probe;
    int64_t began_ns = p->opened_ns - S;

    (void)state;
    request(&h, 200);
    assert_true(p->window_s == 2.0f && p->opened_ns == began_ns && p->spent == 31.0f);
    assert_false(p->own_all); /* once */
}

static void a_window_is_longer_only_if_all_was_counted(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        struct hand h = still();
        struct probe *p = &h.c.probe;
        p->own_all = i != 0;                               /* some was used before */
        p->sway_s = i == 1 ? 0.1f : 0;                     /* answers overtake each other */
        p->opened_ns += i == 2 ? 3 * S / 10 - 20 * MS : 0; /* it may have been over just now */
        p->spent = i == 3 ? 30.0f : p->spent;              /* it was not over */
        p->told_own = i == 4 ? 31.0f : i == 5 ? 20.0f : p->told_own; /* given back; others */
        p->window_s = i == 6 ? 10.0f : p->window_s;
        p->episode = i == 7 ? EPISODE_WAITING : EPISODE_NONE;
        float window_s = p->window_s;
        request(&h, 200);
        assert_close((double)p->window_s, (double)window_s, 1e-6);
    }
}

/* What slides was refused: its pace was too much, though it is all but one of what was told. */
static void what_slides_is_slower_after_a_refusal(void **state)
{
    struct hand h = slid(20);
    float pace = h.c.probe.told_pace;

    (void)state;
    for (int i = 0; i < 2; i++) { /* which is one for all that was under way */
        h.now_ns += 20 * MS;
        tell(&h, 50, 0, h.now_ns + S);
        h.c.probe.told_own = 100.0f;
        grant(&h);
        (void)reply(&h, 429);
        assert_close((double)h.c.probe.told_pace, 0.95 * (double)pace, 1e-4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_always_left_of_a_short_window_may_be_used),
        cmocka_unit_test(with_little_left_of_a_short_window_it_slows_down),
        cmocka_unit_test(what_is_under_way_takes_of_what_is_left),
        cmocka_unit_test(a_part_of_a_window_does_not_make_it_shorter),
        cmocka_unit_test(a_short_window_that_was_hardly_used_says_nothing),
        cmocka_unit_test(what_slides_is_used_but_for_one),
        cmocka_unit_test(a_window_that_is_all_ours_begins_with_the_first_answer),
        cmocka_unit_test(what_slides_and_has_nothing_left_goes_on_slowly),
        cmocka_unit_test(what_slides_is_not_climbed_to),
        cmocka_unit_test(what_slides_is_measured_with_care),
        cmocka_unit_test(a_bucket_bears_more_than_it_tells),
        cmocka_unit_test(an_uneven_line_leaves_more_unused),
        cmocka_unit_test(the_least_that_slides),
        cmocka_unit_test(what_slides_does_not_open),
        cmocka_unit_test(a_stall_is_no_window),
        cmocka_unit_test(told_of_room_in_a_short_window_the_climb_is_steep),
        cmocka_unit_test(after_a_pause_a_window_is_as_long_as_before),
        cmocka_unit_test(a_short_window_ends_where_it_was_seen_to),
        cmocka_unit_test(a_short_window_lasts_whole_seconds),
        cmocka_unit_test(what_was_nearly_over_is_no_short_window),
        cmocka_unit_test(a_pace_that_was_found_in_a_shorter_window_is_not_kept),
        cmocka_unit_test(a_reset_is_rounded_up),
        cmocka_unit_test(what_still_counts_makes_a_window_longer),
        cmocka_unit_test(a_window_is_longer_only_if_all_was_counted),
        cmocka_unit_test(what_slides_is_slower_after_a_refusal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
