/* SPDX-License-Identifier: MIT */
/* News: what counts as such, who missed what; and the history in rings. */
#include "unit.h"

#include <errno.h>
#include <math.h>

#include "daemon/history.h"
#include "daemon/news.h"
#include "util/alloc.h"

static int woken;
static const struct news_want ALL = {.items = true};
static const struct news_want NO_ITEMS = {.items = false};

static void wake(void *context)
{
    (void)context;
    woken++;
}

static void begin(struct news *n)
{
    assert_int_equal(fb_news_init(n, 1700000000, 0), 0);
    n->wake = wake;
    woken = 0;
}

static void add(struct news *n, int count)
{
    for (int i = 0; i < count; i++)
        fb_news_add(n, "audit", "{}", 2);
}

static void an_item(void **state)
{
    struct news n;
    struct buffer b = BUFFER_INIT;
    uint64_t cursor = 0;

    (void)state;
    begin(&n);
    assert_false(fb_news_next(&n, &ALL, &cursor, &b));
    fb_news_add(&n, "audit", "{\"a\":1}", 7);
    assert_int_equal(woken, 1);
    assert_true(fb_news_next(&n, &ALL, &cursor, &b));
    assert_false(fb_news_next(&n, &ALL, &cursor, &b));
    assert_string_equal(fb_buffer_text(&b), "id: 1700000000-1\nevent: audit\ndata: {\"a\":1}\n\n");
    fb_buffer_fini(&b);
    char *huge = fb_alloc(NEWS_ITEM_BYTES + 1);
    fb_news_add(&n, "audit", huge, NEWS_ITEM_BYTES + 1);
    assert_int_equal(n.last, 1);
    fb_free(huge);
    fb_news_fini(&n);
}

static uint64_t cursor_of(struct news *n, const char *id, bool expect_gap)
{
    bool gap = !expect_gap;
    uint64_t at = fb_news_cursor(n, &ALL, fb_slice_of(id), &gap);

    if (gap != expect_gap)
        fail_msg("%s: gap %d", id, gap);
    return at;
}

static void who_comes_back(void **state)
{
    struct news n;
    struct buffer b = BUFFER_INIT;

    (void)state;
    begin(&n);
    add(&n, 10);
    assert_int_equal(cursor_of(&n, "", false), 10);
    assert_int_equal(cursor_of(&n, "1700000000-4", false), 4);
    assert_int_equal(cursor_of(&n, "1700000000-10", false), 10);
    assert_int_equal(cursor_of(&n, "1700000000-11", true), 0);
    assert_int_equal(cursor_of(&n, "1699999999-4", true), 0);
    assert_int_equal(cursor_of(&n, "1700000000", true), 0);
    assert_int_equal(cursor_of(&n, "1700000000-", true), 0);
    assert_int_equal(cursor_of(&n, "x-1", true), 0);
    assert_int_equal(cursor_of(&n, "1700000000-99999999999999999999", true), 0);

    /* Too late: a gap, and then all that there is. */
    uint64_t cursor = 4;
    int count = 0;
    add(&n, NEWS_MAX);
    while (fb_news_next(&n, &ALL, &cursor, &b))
        count++;
    assert_int_equal(count, NEWS_MAX);
    static const char GAP[] = "event: gap\ndata: {}\n\nid: 1700000000-11\n";
    assert_memory_equal(fb_buffer_text(&b), GAP, sizeof GAP - 1);
    fb_buffer_fini(&b);
    fb_news_fini(&n);
}

static void add_item(struct news *n, const char *id)
{
    assert_true(fb_news_add_item(n, fb_news_about(id), "changed", fb_slice_of("{}")));
}

/* How many come after `cursor`; and whether a gap is among them. */
static int count_after(struct news *n, const struct news_want *want, uint64_t cursor, bool *ret_gap)
{
    struct buffer b = BUFFER_INIT;
    int count = 0;

    while (fb_news_next(n, want, &cursor, &b))
        count++;
    *ret_gap = b.size > 0 && strstr(fb_buffer_text(&b), "event: gap") != NULL;
    fb_buffer_fini(&b);
    return count;
}

static void changes_of_items_are_numbered_with_the_rest(void **state)
{
    const struct news_want b_alone = {.items = true, .about = fb_news_about("b")};
    struct news n;
    struct buffer b = BUFFER_INIT;
    bool gap;
    uint64_t cursor = 0;

    (void)state;
    begin(&n);
    add_item(&n, "a");
    add(&n, 1);
    add_item(&n, "b");
    assert_int_equal(count_after(&n, &ALL, 0, &gap), 3);
    assert_int_equal(count_after(&n, &ALL, 1, &gap), 2);
    assert_int_equal(count_after(&n, &NO_ITEMS, 0, &gap), 1);
    assert_int_equal(count_after(&n, &b_alone, 0, &gap), 2);
    assert_int_equal(fb_news_recent(&n, 1), 1);
    assert_int_equal(fb_news_recent(&n, 0), 3);
    assert_true(fb_news_next(&n, &ALL, &cursor, &b));
    assert_true(fb_news_next(&n, &ALL, &cursor, &b));
    assert_string_equal(fb_buffer_text(&b), "id: 1700000000-1\nevent: changed\ndata: {}\n\n"
                                            "id: 1700000000-2\nevent: audit\ndata: {}\n\n");
    fb_buffer_fini(&b);
    char *huge = fb_alloc(NEWS_ITEM_BYTES + 1);
    assert_false(fb_news_add_item(&n, 1, "changed", (struct slice){huge, NEWS_ITEM_BYTES + 1}));
    fb_free(huge);
    fb_news_fini(&n);
}

static void changes_push_out_changes_and_nothing_else(void **state)
{
    struct news n;
    bool gap;

    (void)state;
    begin(&n);
    add(&n, 3);
    for (int i = 0; i < NEWS_CHANGES + 5; i++)
        add_item(&n, "a");
    assert_int_equal(count_after(&n, &NO_ITEMS, 0, &gap), 3);
    assert_false(gap);
    assert_int_equal(count_after(&n, &ALL, 7, &gap), NEWS_CHANGES);
    assert_true(gap);
    assert_int_equal(count_after(&n, &ALL, 8, &gap), NEWS_CHANGES);
    assert_false(gap);
    assert_int_equal(fb_news_recent(&n, 2), 1);
    fb_news_fini(&n);
}

static struct event event(enum event_type kind, const char *outcome, const char *error,
                          int64_t wait_ns)
{
    struct event e = {.kind = kind, .at_ns = 5 * S, .until_ns = 5 * S + wait_ns};

    (void)snprintf(e.outcome, sizeof e.outcome, "%s", outcome);
    (void)snprintf(e.error, sizeof e.error, "%s", error);
    return e;
}

static void what_is_news(void **state)
{
    const struct {
        struct event e;
        bool expected;
    } rows[] = {
        {event(FB_EVENT_REQUEST, "", "", 0), false},
        {event(FB_EVENT_ANSWER, "", "", 0), false},
        {event(FB_EVENT_ANSWER, "", "throttled", 0), true},
        {event(FB_EVENT_WAIT, "", "", 10 * MS), false},
        {event(FB_EVENT_WAIT, "", "", S), true},
        {event(FB_EVENT_RESET, "", "", 0), false},
        {event(FB_EVENT_OUTCOME, "ok", "", 0), false},
        {event(FB_EVENT_OUTCOME, "failed", "5xx", 0), true},
        {event(FB_EVENT_OUTCOME, "unknown", "reset", 0), true},
        {event(FB_EVENT_BREAKER, "", "", 0), true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (fb_news_is_news(&rows[i].e) != rows[i].expected)
            fail_msg("row %zu", i);
}

static void no_flood(void **state)
{
    struct news n;
    struct event e = event(FB_EVENT_BREAKER, "", "", 0);

    (void)state;
    begin(&n);
    for (int i = 0; i < 3 * NEWS_PER_SECOND; i++)
        fb_news_on_event(&n, &e);
    assert_int_equal(n.last, NEWS_PER_SECOND);
    assert_int_equal(n.skipped, 2 * NEWS_PER_SECOND);
    e.at_ns += S;
    fb_news_on_event(&n, &e);
    assert_int_equal(n.last, NEWS_PER_SECOND + 1);
    fb_news_fini(&n);
}

/* ---------------------------------------------------------------------------------- history */

static struct figures second_of(float sent, float limit)
{
    struct figures f;

    for (int i = 0; i < FIGURES; i++)
        f.value[i] = NAN;
    f.value[FIGURE_sent] = sent;
    f.value[FIGURE_limit] = limit;
    return f;
}

static int read_part(const struct history *h, const struct meters *m, int step_s, size_t most,
                     struct buffer *b)
{
    struct history_part part = {
        .step_s = step_s, .most = most, .provider = "", .pool = "", .only = ""};

    return fb_history_json(h, m, &part, b);
}

static void rings_feed_rings(void **state)
{
    static struct history h;
    struct meters m;
    struct buffer b = BUFFER_INIT;

    (void)state;
    assert_int_equal(fb_meters_init(&m), 0);
    fb_history_init(&h);
    for (int64_t t = 1001; t <= 1020; t++) {
        struct figures f = second_of(2, (float)t);

        fb_history_add(&h, t, &f, 1, NULL);
    }
    struct figures late = second_of(9, 9);
    fb_history_add(&h, 1020, &late, 1, NULL); /* the clock went back: ignored */
    assert_int_equal(read_part(&h, &m, 10, 100, &b), 0);
    const char *json = fb_buffer_text(&b);
    assert_contains(json, "\"step_s\":10,\"end_s\":1020,\"samples\":2");
    assert_contains(json, "\"sent\":[20,20]");
    assert_contains(json, "\"limit\":[1010,1020]");
    assert_contains(json, "\"left\":[null,null]");
    fb_buffer_clear(&b);
    assert_int_equal(read_part(&h, &m, 1, 3, &b), 0);
    assert_contains(fb_buffer_text(&b), "\"sent\":[2,2,2]");
    assert_int_equal(read_part(&h, &m, 7, 3, &b), -EINVAL);

    /* A gap is nothing, not zero; and rings never grow. */
    struct figures f = second_of(4, 1);
    fb_history_add(&h, 1020 + HISTORY_LATE + 1, &f, 1, NULL);
    fb_buffer_clear(&b);
    assert_int_equal(read_part(&h, &m, 1, 4, &b), 0);
    assert_contains(fb_buffer_text(&b), "\"sent\":[null,null,null,4]");
    for (int64_t t = 1020 + HISTORY_LATE + 2; t < 3000; t++)
        fb_history_add(&h, t, &f, 1, NULL);
    fb_buffer_clear(&b);
    assert_int_equal(read_part(&h, &m, 1, 100000, &b), 0);
    assert_contains(fb_buffer_text(&b), "\"samples\":900");

    /* Of one provider only. */
    struct history_part part = {
        .step_s = 60, .most = 1, .provider = "nobody", .pool = "", .only = ""};
    fb_buffer_clear(&b);
    assert_int_equal(fb_history_json(&h, &m, &part, &b), 0);
    assert_contains(fb_buffer_text(&b), "\"series\":[]");
    fb_buffer_fini(&b);
    fb_history_fini(&h);
    fb_meters_fini(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_item),
        cmocka_unit_test(who_comes_back),
        cmocka_unit_test(changes_of_items_are_numbered_with_the_rest),
        cmocka_unit_test(changes_push_out_changes_and_nothing_else),
        cmocka_unit_test(what_is_news),
        cmocka_unit_test(no_flood),
        cmocka_unit_test(rings_feed_rings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
