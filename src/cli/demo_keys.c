/* SPDX-License-Identifier: MIT */
/*
 * demo_keys.c - `b` opens the dashboard in a browser.
 *
 * The terminal is changed only where somebody can press a key, and is as it was afterwards. The
 * browser is not a child for long: a shell starts it and ends, so that it outlives the demo and
 * nobody waits for it.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/demo.h"

/* The user's choice first. $1 is the address: nothing of it is read by the shell. */
#define OPEN_IT                                        \
    "for b in \"$BROWSER\" xdg-open; do\n"             \
    "  if command -v \"$b\" >/dev/null 2>&1; then\n"   \
    "    \"$b\" \"$1\" </dev/null >/dev/null 2>&1 &\n" \
    "    exit 0\n"                                     \
    "  fi\n"                                           \
    "done\n"                                           \
    "exit 1"

static void say_open_it(struct demo_keys *k)
{
    fb_demo_say(k->show, -1, "No browser was found here: open http://%s yourself.", k->where);
}

static void on_closed(uv_handle_t *h)
{
    struct demo_keys *k = h->data;

    k->is_opening = false;
}

static void on_exit_of_shell(uv_process_t *p, int64_t code, int signal_number)
{
    struct demo_keys *k = p->data;

    if (code != 0 || signal_number != 0)
        say_open_it(k);
    uv_close((uv_handle_t *)p, on_closed);
}

static void open_browser(struct demo_keys *k)
{
    char url[sizeof k->where + 8];
    char shell[] = "/bin/sh", option[] = "-c", script[] = OPEN_IT;
    char *words[] = {shell, option, script, shell, url, NULL};
    uv_process_options_t o = {.file = words[0],
                              .args = words,
                              .exit_cb = on_exit_of_shell,
                              .flags = UV_PROCESS_DETACHED}; /* Ctrl-C is for the demo */

    if (k->is_opening)
        return;
    (void)snprintf(url, sizeof url, "http://%s", k->where);
    k->is_opening = true;
    k->process.data = k;
    if (uv_spawn(k->input.loop, &k->process, &o) == 0)
        return;
    say_open_it(k);
    uv_close((uv_handle_t *)&k->process, on_closed);
}

static void on_key(uv_poll_t *input, int status, int events)
{
    struct demo_keys *k = input->data;
    char key[16];

    (void)events;
    ssize_t n = status < 0 ? -1 : read(STDIN_FILENO, key, sizeof key);
    if (n <= 0) { /* nobody is there any more */
        (void)uv_poll_stop(input);
        return;
    }
    if (memchr(key, 'b', (size_t)n))
        open_browser(k);
}

/* A job in the background may not touch the terminal: it would be stopped. */
static bool has_keys(const struct demo_show *s)
{
    return s->is_live && isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

bool fb_demo_keys_begin(struct demo_keys *k, struct demo_show *show, uv_loop_t *loop,
                        const char *where)
{
    struct termios one_by_one;

    *k = (struct demo_keys){.show = show};
    (void)snprintf(k->where, sizeof k->where, "%s", where);
    if (!has_keys(show) || tcgetattr(STDIN_FILENO, &k->before) < 0 ||
        uv_poll_init(loop, &k->input, STDIN_FILENO) < 0)
        return false;
    k->input.data = k;
    one_by_one = k->before;
    one_by_one.c_lflag &= ~(tcflag_t)(ICANON | ECHO); /* Ctrl-C stays what it is */
    k->is_changed = tcsetattr(STDIN_FILENO, TCSANOW, &one_by_one) == 0;
    return uv_poll_start(&k->input, UV_READABLE, on_key) == 0;
}

void fb_demo_keys_end(struct demo_keys *k)
{
    if (k->is_changed)
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &k->before);
    k->is_changed = false;
}
