/* SPDX-License-Identifier: MIT */
/* Matches that never were: the same for every site, one after another, and told in four ways. */
#include "unit.h"

#include <stdio.h>

#include "mock/site.h"

#define NOON INT64_C(1794830400) /* a day in November 2026, in seconds since 1970 */

static struct fixture fixture(const char *text)
{
    struct fixture f;
    const char *expects = NULL;
    struct slice wrong = fb_fixture_read(text, 7, &f, &expects);

    if (wrong.at)
        fail_msg("%s: %s", text, expects);
    return f;
}

struct seen {
    int count[MATCH_STATES];
    struct match last;
    struct match first;
};

static void see(void *to, const struct match *m)
{
    struct seen *s = to;

    if (s->count[0] + s->count[1] + s->count[2] == 0)
        s->first = *m;
    s->count[m->state]++;
    s->last = *m;
}

static struct seen walk(const struct fixture *f, int64_t at_s)
{
    struct seen s = {0};

    fb_fixture_walk(f, at_s * S, see, &s);
    return s;
}

static void as_many_are_live_at_any_time(void **state)
{
    struct fixture f = fixture("live=40 pace=6 imminent=5 completed=7");

    (void)state;
    for (int64_t t = 0; t < 3000; t += 17) {
        struct seen s = walk(&f, NOON + t);

        assert_int_equal(s.count[MATCH_LIVE], 40);
        assert_in_range(s.count[MATCH_IMMINENT], 5 + 5, 5 + 7);
        assert_in_range(s.count[MATCH_COMPLETED], 7 + 11, 7 + 13);
    }
}

static void time_brings_minutes_and_goals_and_takes_none_away(void **state)
{
    struct fixture f = fixture("live=1");
    struct match before = walk(&f, NOON).first;
    int64_t goals = 0;

    (void)state;
    for (int64_t t = 60; t < 36000; t += 60) {
        struct match m = walk(&f, NOON + t).first;

        if (strcmp(m.id, before.id) == 0) {
            assert_int_equal(m.minute, before.minute + 1);
            assert_true(m.goals_home >= before.goals_home && m.goals_away >= before.goals_away);
            assert_string_equal(m.home, before.home);
        } else {
            assert_int_equal(m.minute, 0);
            goals += before.goals_home + before.goals_away;
        }
        assert_string_not_equal(m.home, m.away);
        before = m;
    }
    assert_in_range(goals, 6, 60); /* of six matches */
}

static void every_match_is_found_by_id_and_by_number(void **state)
{
    static const char *const wrong[] = {"", "m", "m1", "m1-", "m9-1", "x1", "i6", "i0", "c1-1"};
    struct fixture f = fixture("live=8 pace=60 imminent=5 completed=2");
    struct match m;

    (void)state;
    for (int64_t t = 0; t < 500; t += 7) {
        struct seen s = walk(&f, NOON + t);
        struct match *const both[] = {&s.first, &s.last};

        for (int i = 0; i < 2; i++) {
            assert_true(fb_match_find(&f, (NOON + t) * S, fb_slice_of(both[i]->id), &m));
            assert_memory_equal(&m, both[i], sizeof m);
            assert_true(fb_match_find_number(&f, (NOON + t) * S, fb_match_number(both[i]), &m));
            assert_string_equal(m.id, both[i]->id);
        }
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(fb_match_find(&f, NOON * S, fb_slice_of(wrong[i]), &m));
    assert_false(fb_match_find_number(&f, NOON * S, 3, &m));
    assert_false(fb_match_find_number(&f, NOON * S, 95000009, &m));
}

static void words_are_checked(void **state)
{
    static const char *const rows[][2] = {
        {"live=x", "a number below 10000"},
        {"live=10000", "a number below 10000"},
        {"pace=0", "a number from 1 to 600"},
        {"liv=3", "one of live"},
        {"live", "a number"},
    };
    struct fixture f;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *expects = "";

        assert_non_null(fb_fixture_read(rows[i][0], 1, &f, &expects).at);
        assert_ptr_equal(strstr(expects, rows[i][1]), expects);
    }
}

/* ---- the sites ---- */

static int page(const char *site, const struct fixture *f, const char *path, char *text,
                size_t size)
{
    struct buffer b = BUFFER_INIT;
    int status = fb_site_find(site)->answer(f, NOON * S, fb_slice_of(path), &b);
    const char *all = fb_buffer_text(&b);

    snprintf(text, size, "%s", all ? all : "");
    fb_buffer_fini(&b);
    return status;
}

static void each_site_tells_the_same_in_its_way(void **state)
{
    struct fixture f = fixture("live=2 unmapped=2");
    struct match m = walk(&f, NOON).first;
    char path[64];
    char text[4000];
    char expected[64];

    (void)state;
    assert_int_equal(page("backend", &f, "/matches", text, sizeof text), 200);
    snprintf(expected, sizeof expected, "\"ids\":{\"ticker\":%lld}}",
             (long long)fb_match_number(&m));
    assert_non_null(strstr(text, expected));
    assert_non_null(strstr(text, "\"ids\":{}}"));

    snprintf(path, sizeof path, "/api/match/%s", m.id);
    assert_int_equal(page("score", &f, path, text, sizeof text), 200);
    snprintf(expected, sizeof expected, "\"minute\":%lld,", (long long)m.minute);
    assert_non_null(strstr(text, expected));

    snprintf(path, sizeof path, "/live/%s.html", m.id);
    assert_int_equal(page("arena", &f, path, text, sizeof text), 200);
    snprintf(expected, sizeof expected, "<p class=\"minute\">%lld</p>", (long long)m.minute);
    assert_non_null(strstr(text, expected));

    snprintf(path, sizeof path, "/v2/events/%lld", (long long)fb_match_number(&m));
    assert_int_equal(page("ticker", &f, path, text, sizeof text), 200);
    snprintf(expected, sizeof expected, "\"t\":\"%lld\"", (long long)m.minute);
    assert_non_null(strstr(text, expected));
}

static void what_is_not_there_is_not_found(void **state)
{
    struct fixture f = fixture("live=1 imminent=1");
    char text[400];

    (void)state;
    assert_int_equal(page("backend", &f, "/", text, sizeof text), 404);
    assert_int_equal(page("score", &f, "/api/match/m7-1", text, sizeof text), 404);
    assert_int_equal(page("score", &f, "/api/match/i1", text, sizeof text), 200);
    assert_int_equal(page("arena", &f, "/live/i1.html", text, sizeof text), 404);
    assert_int_equal(page("arena", &f, "/live/.html", text, sizeof text), 404);
    assert_int_equal(page("ticker", &f, "/v2/events/x", text, sizeof text), 404);
    assert_null(fb_site_find("nobody"));
}

static void a_site_may_be_wrong_on_purpose(void **state)
{
    struct fixture f = fixture("live=2 broken=1 mismatch=2 lies=70");
    struct seen s = walk(&f, NOON);
    char path[64];
    char text[400];
    char expected[64];

    (void)state;
    snprintf(path, sizeof path, "/api/match/%s", s.first.id);
    assert_int_equal(page("score", &f, path, text, sizeof text), 500);
    assert_true(s.first.goals_home >= 70);
    f.broken = 0;
    f.mismatch = 1;
    snprintf(path, sizeof path, "/v2/events/%lld", (long long)fb_match_number(&s.first));
    assert_int_equal(page("ticker", &f, path, text, sizeof text), 200);
    snprintf(expected, sizeof expected, "\"nr\":%lld,", (long long)fb_match_number(&s.first) + 1);
    assert_non_null(strstr(text, expected));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_are_live_at_any_time),
        cmocka_unit_test(time_brings_minutes_and_goals_and_takes_none_away),
        cmocka_unit_test(every_match_is_found_by_id_and_by_number),
        cmocka_unit_test(words_are_checked),
        cmocka_unit_test(each_site_tells_the_same_in_its_way),
        cmocka_unit_test(what_is_not_there_is_not_found),
        cmocka_unit_test(a_site_may_be_wrong_on_purpose),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
