/* SPDX-License-Identifier: MIT */
/*
 * scale.c - what a watcher of 100,000 items costs at 500 updates a second.
 *
 * The real watcher on virtual time: three domains that allow 600 looks a second together and answer
 * ten fields after 100 ms; a list of all items every 15 s, of which 2,500 are live and 5,000
 * imminent. First every item is looked at once; then the time of the processor is measured for a
 * span of virtual time, the world around the watcher included. Fails above a tenth of a core, above
 * 2 KB an item without its texts, or above as much as is said here in all, as the system sees it.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <flyball/flyball.h>

#include "core/instant.h"
#include "watch/show.h"
#include "watch/watch.h"

#define S          FB_NS_PER_S
#define ITEMS      100000
#define LIVE       2500
#define IMMINENT   5000
#define DOMAINS    3
#define RATE       600 /* that all domains together allow: more than is wanted of them */
#define LATENCY    (100 * FB_NS_PER_MS)
#define FLIGHTS    1024 /* a power of two, above the cap */
#define WARM_UP_S  9000 /* at most, until each item has a version */
#define MEASURED_S 120
#define SHARE_MOST 0.10
#define BYTES_MOST 2048
#define RSS_MOST   3072 /* an item, texts and what malloc() adds included */

struct world {
    struct watch *watch;
    int64_t now_ns, wake_ns;
    int64_t next_ns[DOMAINS];           /* from when on a domain has a permit */
    struct watch_look *flight[FLIGHTS]; /* all take as long: first in, first out */
    int64_t asked_ns[FLIGHTS];
    size_t first, last;
    struct watch_entry *entry;
    int64_t updates;
};

static int64_t now(void *self)
{
    return ((struct world *)self)->now_ns;
}

static void wake_at(void *self, int64_t at_ns)
{
    ((struct world *)self)->wake_ns = at_ns;
}

static int look(void *self, struct watch_look *l)
{
    struct world *w = self;
    int64_t *next_ns = &w->next_ns[l->domain_index];

    if (l->kind != LOOK_LIST) {
        if (*next_ns > w->now_ns) {
            l->ready_ns = *next_ns;
            return -EAGAIN;
        }
        *next_ns = fb_max64(*next_ns, w->now_ns - S / 10) + DOMAINS * S / RATE;
    }
    w->flight[w->last % FLIGHTS] = l;
    w->asked_ns[w->last++ % FLIGHTS] = w->now_ns;
    return 0;
}

static void tell(void *self, const struct watch_event *e)
{
    (void)self;
    (void)e;
}

static void recycle(void *self)
{
    (void)self;
}

static void make_list(struct world *w)
{
    static char id[ITEMS][1 + DOMAINS][16];
    static const char *ids[ITEMS][DOMAINS];

    w->entry = calloc(ITEMS, sizeof(*w->entry));
    for (size_t n = 0; n < ITEMS; n++) {
        snprintf(id[n][0], sizeof(id[n][0]), "item-%zu", n);
        for (size_t d = 0; d < DOMAINS; d++) {
            snprintf(id[n][1 + d], sizeof(id[n][1 + d]), "%c%zu", (char)('a' + d), n);
            ids[n][d] = id[n][1 + d];
        }
        w->entry[n] = (struct watch_entry){
            .id = id[n][0],
            .state = n < LIVE              ? ITEM_live
                     : n < LIVE + IMMINENT ? ITEM_imminent
                                           : ITEM_completed,
            .domain_id = ids[n],
        };
    }
}

/* Ten fields, of which one changes every 20 s. */
static void answer(struct world *w, struct watch_look *l, int64_t asked_ns)
{
    static const char *const names[] = {"away",   "city",  "half", "home",  "minute",
                                        "period", "place", "side", "tally", "venue"};
    struct snapshot_field field[10];
    char value[24];
    struct watch_answer a = {.end = LOOK_OK, .asked_ns = asked_ns, .latency_ns = LATENCY};

    snprintf(value, sizeof(value), "%lld", (long long)(asked_ns / (20 * S)));
    for (size_t n = 0; n < 10; n++)
        field[n] = (struct snapshot_field){names[n], n == 4 ? value : "as it was"};
    a.says = (struct snapshot){.field = field, .count = 10};
    w->updates++;
    fb_watch_looked(w->watch, l, &a);
}

static void pass(struct world *w, int64_t span_ns)
{
    int64_t end_ns = w->now_ns + span_ns;

    for (;;) {
        size_t at = w->first % FLIGHTS;
        int64_t lands_ns = w->first < w->last ? w->asked_ns[at] + LATENCY : FB_NEVER;
        int64_t at_ns = fb_min64(lands_ns, w->wake_ns);
        if (at_ns > end_ns)
            break;
        w->now_ns = fb_max64(w->now_ns, at_ns);
        if (lands_ns > w->wake_ns) {
            fb_watch_turn(w->watch);
            continue;
        }
        w->first++;
        if (w->flight[at]->kind != LOOK_LIST)
            answer(w, w->flight[at], w->asked_ns[at]);
        else if (fb_watch_listed(w->watch, w->flight[at], w->entry, ITEMS) < 0)
            exit(1);
    }
    w->now_ns = end_ns;
}

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct world *begin(void)
{
    static const struct watch_domain_plan domains[DOMAINS] = {
        {"alpha", 3, 40, true, false}, {"beta", 2, 40, true, false}, {"gamma", 1, 40, true, false}};
    struct world *w = calloc(1, sizeof(*w));
    struct watch_ports ports = {
        .self = w, .now = now, .wake_at = wake_at, .look = look, .tell = tell, .recycle = recycle};
    struct watch_plan plan;
    struct fly_error err = {""};

    w->now_ns = w->wake_ns = INT64_C(1700000000) * S;
    make_list(w);
    fb_watch_plan_init(&plan);
    plan.has_list = true;
    plan.concurrency = 100;
    plan.domain = domains;
    plan.domain_count = DOMAINS;
    if (fb_watch_open(&ports, &plan, &w->watch, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    return w;
}

static size_t without_version(const struct world *w)
{
    struct watch_item_view v;
    size_t without = 0;

    for (size_t n = 0; n < fb_watch_count(w->watch); n++) {
        fb_watch_item(w->watch, fb_watch_item_at(w->watch, n), &v);
        without += v.seq == 0;
    }
    return without + ITEMS - fb_watch_count(w->watch);
}

/* Until each item was looked at; returns how many seconds that took. */
static int warm_up(struct world *w)
{
    int seconds = 0;

    for (; seconds < WARM_UP_S && without_version(w) > 0; seconds += 60)
        pass(w, 60 * S);
    return seconds;
}

static long resident_bytes(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss * 1024;
}

static int report(const struct world *w, double used_s, int64_t updates, long bare_bytes)
{
    struct watch_figures f;
    double share = used_s / MEASURED_S;
    double resident = (double)(resident_bytes() - bare_bytes) / ITEMS;
    size_t without = without_version(w);

    fb_watch_figures(w->watch, &f);
    double bytes = (double)f.memory_bytes / ITEMS;
    printf("items                     %d (%d live, %d imminent), %zu of them not seen yet\n", ITEMS,
           LIVE, IMMINENT, without);
    printf("updates                   %.0f a second\n", (double)updates / MEASURED_S);
    printf("processor                 %.2f %% of a core (at most %.0f %%)\n", share * 100,
           SHARE_MOST * 100);
    printf("memory                    %.0f bytes an item (at most %d), and %.0f of texts\n", bytes,
           BYTES_MOST, (double)f.payload_bytes / ITEMS);
    printf("resident                  %.0f bytes an item (at most %d), all included\n", resident,
           RSS_MOST);
    printf("live items, p50 and p95   %.1f s, %.1f s\n", fb_seconds(f.spread[ITEM_live].p50_ns),
           fb_seconds(f.spread[ITEM_live].p95_ns));
    return share < SHARE_MOST && bytes < BYTES_MOST && resident < RSS_MOST && without == 0 ? 0 : 1;
}

int main(void)
{
    struct world *w = begin();
    long bare_bytes = resident_bytes(); /* the world, and its list */
    int warm_s = warm_up(w);
    int64_t updates = w->updates;
    double before_s = cpu_s();

    pass(w, MEASURED_S * S);
    int r = report(w, cpu_s() - before_s, w->updates - updates, bare_bytes);
    printf("all were seen after       %d s\n", warm_s);
    fb_watch_close(w->watch);
    free(w->entry);
    free(w);
    return r;
}
