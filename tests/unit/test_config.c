/* SPDX-License-Identifier: MIT */
/* The configuration: what is read from which source, and the defaults. */
#include "unit.h"

#include <errno.h>

#include "config/config.h"
#include "config/diff.h"
#include "config/show.h"
#include "config/table.h"
#include "engine/configure.h"

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
    assert_true(p->unmodified_free);
    assert_string_equal(p->pool[0].name, "mine");
    assert_string_equal(p->pool[1].name, "code_search");
    assert_string_equal(p->pool[2].name, "search");
    assert_string_equal(p->pool[2].limit, "concurrency=2");
    assert_string_equal(p->pool[p->pool_count - 1].name, "core");
    assert_string_equal(p->credential[0].secret.env, "GITHUB_TOKEN");
    assert_string_equal(p->credential[0].scheme, "Bearer");
    fb_config_free(c);
}

/* --------------------------------------------------------------------------------- precedence */

static const char file[] = "providers:\n"
                           "  github:\n"
                           "    limit: rate=5/s burst=7\n"
                           "    pools:\n"
                           "      My-Pool.a: {path: /a, rate: 1/s}\n"
                           "retries: 3\n";

static struct config *load_with(const char *text, const char *const *environment,
                                const char *const *flags)
{
    return load_from(&(struct config_sources){.file = "f.yaml",
                                              .bytes = text,
                                              .size = strlen(text),
                                              .environment = environment,
                                              .flags = flags});
}

static void expect_origin(const struct config *c, const struct yaml_node *n, const char *expected)
{
    struct buffer origin = BUFFER_INIT;

    assert_non_null(n);
    fb_config_origin(c, n, &origin);
    assert_string_equal(fb_buffer_text(&origin), expected);
    fb_buffer_fini(&origin);
}

/* The value at "providers.github.limit" and the like. */
static const struct yaml_node *at(const struct config *c, const char *path)
{
    const struct yaml_node *n = c->tree;
    char part[64];

    while (*path && n) {
        size_t size = strcspn(path, "/");
        (void)snprintf(part, sizeof part, "%.*s", (int)size, path);
        n = fb_tree_find(n, part);
        path += size + (path[size] == '/');
    }
    return n;
}

static void flag_over_environment_over_file_over_preset_over_default(void **state)
{
    const char *const environment[] = {"FLYBALL_PROVIDERS__GITHUB__RATE=4/s",
                                       "FLYBALL_RETRIES=9",
                                       "FLYBALL_TIMEOUTS__CONNECT=3s",
                                       "FLYBALL_LEDGER=/x",
                                       "PATH=/bin",
                                       "FLYBALL_SEED=5",
                                       "FLYBALL_MODE=",
                                       NULL};
    const char *const flags[] = {"timeouts.connect=2s", NULL};
    struct config *c = load_with(file, environment, flags);

    (void)state;
    assert_string_equal(c->provider[0].limit, "rate=4/s burst=7 window=900/1m concurrency=100");
    assert_int_equal(c->retries, 9);
    assert_int_equal(c->timeouts.connect_ns, 2 * S);
    assert_int_equal(c->timeouts.idle_ns, 30 * S);
    assert_null(c->ledger.path);
    expect_origin(c, at(c, "timeouts/connect"), "flag --set timeouts.connect");
    expect_origin(c, at(c, "providers/github/limit/rate"),
                  "environment FLYBALL_PROVIDERS__GITHUB__RATE");
    expect_origin(c, at(c, "providers/github/limit/burst"), "f.yaml:3:21");
    expect_origin(c, at(c, "providers/github/limit/window"), "preset github");
    expect_origin(c, at(c, "timeouts/idle"), "default");
    fb_config_free(c);
}

static void a_whole_limit_in_the_environment_comes_before_its_words(void **state)
{
    const char *const environment[] = {"FLYBALL_PROVIDERS__GITHUB__LIMIT__BURST=3",
                                       "FLYBALL_PROVIDERS__GITHUB__LIMIT=rate=2/s burst=1", NULL};
    struct config *c = load_with(file, environment, NULL);

    (void)state;
    assert_string_equal(c->provider[0].limit, "rate=2/s burst=3 window=900/1m concurrency=100");
    fb_config_free(c);
}

static void names_are_found_whatever_their_case_and_signs(void **state)
{
    const char *const environment[] = {"FLYBALL_PROVIDERS__GITHUB__POOLS__MY_POOL_A__RATE=3/s",
                                       "FLYBALL_PROVIDERS__NEW_ONE__HOSTS=[a.example, b.example]",
                                       NULL};
    struct config *c = load_with(file, environment, NULL);
    const struct config_provider *p = fb_config_provider(c, "new_one");

    (void)state;
    assert_string_equal(c->provider[0].pool[0].name, "My-Pool.a");
    assert_string_equal(c->provider[0].pool[0].limit, "rate=3/s");
    assert_non_null(p);
    assert_string_equal(p->hosts[1], "b.example");
    fb_config_free(c);
}

static void a_provider_may_be_said_as_a_whole(void **state)
{
    const char *const flags[] = {"providers.a={rate: 0.5/s, pools: {x: {path: /x, rate: 1/s}}}",
                                 NULL};
    struct config *c = load_with("providers:\n  a: {rate: 9/s}\n", NULL, flags);

    (void)state;
    assert_string_equal(c->provider[0].limit, "rate=0.5/s");
    assert_string_equal(c->provider[0].pool[0].limit, "rate=1/s");
    fb_config_free(c);
}

static void an_environment_alone_is_enough(void **state)
{
    const char *const environment[] = {"FLYBALL_PROVIDERS__GITHUB__RATE=1/s", NULL};
    struct config *c = load_from(&(struct config_sources){.environment = environment});

    (void)state;
    assert_string_equal(c->provider[0].hosts[0], "api.github.com");
    assert_null(c->file);
    fb_config_free(c);
}

static void older_names_are_understood(void **state)
{
    const char *const environment[] = {"PACING__RESERVE_BUFFER_PCT=0.125",
                                       "PACING__MAX_CONCURRENT=5",
                                       "PACING__MIN_REQUEST_INTERVAL_MS=20",
                                       "PACING__MAX_REQUEST_INTERVAL_MS=1000",
                                       "PACING__BURST_ALLOWANCE=7",
                                       "PACING__OTHER=1",
                                       NULL};
    struct config *c = load_with("providers:\n  github: {}\n  a: {limit: {reserve: 1%}}\n"
                                 "  b: {limit: pacing=demand}\n",
                                 environment, NULL);

    (void)state;
    assert_string_equal(c->limit, "reserve=12.5% interval_min=20ms interval_max=1000ms ahead=7 "
                                  "concurrency=5");
    assert_string_equal(c->provider[0].limit, "window=900/1m reserve=12.5% interval_min=20ms "
                                              "interval_max=1000ms ahead=7 concurrency=5");
    assert_string_equal(c->provider[1].limit, "reserve=1% interval_min=20ms interval_max=1000ms "
                                              "ahead=7 concurrency=5");
    assert_string_equal(c->provider[2].limit, "pacing=demand reserve=12.5% concurrency=5");
    fb_config_free(c);
}

static void an_older_name_that_is_none_is_warned_of(void **state)
{
    const char *const environment[] = {"PACING__MAX_CONCURRENCY=5", "PACING__MAX_CONCURRENT=6",
                                       NULL};
    struct config_report report = {0};
    struct config *c = NULL;

    (void)state;
    assert_int_equal(
        fb_config_load(&(struct config_sources){.environment = environment}, &report, &c), 0);
    assert_string_equal(c->limit, "concurrency=6");
    assert_int_equal(report.warnings, 1);
    assert_string_equal(fb_config_report_text(&report),
                        "environment PACING__MAX_CONCURRENCY: warning: no such name, expected "
                        "PACING__ and one of MIN_REQUEST_INTERVAL_MS, MAX_REQUEST_INTERVAL_MS, "
                        "RESERVE_BUFFER_PCT, BURST_ALLOWANCE, MAX_CONCURRENT\n");
    fb_config_report_fini(&report);
    fb_config_free(c);
}

/* ------------------------------------------------------------------------------------ mistakes */

static void expect_mistake(const struct config_sources *from, const char *text)
{
    struct config_report report = {0};
    struct config *c = NULL;

    assert_int_equal(fb_config_load(from, &report, &c), -EINVAL);
    if (strcmp(fb_config_report_text(&report), text) != 0)
        fail_msg("told: %s\nnot:  %s", fb_config_report_text(&report), text);
    fb_config_report_fini(&report);
}

static void mistakes_have_their_line_and_a_caret(void **state)
{
    static const char bytes[] = "# \xc3\xbc\nmode: \"\xc3\xbc\"\n";

    (void)state;
    expect_mistake(
        &(struct config_sources){.file = "f.yaml", .bytes = bytes, .size = strlen(bytes)},
        "f.yaml:2:8: mode: expected graceful, strict or offline, found \"\xc3\xbc\"\n"
        "    2 | mode: \"\xc3\xbc\"\n"
        "      |        ^\n");
}

static void mistakes_outside_of_the_file_say_where(void **state)
{
    const char *const environment[] = {"FLYBALL_MODE=fast", "FLYBALL_PROVIDERS__A__HOSTS=[a", NULL};
    const char *const flags[] = {"retries", "a.b.c.d.e.f.g.h.i=1", "log.levle=info", NULL};

    (void)state;
    expect_mistake(&(struct config_sources){.environment = environment},
                   "environment FLYBALL_PROVIDERS__A__HOSTS: expected a list or a map such as "
                   "[a, b] or {a: b}\n"
                   "environment FLYBALL_PROVIDERS__A__HOSTS: hosts: expected a host such as "
                   "api.example.com or *.example.com, found nothing\n"
                   "environment FLYBALL_MODE: mode: expected graceful, strict or offline, found "
                   "\"fast\"\n");
    expect_mistake(&(struct config_sources){.flags = flags},
                   "flag --set retries: expected a key and a value such as "
                   "providers.github.rate=5/s\n"
                   "flag --set a.b.c.d.e.f.g.h.i: expected a key and a value such as "
                   "providers.github.rate=5/s\n"
                   "flag --set log.levle: unknown key 'levle', expected one of form, level, file, "
                   "audit (did you mean 'level'?)\n");
}

static void a_missing_file_is_missing(void **state)
{
    (void)state;
    expect_mistake(&(struct config_sources){.file = "/nowhere/f.yaml"},
                   "/nowhere/f.yaml: there is no such file\n");
    expect_mistake(&(struct config_sources){.file = "/"}, "/: cannot be read: Is a directory\n");
}

/* Bombs: refused before they cost anything. */
static void bombs_are_refused(void **state)
{
    static char large[FB_YAML_SIZE_MAX + 2];
    struct config_sources from = {.file = "f.yaml", .bytes = large};
    struct config_report report = {0};
    struct config *c = NULL;

    (void)state;
    memset(large, '[', sizeof large);
    from.size = sizeof large;
    expect_mistake(&from, "f.yaml: larger than 1048576 bytes\n");
    from.size = FB_YAML_SIZE_MAX;
    assert_int_equal(fb_config_load(&from, &report, &c), -EINVAL);
    assert_int_equal(report.mistakes, 1);
    fb_config_report_fini(&report);
    for (size_t i = 0; i < sizeof large; i++) /* a key, again and again */
        large[i] = "a:\n"[i % 3];
    from.size = FB_YAML_SIZE_MAX - FB_YAML_SIZE_MAX % 3;
    assert_int_equal(fb_config_load(&from, &report, &c), -EINVAL);
    assert_int_equal(report.mistakes, FB_YAML_DOUBLES_MAX);
    fb_config_report_fini(&report);
}

static void of_many_mistakes_the_first_are_told(void **state)
{
    struct config_report report = {0};
    struct buffer text = BUFFER_INIT;
    struct config *c = NULL;

    (void)state;
    for (int i = 0; i < 150; i++) {
        fb_buffer_add_text(&text, "k");
        fb_buffer_add_int(&text, i);
        fb_buffer_add_text(&text, ": 1\n");
    }
    struct config_sources from = {.file = "f.yaml", .bytes = text.bytes, .size = text.size};
    assert_int_equal(fb_config_load(&from, &report, &c), -EINVAL);
    assert_int_equal(report.mistakes, 150);
    assert_int_equal(report.kept, FB_REPORT_MAX);
    assert_contains(fb_config_report_text(&report), "and 50 more\n");
    fb_config_report_fini(&report);
    fb_buffer_fini(&text);
}

/* ------------------------------------------------------------------------------------- warnings */

static const struct {
    const char *text;
    const char *told;
} unwise[] = {
    {"providers:\n  a: {rate: 2/s}\n",
     "f.yaml:2:13: warning: rate: above 1/s for an API about which nothing is known"},
    {"providers:\n  a: {rate: 1/s}\n", NULL},
    {"providers:\n  github: {rate: 2/s}\n", NULL},
    {"providers:\n  github: {rate: 20/s}\n",
     "f.yaml:2:18: warning: rate: above what GitHub documents: window=900/1m concurrency=100"},
    {"providers:\n  github: {limit: window=1000/1m}\n",
     "f.yaml:2:19: warning: window: above what GitHub documents: window=900/1m concurrency=100"},
    {"providers:\n  a: {limit: window=10/1s margin=0%}\n",
     "f.yaml:2:27: warning: margin: none is left below the windows"},
    {"providers:\n  ncbi: {}\nconnect: {contact: me@example.com}\n", NULL},
    {"providers:\n  ncbi: {}\n", "f.yaml:2:3: warning: NCBI E-utilities asks who you are: say "
                                 "connect.contact, such as me@example.com"},
};

static void what_is_unwise_is_warned_of(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(unwise); i++) {
        struct config_report report = {0};
        struct config *c = NULL;
        struct config_sources from = {
            .file = "f.yaml", .bytes = unwise[i].text, .size = strlen(unwise[i].text)};

        assert_int_equal(fb_config_load(&from, &report, &c), 0);
        assert_int_equal(report.warnings, unwise[i].told ? 1 : 0);
        if (unwise[i].told)
            assert_string_equal(report.remark[0].sentence, unwise[i].told);
        fb_config_report_fini(&report);
        fb_config_free(c);
    }
}

/* ---------------------------------------------------------------------------------- differences */

static void note_change(void *to, const struct config_change *change)
{
    static const char *const signs[] = {"+", "-", "~"};
    struct buffer *out = to;

    fb_buffer_add_text(out, signs[change->what]);
    fb_buffer_add_text(out, change->path);
    if (change->before || change->after) {
        fb_buffer_add_text(out, " of ");
        fb_buffer_add_text(out, (change->after ? change->after : change->before)->name);
    }
    fb_buffer_add_text(out, change->is_fixed ? " later\n" : "\n");
}

static void expect_diff(const char *before, const char *after, const char *changes)
{
    struct config *a = load(before), *b = load(after);
    struct buffer told = BUFFER_INIT;
    int count = fb_config_diff(a, b, note_change, &told), lines = 0;

    for (const char *c = changes; *c; c++)
        lines += *c == '\n';
    assert_string_equal(fb_buffer_text(&told), changes);
    assert_int_equal(count, lines);
    fb_buffer_fini(&told);
    fb_config_free(a);
    fb_config_free(b);
}

static void differences_are_told_value_by_value(void **state)
{
    (void)state;
    expect_diff(file, file, "");
    expect_diff("retries: 2\n", "# the default\n", "");
    expect_diff("mode: strict\n", "timeouts: {connect: 5s}\nstore: {folder: /x}\n",
                "~mode\n~timeouts.connect\n+store.folder later\n");
    expect_diff("providers:\n  a: {rate: 1/s}\n  b: {}\n",
                "providers:\n  a: {limit: rate=1/s burst=2}\n  c: {enabled: false}\n",
                "~providers.a.limit of a\n-providers.b of b\n+providers.c of c\n");
    expect_diff("providers:\n  a: {pools: {x: {path: /x}, y: {path: /y}}, enabled: false}\n",
                "providers:\n  a: {pools: {y: {path: /y}, x: {path: /x, rate: 1/s}}}\n",
                "~providers.a.enabled of a\n+providers.a.pools.x.limit of a\n");
    expect_diff("providers:\n  a: {pools: {x: {path: /x}, y: {path: /y}}}\n",
                "providers:\n  a: {pools: {y: {path: /y}, x: {path: /x}}}\n",
                "~providers.a.pools of a\n");
    expect_diff("providers:\n  a: {rate: 1/s}\n", "providers:\n  a: {}\n",
                "-providers.a.limit of a\n");
}

/* --------------------------------------------------------------------------------- other things */

static void a_request_finds_its_provider_and_pool(void **state)
{
    struct config *c = load("providers:\n"
                            "  wide: {hosts: ['*.example.com'], limit: rate=1/s}\n"
                            "  near: {hosts: [api.example.com]}\n"
                            "  github: {}\n");
    const struct config_provider *github = fb_config_for_host(c, fb_slice_of("API.github.com."));
    const struct config_pool *pool;

    (void)state;
    assert_string_equal(fb_config_for_host(c, fb_slice_of("a.example.com"))->name, "wide");
    assert_string_equal(fb_config_for_host(c, fb_slice_of("api.example.com"))->name, "near");
    assert_null(fb_config_for_host(c, fb_slice_of("example.com")));
    assert_non_null(github);
    pool = fb_config_pool(github, fb_slice_of("GET"), fb_slice_of("/search/code?q=1"));
    assert_string_equal(pool->name, "code_search");
    assert_string_equal(fb_config_limit(github, pool), "window=900/1m concurrency=100");
    pool = fb_config_pool(github, fb_slice_of("POST"), fb_slice_of("/graphql"));
    assert_string_equal(fb_config_limit(github, pool), "window=2000/1m concurrency=100");
    assert_null(fb_config_pool(&c->provider[0], fb_slice_of("GET"), fb_slice_of("/")));
    assert_string_equal(fb_config_limit(&c->provider[0], NULL), "rate=1/s");
    fb_config_free(c);
}

/* A rate that is stated is a bound, though the preset would search. */
static void a_search_of_a_preset_gives_way(void **state)
{
    struct config *c = load("providers:\n  discord: {pools: {interactions: {rate: 1/s}}}\n");

    (void)state;
    assert_string_equal(c->provider[0].pool[0].limit, "rate=1/s");
    fb_config_free(c);
}

/* Every word of the limit text is a key of a limit, and the other way round. */
static void words_and_keys_of_a_limit_are_the_same(void **state)
{
    const struct config_key *k =
        fb_config_key_find(fb_config_key_find(&fb_config_keys, "providers")->table, "limit");
    struct fly_error err;
    char expected[256] = "";
    int words = 0, keys = 0;

    (void)state;
    assert_null(fly_limiter_new("nonsense=1", 0, 1, &err));
    for (const char *at_word = strstr(err.text, "one of "); at_word; words++)
        at_word = strchr(at_word + 1, ',');
    for (const struct config_key *w = k->table->keys; w->name; w++, keys++) {
        (void)snprintf(expected, sizeof expected, "%s", w->name);
        assert_contains(err.text, expected);
    }
    assert_int_equal(words, keys);
}

/* The defaults of the table are those of the engine. */
static void defaults_are_those_of_the_engine(void **state)
{
    struct config *c = load("");
    struct engine_options before, after;

    (void)state;
    fb_engine_options_init(&before);
    after = before;
    fb_engine_configure(c, &after);
    assert_string_equal(after.limit, "");
    assert_null(after.recovery[0]);
    assert_null(after.connect.resolve[0]);
    after.limit = NULL;
    after.recovery = NULL;
    after.connect.resolve = NULL;
    assert_memory_equal(&before, &after, sizeof before);
    fb_config_free(c);
}

static void limits_are_found_by_the_names_of_a_key(void **state)
{
    struct config *c =
        load("limit: rate=1/s\nproviders:\n  a: {pools: {x: {path: /x, rate: 0.1/s}}, "
             "limit: {burst: 2, rate: 0.5/s}}\n");

    (void)state;
    assert_string_equal(fb_config_limit_of(c, "a", "x"), "rate=0.1/s");
    assert_string_equal(fb_config_limit_of(c, "A", NULL), "rate=0.5/s burst=2");
    assert_string_equal(fb_config_limit_of(c, "a", "y"), "rate=0.5/s burst=2");
    assert_string_equal(fb_config_limit_of(c, "github", "graphql"),
                        "window=2000/1m concurrency=100");
    assert_string_equal(fb_config_limit_of(c, "openai", NULL), "");
    assert_string_equal(fb_config_limit_of(c, "b.example:80", "default"), "rate=1/s");
    assert_true(fb_config_is_said(c, "limit.rate"));
    assert_true(fb_config_is_said(c, "providers.a"));
    assert_false(fb_config_is_said(c, "timeouts.hold"));
    assert_false(fb_config_is_said(c, "no.such.thing"));
    fb_config_free(c);
}

static void whom_to_write_to_is_in_the_user_agent(void **state)
{
    struct config *c = load("connect: {user_agent: job/1, contact: me@example.com}\n");

    (void)state;
    assert_string_equal(c->connect.user_agent, "job/1 (mailto:me@example.com)");
    fb_config_free(c);
    c = load("connect: {contact: me@example.com}\n");
    assert_contains(c->connect.user_agent, "flyball/");
    fb_config_free(c);
}

static void a_preset_names_each_pool_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < fb_preset_count; i++) {
        for (size_t k = 1; k < fb_presets[i].pool_count; k++) {
            for (size_t n = 0; n < k; n++)
                assert_string_not_equal(fb_presets[i].pool[k].name, fb_presets[i].pool[n].name);
        }
    }
}

/* Of URLs that may hold a secret what is shown holds none, and says that it was cut. */
static void secrets_in_urls_are_not_shown(void **state)
{
    static const char text[] =
        "alerts: {webhook: \"https://h.example/CANARY?CANARY=1\"}\n"
        "watch:\n  items: {url: \"https://a.example/list?CANARY#CANARY\"}\n"
        "  sources:\n    s: {url: \"https://s.example/it/{id}?id={id}&key=CANARY&x\", "
        "fields: {a: /a}}\n    t: {url: \"https://t.example/{id}\", fields: {a: /a}}\n";
    static const char *const lines[] = {
        "webhook: https://h.example/... # cut: it may hold a secret\n",
        "url: \"https://a.example/list?...#...\" # cut: it may hold a secret\n",
        "url: \"https://s.example/it/{id}?id={id}&key=...&...\" # cut: it may hold a secret\n",
        "url: \"https://t.example/{id}\"\n",
    };
    struct config *c = load(text);
    struct buffer shown = BUFFER_INIT;

    (void)state;
    fb_config_show(c, false, &shown);
    assert_non_null(fb_buffer_text(&shown));
    for (size_t i = 0; i < COUNT_OF(lines); i++)
        if (!strstr(shown.bytes, lines[i]))
            fail_msg("%s is not in\n%s", lines[i], shown.bytes);
    fb_config_show(c, true, &shown);
    fb_config_show_json(c, &shown);
    assert_null(strstr(fb_buffer_text(&shown), "CANARY"));
    assert_non_null(strstr(shown.bytes, "\"webhook\":\"https://h.example/...\""));
    fb_buffer_fini(&shown);
    fb_config_free(c);
}

static void secrets_are_read_when_asked_for(void **state)
{
    const char *path = "build/test_config.secret";
    struct config_secret in_env = {.env = "TEST_CONFIG_SECRET"}, in_file = {.file = path};
    struct buffer secret = BUFFER_INIT, shown = BUFFER_INIT;
    struct fly_error err = {""};
    FILE *f = fopen(path, "w");

    (void)state;
    assert_non_null(f);
    (void)fputs("hunter2\r\nsecond line\n", f);
    (void)fclose(f);
    (void)unsetenv("TEST_CONFIG_SECRET");
    assert_int_equal(fb_config_read_secret(&in_env, &secret, &err), -ENOENT);
    assert_string_equal(err.text, "no secret: the variable TEST_CONFIG_SECRET is not set");
    (void)setenv("TEST_CONFIG_SECRET", "hunter2", 1);
    assert_int_equal(fb_config_read_secret(&in_env, &secret, &err), 0);
    assert_int_equal(fb_config_read_secret(&in_file, &secret, &err), 0);
    assert_string_equal(fb_buffer_text(&secret), "hunter2hunter2");
    fb_config_describe_secret(&in_file, &shown);
    assert_int_equal(shown.size, strlen("set, hash 0000"));
    assert_null(strstr(fb_buffer_text(&shown), "hunter"));
    (void)remove(path);
    assert_int_equal(fb_config_read_secret(&in_file, &secret, &err), -ENOENT);
    fb_buffer_fini(&secret);
    fb_buffer_fini(&shown);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_said_is_all_defaults),
        cmocka_unit_test(a_preset_says_what_the_file_does_not),
        cmocka_unit_test(flag_over_environment_over_file_over_preset_over_default),
        cmocka_unit_test(a_whole_limit_in_the_environment_comes_before_its_words),
        cmocka_unit_test(names_are_found_whatever_their_case_and_signs),
        cmocka_unit_test(a_provider_may_be_said_as_a_whole),
        cmocka_unit_test(an_environment_alone_is_enough),
        cmocka_unit_test(older_names_are_understood),
        cmocka_unit_test(an_older_name_that_is_none_is_warned_of),
        cmocka_unit_test(mistakes_have_their_line_and_a_caret),
        cmocka_unit_test(mistakes_outside_of_the_file_say_where),
        cmocka_unit_test(a_missing_file_is_missing),
        cmocka_unit_test(bombs_are_refused),
        cmocka_unit_test(of_many_mistakes_the_first_are_told),
        cmocka_unit_test(what_is_unwise_is_warned_of),
        cmocka_unit_test(differences_are_told_value_by_value),
        cmocka_unit_test(a_request_finds_its_provider_and_pool),
        cmocka_unit_test(a_search_of_a_preset_gives_way),
        cmocka_unit_test(words_and_keys_of_a_limit_are_the_same),
        cmocka_unit_test(defaults_are_those_of_the_engine),
        cmocka_unit_test(limits_are_found_by_the_names_of_a_key),
        cmocka_unit_test(whom_to_write_to_is_in_the_user_agent),
        cmocka_unit_test(a_preset_names_each_pool_once),
        cmocka_unit_test(secrets_in_urls_are_not_shown),
        cmocka_unit_test(secrets_are_read_when_asked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
