/* SPDX-License-Identifier: MIT */
/* Answers that are JSON, most of them written by somebody who means no good. */
#include "source_rig.h"

#include <errno.h>

#include "util/alloc.h"

#define READ(rig, text) rig_read((rig), (text), strlen(text))

/* --------------------------------------------------------------------------------------- values */

/* The text of a value under a type; "(none)" where it has none. */
static void expect_text(const char *type, const char *json, const char *text)
{
    char source[256], body[8192];
    struct rig r;

    (void)snprintf(source, sizeof source,
                   "{url: 'http://h/{id}', fields: {x: {path: /x, type: %s}, y: /y}}", type);
    (void)snprintf(body, sizeof body, "{\"x\": %s, \"y\": 1}", json);
    rig_source(&r, source);
    if (READ(&r, body) != 0)
        fail_msg("%s as %s: %s", json, type, r.err.text);
    if (strcmp(rig_value(&r, "x"), text) != 0)
        fail_msg("%s as %s is %s, expected %s", json, type, rig_value(&r, "x"), text);
    bool is_there = strcmp(text, "(none)") != 0;
    assert_int_equal(r.said.missing + r.said.wrong, is_there ? 0 : 1);
    assert_int_equal(r.said.says.count, is_there ? 2 : 1);
    assert_true(fb_snapshot_is_ordered(&r.said.says));
    rig_fini(&r);
}

static void equal_values_are_equal_texts(void **state)
{
    static const char *const ROWS[][3] = {
        {"any", "\"Ajax\"", "Ajax"},
        {"any", "\"\"", ""},
        {"any", "3", "3"},
        {"any", "3.0", "3"},
        {"any", "0.1", "0.1"},
        {"any", "1e2", "100"},
        {"any", "-0.0", "0"},
        {"any", "1e300", "1e+300"},
        {"any", "0.30000000000000004", "0.30000000000000004"},
        {"any", "true", "true"},
        {"any", "null", "(none)"},
        {"any", "[1]", "(none)"},
        {"any", "{}", "(none)"},
        {"text", "7", "7"},
        {"integer", "3", "3"},
        {"integer", "3.0", "3"},
        {"integer", "\"3\"", "3"},
        {"integer", "\" +03 \"", "3"},
        {"integer", "\"-0\"", "0"},
        {"integer", "\"000\"", "0"},
        {"integer", "-9223372036854775807", "-9223372036854775807"},
        {"integer", "3.5", "(none)"},
        {"integer", "\"3.5\"", "(none)"},
        {"integer", "\"\"", "(none)"},
        {"integer", "\"-\"", "(none)"},
        {"integer", "\"9999999999999999999\"", "(none)"},
        {"integer", "\"3 goals\"", "(none)"},
        {"integer", "1e300", "(none)"},
        {"integer", "true", "(none)"},
        {"number", "\"2.50\"", "2.5"},
        {"number", "2.5", "2.5"},
        {"number", "\"1e2\"", "100"},
        {"number", "\"7\"", "7"},
        {"number", "\".5\"", "0.5"},
        {"number", "\"1e999\"", "(none)"},
        {"number", "\"0x10\"", "(none)"},
        {"number", "\"nan\"", "(none)"},
        {"number", "\"inf\"", "(none)"},
        {"number", "\"1e\"", "(none)"},
        {"number", "\".\"", "(none)"},
        {"boolean", "true", "true"},
        {"boolean", "\"Yes\"", "true"},
        {"boolean", "0", "false"},
        {"boolean", "1", "true"},
        {"boolean", "\"off\"", "false"},
        {"boolean", "2", "(none)"},
        {"boolean", "-1", "(none)"},
        {"boolean", "\"maybe\"", "(none)"},
        {"json", "{\"b\":1, \"a\":[1, 2.0]}", "{\"a\":[1,2.0],\"b\":1}"},
        {"json", "\"x\"", "\"x\""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(ROWS); i++)
        expect_text(ROWS[i][0], ROWS[i][1], ROWS[i][2]);
}

static void a_value_that_is_too_long_is_none(void **state)
{
    static char json[FB_SOURCE_VALUE_MAX + 4];

    (void)state;
    memset(json, 'x', sizeof json - 1);
    json[0] = json[sizeof json - 2] = '"';
    expect_text("any", json, "(none)");
}

/* ---------------------------------------------------------------------------------- where it is */

static void pointers_find_what_they_name(void **state)
{
    static const char BODY[] = "{\"a\":{\"b/c\":{\"d~e\":1}},\"l\":[{\"v\":\"x\"},{\"v\":\"y\"}],"
                               "\"\":{\"\":5},\"0\":\"zero\"}";
    struct rig r;

    (void)state;
    rig_source(&r, "{url: 'http://h/{id}', id: /l/0/v, fields: {one: '/a/b~1c/d~0e', two: /l/1/v, "
                   "three: //, four: /0, gone: /l/2/v, far: /l/99999999999999999999, "
                   "sign: /l/-1, word: /l/x, deep: /a/b/c/d}}");
    assert_int_equal(READ(&r, BODY), 0);
    assert_string_equal(rig_value(&r, "one"), "1");
    assert_string_equal(rig_value(&r, "two"), "y");
    assert_string_equal(rig_value(&r, "three"), "5");
    assert_string_equal(rig_value(&r, "four"), "zero");
    assert_string_equal(r.said.id, "x");
    assert_int_equal(r.said.missing, 5);
    assert_contains(r.said.first, "is not there");
    rig_fini(&r);
}

static void a_page_without_any_field_is_no_answer(void **state)
{
    struct rig r;

    (void)state;
    rig_source(&r, "{url: 'http://h/{id}', fields: {a: /a, b: /b}}");
    assert_int_equal(READ(&r, "{\"error\":\"try later\"}"), -EBADMSG);
    assert_contains(r.err.text, "none of its fields is there: a is not there");
    assert_int_equal(READ(&r, "{\"a\":null}"), -EBADMSG);
    assert_int_equal(READ(&r, "[]"), -EBADMSG);
    rig_fini(&r);
}

/* -------------------------------------------------------------------------------------- hostile */

static void whatever_is_no_json_is_told(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
    } BODIES[] = {
        {"", 0},
        {"\0", 1},
        {"nonsense", 8},
        {"<html>", 6},
        {"{\"a\":1", 6},
        {"{\"a\":1}x", 8},
        {"{\"a\":1,\"a\":2}", 13},
        {"{\"a\":\"\xff\"}", 9},
        {"{\"a\":\"\xc0\xaf\"}", 10},
        {"{\"a\":\"\\ud800\"}", 14},
        {"{\"a\":\"\\u0000\"}", 14},
        {"{\"a\":\"x", 7},
        {"{\"a\":\"x\\", 8},
        {"{\"a\":01}", 8},
        {"{\"a\":1e999}", 11},
        {"\xef\xbb\xbf{\"a\":1}", 10},
    };
    struct rig r;

    (void)state;
    rig_source(&r, "{url: 'http://h/{id}', fields: {a: /a}}");
    for (size_t i = 0; i < COUNT_OF(BODIES); i++) {
        if (rig_read(&r, BODIES[i].bytes, BODIES[i].size) != -EBADMSG)
            fail_msg("body %zu was read", i);
        assert_contains(r.err.text, "not JSON");
        assert_null(r.said.memory);
    }
    rig_fini(&r);
}

static void a_number_beyond_integers_spoils_nothing(void **state)
{
    struct rig r;

    (void)state;
    rig_source(&r, "{url: 'http://h/{id}', fields: {a: /a, b: /b}}");
    assert_int_equal(READ(&r, "{\"a\":123456789012345678901,\"b\":2}"), 0);
    assert_string_equal(rig_value(&r, "a"), "1.2345678901234568e+20");
    assert_string_equal(rig_value(&r, "b"), "2");
    rig_fini(&r);
}

/* `text` so many times over. */
static char *repeated(const char *text, size_t count, size_t *ret_size)
{
    size_t size = strlen(text);
    char *all = malloc(size * count + 1);

    assert_non_null(all);
    for (size_t i = 0; i < count; i++)
        memcpy(all + i * size, text, size);
    all[size * count] = '\0';
    *ret_size = size * count;
    return all;
}

static void deep_and_wide_ones_are_refused_before_they_cost(void **state)
{
    struct rig r;
    size_t size;
    char *body = repeated("[", 1000000, &size);

    (void)state;
    rig_source(&r, "{url: 'http://h/{id}', fields: {a: /a}}");
    assert_int_equal(rig_read(&r, body, size), -E2BIG);
    assert_contains(r.err.text, "more than 64 deep");
    free(body);
    body = repeated("0,", FB_SOURCE_VALUES_MAX + 1, &size);
    assert_int_equal(rig_read(&r, body, size), -E2BIG);
    assert_contains(r.err.text, "more than 2000000 values");
    free(body);
    /* Brackets in a text are none. */
    body = repeated("[{,:", 1000, &size);
    char whole[5000];
    (void)snprintf(whole, sizeof whole, "{\"t\":\"%s\",\"a\":1}", body);
    assert_int_equal(READ(&r, whole), 0);
    free(body);
    rig_fini(&r);
}

static void every_cut_of_an_answer_is_refused(void **state)
{
    static const char BODY[] = "{\"a\": {\"b\": [1, \"\\u00e9\", true, null, -2.5e3]}, \"c\": 1}";
    struct rig r;

    (void)state;
    rig_source(&r, "{url: 'http://h/{id}', fields: {c: /c}}");
    for (size_t size = 0; size + 1 < sizeof BODY; size++)
        assert_int_equal(rig_read(&r, BODY, size), -EBADMSG);
    assert_int_equal(READ(&r, BODY), 0);
    rig_fini(&r);
}

static void memory_may_be_out_at_any_time(void **state)
{
    static const char BODY[] = "{\"a\":\"x\",\"b\":2,\"c\":[1]}";
    struct rig r;
    int rc = -ENOMEM;

    (void)state;
    rig_source(&r, "{url: 'http://h/{id}', id: /a, fields: {a: /a, b: /b, "
                   "c: {path: /c, type: json}}}");
    for (size_t n = 1; rc == -ENOMEM && n < 100; n++) {
        fb_alloc_fail_at(n);
        rc = READ(&r, BODY);
        fb_alloc_fail_at(0);
    }
    assert_int_equal(rc, 0);
    rig_fini(&r);
}

/* -------------------------------------------------------------------------------------- members */

static void without_fields_every_plain_member_is_one(void **state)
{
    struct rig r;

    (void)state;
    rig_source(&r, "{kind: exec, command: [cat]}");
    assert_int_equal(READ(&r, "{\"b\":1,\"a\":\"x\",\"l\":[1],\"n\":null,\"bad name\":1}"), 0);
    assert_int_equal(r.said.says.count, 2);
    assert_true(fb_snapshot_is_ordered(&r.said.says));
    assert_int_equal(r.said.wrong, 2);
    rig_fini(&r);
}

/* ---------------------------------------------------------------------------------------- lists */

static void a_list_without_a_single_id_is_no_empty_list(void **state)
{
    struct rig r;

    (void)state;
    rig_list(&r, "{url: 'http://h/'}");
    assert_int_equal(READ(&r, "[{\"key\":1},{\"key\":2}]"), -EBADMSG);
    assert_string_equal(r.err.text, "none of its 2 rows has an id at \"/id\"");
    assert_int_equal(READ(&r, "[]"), 0);
    assert_int_equal(r.said.row_count, 0);
    rig_fini(&r);
}

static void a_list_has_rows_with_ids_and_states(void **state)
{
    static const char BODY[] =
        "{\"m\":[{\"id\":1,\"s\":\"on\",\"b\":\"b-1\"},{\"id\":\"two\",\"s\":\"over\",\"b\":7},"
        "{\"id\":\"3\",\"s\":\"odd\"},{\"id\":\"\"},{\"id\":\"..\"},{\"id\":\"a\\nb\"},7,{\"id\":"
        "null},"
        "{\"id\":\"4\"}]}";
    struct rig r;

    (void)state;
    rig_list(&r, "{url: 'http://h/', list: /m, state: /s, ids: {b: /b}, "
                 "states: {live: 'on', completed: over}}");
    assert_int_equal(READ(&r, BODY), 0);
    assert_int_equal(r.said.row_count, 4);
    assert_int_equal(r.said.rows_bad, 5);
    const struct source_row *row = r.said.row;
    assert_string_equal(row[0].id, "1");
    assert_int_equal(row[0].state, ITEM_live);
    assert_null(row[0].word);
    assert_null(row[0].source_id[0]);
    assert_string_equal(row[0].source_id[1], "b-1");
    assert_string_equal(row[1].id, "two");
    assert_int_equal(row[1].state, ITEM_completed);
    assert_string_equal(row[1].source_id[1], "7");
    assert_int_equal(row[2].state, ITEM_imminent);
    assert_string_equal(row[2].word, "odd");
    assert_null(row[2].source_id[1]);
    assert_string_equal(row[3].word, "");
    rig_fini(&r);
}

static void without_a_state_all_are_live(void **state)
{
    struct rig r;

    (void)state;
    rig_list(&r, "{url: 'http://h/'}");
    assert_int_equal(READ(&r, "[{\"id\":\"a\"},{\"id\":\"b\"}]"), 0);
    assert_int_equal(r.said.row_count, 2);
    assert_int_equal(r.said.row[1].state, ITEM_live);
    assert_int_equal(READ(&r, "[]"), 0);
    assert_int_equal(r.said.row_count, 0);
    assert_int_equal(READ(&r, "{\"items\":[]}"), -EBADMSG);
    assert_contains(r.err.text, "there is no list");
    rig_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_values_are_equal_texts),
        cmocka_unit_test(a_value_that_is_too_long_is_none),
        cmocka_unit_test(pointers_find_what_they_name),
        cmocka_unit_test(a_page_without_any_field_is_no_answer),
        cmocka_unit_test(whatever_is_no_json_is_told),
        cmocka_unit_test(a_number_beyond_integers_spoils_nothing),
        cmocka_unit_test(deep_and_wide_ones_are_refused_before_they_cost),
        cmocka_unit_test(every_cut_of_an_answer_is_refused),
        cmocka_unit_test(memory_may_be_out_at_any_time),
        cmocka_unit_test(without_fields_every_plain_member_is_one),
        cmocka_unit_test(a_list_without_a_single_id_is_no_empty_list),
        cmocka_unit_test(a_list_has_rows_with_ids_and_states),
        cmocka_unit_test(without_a_state_all_are_live),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
