/* SPDX-License-Identifier: MIT */
/*
 * demo_rival.c - who else would do the job: a plain loop over libcurl, with nothing that governs
 * it or with a limiter of the usual kind.
 *
 * A rival shares nothing with flyball but libcurl. The limiter is the one that the simulator calls
 * `old`, here on the real clock.
 */
#include <curl/curl.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/demo.h"
#include "core/instant.h"
#include "sim/governor.h"
#include "util/alloc.h"

#define WORKERS      40
#define ATTEMPTS_MAX 3  /* of a request, where nothing governs */
#define POLL_MS      50 /* at most between two looks at what may start */

/* The loop. Requests that are refused go to the end of the queue. */
struct loop {
    int port;
    int64_t requests;
    int32_t *queue;    /* a ring of requests + 1 */
    uint8_t *attempts; /* by request */
    int64_t first, count;
    int64_t in_flight;
    int64_t done, lost;
    struct governor *governor; /* NULL: none */
    CURLM *multi;
};

/* What is sent through the pipe at the end. */
struct rival_end {
    int64_t done;
    int64_t lost;
    int64_t spent_ns;
};

static volatile sig_atomic_t is_stopped;

static void stop(int number)
{
    (void)number;
    is_stopped = 1;
}

static int64_t now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * FB_NS_PER_S + t.tv_nsec;
}

/* ----------------------------------------------------------------------------- the child */

static void put_back(struct loop *l, int32_t request)
{
    l->queue[(l->first + l->count++) % (l->requests + 1)] = request;
}

static size_t swallow(char *bytes, size_t size, size_t count, void *to)
{
    (void)bytes;
    (void)to;
    return size * count;
}

static bool send_next(struct loop *l)
{
    int32_t request = l->queue[l->first];
    CURL *easy = curl_easy_init();
    char url[64];

    if (!easy)
        return false;
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%d/items/%d", l->port, (int)request);
    (void)curl_easy_setopt(easy, CURLOPT_URL, url);
    (void)curl_easy_setopt(easy, CURLOPT_PRIVATE, (void *)(intptr_t)request);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, swallow);
    if (curl_multi_add_handle(l->multi, easy) != CURLM_OK) {
        curl_easy_cleanup(easy);
        return false;
    }
    l->first = (l->first + 1) % (l->requests + 1);
    l->count--;
    l->in_flight++;
    return true;
}

/* Send what may be sent; milliseconds until more may. */
static int start_some(struct loop *l)
{
    static const struct work ONE = {.cost = 1};

    while (l->count > 0 && l->in_flight < WORKERS) {
        int64_t at_ns = now_ns();
        int64_t ready_ns = at_ns;
        uint64_t ticket;

        if (l->governor)
            ready_ns = l->governor->kind->take(l->governor, at_ns, &ONE, 1, &ticket);
        if (ready_ns > at_ns)
            return (int)fb_min64((ready_ns - at_ns) / FB_NS_PER_MS + 1, POLL_MS);
        if (!send_next(l))
            break;
    }
    return POLL_MS;
}

static void judge(struct loop *l, int32_t request, long status)
{
    if (l->governor) {
        struct fly_outcome o = FLY_OUTCOME_INIT;

        o.ticket = 1;
        o.status = (int32_t)status;
        l->governor->kind->report(l->governor, now_ns(), &o);
    }
    if (status == 200)
        l->done++;
    else if (l->governor || ++l->attempts[request] < ATTEMPTS_MAX)
        put_back(l, request);
    else
        l->lost++;
}

static void collect(struct loop *l)
{
    int left;

    for (CURLMsg *m; (m = curl_multi_info_read(l->multi, &left));) {
        CURL *easy = m->easy_handle;
        char *request = NULL;
        long status = 0;

        if (m->msg != CURLMSG_DONE)
            continue;
        (void)curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        (void)curl_easy_getinfo(easy, CURLINFO_PRIVATE, &request);
        (void)curl_multi_remove_handle(l->multi, easy);
        curl_easy_cleanup(easy);
        l->in_flight--;
        judge(l, (int32_t)(intptr_t)request, status);
    }
}

static void run_loop(struct loop *l)
{
    while (!is_stopped && l->count + l->in_flight > 0) {
        int running;
        int wait_ms = start_some(l);

        if (curl_multi_perform(l->multi, &running) != CURLM_OK)
            break;
        collect(l);
        (void)curl_multi_poll(l->multi, NULL, 0, l->count + l->in_flight > 0 ? wait_ms : 0, NULL);
    }
}

static struct governor *make_governor(const struct secret *secret, uint64_t seed)
{
    struct setup *setup = fb_alloc(sizeof *setup);

    if (!setup)
        return NULL;
    setup->told_rate = secret->rate;
    return fb_governor_old.new(
        &(struct governor_setting){.setup = setup, .seed = seed, .now_ns = now_ns()});
}

/* Never returns. What it allocates ends with it. */
static void compete(const struct demo_rival *r, const struct secret *secret, int64_t requests,
                    bool is_paced, uint64_t seed)
{
    struct loop l = {.port = r->api.port, .requests = requests};
    int64_t began_ns = now_ns();

    l.queue = fb_alloc((size_t)(requests + 1) * sizeof l.queue[0]);
    l.attempts = fb_alloc((size_t)(requests + 1));
    l.multi = curl_multi_init();
    if (is_paced)
        l.governor = make_governor(secret, seed);
    if (!l.queue || !l.attempts || !l.multi || (is_paced && !l.governor))
        _exit(1);
    for (int32_t i = 0; i < requests; i++)
        put_back(&l, i);
    run_loop(&l);
    struct rival_end end = {l.done, l.lost, now_ns() - began_ns};
    _exit(write(r->from, &end, sizeof end) == (ssize_t)sizeof end ? 0 : 1);
}

/* SIGTERM waits meanwhile: one that came before its handler would be lost. */
static void begin(struct demo_rival *r, const int *ends, pid_t parent, const sigset_t *usual)
{
    struct sigaction on_term = {.sa_handler = stop};

    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)sigaction(SIGTERM, &on_term, NULL);
    (void)sigprocmask(SIG_SETMASK, usual, NULL);
    (void)close(ends[0]);
    r->from = ends[1];
    if (getppid() != parent)
        _exit(1); /* it was gone before that */
}

/* ---------------------------------------------------------------------------- the parent */

static int start_one(struct demo_rival *r, const struct secret *secret, int64_t requests,
                     bool is_paced, uint64_t seed, struct fly_error *err)
{
    pid_t parent = getpid();
    sigset_t term, usual;
    int ends[2];

    if (pipe(ends) < 0) {
        (void)snprintf(err->text, sizeof err->text, "cannot make a pipe: %s", strerror(errno));
        return -errno;
    }
    (void)fflush(NULL);
    (void)sigemptyset(&term);
    (void)sigaddset(&term, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &term, &usual);
    r->pid = fork();
    if (r->pid == 0) {
        begin(r, ends, parent, &usual);
        compete(r, secret, requests, is_paced, seed);
    }
    int error = r->pid < 0 ? -errno : 0;
    (void)sigprocmask(SIG_SETMASK, &usual, NULL);
    (void)close(ends[1]);
    r->from = ends[0];
    if (error == 0)
        return 0;
    (void)snprintf(err->text, sizeof err->text, "cannot start a client: %s", strerror(-error));
    (void)close(r->from);
    r->pid = 0;
    return error;
}

int fb_demo_rivals_start(struct demo_rival *r, const struct secret *secret,
                         const struct dialect *dialect, int64_t requests, uint64_t seed,
                         struct fly_error *err)
{
    static const char *const NAMES[DEMO_RIVALS] = {"old limiter", "no governor"};

    for (int i = 0; i < DEMO_RIVALS; i++) {
        r[i] = (struct demo_rival){.name = NAMES[i]};
        int error = fb_demo_api_start(&r[i].api, secret->text, dialect, seed, err);
        if (error == 0)
            error = start_one(&r[i], secret, requests, i == 0, seed, err);
        if (error < 0)
            return error;
    }
    return 0;
}

static void stop_one(struct demo_rival *r)
{
    struct rival_end end = {0};

    (void)kill(r->pid, SIGTERM);
    if (read(r->from, &end, sizeof end) == (ssize_t)sizeof end) {
        r->done = end.done;
        r->lost = end.lost;
        r->spent_ns = end.spent_ns;
    }
    (void)close(r->from);
    (void)waitpid(r->pid, NULL, 0);
}

void fb_demo_rivals_stop(struct demo_rival *r)
{
    for (int i = 0; i < DEMO_RIVALS; i++) {
        if (r[i].pid > 0)
            stop_one(&r[i]);
        (void)fb_demo_api_stop(&r[i].api, &r[i].stats);
    }
}
