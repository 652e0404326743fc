/* SPDX-License-Identifier: MIT */
/* YAML with its guards: what comes through, what is refused, and where that is said to be. */
#include "config_rig.h"

#include <errno.h>
#include <unistd.h>

#include "util/alloc.h"

static void a_tree_that_knows_its_places(void **state)
{
    static const char text[] = "title: x y\n"
                               "list:\n"
                               "  - a\n"
                               "  - name: 'b'\n"
                               "    path: /c\n"
                               "  - [d, {e: f}]\n"
                               "empty:\n";
    struct told told;
    struct mistakes m = mistakes_into(&told);
    struct yaml_node *root = NULL;

    (void)state;
    assert_int_equal(fb_yaml_read(text, sizeof text - 1, &m, &root), 0);
    assert_int_equal(m.count, 0);
    assert_int_equal(root->kind, YAML_MAP);
    const struct yaml_node *n = root->child;
    assert_string_equal(n->key, "title");
    assert_string_equal(n->text, "x y");
    assert_int_equal(n->at.column, 8);
    n = n->next;
    assert_int_equal(n->kind, YAML_LIST);
    assert_string_equal(n->child->text, "a");
    assert_null(n->child->key);
    assert_int_equal(n->child->at.line, 3);
    assert_int_equal(n->child->at.column, 5);
    assert_string_equal(n->child->next->child->next->key, "path");
    assert_int_equal(n->child->next->child->next->key_at.line, 5);
    assert_string_equal(n->child->next->next->child->next->child->text, "f");
    n = n->next;
    assert_string_equal(n->text, "");
    assert_int_equal(n->at.line, 7);
    assert_int_equal(n->at.column, 1);
    assert_null(n->next);
    fb_yaml_free(root);
    fb_yaml_free(NULL);
}

static void refused(void **state)
{
    static const struct {
        const char *text;
        const char *told;
    } rows[] = {
        {"", "f.yaml: nothing in it\n"},
        {"# only this\n", "f.yaml: nothing in it\n"},
        {"a: [1, 2\nb: 3\n",
         "f.yaml:3:1: flow sequence without a closing bracket, in what begins at 1:4\n"},
        {"a: 1\nb: 2\na: 3\n", "f.yaml:3:1: 'a' for the second time; the first is in line 1\n"},
        {"a: &x 1\nb: *x\n", "f.yaml:1:7: anchors and aliases are not used here\n"},
        {"b: *x\n", "f.yaml:1:5: anchors and aliases are not used here\n"},
        {"a: !!int 1\n", "f.yaml:1:10: tags are not used here\n"},
        {"a: !x [1]\n", "f.yaml:1:7: tags are not used here\n"},
        {"a: 1\n---\nb: 1\n", "f.yaml:2:1: a second document\n"},
        {"{a: 1}: 2\n", "f.yaml:1:1: a key has to be a plain text\n"},
        {"? [a]\n: 2\n", "f.yaml:1:3: a key has to be a plain text\n"},
        {"a:\n\t- b\n",
         "f.yaml:2:1: tab character may not be used as indentation, in what begins at 1:1\n"},
        {"a: \377\n", "f.yaml:1:4: not UTF-8\n"},
        {"a: b\nc: \"\\0\"\n", "f.yaml:2:5: a NUL byte\n"},
        {"\"a\\e[2J\": 1\n\"a\\e[2J\": 2\n",
         "f.yaml:2:2: 'a?[2J' for the second time; the first is in line 1\n"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct told told;
        struct mistakes m = mistakes_into(&told);
        struct yaml_node *root = NULL;
        assert_int_equal(fb_yaml_read(rows[i].text, strlen(rows[i].text), &m, &root), -EINVAL);
        assert_null(root);
        assert_int_equal(m.count, 1);
        assert_string_equal(told.lines, rows[i].told);
    }
}

static void assert_refused(const char *bytes, size_t size, const char *part)
{
    struct told told;
    struct mistakes m = mistakes_into(&told);
    struct yaml_node *root = NULL;

    assert_int_equal(fb_yaml_read(bytes, size, &m, &root), -EINVAL);
    assert_contains(told.lines, part);
}

static void what_is_too_much_is_refused(void **state)
{
    char *large = malloc(FB_YAML_SIZE_MAX + 1);

    (void)state;
    assert_non_null(large);
    memset(large, 'a', FB_YAML_SIZE_MAX + 1);
    assert_refused(large, FB_YAML_SIZE_MAX + 1, "f.yaml: larger than 1048576 bytes");
    assert_refused("a: b\0c", 6, "f.yaml:1:5: a NUL byte");

    memset(large, '[', FB_YAML_DEPTH_MAX + 1);
    assert_refused(large, FB_YAML_DEPTH_MAX + 1,
                   "f.yaml:1:33: more than 32 maps and lists within each other");
    size_t length = 0;
    for (int i = 0; i <= FB_YAML_KEYS_MAX; i++)
        length += (size_t)snprintf(large + length, 32, "k%d: x\n", i);
    assert_refused(large, length, "f.yaml:1001:1: more than 1000 keys");
    free(large);
}

/* However memory runs out: no leak, no tree, no sentence about a mistake that is none. */
static void memory_may_be_out_at_any_time(void **state)
{
    static const char text[] = "a: [b, {c: d}]\ne: f\n";

    (void)state;
    for (size_t n = 1;; n++) {
        struct told told;
        struct mistakes m = mistakes_into(&told);
        struct yaml_node *root = NULL;
        fb_alloc_fail_at(n);
        int result = fb_yaml_read(text, sizeof text - 1, &m, &root);
        fb_alloc_fail_at(0);
        assert_int_equal(m.count, 0);
        if (result == 0) {
            assert_true(n > 10);
            fb_yaml_free(root);
            return;
        }
        assert_int_equal(result, -ENOMEM);
        assert_null(root);
    }
}

static void files(void **state)
{
    char path[] = "/tmp/flyball-yaml-XXXXXX";
    int file = mkstemp(path);
    struct told told;
    struct mistakes m = mistakes_into(&told);
    struct yaml_node *root = NULL;

    (void)state;
    assert_true(file >= 0);
    assert_int_equal(write(file, "a: b\n", 5), 5);
    close(file);
    m.file = path;
    assert_int_equal(fb_yaml_load(&m, &root), 0);
    assert_string_equal(root->child->text, "b");
    fb_yaml_free(root);
    fb_alloc_fail_at(1);
    assert_int_equal(fb_yaml_load(&m, &root), -ENOMEM);
    fb_alloc_fail_at(0);
    unlink(path);

    assert_int_equal(fb_yaml_load(&m, &root), -EINVAL);
    assert_contains(told.lines, ": No such file or directory\n");
    m.file = "/";
    assert_int_equal(fb_yaml_load(&m, &root), -EINVAL);
    assert_contains(told.lines, "/: Is a directory\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_that_knows_its_places),
        cmocka_unit_test(refused),
        cmocka_unit_test(what_is_too_much_is_refused),
        cmocka_unit_test(memory_may_be_out_at_any_time),
        cmocka_unit_test(files),
    };

    return cmocka_run_group_tests_name("yaml", tests, NULL, NULL);
}
