/* SPDX-License-Identifier: MIT */
/* What needs attention, and why: of a batch by what it waits for, of a key that may start. */
#include "view_rig.h"

#include "view/page.h"

/* A daemon tells its keys once, and of each batch how the worst of those is that it works with. */
static void a_batch_is_as_bad_as_the_keys_that_are_told_elsewhere(void **state)
{
    struct view_batch some = batch();
    struct view_key well = crossref();
    struct view_key waits = held();
    struct view_key down = crossref();
    struct buffer b = BUFFER_INIT;

    (void)state;
    some.key_count = 0;
    assert_int_equal(fb_view_batch_state(&some, NOW), VIEW_ok);
    fb_view_batch_note(&some, &well, NOW);
    assert_int_equal(fb_view_batch_state(&some, NOW), VIEW_ok);
    assert_string_equal(some.held_by, "");
    fb_view_batch_note(&some, &waits, NOW);
    fb_view_batch_note(&some, &well, NOW);
    assert_int_equal(fb_view_batch_state(&some, NOW), VIEW_holding);
    assert_string_equal(some.held_by, "api.crossref.org: Retry-After");
    down.flags |= VIEW_KEY_BROKEN;
    down.ready_ns = NOW;
    fb_view_put(down.provider, sizeof down.provider, "down");
    fb_view_batch_note(&some, &down, NOW);
    assert_int_equal(fb_view_batch_state(&some, NOW), VIEW_critical);
    fb_view_batch_json(&some, NOW, &b);
    assert_contains(fb_buffer_text(&b), "\"state\":\"critical\"");
    assert_contains(fb_buffer_text(&b), "\"held_by\":\"down: failing\"");
    fb_buffer_fini(&b);
    some.running = 0;
    assert_int_equal(fb_view_batch_state(&some, NOW), VIEW_idle);
}

/* What a page says of a row that needs attention, where no script can. */
static void what_needs_attention_says_why(void **state)
{
    struct view_key scarce = github("core", 60, 400, 60 * MIN);
    struct view_key down = crossref();
    struct view_key well = crossref();
    struct buffer b = BUFFER_INIT;

    (void)state;
    fb_page_concern(&scarce, NOW, &b);
    assert_string_equal(fb_buffer_text(&b), "Only 60 of 400 are left.");
    fb_buffer_clear(&b);
    down.flags |= VIEW_KEY_BROKEN;
    fb_view_put(down.why, sizeof down.why, "Failing, asked one at a time.");
    assert_string_equal(fb_view_key_because(&down, NOW), "bucket");
    assert_string_equal(fb_view_key_because(&down, NOW + S), "failing");
    fb_page_concern(&down, NOW + S, &b);
    assert_string_equal(fb_buffer_text(&b), "Failing, asked one at a time.");
    fb_buffer_clear(&b);
    fb_page_concern(&well, NOW + S, &b);
    assert_int_equal(b.size, 0);
    fb_buffer_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_is_as_bad_as_the_keys_that_are_told_elsewhere),
        cmocka_unit_test(what_needs_attention_says_why),
    };

    return cmocka_run_group_tests_name("view concern", tests, NULL, NULL);
}
