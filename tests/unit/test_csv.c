/* SPDX-License-Identifier: MIT */
/* The daemon's figures as rows of a file. */
#include "unit.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "daemon/csv.h"

static struct meters meters;
static char path[64];

static int begin(void **state)
{
    (void)state;
    (void)snprintf(path, sizeof path, "/tmp/flyball-csv-XXXXXX");
    int fd = mkstemp(path);
    (void)close(fd);
    if (fb_meters_init(&meters) < 0)
        return -1;
    fb_meters_reserve(&meters, "git,hub", "search", NULL);
    fb_meters_reserve(&meters, "=idle", "default", NULL);
    return fd < 0;
}

static int end(void **state)
{
    (void)state;
    fb_meters_fini(&meters);
    return unlink(path);
}

static const char *content(void)
{
    static char text[4096];
    FILE *f = fopen(path, "re");

    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    (void)fclose(f);
    return text;
}

/* A second of the set "git,hub". */
static void second(struct csv *c, int64_t at, float sent, float limit)
{
    struct figures now[METER_SETS];

    for (size_t i = 0; i < meters.sets; i++)
        now[i] = fb_figures_none();
    now[1].value[FIGURE_sent] = sent;
    now[1].value[FIGURE_waited_s] = 0.25F;
    now[1].value[FIGURE_limit] = limit;
    assert_true(fb_csv_add(c, at, now, &meters, meters.sets));
}

#define HEAD                                                                                 \
    "time,provider,pool,sent,done,failed,throttled,waited_s,latency_s,answers,errors,limit," \
    "confidence,left,queued,in_flight\n"

static void a_row_a_second(void **state)
{
    struct fly_error err = {""};
    struct csv c;

    (void)state;
    fb_csv_init(&c);
    second(&c, 1700000000, 5, 2); /* nobody wants it yet */
    assert_int_equal(fb_csv_open(&c, path, &err), 0);
    assert_string_equal(content(), HEAD);
    second(&c, 1700000001, 5, 2.5F);
    second(&c, 1700000002, 0, 2.5F); /* nothing to tell */
    second(&c, 1700000003, 7, NAN);
    assert_string_equal(content(),
                        HEAD "2023-11-14T22:13:21Z,\"git,hub\",search,5,,,,0.250,,,,2.500,,,,\n"
                             "2023-11-14T22:13:23Z,\"git,hub\",search,7,,,,0.250,,,,,,,,\n");
    fb_csv_close(&c);
}

static void sums_and_ends(void **state)
{
    struct fly_error err = {""};
    struct csv c;

    (void)state;
    fb_csv_init(&c);
    c.every = 3;
    assert_int_equal(fb_csv_open(&c, path, &err), 0);
    for (int i = 0; i < 7; i++)
        second(&c, 1700000000 + i, 2, (float)i);
    assert_string_equal(content(),
                        HEAD "2023-11-14T22:13:22Z,\"git,hub\",search,6,,,,0.750,,,,2,,,,\n"
                             "2023-11-14T22:13:25Z,\"git,hub\",search,6,,,,0.750,,,,5,,,,\n");
    fb_csv_close(&c);
}

/* Opened again, it is added to; and one that was moved away is made anew. */
static void opened_again(void **state)
{
    struct fly_error err = {""};
    struct csv c;

    (void)state;
    fb_csv_init(&c);
    assert_int_equal(fb_csv_open(&c, path, &err), 0);
    second(&c, 1700000000, 1, 1);
    assert_int_equal(fb_csv_open(&c, path, &err), 0);
    second(&c, 1700000001, 2, 1);
    assert_non_null(strstr(content(), "22:13:20Z"));
    assert_non_null(strstr(content(), "22:13:21Z"));
    assert_null(strstr(content() + 1, "time,"));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(fb_csv_open(&c, path, &err), 0);
    assert_string_equal(content(), HEAD);
    assert_int_equal(fb_csv_open(&c, NULL, &err), 0);
    second(&c, 1700000002, 2, 1);
    assert_string_equal(content(), HEAD);
    fb_csv_close(&c);
}

static void no_place_for_it(void **state)
{
    struct fly_error err = {""};
    struct figures now[METER_SETS];
    struct csv c;

    (void)state;
    fb_csv_init(&c);
    assert_int_equal(fb_csv_open(&c, "/none/figures.csv", &err), -ENOENT);
    assert_contains(err.text, "cannot write /none/figures.csv");
    assert_int_equal(c.fd, -1);
    for (size_t i = 0; i < meters.sets; i++)
        now[i] = fb_figures_none();
    now[1].value[FIGURE_sent] = 1;
    /* A full disk is told once. */
    assert_int_equal(fb_csv_open(&c, "/dev/full", &err), -EIO);
    assert_int_equal(fb_csv_open(&c, path, &err), 0);
    FILE *full = fopen("/dev/full", "we");
    assert_int_equal(dup2(fileno(full), c.fd), c.fd);
    assert_false(fb_csv_add(&c, 1, now, &meters, meters.sets));
    assert_true(fb_csv_add(&c, 2, now, &meters, meters.sets));
    (void)fclose(full);
    fb_csv_close(&c);
}

static void a_bound_on_sets(void **state)
{
    (void)state;
    fb_meters_bound(&meters, 3);
    fb_meters_reserve(&meters, "one more", "default", NULL);
    assert_int_equal(meters.sets, 3);
    assert_int_equal(fb_meters_find(&meters, "one more", "default"), 0);
    fb_meters_bound(&meters, 1000);
    for (int i = 0; i < 100; i++) {
        char name[16];

        (void)snprintf(name, sizeof name, "p%d", i);
        fb_meters_reserve(&meters, name, "default", NULL);
    }
    assert_int_equal(meters.sets, METER_SETS);
    fb_meters_bound(&meters, 1);
    assert_int_not_equal(fb_meters_find(&meters, "p1", "default"), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_row_a_second),  TEST(sums_and_ends),   TEST(opened_again),
        TEST(no_place_for_it), TEST(a_bound_on_sets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
