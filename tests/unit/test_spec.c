/* SPDX-License-Identifier: MIT */
/* A limit text: every word, every mistake, and what is meant where nothing is said. */
#include "unit.h"

#include <errno.h>

#include "core/spec.h"

static struct spec read_spec(const char *text)
{
    struct spec s;
    struct fly_error err = {""};

    if (fb_spec_read(text, &s, &err) != 0)
        fail_msg("%s: %s", text, err.text);
    return s;
}

/* ---- what is understood ---- */

static void nothing_said_is_a_probe_and_no_other_limit(void **state)
{
    static const char *const texts[] = {NULL, "", " ", " \t\r\n  ", "adapt=probe"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct spec s = read_spec(texts[i]);
        assert_ptr_equal(s.controller, &fb_controller_probe);
        assert_int_equal(s.rate.permits, 0);
        assert_int_equal(s.floor.permits, 0);
        assert_int_equal(s.ceiling.permits, 0);
        assert_int_equal(s.burst, 0);
        assert_int_equal(s.window_count, 0);
        assert_int_equal(s.reserve_ppm, -1);
        assert_int_equal(s.pacing, PACING_UNSAID);
        for (int c = 0; c < FB_CONSTRAINT_COUNT; c++)
            assert_int_equal(s.own[c], 0);
    }
}

static void a_rate_alone_is_fixed_with_a_burst_of_ten(void **state)
{
    struct spec s = read_spec("rate=0.5/s");

    (void)state;
    assert_null(s.controller);
    assert_int_equal(s.rate.permits, 5);
    assert_int_equal(s.rate.period_ns, 10 * S);
    assert_int_equal(s.burst, 10);
    assert_close(fb_rate_per_second(&s.rate), 0.5, 1e-12);
    assert_true(fb_rate_per_second(&s.floor) == 0.0);
}

static void all_words_in_any_order(void **state)
{
    static const char *const texts[] = {
        "rate=1/s burst=3 floor=0.1/s ceiling=2/s window=10/1s window=5000/1h margin=20% "
        "concurrency=5 adapt=aimd pacing=even reserve=7.5%",
        "\treserve=7.5%  pacing=even\nadapt=aimd concurrency=5\r\nmargin=20% window=10/1s "
        "ceiling=2/s floor=0.1/s burst=3 window=5000/1h rate=1/s ",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct spec s = read_spec(texts[i]);
        assert_ptr_equal(s.controller, &fb_controller_aimd);
        assert_int_equal(s.rate.permits, 1);
        assert_int_equal(s.burst, 3);
        assert_int_equal(s.floor.permits, 1);
        assert_int_equal(s.floor.period_ns, 10 * S);
        assert_int_equal(s.ceiling.permits, 2);
        assert_int_equal(s.window_count, 2);
        assert_int_equal(s.window[0].limit, 10);
        assert_int_equal(s.window[0].length_ns, S);
        assert_int_equal(s.window[0].effective, 8);
        assert_int_equal(s.window[1].limit, 5000);
        assert_int_equal(s.window[1].length_ns, 3600 * S);
        assert_int_equal(s.window[1].effective, 4000);
        assert_int_equal(s.margin_ppm, 200000);
        assert_int_equal(s.own[FB_CONSTRAINT_concurrency], 5);
        assert_int_equal(s.pacing, PACING_EVEN);
        assert_int_equal(s.reserve_ppm, 75000);
    }
}

static void each_controller_by_name(void **state)
{
    (void)state;
    assert_ptr_equal(read_spec("adapt=probe rate=2/s").controller, &fb_controller_probe);
    assert_ptr_equal(read_spec("adapt=aimd").controller, &fb_controller_aimd);
    assert_ptr_equal(read_spec("adapt=step rate=2/s").controller, &fb_controller_step);
    assert_ptr_equal(read_spec("adapt=step window=2/1s").controller, &fb_controller_step);
    assert_null(read_spec("adapt=off").controller);
    assert_null(read_spec("adapt=off rate=2/s").controller);
    assert_null(read_spec("window=2/1s").controller);
    /* A bound on what is in flight is no rate: still nothing is known about that. */
    assert_ptr_equal(read_spec("concurrency=5").controller, &fb_controller_probe);
    assert_ptr_equal(read_spec("floor=1/s ceiling=2/s").controller, &fb_controller_probe);
}

static void bursts_where_none_is_said(void **state)
{
    (void)state;
    assert_int_equal(read_spec("rate=2/s adapt=aimd").burst, 10);
    assert_int_equal(read_spec("rate=2/s adapt=step").burst, 10);
    assert_int_equal(read_spec("rate=2/s adapt=probe").burst, 0);
    assert_int_equal(read_spec("burst=4 adapt=probe").burst, 4);
    assert_int_equal(read_spec("burst=4").burst, 4);
    assert_int_equal(read_spec("window=2/1s").burst, 0);
    assert_int_equal(read_spec("rate=2/s burst=1000000000").burst, 1000000000);
}

/* Who says how far apart says that it is spread. */
static void spacing_is_even(void **state)
{
    struct spec s = read_spec("interval_min=5ms interval_max=2m ahead=3");

    (void)state;
    assert_int_equal(s.interval_min_ns, 5 * MS);
    assert_int_equal(s.interval_max_ns, 120 * S);
    assert_int_equal(s.ahead, 3);
    assert_int_equal(s.pacing, PACING_EVEN);
    assert_int_equal(read_spec("ahead=1").pacing, PACING_EVEN);
    assert_int_equal(read_spec("interval_max=10ms interval_min=10ms").interval_max_ns, 10 * MS);
    assert_int_equal(read_spec("interval_min=60s").interval_min_ns, 60 * S);
    assert_int_equal(read_spec("interval_max=50ms").interval_max_ns, 50 * MS);
}

static void pacing_by_name(void **state)
{
    (void)state;
    assert_int_equal(read_spec("pacing=even").pacing, PACING_EVEN);
    assert_int_equal(read_spec("pacing=demand").pacing, PACING_DEMAND);
}

static void what_a_margin_leaves_of_a_window(void **state)
{
    static const struct {
        const char *text;
        int64_t effective;
    } rows[] = {
        {"window=10/1s", 9},
        {"window=1000/1s", 900},
        {"window=9/1s", 8}, /* 8.1 */
        {"window=1/1s", 1}, /* a window of 1 is not one of 0 */
        {"window=10/1s margin=0%", 10},
        {"window=10/1s margin=0.00001%", 9},
        {"window=10/1s margin=99.999999%", 1},
        {"window=1000000000/1s margin=0%", 1000000000},
        {"window=1000000000/1s margin=0.0001%", 999999000},
        {"margin=50% window=3/1s", 1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_int_equal(read_spec(rows[i].text).window[0].effective, rows[i].effective);
}

static void sixteen_windows_and_no_more(void **state)
{
    char text[400] = "";
    struct spec s;
    struct fly_error err;

    (void)state;
    for (int i = 0; i < FB_WINDOWS_MAX; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "window=%d/1s ", i + 1);
    s = read_spec(text);
    assert_int_equal(s.window_count, FB_WINDOWS_MAX);
    for (int i = 0; i < FB_WINDOWS_MAX; i++)
        assert_int_equal(s.window[i].limit, i + 1);

    snprintf(text + strlen(text), sizeof(text) - strlen(text), "window=17/1s ");
    assert_int_equal(fb_spec_read(text, &s, &err), -EINVAL);
    assert_contains(err.text, "window=17/1s");
    assert_contains(err.text, "16");
}

static void bounds_may_touch(void **state)
{
    (void)state;
    read_spec("adapt=aimd floor=1/s rate=1/s ceiling=1/s");
    read_spec("adapt=aimd floor=60/1m rate=1/s ceiling=3600/1h");
    read_spec("adapt=aimd floor=1/s");
    read_spec("adapt=aimd ceiling=0.01/s");
    read_spec("adapt=aimd rate=1000000000/s ceiling=1000000000/s floor=1/366d");
}

static void a_word_of_64_bytes_is_not_too_long(void **state)
{
    struct spec s;
    struct fly_error err;
    char text[80];

    (void)state;
    /* Leading zeros are digits too, so the longest word is an unknown one. */
    memset(text, 'x', sizeof(text));
    text[64] = '\0';
    assert_int_equal(fb_spec_read(text, &s, &err), -EINVAL);
    assert_contains(err.text, "unknown word");
    text[64] = 'x';
    text[65] = '\0';
    assert_int_equal(fb_spec_read(text, &s, &err), -EINVAL);
    assert_contains(err.text, "too long");
}

/* ---- what is refused ---- */

struct mistake {
    const char *text;
    const char *word;   /* which the sentence names */
    const char *reason; /* which it gives */
};

static const struct mistake mistakes[] = {
    /* unknown words */
    {"speed=10/s", "speed=10/s", "unknown word"},
    {"-speed", "-speed", "unknown word"},
    {"10/s", "10/s", "a value without its word, expected as in rate=10/s"},
    {"Rate=10/s", "Rate=10/s", "unknown word"},
    {"rates=10/s", "rates=10/s", "unknown word"},
    {"rat=10/s", "rat=10/s", "unknown word"},
    {"=", "=", "unknown word"},
    {"=10/s", "=10/s", "unknown word"},
    {"rate=10/s,burst=5", "rate=10/s,burst=5", "not understood"},
    {"rate = 10/s", "rate", "not understood"},
    {"rate=10/s \x01", "\x01", "unknown word"},
    {"concurrencyx=5", "concurrencyx=5", "unknown word"},
    {"r\xc3\xa4te=1/s", "r\xc3\xa4te=1/s", "unknown word"},

    /* no value, a wrong one, too much of one */
    {"rate", "rate", "expected a rate such as 10/s"},
    {"rate=", "rate=", "expected a rate such as 10/s"},
    {"rate=fast", "rate=fast", "not understood, expected a rate such as 10/s"},
    {"rate=10", "rate=10", "not understood"},
    {"rate=0/s", "rate=0/s", "above zero"},
    {"rate=-1/s", "rate=-1/s", "above zero"},
    {"rate=1/0s", "rate=1/0s", "above zero"},
    {"rate=1000000001/s", "rate=1000000001/s", "too large"},
    {"rate=99999999999999999999999/s", "rate=99999", "too large"},
    {"rate=1/367d", "rate=1/367d", "too large"},
    {"burst=", "burst=", "expected a whole number such as 10"},
    {"rate=1/s burst=0", "burst=0", "above zero"},
    {"rate=1/s burst=-3", "burst=-3", "above zero"},
    {"rate=1/s burst=1.5", "burst=1.5", "not understood, expected a whole number"},
    {"rate=1/s burst=1000000001", "burst=1000000001", "too large"},
    {"floor=x", "floor=x", "expected a rate such as 0.1/s"},
    {"ceiling=0/s", "ceiling=0/s", "above zero, expected a rate such as 2/s"},
    {"window=", "window=", "expected a count and a length such as 5000/1h"},
    {"window=10", "window=10", "expected a count and a length"},
    {"window=1.5/1s", "window=1.5/1s", "not understood"},
    {"window=1.0/1s", "window=1.0/1s", "not understood"},
    {"window=0/1s", "window=0/1s", "above zero"},
    {"window=-5/1s", "window=-5/1s", "above zero"},
    {"window=5/0s", "window=5/0s", "above zero"},
    {"window=1000000001/1h", "window=1000000001/1h", "too large"},
    {"window=5/367d", "window=5/367d", "too large"},
    {"margin=10", "margin=10", "expected a share below 100 % such as 10%"},
    {"margin=100%", "margin=100%", "too large"},
    {"margin=-1%", "margin=-1%", "below zero, expected a share"},
    {"margin=", "margin=", "expected a share"},
    {"reserve=ten", "reserve=ten", "expected a share"},
    {"reserve=250%", "reserve=250%", "too large"},
    {"adapt=", "adapt=", "expected probe, aimd, step, or off"},
    {"adapt=on", "adapt=on", "expected probe, aimd, step, or off"},
    {"adapt=Probe", "adapt=Probe", "not understood"},
    {"adapt=probes", "adapt=probes", "not understood"},
    {"pacing=", "pacing=", "expected even or demand"},
    {"pacing=odd", "pacing=odd", "expected even or demand"},
    {"interval_min=50", "interval_min=50", "expected a time up to 1h such as 50ms"},
    {"interval_min=2h", "interval_min=2h", "too large"},
    {"interval_max=soon", "interval_max=soon", "expected a time up to 1h such as 60s"},
    {"ahead=0", "ahead=0", "above zero"},
    {"ahead=100001", "ahead=100001", "expected a whole number up to 100000 such as 10"},
    {"concurrency=", "concurrency=", "expected a whole number such as 5"},
    {"concurrency=0", "concurrency=0", "above zero"},
    {"concurrency=-1", "concurrency=-1", "above zero"},
    {"concurrency=2.5", "concurrency=2.5", "not understood"},
    {"concurrency=1000000001", "concurrency=1000000001", "too large"},
    {"concurrency=many", "concurrency=many", "not understood"},

    /* twice */
    {"rate=1/s rate=1/s", "rate=1/s", "said twice, expected it once"},
    {"burst=1 rate=1/s burst=2", "burst=2", "said twice"},
    {"adapt=off adapt=off", "adapt=off", "said twice"},
    {"margin=1% margin=2%", "margin=2%", "said twice"},
    {"floor=1/s floor=1/s", "floor=1/s", "said twice"},
    {"ceiling=1/s ceiling=1/s", "ceiling=1/s", "said twice"},
    {"pacing=even pacing=demand", "pacing=demand", "said twice"},
    {"reserve=1% reserve=1%", "reserve=1%", "said twice"},
    {"concurrency=5 concurrency=6", "concurrency=6", "said twice"},

    /* together */
    {"interval_min=61s", "interval_max", "below interval_min"},
    {"interval_min=2s interval_max=1s", "interval_max", "below interval_min"},
    {"interval_max=10ms", "interval_max", "below interval_min"},
    {"pacing=demand ahead=2", "pacing=demand", "nothing is spaced"},
    {"interval_min=1s pacing=demand", "pacing=demand", "nothing is spaced"},
    {"interval_max=90s pacing=demand", "pacing=demand", "nothing is spaced"},
    {"floor=2/s ceiling=1/s", "floor", "above the ceiling"},
    {"adapt=aimd rate=3/s ceiling=2/s", "rate", "above the ceiling"},
    {"adapt=aimd rate=1/s floor=2/s", "rate", "below the floor"},
    {"adapt=aimd floor=61/1m ceiling=1/s", "floor", "above the ceiling"},
    {"adapt=aimd rate=1000000000/s ceiling=999999999/s", "rate", "above the ceiling"},
    {"rate=1/s floor=0.5/s", "floor", "nothing adapts, expected adapt="},
    {"window=1/1s ceiling=0.5/s", "ceiling", "nothing adapts, expected adapt="},
    {"adapt=off floor=1/s", "floor", "nothing adapts"},
    {"window=5/1s burst=5", "burst", "no rate to exceed, expected rate="},
    {"adapt=off burst=5", "burst", "no rate to exceed"},
    {"adapt=step", "adapt=step", "no limit to cut, expected a rate or a window"},
    {"adapt=step concurrency=5", "adapt=step", "no limit to cut"},

    /* too long */
    {"rate=00000000000000000000000000000000000000000000000000000000000000000001/s",
     "rate=00000000000", "too long, expected a word such as rate=10/s"},
};

static void every_mistake_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(mistakes); i++) {
        struct fly_error err = {"untouched"};
        struct spec s;
        struct spec before;
        memset(&s, 0xa5, sizeof(s));
        memset(&before, 0xa5, sizeof(before));

        if (fb_spec_read(mistakes[i].text, &s, &err) != -EINVAL)
            fail_msg("%s was understood", mistakes[i].text);
        assert_memory_equal(&s, &before, sizeof(s));
        assert_contains(err.text, mistakes[i].word);
        assert_contains(err.text, mistakes[i].reason);
        assert_contains(err.text, ", expected ");
        /* The word comes first. */
        assert_int_equal(strncmp(err.text, mistakes[i].word, strlen(mistakes[i].word)), 0);

        assert_int_equal(fb_spec_read(mistakes[i].text, &s, NULL), -EINVAL);
        assert_null(fly_limiter_new(mistakes[i].text, 0, 1, NULL));
    }
}

static void an_unknown_word_is_told_all_known_ones(void **state)
{
    static const char *const words[] = {"rate",   "burst", "floor",  "ceiling", "window",
                                        "margin", "adapt", "pacing", "reserve", "concurrency"};
    struct fly_error err;
    struct spec s;
    char longest[65];

    (void)state;
    memset(longest, 'x', sizeof(longest) - 1);
    longest[64] = '\0';
    assert_int_equal(fb_spec_read(longest, &s, &err), -EINVAL);
    assert_contains(err.text, longest);
    assert_contains(err.text, ": unknown word, expected one of rate, burst, ");
    for (size_t i = 0; i < COUNT_OF(words); i++)
        assert_contains(err.text, words[i]);
}

/* Whatever is cut off or put in, the answer is a limit or a whole sentence. */
static void damaged_texts_never_crash(void **state)
{
    static const char text[] = "rate=1.5/10s burst=3 floor=0.1/s ceiling=2/s window=10/1s "
                               "margin=20% concurrency=5 adapt=aimd pacing=even reserve=7.5%";

    (void)state;
    for (size_t at = 0; at < sizeof(text) - 1; at++) {
        for (int byte = 1; byte < 256; byte++) {
            char damaged[sizeof(text)];
            struct fly_error err = {""};
            struct spec s;
            memcpy(damaged, text, sizeof(text));
            damaged[at] = (char)byte;
            int rc = fb_spec_read(damaged, &s, &err);
            assert_true(rc == 0 || (rc == -EINVAL && strlen(err.text) > 10));
        }
    }
}

/* ---- words that a face adds ---- */

struct extra {
    int64_t gap_ns;
    int64_t sum;
};

static enum value_error read_gap(const char *value, void *into)
{
    return fb_value_span(value, &((struct extra *)into)->gap_ns);
}

static enum value_error read_add(const char *value, void *into)
{
    int64_t count = 0;
    enum value_error error = fb_value_count(value, &count);

    ((struct extra *)into)->sum += count;
    return error;
}

static const struct spec_word more[] = {
    {"gap", "a time such as 50ms", read_gap, false},
    {"add", "a whole number", read_add, true},
};

static void more_words_beside_the_usual_ones(void **state)
{
    struct extra x = {0};
    struct spec s;

    (void)state;
    assert_int_equal(
        fb_spec_read_with("add=2 rate=3/s gap=50ms add=5", more, COUNT_OF(more), &x, &s, NULL), 0);
    assert_int_equal(x.gap_ns, 50 * MS);
    assert_int_equal(x.sum, 7);
    assert_int_equal(s.rate.permits, 3);
}

static void more_words_are_refused_like_the_others(void **state)
{
    static const char *const rows[][2] = {
        {"gap=1s gap=2s", "gap=2s: said twice"},
        {"gap=x", "gap=x: not understood, expected a time such as 50ms"},
        {"hap=1s", "ahead, concurrency, gap, add"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct extra x = {0};
        struct fly_error err;
        struct spec s;

        assert_int_equal(fb_spec_read_with(rows[i][0], more, COUNT_OF(more), &x, &s, &err),
                         -EINVAL);
        assert_contains(err.text, rows[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_said_is_a_probe_and_no_other_limit),
        cmocka_unit_test(a_rate_alone_is_fixed_with_a_burst_of_ten),
        cmocka_unit_test(all_words_in_any_order),
        cmocka_unit_test(each_controller_by_name),
        cmocka_unit_test(bursts_where_none_is_said),
        cmocka_unit_test(more_words_beside_the_usual_ones),
        cmocka_unit_test(more_words_are_refused_like_the_others),
        cmocka_unit_test(spacing_is_even),
        cmocka_unit_test(pacing_by_name),
        cmocka_unit_test(what_a_margin_leaves_of_a_window),
        cmocka_unit_test(sixteen_windows_and_no_more),
        cmocka_unit_test(bounds_may_touch),
        cmocka_unit_test(a_word_of_64_bytes_is_not_too_long),
        cmocka_unit_test(every_mistake_is_named),
        cmocka_unit_test(an_unknown_word_is_told_all_known_ones),
        cmocka_unit_test(damaged_texts_never_crash),
    };

    return cmocka_run_group_tests_name("spec", tests, NULL, NULL);
}
