/* SPDX-License-Identifier: MIT */
/* What a watcher says: as JSON that a program can follow, and as text that fits a window. */
#include "watch_rig.h"

#include <jansson.h>

#include "watch/say.h"

/* Three sites, one of which lies about the score; items 0 to 3 are live, 4 and 5 imminent. */
static struct world *a_world(void)
{
    struct world *w = world_new(7);

    add_site(w, "alpha", 10);
    add_site(w, "beta", 5);
    add_site(w, "gamma", 1)->is_lying = true;
    w->site[1].skips = 3;
    w->items = 7;
    w->live = 4;
    w->imminent = 2;
    world_open(w);
    pass(w, 100 * S);
    return w;
}

static json_t *read_json(struct buffer *b)
{
    json_error_t wrong;
    const char *text = fb_buffer_text(b);
    json_t *o = json_loads(text, JSON_REJECT_DUPLICATES, &wrong);

    if (!o)
        fail_msg("%s at %d: %s", wrong.text, wrong.position, text);
    fb_buffer_fini(b);
    return o;
}

static const char *text_of(const json_t *o, const char *name)
{
    return json_string_value(json_object_get(o, name));
}

static int64_t int_of(const json_t *o, const char *name)
{
    assert_true(json_is_integer(json_object_get(o, name)));
    return json_integer_value(json_object_get(o, name));
}

static void an_item_says_whose_word_it_is(void **state)
{
    struct world *w = a_world();
    struct buffer b = BUFFER_INIT;

    (void)state;
    fb_say_item_json(w->watch, fb_watch_find(w->watch, "item-1"), "1-2", w->now_ns, &b);
    json_t *o = read_json(&b);
    assert_string_equal(text_of(o, "schema"), "flyball.item/1");
    assert_string_equal(text_of(o, "event"), "1-2");
    assert_string_equal(text_of(o, "state"), "live");
    assert_true(json_number_value(json_object_get(o, "age_s")) < 60.0);
    const json_t *score = json_object_get(json_object_get(o, "provenance"), "score");
    assert_string_equal(text_of(score, "source"), "alpha");
    const char *lie = text_of(json_object_get(score, "disagree"), "gamma");
    assert_non_null(lie);
    assert_true(strtoll(lie, NULL, 10) >= 1000);
    assert_int_equal(json_array_size(json_object_get(o, "sources")), 3);
    assert_string_equal(text_of(json_object_get(o, "fields"), "home"), "a");
    json_decref(o);
    world_free(w);
}

static void items_are_chosen_by_state_and_number(void **state)
{
    const struct {
        struct say_which which;
        size_t told;
        int64_t total;
    } rows[] = {
        {{.state = ITEM_STATES, .most = 100}, 7, 7},
        {{.state = ITEM_live, .most = 100}, 4, 4},
        {{.state = ITEM_completed, .most = 100, .bare = true}, 1, 1},
        {{.state = ITEM_STATES, .most = 2, .skip = 6}, 1, 7},
        {{.state = ITEM_live, .most = 3}, 3, 4},
    };
    struct world *w = a_world();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buffer b = BUFFER_INIT;

        fb_say_items_json(w->watch, &rows[i].which, NULL, w->now_ns, &b);
        json_t *o = read_json(&b);
        const json_t *items = json_object_get(o, "items");
        assert_int_equal(json_array_size(items), rows[i].told);
        assert_int_equal(int_of(o, "total"), rows[i].total);
        bool has_fields = json_object_get(json_array_get(items, 0), "fields") != NULL;
        assert_int_equal(has_fields, !rows[i].which.bare);
        json_decref(o);
    }
    world_free(w);
}

/* What a consumer has that applies deltas is what the item is. */
static void deltas_lead_to_the_latest(void **state)
{
    struct world *w = a_world();
    const struct watch_item *i = fb_watch_find(w->watch, "item-2");
    struct watch_item_view v;
    struct buffer b = BUFFER_INIT;

    (void)state;
    fb_watch_item(w->watch, i, &v);
    assert_true(v.seq > 2);
    fb_say_delta_json(w->watch, i, v.seq - 1, w->now_ns, &b);
    json_t *o = read_json(&b);
    assert_string_equal(text_of(o, "need"), "changes");
    assert_int_equal(int_of(o, "from"), v.seq - 1);
    assert_int_equal(int_of(o, "to"), v.seq);
    assert_non_null(text_of(json_object_get(o, "changes"), "score"));
    assert_null(json_object_get(json_object_get(o, "changes"), "home"));
    json_decref(o);

    fb_say_delta_json(w->watch, i, v.seq, w->now_ns, &b);
    o = read_json(&b);
    assert_string_equal(text_of(o, "need"), "nothing");
    json_decref(o);

    fb_say_delta_json(w->watch, i, 0, w->now_ns, &b);
    o = read_json(&b);
    assert_string_equal(text_of(o, "need"), "whole");
    assert_int_equal(int_of(o, "from"), 0);
    assert_int_equal(json_object_size(json_object_get(o, "changes")), v.fields);
    json_decref(o);
    world_free(w);
}

static void versions_are_numbered_without_gaps(void **state)
{
    struct world *w = a_world();
    struct buffer b = BUFFER_INIT;

    (void)state;
    fb_say_history_json(w->watch, fb_watch_find(w->watch, "item-2"), w->now_ns, &b);
    json_t *o = read_json(&b);
    const json_t *versions = json_object_get(o, "versions");
    assert_in_range(json_array_size(versions), 3, 5);
    for (size_t n = 0; n < json_array_size(versions); n++)
        assert_int_equal(int_of(json_array_get(versions, n), "seq"), int_of(o, "seq") - (int64_t)n);
    json_decref(o);
    world_free(w);
}

static void a_status_has_all_that_is_asked_of_it(void **state)
{
    static const char *const NAMES[] = {"grade",   "grade_text", "freshness", "queue",  "looks",
                                        "cache",   "sources",    "warnings",  "warned", "config",
                                        "audited", "items",      "paused"};
    struct world *w = a_world();
    struct buffer b = BUFFER_INIT;

    (void)state;
    fb_say_status_json(w->watch, w->now_ns, &b);
    json_t *o = read_json(&b);
    for (size_t i = 0; i < COUNT_OF(NAMES); i++)
        if (!json_object_get(o, NAMES[i]))
            fail_msg("there is no %s", NAMES[i]);
    assert_string_equal(text_of(o, "schema"), "flyball.watch/1");
    const json_t *items = json_object_get(o, "items");
    assert_int_equal(json_array_size(items), 4);
    for (size_t n = 0; n < 4; n++)
        assert_int_equal(json_object_size(json_object_get(json_array_get(items, n), "provenance")),
                         3);
    assert_int_equal(int_of(json_object_get(o, "warned"), "unmapped"), 2); /* item 6 is over */
    assert_true(json_array_size(json_object_get(o, "warnings")) >= 2);
    assert_int_equal(int_of(json_object_get(o, "queue"), "violations"), 0);
    assert_int_equal(json_array_size(json_object_get(o, "sources")), 3);
    json_decref(o);
    world_free(w);
}

/* Between two intervals as well: the oldest of the status is the oldest of the list. */
static void ages_are_the_same_wherever_they_are_shown(void **state)
{
    const struct view_style style = {.width = 100, .ascii = true};
    const struct say_which live = {.state = ITEM_live, .most = 100};
    struct world *w = a_world();
    struct buffer b = BUFFER_INIT;
    double oldest_s = 0.0;

    (void)state;
    w->now_ns += 77 * S; /* and nobody has judged since */
    fb_say_items_json(w->watch, &live, NULL, w->now_ns, &b);
    json_t *o = read_json(&b);
    const json_t *items = json_object_get(o, "items");
    for (size_t n = 0; n < json_array_size(items); n++) {
        double age_s = json_number_value(json_object_get(json_array_get(items, n), "age_s"));

        oldest_s = age_s > oldest_s ? age_s : oldest_s;
    }
    json_decref(o);
    assert_true(oldest_s >= 77.0);
    fb_say_status_json(w->watch, w->now_ns, &b);
    o = read_json(&b);
    const json_t *spread = json_object_get(json_object_get(o, "freshness"), "live");
    assert_close(json_number_value(json_object_get(spread, "oldest_s")), oldest_s, 1e-6);
    json_decref(o);

    char shown[32];
    (void)snprintf(shown, sizeof shown, "%d s", (int)(oldest_s + 0.5));
    if (oldest_s >= 60.0)
        (void)snprintf(shown, sizeof shown, "1 min %d s", (int)oldest_s - 60);
    fb_say_status_text(w->watch, &style, w->now_ns, &b);
    assert_non_null(strstr(fb_buffer_text(&b), shown));
    fb_buffer_clear(&b);
    fb_say_items_text(w->watch, &live, &style, w->now_ns, &b);
    assert_non_null(strstr(fb_buffer_text(&b), shown));
    fb_buffer_fini(&b);
    world_free(w);
}

/* The line of a text that begins so. */
static void line_of(struct buffer *b, const char *begin, char *line, size_t size)
{
    const char *at = strstr(fb_buffer_text(b), begin);

    assert_non_null(at);
    assert_true(at == b->bytes || at[-1] == '\n');
    (void)snprintf(line, size, "%.*s", (int)strcspn(at, "\n"), at);
    fb_buffer_clear(b);
}

/* Who is not asked has no next time, and that is said. */
static void a_source_that_is_disabled_says_so(void **state)
{
    const struct view_style style = {.width = 120, .ascii = true};
    struct world *w = a_world();
    struct buffer b = BUFFER_INIT;
    char line[200];

    (void)state;
    assert_int_equal(fb_watch_enable(w->watch, "gamma", false), 0);
    pass(w, 10 * S);
    fb_say_status_text(w->watch, &style, w->now_ns, &b);
    line_of(&b, "gamma", line, sizeof line);
    assert_contains(line, "o idle");
    assert_contains(line, "disabled");
    assert_null(strstr(line, "now"));
    assert_int_equal(line[strlen(line) - 1], '-');
    fb_say_item_text(w->watch, fb_watch_find(w->watch, "item-1"), &style, w->now_ns, &b);
    assert_non_null(strstr(fb_buffer_text(&b), "the source is disabled"));
    fb_buffer_clear(&b);
    fb_say_item_json(w->watch, fb_watch_find(w->watch, "item-1"), NULL, w->now_ns, &b);
    json_t *o = read_json(&b);
    const json_t *gamma = json_array_get(json_object_get(o, "sources"), 2);
    assert_string_equal(text_of(gamma, "why"), "disabled");
    assert_null(json_object_get(gamma, "next"));
    json_decref(o);
    world_free(w);
}

/* ---- events ---- */

static void a_change_is_told_with_what_changed(void **state)
{
    static const struct delta_change change[] = {{"gone", NULL}, {"score", "3 \"4\""}};
    struct world *w = a_world();
    struct watch_event e = {.kind = WATCH_CHANGED,
                            .at_ns = w->now_ns,
                            .id = "item-1",
                            .domain = "alpha",
                            .trigger = "",
                            .outcome = "",
                            .text = "",
                            .seq = 9,
                            .change = change,
                            .change_count = 2};
    struct buffer b = BUFFER_INIT;

    (void)state;
    fb_say_event_json(w->watch, &e, 2048, &b);
    assert_null(memchr(b.bytes, '\n', b.size));
    json_t *o = read_json(&b);
    assert_string_equal(text_of(o, "id"), "item-1");
    assert_int_equal(int_of(o, "seq"), 9);
    assert_string_equal(text_of(json_object_get(o, "changes"), "score"), "3 \"4\"");
    assert_true(json_is_null(json_object_get(json_object_get(o, "changes"), "gone")));
    json_decref(o);

    fb_say_event_json(w->watch, &e, 100, &b);
    o = read_json(&b);
    assert_true(json_is_true(json_object_get(o, "whole")));
    assert_null(json_object_get(o, "changes"));
    json_decref(o);

    e.kind = WATCH_INTERVAL;
    fb_say_event_json(w->watch, &e, 2048, &b);
    o = read_json(&b);
    assert_string_equal(text_of(o, "grade"), "healthy");
    assert_non_null(json_object_get(json_object_get(o, "freshness"), "live"));
    json_decref(o);
    world_free(w);
}

/* ---- for people ---- */

static void assert_fits(struct buffer *b, size_t width, const char *what)
{
    const char *text = fb_buffer_text(b);

    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        if (strcspn(line, "\n") > width)
            fail_msg("%s: %s", what, line);
}

static void text_fits_and_says_the_same(void **state)
{
    const struct view_style style = {.width = 100, .ascii = true};
    const struct say_which all = {.state = ITEM_STATES, .most = 100};
    struct world *w = a_world();
    struct buffer b = BUFFER_INIT;

    (void)state;
    fb_say_items_text(w->watch, &all, &style, w->now_ns, &b);
    assert_fits(&b, 100, "items");
    assert_non_null(strstr(b.bytes, "item-6"));
    fb_buffer_clear(&b);

    fb_say_item_text(w->watch, fb_watch_find(w->watch, "item-1"), &style, w->now_ns, &b);
    assert_non_null(strstr(fb_buffer_text(&b), "gamma says 10"));
    assert_non_null(strstr(b.bytes, "versions:"));
    assert_non_null(strstr(b.bytes, "next: "));
    fb_buffer_clear(&b);

    fb_say_status_text(w->watch, &style, w->now_ns, &b);
    assert_ptr_equal(strstr(fb_buffer_text(&b), "* healthy for "), b.bytes);
    assert_non_null(strstr(b.bytes, "alpha"));
    assert_non_null(strstr(b.bytes, "warnings:"));
    fb_buffer_clear(&b);

    const struct say_which none = {.state = ITEM_STATES, .most = 100, .skip = 100};
    fb_say_items_text(w->watch, &none, &style, w->now_ns, &b);
    assert_string_equal(fb_buffer_text(&b), "There are no such items.\n");
    fb_buffer_fini(&b);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_item_says_whose_word_it_is),
        cmocka_unit_test(items_are_chosen_by_state_and_number),
        cmocka_unit_test(deltas_lead_to_the_latest),
        cmocka_unit_test(versions_are_numbered_without_gaps),
        cmocka_unit_test(a_status_has_all_that_is_asked_of_it),
        cmocka_unit_test(ages_are_the_same_wherever_they_are_shown),
        cmocka_unit_test(a_source_that_is_disabled_says_so),
        cmocka_unit_test(a_change_is_told_with_what_changed),
        cmocka_unit_test(text_fits_and_says_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
