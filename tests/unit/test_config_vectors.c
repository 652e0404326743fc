/* SPDX-License-Identifier: MIT */
/*
 * Every file in tests/vectors/config/bad is refused with exactly the sentences in the .told beside
 * it; every file in good is accepted, and what is shown of it loads back to the same.
 */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>

#include "config/config.h"
#include "config/diff.h"
#include "config/show.h"
#include "util/alloc.h"

#define FOLDER    "tests/vectors/config/"
#define BAD_LEAST 60

static char *read_file(const char *folder, const char *name, const char *tail, size_t *ret_size)
{
    static char bytes[65536];
    char path[512];
    (void)snprintf(path, sizeof path, FOLDER "%s/%.*s%s", folder,
                   (int)(strlen(name) - strlen(".yaml")), name, tail);
    FILE *file = fopen(path, "rb");

    if (!file)
        fail_msg("%s: %s", path, strerror(errno));
    *ret_size = fread(bytes, 1, sizeof bytes - 1, file);
    bytes[*ret_size] = '\0';
    (void)fclose(file);
    return bytes;
}

/* `each` for every file of a folder; returns how many there are. */
static int each_file(const char *folder, void (*each)(const char *name))
{
    char path[256];
    (void)snprintf(path, sizeof path, FOLDER "%s", folder);
    DIR *dir = opendir(path);
    int count = 0;

    assert_non_null(dir);
    for (const struct dirent *e; (e = readdir(dir));) {
        size_t size = strlen(e->d_name);
        if (size > 5 && strcmp(e->d_name + size - 5, ".yaml") == 0) {
            each(e->d_name);
            count++;
        }
    }
    (void)closedir(dir);
    return count;
}

static int load(const char *name, const char *bytes, size_t size, struct config_report *report,
                struct config **ret_config)
{
    struct config_sources from = {.file = name, .bytes = bytes, .size = size};

    return fb_config_load(&from, report, ret_config);
}

/* ------------------------------------------------------------------------------------------ bad */

static void expect_told(const char *name)
{
    struct config_report report = {0};
    struct buffer told = BUFFER_INIT;
    struct config *c = NULL;
    size_t size;
    const char *bytes = read_file("bad", name, ".yaml", &size);

    assert_int_equal(load(name, bytes, size, &report, &c), -EINVAL);
    assert_null(c);
    for (size_t i = 0; i < report.kept; i++) {
        fb_buffer_add_text(&told, report.remark[i].sentence);
        fb_buffer_add_char(&told, '\n');
    }
    const char *expected = read_file("bad", name, ".told", &size);
    if (strcmp(fb_buffer_text(&told), expected) != 0)
        fail_msg("%s\ntold:\n%sexpected:\n%s", name, told.bytes, expected);
    /* What may be a secret is nowhere, its line neither. */
    if (strstr(fb_config_report_text(&report), "CANARY9f3a"))
        fail_msg("%s: %s", name, report.text.bytes);
    fb_buffer_fini(&told);
    fb_config_report_fini(&report);
}

static void every_bad_file_has_its_sentences(void **state)
{
    (void)state;
    assert_at_least(each_file("bad", expect_told), BAD_LEAST);
}

/* ----------------------------------------------------------------------------------------- good */

static struct config *load_right(const char *name, const char *bytes, size_t size)
{
    struct config_report report = {0};
    struct config *c = NULL;

    if (load(name, bytes, size, &report, &c) < 0)
        fail_msg("%s", fb_config_report_text(&report));
    fb_config_report_fini(&report);
    return c;
}

static void print_change(void *to, const struct config_change *change)
{
    (void)to;
    print_error("%s differs\n", change->path);
}

/* The same values, the same pools in the same order, no difference. */
static void expect_same(const char *name, const struct config *a, const struct config *b)
{
    if (!fb_tree_is_same(a->tree, b->tree) || fb_config_diff(a, b, print_change, NULL) != 0)
        fail_msg("%s: does not load back to the same", name);
    assert_int_equal(a->provider_count, b->provider_count);
    for (size_t i = 0; i < a->provider_count; i++) {
        assert_string_equal(a->provider[i].name, b->provider[i].name);
        assert_string_equal(a->provider[i].limit, b->provider[i].limit);
        for (size_t k = 0; k < a->provider[i].pool_count; k++)
            assert_string_equal(a->provider[i].pool[k].name, b->provider[i].pool[k].name);
    }
}

static void expect_back(const char *name)
{
    size_t size;
    const char *bytes = read_file("good", name, ".yaml", &size);
    struct config *c = load_right(name, bytes, size);

    for (int with_origins = 0; with_origins < 2; with_origins++) {
        struct buffer shown = BUFFER_INIT, again = BUFFER_INIT;

        fb_config_show(c, with_origins == 1, &shown);
        struct config *back = load_right(name, shown.bytes, shown.size);
        expect_same(name, c, back);
        if (with_origins == 0) {
            fb_config_show(back, false, &again);
            assert_string_equal(fb_buffer_text(&again), fb_buffer_text(&shown));
        }
        fb_config_free(back);
        fb_buffer_fini(&shown);
        fb_buffer_fini(&again);
    }
    fb_config_free(c);
}

static void what_is_shown_loads_back(void **state)
{
    (void)state;
    assert_at_least(each_file("good", expect_back), 15);
}

/* The part `config` of the JSON is itself a file. */
static void expect_json(const char *name)
{
    size_t size;
    const char *bytes = read_file("good", name, ".yaml", &size);
    struct config *c = load_right(name, bytes, size);
    struct buffer shown = BUFFER_INIT;
    json_error_t error;

    fb_config_show_json(c, &shown);
    json_t *root = json_loadb(shown.bytes, shown.size, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        fail_msg("%s: %s: %.*s", name, error.text, (int)shown.size, shown.bytes);
    assert_string_equal(json_string_value(json_object_get(root, "schema")), "flyball.config/1");
    char *text = json_dumps(json_object_get(root, "config"), 0);
    struct config *back = load_right(name, text, strlen(text));
    /* Numbers and booleans may be written otherwise; what they say is the same. */
    assert_int_equal(c->provider_count, back->provider_count);
    assert_int_equal(c->retries, back->retries);
    assert_int_equal(c->breaker.counts_429, back->breaker.counts_429);
    assert_int_equal(c->timeouts.total_ns, back->timeouts.total_ns);
    free(text);
    json_decref(root);
    fb_config_free(back);
    fb_config_free(c);
    fb_buffer_fini(&shown);
}

static void shown_as_json_it_loads_too(void **state)
{
    (void)state;
    (void)each_file("good", expect_json);
}

/* The n-th allocation fails, for every n: -ENOMEM, nothing lost. */
static void expect_no_memory(const char *name)
{
    size_t size;
    const char *bytes = read_file("good", name, ".yaml", &size);
    int error = -ENOMEM;

    for (size_t n = 1; error == -ENOMEM; n++) {
        struct config_report report = {0};
        struct config *c = NULL;

        fb_alloc_fail_at(n);
        error = load(name, bytes, size, &report, &c);
        fb_alloc_fail_at(0);
        assert_true(error == 0 || error == -ENOMEM);
        fb_config_free(c);
        fb_config_report_fini(&report);
    }
}

static void out_of_memory_is_said_and_nothing_is_lost(void **state)
{
    (void)state;
    (void)each_file("good", expect_no_memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bad_file_has_its_sentences),
        cmocka_unit_test(what_is_shown_loads_back),
        cmocka_unit_test(shown_as_json_it_loads_too),
        cmocka_unit_test(out_of_memory_is_said_and_nothing_is_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
