/* SPDX-License-Identifier: MIT */
/* answer.c - the edges of answers. */
#include "cli/answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"

#define NS_PER_S  INT64_C(1000000000)
#define WIDTH_MIN 20

int64_t fb_answer_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* The first of these that is set decides. */
static bool is_utf8(void)
{
    static const char *const NAMES[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        const char *value = getenv(NAMES[i]);
        const char *dot = value ? strchr(value, '.') : NULL;

        if (value && *value)
            return dot && (strncasecmp(dot, ".utf-8", 6) == 0 || strncasecmp(dot, ".utf8", 5) == 0);
    }
    return false;
}

bool fb_answer_is_screen(void)
{
    const char *term = getenv("TERM");

    return isatty(STDOUT_FILENO) && !(term && strcmp(term, "dumb") == 0);
}

void fb_answer_style(struct view_style *ret_style)
{
    const char *no_color = getenv("NO_COLOR");
    time_t now = time(NULL);
    struct winsize w = {0};
    struct tm here;

    *ret_style = (struct view_style){.ascii = !is_utf8()};
    if (localtime_r(&now, &here))
        ret_style->zone_s = (int64_t)here.tm_gmtoff;
    if (!isatty(STDOUT_FILENO))
        return;
    ret_style->color = fb_answer_is_screen() && !(no_color && *no_color);
    ret_style->width = 80;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 0) {
        ret_style->width = w.ws_col > WIDTH_MIN ? w.ws_col : WIDTH_MIN;
        ret_style->rows = w.ws_row;
    }
}

int fb_answer_print(struct buffer *b)
{
    bool failed = b->failed;

    if (!failed && b->size > 0)
        (void)fwrite(b->bytes, 1, b->size, stdout);
    fb_buffer_fini(b);
    return failed ? fb_answer_fail("", "out of memory")
                  : fb_finish_output(stdout, "standard output");
}

int fb_answer_fail(const char *command, const char *sentence)
{
    fprintf(stderr, "flyball%s%s: %s\n", *command ? " " : "", command, sentence);
    return EXIT_FAILED;
}
