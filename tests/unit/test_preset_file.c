/* SPDX-License-Identifier: MIT */
/* Preset files: a right one, and the sentence for each way to be wrong. */
#include "config_rig.h"

#include <errno.h>

#include "config/preset_file.h"
#include "util/alloc.h"

#define HEAD "title: T\ndocumentation: https://x\nhosts: [a.example]\n" /* three lines */

static int read_text(const char *text, struct mistakes *m, struct preset_file *ret_file)
{
    struct yaml_node *root;
    int error = fb_yaml_read(text, strlen(text), m, &root);

    if (error)
        return error;
    error = fb_preset_file_read(root, "name", m, ret_file);
    if (error)
        fb_yaml_free(root);
    return error;
}

static const char whole[] = HEAD "quota: /rate\n"
                                 "unmodified: free\n"
                                 "reset: epoch-milliseconds\n"
                                 "retry: milliseconds\n"
                                 "contact: asked\n"
                                 "limit: rate=5/s burst=2\n"
                                 "pools:\n"
                                 "  - name: search\n"
                                 "    method: GET\n"
                                 "    path: /s/*\n"
                                 "    limit: window=30/1m\n"
                                 "  - {name: rest}\n";

static void a_whole_file(void **state)
{
    struct told told;
    struct mistakes m = mistakes_into(&told);
    struct preset_file f = {0};

    (void)state;
    assert_int_equal(read_text(whole, &m, &f), 0);
    assert_string_equal(f.preset.name, "name");
    assert_string_equal(f.preset.title, "T");
    assert_string_equal(f.preset.documentation, "https://x");
    assert_string_equal(f.preset.hosts[0], "a.example");
    assert_null(f.preset.hosts[1]);
    assert_string_equal(f.preset.quota_path, "/rate");
    assert_true(f.preset.unmodified_free);
    assert_int_equal(f.preset.reset, RESET_EPOCH_MS);
    assert_int_equal(f.preset.retry, RESET_DELTA_MS);
    assert_true(f.preset.asks_contact);
    assert_string_equal(f.preset.limit, "rate=5/s burst=2");
    assert_int_equal(f.preset.pool_count, 2);
    assert_string_equal(f.preset.pool[0].name, "search");
    assert_string_equal(f.preset.pool[0].method, "GET");
    assert_string_equal(f.preset.pool[0].path, "/s/*");
    assert_string_equal(f.preset.pool[0].limit, "window=30/1m");
    assert_null(f.preset.pool[1].limit);
    fb_preset_file_fini(&f);
}

static const struct {
    const char *text;
    const char *told;
} wrong[] = {
    {"[]\n", "f.yaml:1:1: expected keys and values, such as 'title: ...'\n"},
    {"{}\n", "f.yaml:1:1: 'title' is missing\nf.yaml:1:1: 'documentation' is missing\n"
             "f.yaml:1:1: 'hosts' is missing\n"},
    {HEAD "limti: rate=5/s\n",
     "f.yaml:4:1: unknown key 'limti', expected one of title, documentation, hosts, quota, "
     "unmodified, reset, retry, contact, limit, pools (did you mean 'limit'?)\n"},
    {HEAD "owner: me\n",
     "f.yaml:4:1: unknown key 'owner', expected one of title, documentation, hosts, quota, "
     "unmodified, reset, retry, contact, limit, pools\n"},
    {HEAD "limit: rate=fast\n",
     "f.yaml:4:8: rate=fast: not understood, expected a rate such as 10/s\n"},
    {HEAD "limit: [rate=5/s]\n", "f.yaml:4:8: expected a limit text such as window=5000/1h\n"},
    {HEAD "limit:\n", "f.yaml:4:1: expected a limit text such as window=5000/1h\n"},
    {HEAD "quota: rate\n", "f.yaml:4:8: 'rate' is no path, expected one such as /search\n"},
    {HEAD "quota: /a?b\n", "f.yaml:4:8: '/a?b' is no path, expected one such as /search\n"},
    {HEAD "reset: minutes\n",
     "f.yaml:4:8: 'minutes' is no unit, expected seconds, milliseconds, epoch-seconds or "
     "epoch-milliseconds\n"},
    {HEAD "unmodified: cheap\n", "f.yaml:4:13: 'cheap': expected free\n"},
    {HEAD "contact: please\n", "f.yaml:4:10: 'please': expected asked\n"},
    {HEAD "retry: {}\n",
     "f.yaml:4:8: expected seconds, milliseconds, epoch-seconds or epoch-milliseconds\n"},
    {HEAD "pools: search\n", "f.yaml:4:8: expected a list of pools, such as '- name: search'\n"},
    {HEAD "pools: []\n", "f.yaml:4:8: expected a list of pools, such as '- name: search'\n"},
    {HEAD "pools:\n  - search\n", "f.yaml:5:5: expected keys and values, such as 'name: ...'\n"},
    {HEAD "pools:\n  - path: /a\n", "f.yaml:5:5: 'name' is missing\n"},
    {HEAD "pools:\n  - {name: a b, method: get, path: a}\n",
     "f.yaml:5:12: 'a b' is no name of a pool, expected one such as search\n"
     "f.yaml:5:25: 'get' is no method, expected one such as GET\n"
     "f.yaml:5:36: 'a' is no path, expected one such as /search\n"},
    {HEAD "pools:\n  - name: a\n  - {name: b, path: /b}\n",
     "f.yaml:6:5: never reached: 'a' before it takes every request\n"},
    {HEAD "pools:\n  - path: /a\n    name:\n  - {name: b}\n",
     "f.yaml:6:5: expected a name such as search\n"},
    {HEAD "pools:\n  - name: []\n  - {name: b}\n",
     "f.yaml:5:11: expected a name such as search\n"
     "f.yaml:6:5: never reached: 'the pool' before it takes every request\n"},
    {HEAD "pools:\n  - {name: a, path: /a, limit: rate=1/s}\n  - {name: a, path: /b}\n",
     "f.yaml:6:5: 'a' has another limit above\n"},
    {HEAD "pools:\n  - {name: a, path: /a, limit: rate=1/s}\n"
          "  - {name: a, path: /b, limit: rate=2/s}\n",
     "f.yaml:6:5: 'a' has another limit above\n"},
    {"title: []\ndocumentation: http://x\nhosts: a.example\n",
     "f.yaml:1:8: expected a name for people\n"
     "f.yaml:2:16: 'http://x': expected an address that begins with https://\n"
     "f.yaml:3:8: expected a list of hosts, such as [api.example.com]\n"},
    {"title: T\ndocumentation:\nhosts: [a.example, localhost, A.example, [], .a.b, a.b., a..b, "
     "'*.com', '*', 'a*.b.c', https://a.b]\n",
     "f.yaml:2:1: expected an address that begins with https://\n"
     "f.yaml:3:20: 'localhost' is no host, expected a host such as api.example.com or "
     "*.example.com\n"
     "f.yaml:3:31: 'A.example' is no host"},
};

static void every_mistake_is_told_with_its_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct told told;
        struct mistakes m = mistakes_into(&told);
        struct preset_file f;
        assert_int_equal(read_text(wrong[i].text, &m, &f), -EINVAL);
        if (strncmp(told.lines, wrong[i].told, strlen(wrong[i].told)) != 0)
            fail_msg("%s\ntold: %s\nnot:  %s", wrong[i].text, told.lines, wrong[i].told);
    }
}

static void all_wrong_hosts_are_told(void **state)
{
    struct told told;
    struct mistakes m = mistakes_into(&told);
    struct preset_file f;

    (void)state;
    assert_int_equal(read_text(wrong[COUNT_OF(wrong) - 1].text, &m, &f), -EINVAL);
    assert_int_equal(m.count, 11);
}

static void one_pool_may_have_several_rows(void **state)
{
    struct told told;
    struct mistakes m = mistakes_into(&told);
    struct preset_file f = {0};

    (void)state;
    assert_int_equal(read_text(HEAD "pools:\n  - {name: a, path: /a, limit: rate=1/s}\n"
                                    "  - {name: a, path: /b, limit: rate=1/s}\n"
                                    "  - {name: c, path: /c}\n  - {name: c, path: /d}\n",
                               &m, &f),
                     0);
    fb_preset_file_fini(&f);
}

static void the_name_is_checked_too(void **state)
{
    struct told told;
    struct mistakes m = mistakes_into(&told);
    struct preset_file f;
    struct yaml_node *root;

    (void)state;
    assert_int_equal(fb_yaml_read(HEAD, sizeof HEAD - 1, &m, &root), 0);
    assert_int_equal(fb_preset_file_read(root, "My API", &m, &f), -EINVAL);
    assert_string_equal(told.lines,
                        "f.yaml: expected a file name of small letters, digits and -\n");
    fb_yaml_free(root);
}

static void memory_may_be_out_at_any_time(void **state)
{
    (void)state;
    for (size_t n = 1;; n++) {
        struct told told;
        struct mistakes m = mistakes_into(&told);
        struct preset_file f = {0};
        fb_alloc_fail_at(n);
        int result = read_text(whole, &m, &f);
        fb_alloc_fail_at(0);
        assert_int_equal(m.count, 0);
        if (result == 0) {
            assert_true(n > 20);
            fb_preset_file_fini(&f);
            return;
        }
        assert_int_equal(result, -ENOMEM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_file),
        cmocka_unit_test(every_mistake_is_told_with_its_place),
        cmocka_unit_test(all_wrong_hosts_are_told),
        cmocka_unit_test(one_pool_may_have_several_rows),
        cmocka_unit_test(the_name_is_checked_too),
        cmocka_unit_test(memory_may_be_out_at_any_time),
    };

    return cmocka_run_group_tests_name("preset_file", tests, NULL, NULL);
}
