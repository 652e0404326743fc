/* SPDX-License-Identifier: MIT */
/* The ring of the audit, and the grade of the daemon that ends up in it. */
#include "unit.h"

#include "daemon/audit.h"
#include "daemon/grade.h"
#include "util/alloc.h"

static void add(struct audit *a, int n)
{
    char text[16];

    snprintf(text, sizeof(text), "%d", n);
    (void)fb_audit_add(a, n, &(struct view_audit_event){.kind = "it", .text = text});
}

/* The texts that are kept, the newest first, and how many are not. */
static void assert_kept(const struct audit *a, const char *texts, uint64_t lost)
{
    struct view_audit_event *events = NULL;
    struct view_audit v;
    char told[256] = "";

    assert_int_equal(fb_audit_view(a, &events, &v), 0);
    for (size_t i = 0; i < v.event_count; i++)
        snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s%s", i ? " " : "",
                 v.event[i].text);
    assert_string_equal(told, texts);
    assert_int_equal(v.lost, lost);
    fb_free(events);
}

static void the_latest_are_kept(void **state)
{
    struct audit a = {0};

    (void)state;
    assert_int_equal(fb_audit_resize(&a, 3), 0);
    assert_kept(&a, "", 0);
    for (int n = 1; n <= 5; n++)
        add(&a, n);
    assert_kept(&a, "5 4 3", 2);
    assert_int_equal(fb_audit_resize(&a, 5), 0);
    assert_kept(&a, "5 4 3", 2);
    for (int n = 6; n <= 8; n++)
        add(&a, n);
    assert_kept(&a, "8 7 6 5 4", 3);
    assert_int_equal(fb_audit_resize(&a, 2), 0);
    assert_kept(&a, "8 7", 6);
    add(&a, 9);
    assert_kept(&a, "9 8", 7);
    assert_int_equal(fb_audit_resize(&a, 1), 0);
    assert_kept(&a, "9", 8);
    fb_audit_fini(&a);
}

static void an_entry_has_all_of_it(void **state)
{
    struct audit a = {0};
    struct buffer b = BUFFER_INIT;

    (void)state;
    assert_int_equal(fb_audit_resize(&a, 2), 0);
    const struct audit_entry *e =
        fb_audit_add(&a, INT64_C(1700000000) * S,
                     &(struct view_audit_event){.kind = "paused",
                                                .cause = "failures",
                                                .item = "m1",
                                                .until_ns = INT64_C(1700000300) * S,
                                                .took_ns = 1500 * MS,
                                                .text = "it is paused"});
    assert_string_equal(e->outcome, "done"); /* unless said */
    fb_audit_json(e, &b);
    fb_buffer_add_char(&b, '\0');
    assert_contains(b.bytes, "\"item\":\"m1\"");
    assert_contains(b.bytes, "\"outcome\":\"done\"");
    assert_contains(b.bytes, "\"until\":\"2023-11-14T22:18:20Z\"");
    assert_contains(b.bytes, "\"took_s\":1.5");
    fb_buffer_fini(&b);
    fb_audit_fini(&a);
}

/* Whatever goes worse is the grade, and says so. */
static void a_worse_grade_of_items_is_the_grade(void **state)
{
    struct grader g = {.grade = GRADE_healthy};
    struct grade_facts f = {.answers = 100};

    (void)state;
    assert_false(fb_grade(&g, &f));
    assert_string_equal(g.cause, "answers");
    f.watched = GRADE_degraded;
    assert_true(fb_grade(&g, &f));
    assert_int_equal(g.grade, GRADE_degraded);
    assert_string_equal(g.cause, "watch");
    f.errors = 90;
    assert_true(fb_grade(&g, &f));
    assert_int_equal(g.grade, GRADE_failing);
    assert_string_equal(g.cause, "errors");
    f.errors = 0;
    f.broken = 1;
    assert_true(fb_grade(&g, &f));
    assert_string_equal(g.cause, "breaker");
    f.broken = 0;
    f.silent_s = GRADE_SILENCE_S;
    assert_true(fb_grade(&g, &f));
    assert_string_equal(g.cause, "silence");
    f.silent_s = 0;
    f.watched = GRADE_healthy;
    assert_true(fb_grade(&g, &f));
    assert_int_equal(g.grade, GRADE_recovering);
    for (int i = 0; i < GRADE_WELL_S; i++)
        (void)fb_grade(&g, &f);
    assert_int_equal(g.grade, GRADE_healthy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_latest_are_kept),
        cmocka_unit_test(an_entry_has_all_of_it),
        cmocka_unit_test(a_worse_grade_of_items_is_the_grade),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
