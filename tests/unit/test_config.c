/* SPDX-License-Identifier: MIT */
/* The configuration: what is read from which source, and the defaults. */
#include "unit.h"

#include <errno.h>

#include "config/config.h"
#include "util/alloc.h"

static struct config *load_from(const struct config_sources *from)
{
    static struct config_report report;
    struct config *c = NULL;

    fb_config_report_fini(&report);
    if (fb_config_load(from, &report, &c) < 0)
        fail_msg("%s", fb_config_report_text(&report));
    fb_config_report_fini(&report);
    return c;
}

static struct config *load(const char *text)
{
    return load_from(
        &(struct config_sources){.file = "f.yaml", .bytes = text, .size = strlen(text)});
}

static void nothing_said_is_all_defaults(void **state)
{
    struct config *c = load("");

    (void)state;
    assert_int_equal(c->provider_count, 0);
    assert_string_equal(c->limit, "");
    assert_int_equal(c->timeouts.connect_ns, 10 * S);
    assert_int_equal(c->answers.body_bytes_max, 64 << 20);
    assert_string_equal(c->listeners.public.listen, "127.0.0.1:8080");
    assert_int_equal(c->alerts.warning_ppm, 800000);
    assert_null(c->recovery[0]);
    fb_config_free(c);
}

static void a_preset_says_what_the_file_does_not(void **state)
{
    struct config *c = load("providers:\n"
                            "  github:\n"
                            "    rate: 5/s\n"
                            "    pools:\n"
                            "      mine: {path: /mine, limit: window=3/1m}\n"
                            "      search: {limit: concurrency=2}\n"
                            "    credentials:\n"
                            "      main: {env: GITHUB_TOKEN}\n");
    const struct config_provider *p = fb_config_provider(c, "GitHub");

    (void)state;
    assert_non_null(p);
    assert_true(p->enabled);
    assert_string_equal(p->preset->name, "github");
    assert_string_equal(p->hosts[0], "api.github.com");
    assert_string_equal(p->limit, "rate=5/s window=900/1m concurrency=100");
    assert_string_equal(p->quota_path, "/rate_limit");
    assert_string_equal(p->pool[0].name, "mine");
    assert_string_equal(p->pool[1].name, "code_search");
    assert_string_equal(p->pool[2].name, "search");
    assert_string_equal(p->pool[2].limit, "concurrency=2");
    assert_string_equal(p->pool[p->pool_count - 1].name, "core");
    assert_string_equal(p->credential[0].secret.env, "GITHUB_TOKEN");
    assert_string_equal(p->credential[0].scheme, "Bearer");
    fb_config_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_said_is_all_defaults),
        cmocka_unit_test(a_preset_says_what_the_file_does_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
