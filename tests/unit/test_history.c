/* SPDX-License-Identifier: MIT */
/* Rings of figures: seconds that were late, seconds that were not measured, and what is watched. */
#include "unit.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>

#include "daemon/history.h"

#define BEGAN INT64_C(1794753000) /* a whole minute */

struct world {
    struct history h;
    struct meters names;
    struct figures now[METER_SETS];
    struct figures watched;
};

static void begin(struct world *w)
{
    memset(w, 0, sizeof *w);
    fb_history_init(&w->h);
    assert_int_equal(fb_meters_init(&w->names), 0);
    fb_meters_reserve(&w->names, "github", "core", NULL);
    for (size_t i = 0; i < METER_SETS; i++)
        w->now[i] = fb_figures_none();
    w->watched = fb_figures_none();
}

static void end(struct world *w)
{
    fb_history_fini(&w->h);
    fb_meters_fini(&w->names);
}

/* `sent` requests since the last call, at a limit of 10. */
static void tick(struct world *w, int64_t second, double sent)
{
    w->now[1].value[FIGURE_sent] = (float)sent;
    w->now[1].value[FIGURE_waited_s] = (float)(sent / 4.0);
    w->now[1].value[FIGURE_limit] = 10.0f;
    fb_history_add(&w->h, second, w->now, w->names.sets, NULL);
}

static json_t *read_part(struct world *w, const struct history_part *part)
{
    struct buffer b = BUFFER_INIT;
    json_error_t error;

    assert_int_equal(fb_history_json(&w->h, &w->names, part, &b), 0);
    json_t *j = json_loads(fb_buffer_text(&b), JSON_REJECT_DUPLICATES, &error);
    if (!j)
        fail_msg("%s in %s", error.text, b.bytes);
    fb_buffer_fini(&b);
    return j;
}

static struct history_part github(int step_s)
{
    return (struct history_part){
        .step_s = step_s, .most = 100, .provider = "github", .pool = "", .only = ""};
}

/* A column as text, "null" where nothing is known. */
static void check_column(const json_t *set, const char *name, const char *expected)
{
    char *text = json_dumps(json_object_get(set, name),
                            JSON_ENCODE_ANY | JSON_REAL_PRECISION(6) | JSON_COMPACT);

    assert_string_equal(text ? text : "", expected);
    free(text);
}

static const json_t *series(const json_t *j)
{
    assert_int_equal(json_array_size(json_object_get(j, "series")), 1);
    return json_array_get(json_object_get(j, "series"), 0);
}

static void a_late_second_stands_for_those_before_it(void **state)
{
    struct world w;
    struct history_part part = github(1);

    (void)state;
    begin(&w);
    tick(&w, BEGAN + 1, 5);
    tick(&w, BEGAN + 4, 10);
    tick(&w, BEGAN + 5, 4);
    json_t *j = read_part(&w, &part);
    check_column(series(j), "sent", "[5,3,3,4,4]");
    check_column(series(j), "limit", "[10,10,10,10,10]");
    check_column(series(j), "waited_s", "[1.25,0.833,0.833,0.833,1]");
    assert_int_equal(json_integer_value(json_object_get(j, "end_s")), BEGAN + 5);
    json_decref(j);
    assert_true(fb_history_sum(&w.h, 1, 0, FIGURE_sent, 900) == 19.0);
    assert_true(fb_history_sum(&w.h, 1, 0, FIGURE_sent, 2) == 8.0);
    assert_true(fb_history_sum(&w.h, 2, 0, FIGURE_sent, 2) == 0.0);
    end(&w);
}

/* Nobody was there: that is a gap, and what was counted meanwhile is not spread over it. */
static void a_long_gap_stays_one(void **state)
{
    struct world w;
    struct history_part part = github(1);

    (void)state;
    begin(&w);
    tick(&w, BEGAN + 1, 5);
    tick(&w, BEGAN + 1 + HISTORY_LATE, 20);
    tick(&w, BEGAN + 1 + HISTORY_LATE + 11, 2);
    part.most = 13;
    json_t *j = read_part(&w, &part);
    check_column(series(j), "sent", "[2,2,null,null,null,null,null,null,null,null,null,null,2]");
    json_decref(j);
    tick(&w, BEGAN, 1000); /* the clock was set back */
    assert_true(fb_history_sum(&w.h, 1, 0, FIGURE_sent, 900) == 27.0);
    end(&w);
}

static void ten_seconds_make_one(void **state)
{
    struct world w;
    struct history_part part = github(10);

    (void)state;
    begin(&w);
    for (int i = 1; i <= 20; i++)
        tick(&w, BEGAN + i, i);
    json_t *j = read_part(&w, &part);
    check_column(series(j), "sent", "[55,155]");
    check_column(series(j), "limit", "[10,10]");
    json_decref(j);
    part.only = "sent";
    j = read_part(&w, &part);
    assert_int_equal(json_object_size(series(j)), 3); /* and two names */
    check_column(series(j), "sent", "[55,155]");
    json_decref(j);
    end(&w);
}

static void what_is_watched_has_rings_too(void **state)
{
    struct world w;
    struct history_part part = {
        .step_s = 1, .most = 100, .provider = "", .pool = "", .only = "", .watched = true};

    (void)state;
    begin(&w);
    json_t *j = read_part(&w, &part);
    assert_int_equal(json_object_size(json_object_get(j, "watch")), 0);
    json_decref(j);
    for (int i = 1; i <= 10; i++) {
        w.watched.value[WATCHED_p95_s] = i == 5 ? 70.0f : 8.5f;
        w.watched.value[WATCHED_grade] = i == 5 ? 2.0f : 0.0f;
        w.watched.value[WATCHED_recoveries] = i > 8 ? 1.0f : 0.0f;
        fb_history_add(&w.h, BEGAN + i, w.now, w.names.sets, i == 3 ? NULL : &w.watched);
    }
    j = read_part(&w, &part);
    const json_t *of = json_object_get(j, "watch");
    check_column(of, "p95_s", "[8.5,8.5,null,8.5,70,8.5,8.5,8.5,8.5,8.5]");
    check_column(of, "p50_s", "[null,null,null,null,null,null,null,null,null,null]");
    check_column(j, "grades", "[\"healthy\",\"recovering\",\"degraded\",\"failing\"]");
    assert_null(json_object_get(j, "series"));
    json_decref(j);
    part.step_s = 10; /* the worst of it is what one wants to see */
    j = read_part(&w, &part);
    of = json_object_get(j, "watch");
    check_column(of, "p95_s", "[70]");
    check_column(of, "grade", "[2]");
    check_column(of, "recoveries", "[2]");
    json_decref(j);
    end(&w);
}

static void what_there_is_not(void **state)
{
    struct world w;
    struct buffer b = BUFFER_INIT;
    struct history_part part = github(7);

    (void)state;
    begin(&w);
    assert_int_equal(fb_history_json(&w.h, &w.names, &part, &b), -EINVAL);
    part = github(1);
    part.only = "p95_s";
    assert_int_equal(fb_history_json(&w.h, &w.names, &part, &b), -EINVAL);
    part.watched = true;
    assert_int_equal(fb_history_json(&w.h, &w.names, &part, &b), 0);
    part.only = "sent";
    assert_int_equal(fb_history_json(&w.h, &w.names, &part, &b), -EINVAL);
    fb_buffer_fini(&b);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_late_second_stands_for_those_before_it),
        cmocka_unit_test(a_long_gap_stays_one),
        cmocka_unit_test(ten_seconds_make_one),
        cmocka_unit_test(what_is_watched_has_rings_too),
        cmocka_unit_test(what_there_is_not),
    };

    return cmocka_run_group_tests_name("history", tests, NULL, NULL);
}
