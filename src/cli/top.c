/* SPDX-License-Identifier: MIT */
/*
 * top.c - `flyball top`: what runs, drawn again and again.
 *
 * On a terminal it has a screen of its own, which is gone afterwards. Elsewhere one picture follows
 * another, until nothing runs any more.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "cli/answer.h"
#include "cli/ask.h"
#include "cli/beside.h"
#include "cli/command.h"
#include "cli/known.h"
#include "cli/options.h"
#include "fetch/paths.h"
#include "view/status.h"

#define NAME      "top"
#define ENTER     "\x1b[?1049h\x1b[?25l"
#define LEAVE     "\x1b[?25h\x1b[?1049l"
#define HOME      "\x1b[H"
#define ERASE_END "\x1b[K"
#define ERASE_ALL "\x1b[J"

struct top_line {
    int64_t interval_ns;
    bool once;
    bool json;
};

#define OPTION_TARGET struct top_line

static const struct option_row ROWS[] = {
    {"--once", OPTION_FLAG(once), .about = "one picture, and no more"},
    {"--interval", OPTION_SPAN(interval_ns, "TIME"), .low = 0.1, .standard = "1s",
     .about = "from one picture to the next"},
    {"--json", OPTION_FLAG(json), .about = "JSON objects, a line each"},
    {0},
};

static volatile sig_atomic_t is_interrupted;

static void on_signal(int number)
{
    (void)number;
    is_interrupted = 1;
}

/* The terminal as it was, and whether that was changed. */
struct screen_state {
    struct termios before;
    bool is_open;
};

/* Keys come one by one and are not shown; Ctrl-C stays what it is. */
static void open_screen(struct screen_state *s)
{
    struct termios raw;

    if (tcgetattr(STDIN_FILENO, &s->before) == 0) {
        raw = s->before;
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    fputs(ENTER, stdout);
    s->is_open = true;
}

static void close_screen(struct screen_state *s)
{
    if (!s->is_open)
        return;
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &s->before);
    fputs(LEAVE, stdout);
    (void)fflush(stdout);
}

/* Over what is there, line by line: nothing flickers. */
static void draw(const struct buffer *b)
{
    fputs(HOME, stdout);
    for (size_t i = 0; i < b->size; i++) {
        if (b->bytes[i] == '\n')
            fputs(ERASE_END, stdout);
        putchar(b->bytes[i]);
    }
    fputs(ERASE_ALL, stdout);
    (void)fflush(stdout);
}

/* What runs now, into the buffer. How many batches, or negative errno. */
static int picture(const struct top_line *line, const char *folder, bool is_screen,
                   struct buffer *to)
{
    struct runs all = {.count = 0};
    struct view_status v = {.batch_count = 0};
    struct view_style style;

    fb_answer_style(&style);
    style.rows = is_screen && style.rows > 1 ? style.rows - 1 : 0;
    int64_t pid = fb_ask_view_into(NAME, NULL, line->json, &style, to);
    if (pid > 0) {
        fb_beside_add(folder, pid, line->json, &style, to);
        return 1; /* it goes on for as long as the daemon does */
    }
    int error = fb_runs_read(folder, &all);
    if (error < 0)
        return error;
    while (v.batch_count < all.count && all.batch[v.batch_count]->running)
        v.batch_count++; /* they are the first */
    v.batch = (const struct view_batch *const *)all.batch;
    if (line->json)
        fb_view_top_json(&v, fb_answer_now(), to);
    else
        fb_view_top_text(&v, &style, fb_answer_now(), to);
    fb_runs_free(&all);
    return (int)v.batch_count;
}

/* False: somebody wants to leave. */
static bool wait_for_next(int64_t interval_ns, bool is_screen)
{
    struct pollfd keys = {.fd = is_screen ? STDIN_FILENO : -1, .events = POLLIN};
    char key = 0;

    if (poll(&keys, 1, (int)(interval_ns / 1000000)) > 0 && read(STDIN_FILENO, &key, 1) < 1)
        return false;
    return !is_interrupted && key != 'q' && key != 'Q';
}

static int run_loop(const struct top_line *line, const char *folder)
{
    bool is_screen = fb_answer_is_screen() && !line->once && !line->json && isatty(STDIN_FILENO);
    struct screen_state screen = {.is_open = false};
    int exit_code = EXIT_DONE;
    bool goes_on = true;

    if (is_screen)
        open_screen(&screen);
    for (bool is_first = true; goes_on; is_first = false) {
        struct buffer b = BUFFER_INIT;
        int count = picture(line, folder, is_screen, &b);

        if (!is_first && !is_screen && !line->json)
            putchar('\n');
        if (is_screen && !b.failed)
            draw(&b);
        else
            (void)fwrite(b.bytes, 1, b.size, stdout);
        fb_buffer_fini(&b);
        exit_code = fb_finish_output(stdout, "standard output");
        bool is_over = line->once || count < 0 || exit_code != EXIT_DONE || ferror(stdout) ||
                       (!is_screen && count == 0);
        goes_on = !is_over && wait_for_next(line->interval_ns, is_screen);
    }
    close_screen(&screen);
    return exit_code;
}

static int top_run(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = on_signal};
    struct top_line line = {0};
    struct buffer folder = BUFFER_INIT;
    struct fly_error err = {""};

    if (fb_options_read(&fb_command_top, argc, argv, &line) < 0)
        return EXIT_USAGE;
    if (fb_state_folder(&folder, &err) < 0 || !fb_buffer_text(&folder))
        return fb_answer_fail(NAME, err.text);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    int exit_code = run_loop(&line, folder.bytes);
    fb_buffer_fini(&folder);
    return exit_code;
}

const struct command fb_command_top = {
    .name = NAME,
    .about = "batches that run and their limits, live",
    .usage = "[OPTION...]",
    .intro = "Drawn again every second; q or Ctrl-C ends it. Where standard output is no terminal "
             "one picture follows another until nothing runs.",
    .options = ROWS,
    .exits = "0 done, 1 cannot write, 2 usage",
    .examples = "flyball top\n"
                "flyball top --once\n"
                "flyball top --interval 5s --json\n",
    .run = top_run,
};
