/* SPDX-License-Identifier: MIT */
/*
 * What is printed of a batch where nothing can be drawn: a line each half minute and whenever
 * something changes, in virtual time, against the limits of the mock.
 */
#include "mock_rig.h"

#include <unistd.h>

#include "fetch/fetch_parts.h"

#define BEAT_NS (250 * MS)

static struct mock_rig mock;
static struct fetch fetch;
static struct fetch_options options;

static void note_end(struct rig *r, const struct engine_result *result)
{
    (void)r;
    (void)result;
    fetch.count[ENTRY_done]++;
}

static void begin(const char *theirs, const char *ours, enum screen_mode mode)
{
    fb_fetch_options_init(&options);
    options.engine.limit = options.limit = ours;
    options.engine.seed = 5;
    mock_rig_open(&mock, &options.engine, theirs, "retry-after");
    mock.rig.on_result = note_end;
    fetch = (struct fetch){.o = &options,
                           .engine = mock.rig.engine,
                           .total = 5000,
                           .seen = 5000,
                           .list_ended = true,
                           .began_ns = RIG_EPOCH,
                           .screen = {.mode = mode}};
    for (int i = 0; i < 5000; i++)
        rig_get(&mock.rig, "http://a.example/");
}

/* Standard error of so many seconds of it. */
static void hear(int64_t seconds, char *text, size_t size)
{
    FILE *to = tmpfile();
    int was = dup(STDERR_FILENO);

    assert_non_null(to);
    assert_true(dup2(fileno(to), STDERR_FILENO) >= 0);
    for (int64_t end_ns = RIG_EPOCH + seconds * S; mock.rig.now_ns < end_ns;) {
        rig_run_until(&mock.rig, mock.rig.now_ns + BEAT_NS);
        fb_engine_read_clock(mock.rig.engine);
        fb_pulse(&fetch);
    }
    (void)fflush(stderr);
    assert_true(dup2(was, STDERR_FILENO) >= 0);
    close(was);
    rewind(to);
    text[fread(text, 1, size - 1, to)] = '\0';
    fclose(to);
    rig_run(&mock.rig);
    mock_rig_fini(&mock);
}

static int lines_with(const char *text, const char *word)
{
    int count = 0;

    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        count++;
    return count;
}

static void plain_lines_come_every_half_minute(void **state)
{
    static char text[65536];

    (void)state;
    begin("rate=20/s burst=20", "rate=5/s burst=1", SCREEN_plain);
    hear(300, text, sizeof text);
    assert_int_equal(lines_with(text, "\n"), 10);
    assert_int_equal(lines_with(text, " fetch done="), 10);
    assert_int_equal(lines_with(text, " rate=5.00 bound=5.00/s eta="), 10);
    assert_null(strpbrk(text, "\r\x1b"));
}

/* Three seconds from one request to the next are its pace, and not a hold each time. */
static void a_slow_pace_is_no_hold(void **state)
{
    static const char *const OURS[] = {"rate=20/m burst=1", "rate=10/h burst=1",
                                       "adapt=aimd burst=1 rate=0.2/s"};
    static char text[65536];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(OURS); i++) {
        begin("rate=20/s burst=20", OURS[i], SCREEN_plain);
        hear(300, text, sizeof text);
        if (lines_with(text, "holding ") != 0 || lines_with(text, "\n") != 10)
            fail_msg("%s", text);
    }
}

static void a_hold_is_told_once_and_its_end(void **state)
{
    static char text[65536];

    (void)state;
    begin("rate=1/s burst=5 penalty=20s", "adapt=off concurrency=1", SCREEN_plain);
    hear(29, text, sizeof text);
    /* Refused, held, some more, refused again. */
    if (lines_with(text, "holding ") != 2 || lines_with(text, " fetch done=") != 1)
        fail_msg("%s", text);
}

static void plain_lines_come_when_something_changes(void **state)
{
    static char text[65536];

    (void)state;
    begin("rate=15/s burst=20", "", SCREEN_plain);
    hear(29, text, sizeof text);
    if (lines_with(text, " bound=~") != 1 || lines_with(text, "\n") != 1)
        fail_msg("%s", text);
}

static void a_program_is_told_every_second(void **state)
{
    static char text[65536];

    (void)state;
    begin("rate=20/s burst=20", "rate=5/s burst=1", SCREEN_json);
    hear(30, text, sizeof text);
    assert_int_equal(lines_with(text, "\n{\"type\":\"progress\""), 29);
    begin("rate=20/s burst=20", "rate=5/s burst=1", SCREEN_none);
    hear(60, text, sizeof text);
    assert_string_equal(text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_lines_come_every_half_minute),
        cmocka_unit_test(a_slow_pace_is_no_hold),
        cmocka_unit_test(a_hold_is_told_once_and_its_end),
        cmocka_unit_test(plain_lines_come_when_something_changes),
        cmocka_unit_test(a_program_is_told_every_second),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
