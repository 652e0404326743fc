/* SPDX-License-Identifier: MIT */
/*
 * demo_api.c - the API of the demo: the mock, with a limit that nobody is told.
 *
 * It runs in a process of its own, so that the client cannot know more than what comes through its
 * sockets. That process is in a group of its own, since Ctrl-C is for the client, and the kernel
 * ends it when the client is gone.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/demo.h"
#include "core/instant.h"

#define LATENCY_NS (20 * FB_NS_PER_MS)
#define JITTER_NS  (20 * FB_NS_PER_MS)

/* ------------------------------------------------------------------------------ in the child */

/* One message in the pipe. */
struct news {
    int port; /* 0: it has ended */
    struct mock_stats stats;
    struct fly_error err;
};

static void send_news(int to, const struct news *n)
{
    if (write(to, n, sizeof *n) < 0)
        _exit(1); /* nobody is there any more */
}

static void say_listening(void *to, const union address *where)
{
    struct news n = {.port = fb_address_port(where)};

    send_news(*(int *)to, &n);
}

static void serve(const struct mock_options *o, int to, pid_t parent)
{
    struct news n = {.port = 0};

    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1); /* it was gone before that */
    int error = fb_mock_run(o, &n.stats, &n.err);
    send_news(to, &n);
    _exit(error < 0);
}

/* ----------------------------------------------------------------------------- in the parent */

static bool hear(int from, struct news *n)
{
    ssize_t size;

    do {
        size = read(from, n, sizeof *n);
    } while (size < 0 && errno == EINTR);
    return size == (ssize_t)sizeof *n;
}

static int say(struct fly_error *err, const char *what, int error)
{
    (void)snprintf(err->text, sizeof err->text, "%s: %s", what, strerror(-error));
    return error;
}

static int wait_for_it(struct demo_api *a, struct fly_error *err)
{
    struct news n = {.port = 0};

    if (hear(a->from, &n) && n.port > 0) {
        a->port = n.port;
        return 0;
    }
    (void)waitpid(a->pid, NULL, 0);
    (void)close(a->from);
    a->pid = 0;
    if (n.err.text[0]) {
        *err = n.err;
        return -EIO;
    }
    return say(err, "the API did not start", -EIO);
}

int fb_demo_api_start(struct demo_api *a, const char *limit, const struct dialect *dialect,
                      uint64_t seed, struct fly_error *err)
{
    pid_t parent = getpid();
    int ends[2];

    if (pipe(ends) < 0)
        return say(err, "cannot make a pipe", -errno);
    (void)fflush(NULL);
    a->pid = fork();
    if (a->pid == 0) {
        struct mock_options o = {.limit = limit,
                                 .dialect = dialect,
                                 .status = 429,
                                 .latency_ns = LATENCY_NS,
                                 .jitter_ns = JITTER_NS,
                                 .seed = seed,
                                 .on_listening = say_listening,
                                 .to = &ends[1]};
        if (fb_address_read("127.0.0.1:0", &o.listen) < 0)
            _exit(1);
        (void)close(ends[0]);
        serve(&o, ends[1], parent);
    }
    int error = a->pid < 0 ? -errno : 0;
    (void)close(ends[1]);
    a->from = ends[0];
    if (error == 0)
        return wait_for_it(a, err);
    (void)close(ends[0]);
    a->pid = 0;
    return say(err, "cannot start the API", error);
}

bool fb_demo_api_stop(struct demo_api *a, struct mock_stats *ret_stats)
{
    struct news n = {.port = 0};

    if (a->pid <= 0)
        return false; /* which to kill() would mean many */
    (void)kill(a->pid, SIGTERM);
    bool heard = hear(a->from, &n);
    (void)close(a->from);
    (void)waitpid(a->pid, NULL, 0);
    if (heard)
        *ret_stats = n.stats;
    return heard;
}
