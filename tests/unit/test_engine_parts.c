/* SPDX-License-Identifier: MIT */
/* Parts of the engine: URLs, addresses, heads, the table, observers and their log. */
#include "engine_rig.h"

#include <errno.h>
#include <semaphore.h>
#include <unistd.h>

#include "engine/address.h"
#include "engine/head.h"
#include "engine/inside.h"
#include "engine/observe.h"
#include "engine/observers/observers.h"
#include "engine/table.h"
#include "engine/target.h"
#include "util/alloc.h"
#include "util/buffer.h"

/* ----------------------------------------------------------------------------------------- URLs */

static void parts_of_a_url(void **state)
{
    static const struct {
        const char *url;
        const char *authority; /* NULL: refused */
    } cases[] = {
        {"http://a.example", "a.example"},
        {"HTTPS://a.example:443/x", "a.example"},
        {"http://a.example:443/x", "a.example:443"},
        {"http://a.example:/x", "a.example"},
        {"http://u:p@a.example:8080?q", "a.example:8080"},
        {"http://u@v@a.example/", "a.example"},
        {"http://[::1]:80/", "[::1]"},
        {"http://[::1]:81#x", "[::1]:81"},
        {"http://:80/", NULL},
        {"http://a:8x/", NULL},
        {"http://a\\b/", NULL},
        {"//a.example/", NULL},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct url_parts p;
        int rc = fb_url_read(cases[i].url, &p);

        assert_int_equal(rc, cases[i].authority ? 0 : -EINVAL);
        if (rc == 0) {
            assert_int_equal(p.authority_size, strlen(cases[i].authority));
            assert_memory_equal(p.authority, cases[i].authority, p.authority_size);
        }
    }
    assert_true(fb_url_same_origin("http://a.example/1", "http://A.example:80/2"));
    assert_false(fb_url_same_origin("http://a.example/", "https://a.example/"));
    assert_false(fb_url_same_origin("http://a.example/", "http://a.example:81/"));
    assert_false(fb_url_same_origin("http://a.example/", "a.example"));
}

static void assert_same_part(CURLU *a, CURLU *b, CURLUPart part)
{
    char *x = NULL;
    char *y = NULL;

    assert_int_equal(curl_url_get(a, part, &x, 0), curl_url_get(b, part, &y, 0));
    assert_int_equal(x != NULL, y != NULL);
    if (x)
        assert_string_equal(x, y);
    curl_free(x);
    curl_free(y);
}

/* One after the other on one target: each must be what it is when it is read alone. */
static void targets_are_read_as_if_alone(void **state)
{
    static const char *const urls[] = {
        "http://a.example/1",
        "http://a.example/1/2;x=y:8@c,d",
        "http://a.example/a?b=c&d=/e",
        "http://a.example/f",
        "http://a.example/g?",
        "http://a.example/h?i#j",
        "http://a.example/k",
        "http://a.example/l?m?n",
        "http://a.example/../o/./p",
        "http://a.example/.well-known/q",
        "http://a.example/r%2Fs%2ft",
        "http://a.example/u?v=%C3%A9",
        "http://a.example?w",
        "http://a.example",
        "http://a.example:8080/x",
        "http://a.examples/y",
        "http://user:pw@a.example/z",
        "http://user:pw@a.example/1",
        "https://a.example/2",
        "http://a.example/3\xc3\xa9",
        "no URL/4",
        "/4?http://a.example/4",
        "http://a.example/5",
        "http://[::1]:81/6?7",
        "http://[::1]:81/8",
        "http:///9",
        "http://a.example/10",
    };
    static const CURLUPart parts[] = {CURLUPART_URL,      CURLUPART_SCHEME, CURLUPART_USER,
                                      CURLUPART_PASSWORD, CURLUPART_HOST,   CURLUPART_PORT,
                                      CURLUPART_PATH,     CURLUPART_QUERY,  CURLUPART_FRAGMENT};
    struct target t;

    (void)state;
    fb_target_init(&t);
    for (size_t i = 0; i < 2 * COUNT_OF(urls) * COUNT_OF(urls); i++) {
        /* Each behind each. */
        const char *url = urls[i % 2 ? i / 2 % COUNT_OF(urls) : i / 2 / COUNT_OF(urls)];
        CURLU *alone = curl_url();

        assert_int_equal(fb_target_set(&t, url),
                         curl_url_set(alone, CURLUPART_URL, url, 0) == CURLUE_OK);
        for (size_t k = 0; t.origin.size > 0 && k < COUNT_OF(parts); k++)
            assert_same_part(t.url, alone, parts[k]);
        curl_url_cleanup(alone);
    }
    fb_target_fini(&t);
}

static void where_a_redirect_leads(void **state)
{
    static const struct {
        const char *location;
        const char *leads;
        int rc;
    } cases[] = {
        {"/c?d", "http://a.example/c?d", 0},
        {"c#part", "http://a.example/x/c", 0},
        {"//b.example/", "http://b.example/", 0},
        {"https://b.example/y z", "https://b.example/y%20z", 0},
        {"file:///etc/passwd", NULL, -EPROTONOSUPPORT},
        {"gopher://b.example/", NULL, -EPROTONOSUPPORT},
        {"http://", NULL, -EINVAL},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char *url = NULL;

        assert_int_equal(fb_url_follow("http://a.example/x/y", cases[i].location, &url),
                         cases[i].rc);
        if (cases[i].leads)
            assert_string_equal(url, cases[i].leads);
        fb_free(url);
    }
}

static void private_addresses(void **state)
{
    static const char *const inside[] = {
        "127.0.0.1",         "10.1.2.3",      "172.31.0.1", "192.168.1.1",
        "169.254.169.254",   "100.64.0.1",    "0.0.0.0",    "224.0.0.1",
        "255.255.255.255",   "::1",           "::",         "fe80::1",
        "fc00::1",           "ff02::1",       "fec0::1",    "::ffff:127.0.0.1",
        "64:ff9b::10.0.0.1", "2002:7f00:1::", "::7f00:1",   "nonsense",
    };
    static const char *const outside[] = {
        "1.1.1.1",     "172.32.0.1",           "100.128.0.1",      "192.169.0.1",
        "2606:4700::", "::ffff:93.184.216.34", "64:ff9b::1.1.1.1", "2002:101:101::",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(inside); i++)
        if (!fb_address_text_is_private(inside[i]))
            fail_msg("%s", inside[i]);
    for (size_t i = 0; i < COUNT_OF(outside); i++)
        if (fb_address_text_is_private(outside[i]))
            fail_msg("%s", outside[i]);
}

static void a_head_is_cut_into_fields(void **state)
{
    struct engine_header *h = NULL;
    struct buffer b = BUFFER_INIT;
    size_t room = 0, count;

    (void)state;
    assert_int_equal(fb_head_split(&b, &h, &room), 0);
    fb_buffer_add_text(&b, "HTTP/1.1 200 OK\r\nA: 1\r\nB:2 \t\r\nC: x\r\n y\r\nD:\r\n\r\n");
    count = fb_head_split(&b, &h, &room);
    assert_int_equal(count, 4);
    assert_string_equal(h[0].name, "A");
    assert_string_equal(h[0].value, "1");
    assert_string_equal(h[1].value, "2");
    assert_string_equal(h[2].value, "x   y");
    assert_string_equal(h[3].name, "D");
    assert_string_equal(h[3].value, "");
    fb_free(h);
    fb_buffer_fini(&b);
}

/* ---------------------------------------------------------------------------------------- table */

struct thing {
    struct table_entry entry;
    char name[16];
};

static void count_one(void *arg, struct table_entry *e)
{
    (void)e;
    (*(size_t *)arg)++;
}

static void things_are_found_by_name(void **state)
{
    static struct thing t[1000];
    struct table table = {.seed = 7};
    size_t seen = 0;

    (void)state;
    assert_null(fb_table_find(&table, "0", 1));
    for (size_t i = 0; i < COUNT_OF(t); i++) {
        snprintf(t[i].name, sizeof(t[i].name), "%zu", i);
        t[i].entry = (struct table_entry){.name = t[i].name, .name_size = strlen(t[i].name)};
        assert_int_equal(fb_table_add(&table, &t[i].entry), 0);
    }
    for (size_t i = 0; i < COUNT_OF(t); i++)
        assert_ptr_equal(fb_table_find(&table, t[i].name, strlen(t[i].name)), &t[i].entry);
    assert_null(fb_table_find(&table, "1000", 4));
    fb_table_each(&table, count_one, &seen);
    assert_int_equal(seen, COUNT_OF(t));
    fb_table_fini(&table);
}

/* ------------------------------------------------------------------------------------ observers */

struct seen {
    int64_t count, lost;
    int64_t kind[FB_EVENT_KINDS];
    struct event last;
    sem_t go; /* a slow one waits for it */
    bool is_slow;
};

static void see(void *self, const struct event *e)
{
    struct seen *s = self;

    if (s->is_slow)
        sem_wait(&s->go);
    s->count++;
    s->lost += e->lost;
    s->kind[e->kind]++;
    s->last = *e;
}

static void a_slow_observer_loses_events_and_nothing_else(void **state)
{
    struct seen s = {.is_slow = true};
    struct observer who = {see, &s};
    struct observe *o = NULL;
    int64_t lost;

    (void)state;
    sem_init(&s.go, 0, 0);
    assert_int_equal(fb_observe_new(&who, 1, 10, true, &o), 0);
    for (int i = 0; i < 1000; i++)
        fb_observe_add(o, &(struct event){.attempt = i});
    assert_true(fb_observe_lost(o) >= 989);
    for (int i = 0; i < 1001; i++)
        sem_post(&s.go);
    lost = fb_observe_lost(o);
    fb_observe_free(o); /* passes on what it has */
    assert_int_equal(s.count, 1000 - lost);
    assert_true(s.lost <= lost); /* they are told how many, as soon as one fits again */
    sem_destroy(&s.go);
}

static void what_happens_is_told(void **state)
{
    struct engine_options o = rig_options();
    struct seen s = {0};
    struct observer who = {see, &s};
    struct rig r;

    (void)state;
    o.limit = "rate=1/s burst=1";
    o.observer = &who;
    o.observer_count = 1;
    rig_open(&r, &o);
    for (int i = 0; i < 3; i++)
        rig_submit(&r, &(struct engine_task){.url = "http://a.example/", .id = "it"});
    rig_run(&r);
    rig_fini(&r); /* without threads they are told at the end */
    assert_int_equal(s.kind[FB_EVENT_REQUEST], 3);
    assert_int_equal(s.kind[FB_EVENT_ANSWER], 3);
    assert_int_equal(s.kind[FB_EVENT_OUTCOME], 3);
    assert_int_equal(s.kind[FB_EVENT_WAIT], 2);
    assert_int_equal(s.kind[FB_EVENT_RESET], 2);
    assert_string_equal(s.last.outcome, "ok");
    assert_string_equal(s.last.item, "it");
    assert_string_equal(s.last.provider, "a.example");
    assert_string_equal(s.last.cause, "bucket");
    assert_int_equal(s.last.duration_ns, 2 * S + 100 * MS);
}

static void lines_of_a_log(void **state)
{
    const struct event e = {
        .at_ns = INT64_C(1700000000123) * MS,
        .kind = FB_EVENT_OUTCOME,
        .status = 200,
        .attempt = 1,
        .duration_ns = 1500000,
        .outcome = "ok",
        .item = "a \"b\"",
        .provider = "h.example",
        .until_ns = INT64_MIN,
    };
    struct buffer b = BUFFER_INIT;

    (void)state;
    fb_log_line(&b, LOG_JSON, 0, NULL, &e);
    assert_string_equal(fb_buffer_text(&b),
                        "{\"time\":\"2023-11-14T22:13:20.123Z\",\"event\":\"outcome\","
                        "\"item\":\"a \\\"b\\\"\",\"provider\":\"h.example\",\"outcome\":\"ok\","
                        "\"status\":200,\"attempt\":1,\"duration_ms\":1.500}\n");
    fb_buffer_clear(&b);
    fb_log_line(&b, LOG_LOGFMT, 0, NULL, &e);
    assert_string_equal(fb_buffer_text(&b),
                        "time=2023-11-14T22:13:20.123Z event=outcome item=\"a \\\"b\\\"\" "
                        "provider=h.example outcome=ok status=200 attempt=1 duration_ms=1.500\n");
    fb_buffer_fini(&b);
    assert_true(fb_observer_find("log") == fb_log_on_event);
    assert_true(fb_observer_find("none") == NULL);
}

static void a_log_that_cannot_be_written_counts(void **state)
{
    struct log_sink sink = {.fd = -1};

    (void)state;
    fb_log_on_event(&sink, &(struct event){.kind = FB_EVENT_RECYCLE});
    assert_int_equal(sink.lines_lost, 1);
}

/* --------------------------------------------------------------------------------------- memory */

/* Fails the n-th allocation of a whole run; true when there were fewer. */
static bool run_with_failure(size_t n)
{
    static const struct engine_header h = {"X-A", "1"};
    struct engine_options o = rig_options();
    struct engine_ports ports = {
        .now = rig_now,
        .wake_at = rig_wake_at,
        .send = rig_send,
        .abort = rig_abort,
        .busy = rig_busy,
        .recycle = rig_recycle,
        .connections = rig_connections,
        .close = rig_close,
    };
    struct rig r = {.now_ns = RIG_EPOCH, .wake_ns = FB_NEVER, .plan = rig_ok};
    struct fly_error err = {""};
    int submitted = 0;
    void *probe;

    ports.self = o.user = &r;
    o.on_result = rig_result;
    fb_alloc_fail_at(n);
    if (fb_engine_new(&ports, &o, &r.engine, &err) == 0) {
        for (int i = 0; i < 3; i++) {
            char url[64];

            snprintf(url, sizeof(url), "http://h%d.example/", i);
            submitted +=
                fb_engine_submit(r.engine,
                                 &(struct engine_task){.url = url, .header = &h, .header_count = 1},
                                 NULL, &err) == 0;
        }
        rig_run_until(&r, r.now_ns + 60 * S);
        assert_int_equal(r.results, submitted);
        fb_engine_close(r.engine, NULL, NULL);
    }
    probe = fb_alloc(1); /* fails here: everything before went through */
    fb_alloc_fail_at(0);
    fb_free(probe);
    return !probe;
}

static void memory_may_fail_anywhere(void **state)
{
    size_t n = 1;

    (void)state;
    while (n < 1000 && !run_with_failure(n))
        n++;
    assert_true(n > 10 && n < 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_a_url),
        cmocka_unit_test(targets_are_read_as_if_alone),
        cmocka_unit_test(where_a_redirect_leads),
        cmocka_unit_test(private_addresses),
        cmocka_unit_test(a_head_is_cut_into_fields),
        cmocka_unit_test(things_are_found_by_name),
        cmocka_unit_test(a_slow_observer_loses_events_and_nothing_else),
        cmocka_unit_test(what_happens_is_told),
        cmocka_unit_test(lines_of_a_log),
        cmocka_unit_test(a_log_that_cannot_be_written_counts),
        cmocka_unit_test(memory_may_fail_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
