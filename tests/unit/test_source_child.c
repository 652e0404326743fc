/* SPDX-License-Identifier: MIT */
/*
 * Answers that are read in another process: programs that hang, flood, die and write nonsense, and
 * pages that mean no good. This very program is the child when it is told so.
 */
#include "source_rig.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "watch/sources/child.h"
#include "watch/sources/child_main.h"
#include "watch/sources/read.h"

#define MANY 25 /* more than there may be at once */

static uv_loop_t loop;
static struct read_desk desk;
static struct rig last; /* what was said names its fields */

/* What came of the last one. */
static struct {
    int count, error;
    struct source_said said;
    char sentence[256];
} end;

static void take(void *user, int error, struct source_said *said, const char *sentence)
{
    (void)user;
    fb_source_said_fini(&end.said);
    end.count++;
    end.error = error;
    end.said = *said;
    (void)snprintf(end.sentence, sizeof end.sentence, "%s", sentence);
}

static int setup(void **state)
{
    (void)state;
    end.count = 0;
    assert_int_equal(uv_loop_init(&loop), 0);
    desk = (struct read_desk){.loop = &loop, .program = FB_CHILD_SELF};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fb_source_said_fini(&end.said);
    rig_fini(&last);
    last = (struct rig){.config = NULL};
    assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(desk.children, 0);
    assert_int_equal(uv_loop_close(&loop), 0);
    return 0;
}

static void begin(struct rig *r, const char *body, size_t size)
{
    struct read_page p = {.body = {body, size},
                          .url = "http://h/7",
                          .type = "text/html; charset=utf-8",
                          .item = "m7",
                          .id = "7",
                          .status = 200};

    if (fb_read(&desk, &r->rule, &p, take, NULL, &r->err) < 0)
        fail_msg("%s", r->err.text);
}

/* Read a body to the end; returns what came of it. */
static int read_with(const char *source, const char *body, size_t size)
{
    rig_fini(&last);
    rig_source(&last, source);
    begin(&last, body, size);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(end.count, 1);
    end.count = 0;
    return end.error;
}

/* A script as the program; `more` are further keys. */
static int run_script(const char *script, const char *more, const char *body)
{
    char source[2048];

    (void)snprintf(source, sizeof source, "{kind: exec, command: [sh, -c, %s]%s}", script, more);
    return read_with(source, body, strlen(body));
}

static const char *said(const char *name)
{
    const char *value = fb_snapshot_find(&end.said.says, name);

    return value ? value : "(none)";
}

/* ------------------------------------------------------------------------------------- programs */

static void a_program_reads_the_body_and_prints_json(void **state)
{
    (void)state;
    assert_int_equal(run_script("'cat'", "", "{\"b\":2,\"a\":\"x\"}"), 0);
    assert_string_equal(said("a"), "x");
    assert_string_equal(said("b"), "2");
    assert_int_equal(
        run_script("'cat'", ", fields: {n: {path: /l/1, type: integer}}", "{\"l\":[1,\"2\"]}"), 0);
    assert_string_equal(said("n"), "2");
}

static void a_program_knows_what_it_is_about_and_no_secret(void **state)
{
    static const char SCRIPT[] =
        "'printf \"{\\\"s\\\":\\\"%s\\\",\\\"i\\\":\\\"%s\\\",\\\"d\\\":\\\"%s\\\",\\\"u\\\":"
        "\\\"%s\\\",\\\"c\\\":\\\"%s\\\",\\\"secret\\\":\\\"%s\\\"}\" $FLYBALL_SOURCE "
        "$FLYBALL_ITEM $FLYBALL_ID $FLYBALL_URL $FLYBALL_STATUS \"$A_SECRET_TOKEN\"'";

    (void)state;
    assert_int_equal(setenv("A_SECRET_TOKEN", "CANARY9f3a", 1), 0);
    assert_int_equal(run_script(SCRIPT, "", ""), 0);
    assert_string_equal(said("s"), "a");
    assert_string_equal(said("i"), "m7");
    assert_string_equal(said("d"), "7");
    assert_string_equal(said("u"), "http://h/7");
    assert_string_equal(said("c"), "200");
    assert_string_equal(said("secret"), "");
}

static void a_program_has_the_whole_path(void **state)
{
    const char *usual = getenv("PATH");
    char longer[4096], before[3072], length[24];

    (void)state;
    (void)snprintf(before, sizeof before, "%s", usual ? usual : "/usr/bin:/bin");
    (void)snprintf(longer, sizeof longer, "%s:/%0600d", before, 0);
    (void)snprintf(length, sizeof length, "%zu", strlen(longer));
    assert_int_equal(setenv("PATH", longer, 1), 0);
    assert_int_equal(run_script("'printf \"{\\\"n\\\":%d}\" ${#PATH}'", "", ""), 0);
    assert_int_equal(setenv("PATH", before, 1), 0);
    assert_string_equal(said("n"), length);
}

static void a_program_that_hangs_is_killed(void **state)
{
    (void)state;
    assert_int_equal(run_script("'sleep 600'", ", timeout: 200ms", "x"), -ETIMEDOUT);
    assert_contains(end.sentence, "took too long");
    assert_int_equal(desk.killed, 1);
    /* One that has closed its output and goes on hangs as well. */
    assert_int_equal(run_script("'exec >&-; sleep 600'", ", timeout: 200ms", "x"), -ETIMEDOUT);
}

/* Gone, or nobody has asked yet what became of it. */
static bool is_dead(long pid)
{
    char path[64], text[256] = "";
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "r");

    if (!file)
        return true;
    (void)fread(text, 1, sizeof text - 1, file);
    (void)fclose(file);
    const char *state = strrchr(text, ')');
    return state && state[2] == 'Z';
}

static void with_it_goes_what_it_has_started(void **state)
{
    char name[] = "/tmp/flyball-child-XXXXXX", script[256];
    int fd = mkstemp(name);
    char pid[32] = "";

    (void)state;
    assert_at_least(fd, 0);
    (void)snprintf(script, sizeof script, "'sleep 600 & echo $! >%s; wait'", name);
    /* Long enough for the shell to have begun it, on any machine. */
    assert_int_equal(run_script(script, ", timeout: 3s", "x"), -ETIMEDOUT);
    assert_at_least(pread(fd, pid, sizeof pid - 1, 0), 1);
    for (int i = 0; !is_dead(strtol(pid, NULL, 10)) && i < 6000; i++)
        (void)usleep(10000);
    assert_true(is_dead(strtol(pid, NULL, 10)));
    (void)close(fd);
    (void)unlink(name);
}

static void a_program_that_floods_is_killed(void **state)
{
    (void)state;
    assert_int_equal(run_script("'yes'", "", "x"), -E2BIG);
    assert_contains(end.sentence, "printed more than");
    /* What it complains of without end disturbs nobody. */
    assert_int_equal(run_script("'yes nonsense >&2'", ", timeout: 500ms", "x"), -ETIMEDOUT);
}

static void a_program_that_dies_says_how(void **state)
{
    (void)state;
    assert_int_equal(run_script("'exit 3'", "", "x"), -EPROTO);
    assert_contains(end.sentence, "exit code 3");
    assert_int_equal(run_script("'kill -9 $$'", "", "x"), -EPROTO);
    assert_contains(end.sentence, "signal 9");
    assert_int_equal(run_script("'echo it is broken >&2; echo more >&2; exit 1'", "", "x"),
                     -EPROTO);
    assert_string_equal(end.sentence, "it is broken");
    assert_int_equal(read_with("{kind: exec, command: [/nowhere/at-all]}", "x", 1), -EPROTO);
    assert_contains(end.sentence, "cannot run /nowhere/at-all");
}

static void nonsense_of_a_program_is_no_answer(void **state)
{
    (void)state;
    assert_int_equal(run_script("'echo nonsense'", "", "x"), -EBADMSG);
    assert_int_equal(run_script("':'", "", "x"), -EBADMSG);
    assert_int_equal(run_script("'echo []'", "", "x"), -EBADMSG);
    assert_int_equal(run_script("'yes nonsense | head -c 100000'", "", "x"), -EBADMSG);
}

static void a_program_need_not_read_all_of_it(void **state)
{
    static char body[1024 * 1024];

    (void)state;
    memset(body, 'x', sizeof body);
    assert_int_equal(read_with("{kind: exec, command: [echo, '{\"a\":1}']}", body, sizeof body), 0);
    assert_string_equal(said("a"), "1");
}

static void many_wait_their_turn(void **state)
{
    struct rig r;

    (void)state;
    rig_source(&r, "{kind: exec, command: [cat]}");
    for (int i = 0; i < MANY; i++) {
        begin(&r, "{\"a\":1}", 7);
        assert_at_most(desk.children, FB_DESK_CHILDREN);
    }
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(end.count, MANY);
    assert_int_equal(end.error, 0);
    assert_int_equal(desk.begun, MANY);
    rig_fini(&r);
}

static void all_of_them_can_be_given_up(void **state)
{
    struct rig r;

    (void)state;
    rig_source(&r, "{kind: exec, command: [sleep, 600], timeout: 10m}");
    for (int i = 0; i < MANY; i++)
        begin(&r, "x", 1);
    fb_desk_cancel(&desk);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(end.count, MANY);
    assert_int_equal(end.error, -ECANCELED);
    rig_fini(&r);
}

/* ----------------------------------------------------------------------------------------- HTML */

#define PAGE(fields) "{kind: html, url: 'http://h/{id}', fields: {" fields "}}"

static int read_page(const char *source, const char *body)
{
    return read_with(source, body, strlen(body));
}

static void xpaths_find_texts(void **state)
{
    static const char BODY[] = "<html><head><title> Ajax \n - PSV </title><body>"
                               "<td class=s id=h>2<td class=s>1</td><p>x<b>y</b></p>";

    (void)state;
    assert_int_equal(read_page(PAGE("t: //title, 'h': {path: \"//td[@id='h']\", type: integer}, "
                                    "n: count(//td), a: \"//td/@class\", p: //p, none: //table, "
                                    "wrong: {path: //p, type: integer}"),
                               BODY),
                     0);
    assert_string_equal(said("t"), "Ajax - PSV");
    assert_string_equal(said("h"), "2");
    assert_string_equal(said("n"), "2");
    assert_string_equal(said("a"), "s");
    assert_string_equal(said("p"), "xy");
    assert_string_equal(said("none"), "(none)");
    assert_int_equal(end.said.missing, 1);
    assert_int_equal(end.said.wrong, 1);
}

static void a_list_may_be_html(void **state)
{
    static const char BODY[] = "<ul><li id=1 class=on data-b=b1>x<li id=2 class=off><li>y</ul>";
    struct rig r;

    (void)state;
    rig_list(&r, "{kind: html, url: 'http://h/', list: //li, id: '@id', state: '@class', "
                 "ids: {b: '@data-b'}, states: {live: 'on', completed: 'off'}}");
    begin(&r, BODY, strlen(BODY));
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(end.error, 0);
    assert_int_equal(end.said.row_count, 2);
    assert_int_equal(end.said.rows_bad, 1);
    assert_string_equal(end.said.row[0].source_id[1], "b1");
    assert_null(end.said.row[1].source_id[1]);
    assert_int_equal(end.said.row[1].state, ITEM_completed);
    rig_fini(&r);
}

static void entities_of_a_page_are_its_own_affair(void **state)
{
    (void)state;
    assert_int_equal(read_page(PAGE("a: //h1"), "<!DOCTYPE html [<!ENTITY x SYSTEM "
                                                "\"file:///etc/passwd\"><!ENTITY y \"grown\">]>"
                                                "<h1>a&x;b&y;c&amp;&eacute;</h1>"),
                     0);
    assert_string_equal(said("a"), "a&x;b&y;c&\xc3\xa9");
}

static void bytes_that_are_no_text_do_no_harm(void **state)
{
    static const char CUT[] = "<h1>a</h1><p>b<!-- <td a='";
    static const char WILD[] = "<h1>a\xff\xfe\xc3</h1>\0<p>b</p>";

    (void)state;
    for (size_t size = 10; size < sizeof CUT; size++) {
        assert_int_equal(read_with(PAGE("a: //h1"), CUT, size), 0);
        assert_string_equal(said("a"), "a");
    }
    assert_int_equal(read_with(PAGE("a: //h1"), WILD, sizeof WILD - 1), 0);
    assert_contains(said("a"), "a");
    assert_int_equal(read_page(PAGE("a: //h1"), ""), -EPROTO);
    assert_int_equal(read_page(PAGE("a: //h1"), "{\"json\":1}"), -EBADMSG);
}

static void a_deep_page_ends_as_a_sentence(void **state)
{
    size_t count = 200000;
    char *body = malloc(count * 3 + 1);

    (void)state;
    assert_non_null(body);
    for (size_t i = 0; i < count; i++)
        memcpy(body + 3 * i, "<b>", 3);
    assert_true(read_with(PAGE("a: //h1"), body, count * 3) < 0);
    free(body);
}

static void an_xpath_that_is_none_is_told(void **state)
{
    (void)state;
    assert_int_equal(read_page(PAGE("a: '//['"), "<h1>a</h1>"), -EPROTO);
    assert_contains(end.sentence, "this XPath cannot be used: //[");
    assert_int_equal(read_page(PAGE("a: \"document('http://127.0.0.1/')\""), "<h1>a</h1>"),
                     -EPROTO);
}

static void a_page_has_no_more_time_than_a_program(void **state)
{
    (void)state;
    assert_int_equal(
        read_page("{kind: html, url: 'http://h/', timeout: 1ms, fields: {a: //h1}}", "<h1>a</h1>"),
        -ETIMEDOUT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(a_program_reads_the_body_and_prints_json),
        TEST(a_program_knows_what_it_is_about_and_no_secret),
        TEST(a_program_has_the_whole_path),
        TEST(a_program_that_hangs_is_killed),
        TEST(with_it_goes_what_it_has_started),
        TEST(a_program_that_floods_is_killed),
        TEST(a_program_that_dies_says_how),
        TEST(nonsense_of_a_program_is_no_answer),
        TEST(a_program_need_not_read_all_of_it),
        TEST(many_wait_their_turn),
        TEST(all_of_them_can_be_given_up),
        TEST(xpaths_find_texts),
        TEST(a_list_may_be_html),
        TEST(entities_of_a_page_are_its_own_affair),
        TEST(bytes_that_are_no_text_do_no_harm),
        TEST(a_deep_page_ends_as_a_sentence),
        TEST(an_xpath_that_is_none_is_told),
        TEST(a_page_has_no_more_time_than_a_program),
    };

    if (argc > 1 && strcmp(argv[1], FB_CHILD_WORD) == 0)
        return fb_child_main(argc - 2, argv + 2);
    (void)signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
