/* SPDX-License-Identifier: MIT */
/* Who may ask, and who may act. */
#include "unit.h"

#include "serve/guard.h"

struct row {
    const char *field[3][2];
    bool expected;
};

static struct http_request request(const struct row *r, struct http_field *field)
{
    struct http_request q = {.field = field};

    for (; q.head_count < 3 && r->field[q.head_count][0]; q.head_count++) {
        field[q.head_count].name = fb_slice_of(r->field[q.head_count][0]);
        field[q.head_count].value = fb_slice_of(r->field[q.head_count][1]);
    }
    q.field_count = q.head_count;
    return q;
}

static void hosts(void **state)
{
    static const char *const NAMES[] = {"flyball.example", NULL};
    const struct guard g = {.own = "10.0.0.5", .host = NAMES};
    static const struct row ROWS[] = {
        {{{"Host", "127.0.0.1:8080"}}, true},
        {{{"host", "LOCALHOST"}}, true},
        {{{"Host", "127.9.9.9"}}, true},
        {{{"Host", "[::1]:8080"}}, true},
        {{{"Host", "10.0.0.5:8080"}}, true},
        {{{"Host", "flyball.example:1"}}, true},
        {{{"Host", "evil.test"}}, false},
        {{{"Host", "127.0.0.1.evil.test"}}, false},
        {{{"Host", "127.evil"}}, false},
        {{{"Host", "localhost.evil.test"}}, false},
        {{{"Host", ""}}, false},
        {{{"Host", "[::2]"}}, false},
        {{{"X", "y"}}, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        struct http_field field[3];
        struct http_request q = request(&ROWS[i], field);

        if (fb_guard_host(&g, &q) != ROWS[i].expected)
            fail_msg("Host %s", ROWS[i].field[0][1]);
        assert_true(fb_guard_host(&(struct guard){.is_trusted = true}, &q));
    }
}

static void foreign_sites(void **state)
{
    static const struct row ROWS[] = {
        {{{"Host", "localhost:1"}}, false},
        {{{"Host", "localhost:1"}, {"Origin", "http://localhost:1"}}, false},
        {{{"Host", "localhost:1"}, {"Sec-Fetch-Site", "same-origin"}}, false},
        {{{"Host", "localhost:1"}, {"Sec-Fetch-Site", "none"}}, false},
        {{{"Host", "localhost:1"}, {"Origin", "http://localhost:2"}}, true},
        {{{"Host", "localhost:1"}, {"Origin", "https://localhost:1"}}, true},
        {{{"Host", "localhost:1"}, {"Origin", "http://evil"}}, true},
        {{{"Host", "localhost:1"}, {"Origin", "null"}}, true},
        {{{"Host", "localhost:1"}, {"Origin", ""}}, true},
        {{{"Host", "localhost:1"}, {"Sec-Fetch-Site", "cross-site"}}, true},
        {{{"Host", "localhost:1"}, {"Sec-Fetch-Site", "same-site"}}, true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        struct http_field field[3];
        struct http_request q = request(&ROWS[i], field);

        if (fb_guard_is_foreign(&q) != ROWS[i].expected)
            fail_msg("row %zu", i);
    }
}

static void tokens(void **state)
{
    const struct guard g = {.token = "s3cret"};
    static const struct row ROWS[] = {
        {{{"Authorization", "Bearer s3cret"}}, true},
        {{{"Authorization", "bearer  s3cret "}}, true},
        {{{"Authorization", "Bearer s3creT"}}, false},
        {{{"Authorization", "Bearer s3cre"}}, false},
        {{{"Authorization", "Bearer s3cretx"}}, false},
        {{{"Authorization", "Bearer "}}, false},
        {{{"Authorization", "Basic s3cret"}}, false},
        {{{"X", "Bearer s3cret"}}, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        struct http_field field[3];
        struct http_request q = request(&ROWS[i], field);

        if (fb_guard_token(&g, &q) != ROWS[i].expected)
            fail_msg("%s", ROWS[i].field[0][1]);
        assert_false(fb_guard_token(&(struct guard){.token = NULL}, &q));
        assert_false(fb_guard_token(&(struct guard){.token = ""}, &q));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts),
        cmocka_unit_test(foreign_sites),
        cmocka_unit_test(tokens),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
