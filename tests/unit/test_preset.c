/* SPDX-License-Identifier: MIT */
/* Presets: the table that was made from presets/, and how it is searched. */
#include "unit.h"

#include <errno.h>

#include "core/spec.h"
#include "signal/preset.h"

static const struct preset *get(const char *name)
{
    const struct preset *p = fb_preset_find(fb_slice_of(name));

    if (!p)
        fail_msg("no preset %s", name);
    return p;
}

/* The pool of a request to a preset by its name; "-" where there is none. */
static const char *pool(const char *preset, const char *method, const char *path)
{
    const struct preset_pool *row =
        fb_preset_pool(get(preset), fb_slice_of(method), fb_slice_of(path));

    return row ? row->name : "-";
}

static void assert_limit(const char *text)
{
    struct fly_error err = {""};
    struct spec spec;

    if (text && fb_spec_read(text, &spec, &err) < 0)
        fail_msg("%s: %s", text, err.text);
}

static void every_limit_can_be_read(void **state)
{
    (void)state;
    assert_true(fb_preset_count >= 12);
    for (size_t i = 0; i < fb_preset_count; i++) {
        const struct preset *p = &fb_presets[i];
        assert_limit(p->limit);
        for (size_t k = 0; k < p->pool_count; k++)
            assert_limit(p->pool[k].limit);
    }
}

static void every_preset_is_found_by_its_name_and_hosts(void **state)
{
    (void)state;
    for (size_t i = 0; i < fb_preset_count; i++) {
        const struct preset *p = &fb_presets[i];
        assert_ptr_equal(get(p->name), p);
        assert_true(i == 0 || strcmp(fb_presets[i - 1].name, p->name) < 0);
        assert_non_null(p->title);
        for (const char *const *h = p->hosts; *h; h++) {
            char host[256];
            snprintf(host, sizeof host, "%s%s", **h == '*' ? "sub" : "", *h + (**h == '*'));
            assert_ptr_equal(fb_preset_for_host(fb_slice_of(host)), p);
        }
    }
}

static void those_that_are_asked_for_are_there(void **state)
{
    static const char *const names[] = {
        "github", "gitlab",  "openai",  "anthropic", "crossref",  "unpaywall",
        "reddit", "shopify", "discord", "slack",     "wikimedia", "ncbi",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        get(names[i]);
    assert_ptr_equal(fb_preset_find(FB_SLICE("GitHub")), get("github"));
    assert_null(fb_preset_find(FB_SLICE("githu")));
    assert_null(fb_preset_find(FB_SLICE("githubb")));
    assert_null(fb_preset_find(FB_SLICE("")));
}

static void units_that_no_rule_can_tell(void **state)
{
    (void)state;
    assert_int_equal(get("gitlab")->reset, RESET_EPOCH_S);
    assert_int_equal(get("azure-openai")->reset, RESET_DELTA_MS);
    assert_int_equal(get("prisjakt")->reset, RESET_DELTA_MS);
    assert_int_equal(get("reddit")->reset, RESET_DELTA_S);
    assert_int_equal(get("linear")->reset, RESET_EPOCH_MS);
    assert_int_equal(get("crossref")->reset, RESET_BY_SIZE);
    assert_int_equal(get("slack")->retry, RESET_DELTA_S);
    assert_string_equal(get("github")->quota_path, "/rate_limit");
    assert_null(get("gitlab")->quota_path);
    assert_true(get("github")->unmodified_free);
    assert_false(get("gitlab")->unmodified_free);
}

static void hosts(void **state)
{
    static const struct {
        const char *host;
        const char *name; /* NULL: of nobody */
    } rows[] = {
        {"api.github.com", "github"},
        {"API.GitHub.COM", "github"},
        {"api.github.com.", "github"},
        {"github.com", NULL},
        {"xapi.github.com", NULL},
        {"x.api.github.com", NULL},
        {"api.github.com.evil.example", NULL},
        {"some-shop.myshopify.com", "shopify"},
        {"a.b.myshopify.com", "shopify"},
        {"a.myshopify.com", "shopify"},
        {"myshopify.com", NULL},
        {".myshopify.com", NULL},
        {"evilmyshopify.com", NULL},
        {"en.wikipedia.org", "wikimedia"},
        {"wikipedia.org", NULL},
        {"", NULL},
        {".", NULL},
        {"localhost", NULL},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct preset *p = fb_preset_for_host(fb_slice_of(rows[i].host));
        if (p != (rows[i].name ? get(rows[i].name) : NULL))
            fail_msg("%s: %s", rows[i].host, p ? p->name : "nobody");
    }
    assert_null(fb_preset_for_host((struct slice){NULL, 0}));
}

static void pools(void **state)
{
    (void)state;
    assert_string_equal(pool("github", "GET", "/search/code"), "code_search");
    assert_string_equal(pool("github", "GET", "/search/code?q=x/y"), "code_search");
    assert_string_equal(pool("github", "GET", "/search/codes"), "search");
    assert_string_equal(pool("github", "GET", "/search/issues"), "search");
    assert_string_equal(pool("github", "GET", "/search"), "search");
    assert_string_equal(pool("github", "GET", "/search/"), "search");
    assert_string_equal(pool("github", "GET", "/search#x"), "search");
    assert_string_equal(pool("github", "GET", "/searching"), "core");
    assert_string_equal(pool("github", "GET", "/Search"), "core");
    assert_string_equal(pool("github", "GET", "/"), "core");
    assert_string_equal(pool("github", "GET", ""), "core");
    assert_string_equal(pool("github", "GET", "/repos/a/b/dependency-graph/sbom"),
                        "dependency_sbom");
    assert_string_equal(pool("github", "GET", "/repos/a/dependency-graph/sbom"), "core");
    assert_string_equal(pool("github", "GET", "/repos/a//dependency-graph/sbom"), "core");
    assert_string_equal(pool("github", "POST", "/repos/a/b/dependency-graph/snapshots"),
                        "dependency_snapshots");
    assert_string_equal(pool("github", "post", "/repos/a/b/dependency-graph/snapshots"),
                        "dependency_snapshots");
    assert_string_equal(pool("github", "GET", "/repos/a/b/dependency-graph/snapshots"), "core");
    assert_string_equal(pool("anthropic", "POST", "/v1/messages"), "messages");
    assert_string_equal(pool("anthropic", "POST", "/v1/messages/count_tokens"), "count_tokens");
    assert_string_equal(pool("anthropic", "GET", "/v1/models"), "-");
    assert_string_equal(pool("openai", "GET", "/v1/models"), "-");
}

static void a_slash_at_the_end_asks_for_more(void **state)
{
    static const struct preset_pool rows[] = {
        {"below", NULL, "/a/", NULL}, {"odd", NULL, "b", NULL}, {"one", NULL, "/x", NULL}};
    static const struct preset p = {.name = "p", .pool = rows, .pool_count = 3};

    (void)state;
    assert_null(fb_preset_pool(&p, FB_SLICE("GET"), FB_SLICE("/a")));
    assert_ptr_equal(fb_preset_pool(&p, FB_SLICE("GET"), FB_SLICE("/a/b")), &rows[0]);
    assert_ptr_equal(fb_preset_pool(&p, FB_SLICE("GET"), FB_SLICE("/a/")), &rows[0]);
    assert_null(fb_preset_pool(&p, FB_SLICE("GET"), FB_SLICE("/b")));
    assert_null(fb_preset_pool(&p, FB_SLICE("GET"), FB_SLICE("b")));
    assert_null(fb_preset_pool(&p, FB_SLICE("GET"), FB_SLICE("/y")));
    assert_ptr_equal(fb_preset_pool(&p, FB_SLICE("GET"), FB_SLICE("/x/y")), &rows[2]);
}

static void what_embedders_are_told(void **state)
{
    struct fly_preset p = {.size = sizeof p};
    struct fly_preset small = {.size = sizeof small - 1};

    (void)state;
    assert_int_equal(fly_preset_find("github", &p), 0);
    assert_string_equal(p.name, "github");
    assert_string_equal(p.title, "GitHub");
    assert_string_equal(p.quota_path, "/rate_limit");
    assert_string_equal(p.limit, get("github")->limit);
    assert_null(p.pool);
    assert_int_equal(strncmp(p.documentation, "https://", 8), 0);
    assert_int_equal(fly_preset_for("api.github.com", "POST", "/graphql", &p), 0);
    assert_string_equal(p.pool, "graphql");
    assert_string_not_equal(p.limit, get("github")->limit);
    fly_limiter_free(limiter(p.limit, 0));
    assert_int_equal(fly_preset_for("api.github.com", "GET", "/search/users?q=x", &p), 0);
    assert_string_equal(p.pool, "search");
    assert_string_equal(p.limit, get("github")->limit);
    assert_int_equal(fly_preset_for("api.crossref.org", "GET", "/works", &p), 0);
    assert_null(p.limit);

    assert_int_equal(fly_preset_find("nobody", &p), -ENOENT);
    assert_int_equal(fly_preset_for("nobody.example", "GET", "/", &p), -ENOENT);
    assert_string_equal(p.name, "crossref");
    assert_int_equal(fly_preset_find("github", &small), -EINVAL);
    assert_null(small.name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_limit_can_be_read),
        cmocka_unit_test(every_preset_is_found_by_its_name_and_hosts),
        cmocka_unit_test(those_that_are_asked_for_are_there),
        cmocka_unit_test(units_that_no_rule_can_tell),
        cmocka_unit_test(hosts),
        cmocka_unit_test(pools),
        cmocka_unit_test(a_slash_at_the_end_asks_for_more),
        cmocka_unit_test(what_embedders_are_told),
    };

    return cmocka_run_group_tests_name("preset", tests, NULL, NULL);
}
