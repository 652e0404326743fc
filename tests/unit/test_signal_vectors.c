/* SPDX-License-Identifier: MIT */
/*
 * Recorded, documented, hostile and invented responses against what they mean.
 *
 * A line of tests/vectors/ is a response, what it means ("expect"), and where that is truly
 * ambiguous, what is right as well ("accept": path -> values). Members that the response does not
 * tell are null; where simple arithmetic gives them, that is right, too.
 */
#include "unit.h"

#include <jansson.h>
#include <math.h>
#include <strings.h>

#include "signal/rfc3339.h"

static const char *vector_id;

/* ---- feeding ---- */

/* Code points up to U+00FF as single bytes. */
static size_t latin1(char *text, size_t size)
{
    size_t n = 0;

    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == 0xC2 || c == 0xC3)
            text[n++] = (char)((c << 6) | ((unsigned char)text[++i] & 0x3F));
        else
            text[n++] = text[i];
    }
    return n;
}

/* A copy on the heap of exactly its size, so that reading beyond it is noticed. */
static char *copy_of(const json_t *string, bool narrow, size_t *ret_size)
{
    size_t size = json_string_length(string);
    char *wide = malloc(size + 1);
    assert_non_null(wide);
    memcpy(wide, json_string_value(string), size);
    *ret_size = narrow ? latin1(wide, size) : size;
    char *exact = malloc(*ret_size > 0 ? *ret_size : 1);
    assert_non_null(exact);
    memcpy(exact, wide, *ret_size);
    free(wide);
    return exact;
}

static int64_t observed_ns(const json_t *vector)
{
    const json_t *at = json_object_get(vector, "observed_at");
    int64_t now_ns = INT64_C(1700000000) * S;

    if (json_is_string(at))
        assert_true(fb_rfc3339_read((struct slice){json_string_value(at), json_string_length(at)},
                                    &now_ns));
    return now_ns;
}

static void read_vector(const json_t *vector, size_t piece, struct fly_signal *ret_signal)
{
    struct fly_response about = {.size = sizeof(about), .now_ns = observed_ns(vector)};
    const json_t *headers = json_object_get(vector, "headers");
    bool narrow = json_is_string(json_object_get(vector, "encoding"));
    struct fly_signal_reader r;

    memset(&r, 0xA5, sizeof(r));
    about.status = (int32_t)json_integer_value(json_object_get(vector, "status"));
    assert_int_equal(fly_signal_begin(&r, &about), 0);
    for (size_t i = 0; i < json_array_size(headers); i++) {
        size_t name_length, value_length;
        const json_t *pair = json_array_get(headers, i);
        char *name = copy_of(json_array_get(pair, 0), narrow, &name_length);
        char *value = copy_of(json_array_get(pair, 1), narrow, &value_length);
        fly_signal_header(&r, name, name_length, value, value_length);
        free(name);
        free(value);
    }
    if (json_is_string(json_object_get(vector, "body"))) {
        size_t size;
        char *body = copy_of(json_object_get(vector, "body"), narrow, &size);
        for (size_t at = 0; at < size; at += piece)
            fly_signal_body(&r, body + at, size - at < piece ? size - at : piece);
        free(body);
    }
    assert_int_equal(fly_signal_end(&r, ret_signal), 0);
}

/* ---- comparing ---- */

#define NOTHING NAN

static double number(const json_t *v)
{
    return json_is_number(v) ? json_number_value(v) : NOTHING;
}

static double told(int64_t value, double unit)
{
    return value == FLY_ABSENT ? NOTHING : (double)value / unit;
}

static bool same(double got, double want)
{
    if (isnan(got) || isnan(want))
        return isnan(got) && isnan(want);
    double slack = want > 2 ? 0.51 : 0.006;
    return fabs(got - want) <= fmax(slack, 1e-6 * fabs(want));
}

static bool accepted(const json_t *vector, const char *path, double got)
{
    const json_t *list = json_object_get(json_object_get(vector, "accept"), path);

    for (size_t i = 0; json_is_array(list) && i < json_array_size(list); i++) {
        const json_t *v = json_array_get(list, i);
        if (json_is_boolean(v) ? same(got, json_is_true(v)) : same(got, number(v)))
            return true;
    }
    return false;
}

static void check_number(const json_t *vector, const char *path, double got, double want)
{
    if (!same(got, want) && !accepted(vector, path, got))
        fail_msg("%s: %s is %g, expected %g", vector_id, path, got, want);
}

/* What arithmetic gives where the response states nothing. */
static double derived(const json_t *scope, const char *key)
{
    double limit = number(json_object_get(scope, "limit"));
    double remaining = number(json_object_get(scope, "remaining"));
    double used = number(json_object_get(scope, "used"));

    if (!strcmp(key, "remaining"))
        return isnan(limit - used) ? NOTHING : fmax(0, limit - used);
    if (!strcmp(key, "used"))
        return isnan(limit - remaining) ? NOTHING : fmax(0, limit - remaining);
    return !strcmp(key, "limit") ? used + remaining : NOTHING;
}

static const char *const KEYS[] = {"limit", "remaining", "used", "window_s", "reset_in_s"};

static double value_of(const struct fly_pool *p, size_t key)
{
    bool rate = p->limit == FLY_ABSENT && p->refill_millionths != FLY_ABSENT;
    double window_s = told(p->window_ns, 1e9);

    switch (key) {
    case 0:
        if (!rate)
            return told(p->limit, 1);
        return told(p->refill_millionths, 1e6) * (isnan(window_s) ? 1 : window_s);
    case 1:
        return told(p->remaining, 1);
    case 2:
        return told(p->used, 1);
    case 3:
        return rate && isnan(window_s) ? 1 : window_s;
    default:
        return told(p->reset_ns, 1e9);
    }
}

static void check_pool(const json_t *vector, size_t i, const json_t *want, const struct fly_pool *p)
{
    char path[64];

    for (size_t k = 0; k < COUNT_OF(KEYS); k++) {
        double wanted = number(json_object_get(want, KEYS[k]));
        double got = value_of(p, k);
        if (isnan(wanted) && same(got, derived(want, KEYS[k])))
            continue;
        snprintf(path, sizeof(path), "scopes.%zu.%s", i, KEYS[k]);
        check_number(vector, path, got, wanted);
    }
}

static bool is_blank(const json_t *scope)
{
    for (size_t k = 0; k < COUNT_OF(KEYS); k++) {
        if (json_is_number(json_object_get(scope, KEYS[k])))
            return false;
    }
    return true;
}

static const struct fly_pool *find_pool(const struct fly_signal *s, const char *name)
{
    for (size_t i = 0; i < s->pool_count; i++) {
        if (!strcasecmp(s->pool[i].name, name))
            return &s->pool[i];
    }
    return NULL;
}

static bool relaxed(const json_t *vector, const struct fly_signal *s)
{
    const json_t *rule = json_object_get(json_object_get(vector, "accept"), "scopes");

    if (!json_is_string(rule))
        return false;
    return s->pool_count == 0 || !strcmp(json_string_value(rule), "any") ||
           !strcmp(json_string_value(rule), "empty-or-valid-members") ||
           (s->pool_count == 1 && s->pool[0].limit == 1);
}

static void check_pools(const json_t *vector, const struct fly_signal *s)
{
    const json_t *want = json_object_get(json_object_get(vector, "expect"), "scopes");
    size_t pools = 0;

    if (relaxed(vector, s))
        return;
    for (size_t i = 0; i < json_array_size(want); i++) {
        const json_t *scope = json_array_get(want, i);
        const char *name = json_string_value(json_object_get(scope, "name"));
        if (is_blank(scope))
            continue;
        const struct fly_pool *p = find_pool(s, name);
        if (!p)
            fail_msg("%s: no pool '%s' among %zu", vector_id, name, (size_t)s->pool_count);
        check_pool(vector, i, scope, p);
        pools++;
    }
    if (pools != s->pool_count)
        fail_msg("%s: %zu pools, expected %zu", vector_id, (size_t)s->pool_count, pools);
}

static void check_flag(const json_t *vector, const char *name, bool got)
{
    bool want = json_is_true(json_object_get(json_object_get(vector, "expect"), name));

    if (got != want && !accepted(vector, name, got))
        fail_msg("%s: %s is %d, expected %d", vector_id, name, got, want);
}

static void check(const json_t *vector, const struct fly_signal *s)
{
    const json_t *want = json_object_get(vector, "expect");

    check_flag(vector, "throttled", s->flags & FLY_SIGNAL_THROTTLED);
    check_flag(vector, "retryable", s->flags & FLY_SIGNAL_RETRYABLE);
    check_flag(vector, "banned", s->flags & FLY_SIGNAL_BANNED);
    check_number(vector, "retry_after_s", told(s->retry_after_ns, 1e9),
                 number(json_object_get(want, "retry_after_s")));
    check_number(vector, "concurrency_limit", told(s->concurrency, 1),
                 number(json_object_get(want, "concurrency_limit")));
    check_pools(vector, s);
    if (s->flags & FLY_SIGNAL_THROTTLED)
        assert_at_least(s->hold_ns, FLY_SIGNAL_HOLD_MIN_NS);
    assert_at_most(s->hold_ns, FLY_SIGNAL_WAIT_MAX_NS);
}

/* Whatever the pieces of the body, the meaning is the same. */
static void check_vector(const json_t *vector)
{
    struct fly_signal whole, pieces;

    memset(&whole, 0, sizeof(whole));
    memset(&pieces, 0, sizeof(pieces));
    whole.size = pieces.size = sizeof(whole);
    vector_id = json_string_value(json_object_get(vector, "id"));
    read_vector(vector, SIZE_MAX / 2, &whole);
    read_vector(vector, 7, &pieces);
    assert_memory_equal(&whole, &pieces, offsetof(struct fly_signal, pool));
    check(vector, &whole);
    check(vector, &pieces);
}

static size_t check_file(const char *path)
{
    FILE *in = fopen(path, "r");
    char *line = NULL;
    size_t room = 0, n = 0;
    ssize_t size;
    json_error_t error;

    if (!in)
        fail_msg("cannot open %s", path);
    while ((size = getline(&line, &room, in)) >= 0) {
        json_t *vector = json_loadb(line, (size_t)size, JSON_ALLOW_NUL, &error);
        if (!vector)
            fail_msg("%s:%zu: %s", path, n + 1, error.text);
        check_vector(vector);
        json_decref(vector);
        n++;
    }
    free(line);
    (void)fclose(in);
    return n;
}

static void real_responses_mean_what_they_should(void **state)
{
    (void)state;
    assert_int_equal(check_file("tests/vectors/responses.jsonl"), 254);
}

/* Providers that do not exist, made of the same families: reading is by rule, not by heart. */
static void invented_responses_do_so_too(void **state)
{
    (void)state;
    assert_at_least((int64_t)check_file("tests/vectors/invented.jsonl"), 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_responses_mean_what_they_should),
        cmocka_unit_test(invented_responses_do_so_too),
    };

    return cmocka_run_group_tests_name("signal_vectors", tests, NULL, NULL);
}
