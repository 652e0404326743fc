/* SPDX-License-Identifier: MIT */
/*
 * limits_virtual - the rows of limits.py on virtual time, each over many seeds.
 *
 *     limits_virtual [--seeds 100] [--seed 1] [--only TEXT] [--spec TEXT] [--even] [--others]
 *                    [--trace] [--missed]
 *
 * The same limiter against the models of the simulator that do what origin.py does, over a line
 * that does what relay.py does, judged as judge.py does: a first run, and a second one that starts
 * from the state that the first one saved. One timer in fifty is up to 60 ms late, and the client
 * stands still until then, as on a machine that others use as well; not with --even. --spec is
 * what the limiter is told (nothing): with adapt=off it shows what a pace is worth. --trace tells
 * of every refusal in the first seed, --missed which seeds miss a row. --others runs limits of the
 * same kinds, to see that what serves these rows serves those as well. Ends with 1 when a row is
 * kept in fewer runs of a hundred than it was (its floor below, some less than it was): what has
 * become better raises it. With 2 when --only names no row: nothing was shown then.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <flyball/flyball.h>
#include <flyball/state.h>

#include "core/instant.h"
#include "sim/agenda.h"
#include "sim/draw.h"
#include "sim/gate.h"

#define EPOCH_NS    (INT64_C(1700000000) * FB_NS_PER_S)
#define WORKERS     40   /* as flyball fetch has them */
#define COUNT       2000 /* requests of a run */
#define SEEDS_MOST  1000
#define LEARNED     10 /* refusals: what is used counts from then on */
#define LATE_ONE_IN 50 /* timers */
#define LATE_MOST_S 0.06
#define JITTER_S    0.1
#define NEAR_S      0.0004 /* one way, next door */
#define SERVICE_S   0.02   /* where what is in flight counts */
#define POLL_NS     (20 * FB_NS_PER_MS)
#define RUN_MOST_NS (7200 * FB_NS_PER_S)

enum dialect { GITHUB, IETF, RETRY_AFTER, NONE, DIALECTS };

static const char *const DIALECT_NAMES[DIALECTS] = {"github", "ietf", "retry-after", "none"};

struct limit {
    const char *name;
    const struct gate_kind *kind;
    int64_t amount;
    double window_s; /* 0: what is in flight */
    double burst;
    int floor[DIALECTS][2];
};

static const struct limit LIMITS[] = {
    {"sliding:50/1", &fb_gate_log, 50, 1.0, 0.0, {{90, 95}, {90, 95}, {95, 0}, {90, 75}}},
    {"fixed:100/10", &fb_gate_fixed, 100, 10.0, 0.0, {{95, 95}, {95, 95}, {95, 95}, {90, 85}}},
    {"bucket:50/1:20", &fb_gate_bucket, 50, 1.0, 20.0, {{95, 95}, {93, 95}, {95, 88}, {85, 80}}},
    {"concurrency:5", &fb_gate_crowd, 5, 0.0, 0.0, {{95, 92}, {95, 92}, {95, 92}, {95, 92}}},
};

/* Others of these kinds: what serves the rows above must not cost these. No floors. */
static const struct limit OTHERS[] = {
    {"sliding:40/2", &fb_gate_log, 40, 2.0, 0.0, {{0}}},
    {"sliding:60/3", &fb_gate_log, 60, 3.0, 0.0, {{0}}},
    {"sliding:25/5", &fb_gate_log, 25, 5.0, 0.0, {{0}}},
    {"sliding:30/1", &fb_gate_log, 30, 1.0, 0.0, {{0}}},
    {"sliding:110/1", &fb_gate_log, 110, 1.0, 0.0, {{0}}},
    {"fixed:60/10", &fb_gate_fixed, 60, 10.0, 0.0, {{0}}},
    {"fixed:250/10", &fb_gate_fixed, 250, 10.0, 0.0, {{0}}},
    {"bucket:30/1:40", &fb_gate_bucket, 30, 1.0, 40.0, {{0}}},
    {"bucket:85/1:10", &fb_gate_bucket, 85, 1.0, 10.0, {{0}}},
    {"concurrency:8", &fb_gate_crowd, 8, 0.0, 0.0, {{0}}},
};

struct row {
    const struct limit *limit;
    enum dialect dialect;
    bool jitter;
};

enum { ARRIVE, LEAVE, ANSWER, TIMER };

struct flight {
    struct fly_outcome outcome;
    bool ok;
};

struct arrival {
    int64_t at_ns;
    bool ok;
};

struct run {
    const struct row *row;
    struct fly_limiter *limiter;
    struct gate gate;
    struct agenda agenda;
    struct rng line, stall;
    struct flight flight[WORKERS];
    bool busy[WORKERS];
    struct arrival *arrival;
    int32_t arrivals, room;
    int32_t to_do, in_flight;
    int64_t now_ns, timer_ns, stalled_ns;
    bool even, trace;
};

/* What judge.py finds in the log of an origin. */
struct verdict {
    int32_t refused, settled;
    double used, per_1000;
    bool done;
};

static void *must(void *memory)
{
    if (!memory) {
        fputs("limits_virtual: out of memory\n", stderr);
        exit(2);
    }
    return memory;
}

static void at(struct run *r, int64_t at_ns, int kind, int slot)
{
    if (fb_agenda_push(&r->agenda, at_ns, (uint16_t)kind, (uint16_t)slot) < 0)
        must(NULL);
}

/* ---- the origin and the line to it ---- */

static int64_t line_ns(struct run *r)
{
    double s = NEAR_S + fb_draw_exp(&r->line, 0.5 * NEAR_S);

    return fb_span(s + fb_draw_between(&r->line, 0.0, r->row->jitter ? JITTER_S : 0.0));
}

static int64_t seconds_up(int64_t span_ns)
{
    return (span_ns + FB_NS_PER_S - 1) / FB_NS_PER_S * FB_NS_PER_S;
}

/* When all of a bucket is there again, one more fits into what slides, a window begins anew. */
static int64_t reset_ns(struct run *r, int64_t left)
{
    struct gate *g = &r->gate;

    if (g->kind == &fb_gate_bucket)
        return r->now_ns + fb_span((g->burst - g->level) / g->rate);
    if (g->kind == &fb_gate_fixed)
        return g->opened_ns + g->window_ns;
    return g->kind->opens_at(g, r->now_ns, left + 1);
}

static void tell(struct run *r, struct fly_outcome *o, bool ok)
{
    struct gate *g = &r->gate;
    enum dialect d = r->row->dialect;
    int64_t left = g->kind->room(g, r->now_ns);

    if (d <= IETF && g->window_ns + (int64_t)g->rate > 0) {
        int64_t until_ns = reset_ns(r, left);
        o->limit = r->row->limit->amount;
        o->remaining = left;
        o->reset_ns =
            d == GITHUB ? EPOCH_NS + seconds_up(until_ns) : seconds_up(until_ns - r->now_ns);
    }
    if (ok || d == NONE)
        return;
    int64_t opens_ns = g->kind == &fb_gate_crowd ? r->now_ns : g->kind->opens_at(g, r->now_ns, 1);
    o->retry_after_ns = fb_max64(FB_NS_PER_S, seconds_up(opens_ns - r->now_ns));
}

static void note_arrival(struct run *r, bool ok)
{
    if (r->arrivals == r->room) {
        r->room = r->room ? 2 * r->room : 4096;
        r->arrival = must(realloc(r->arrival, (size_t)r->room * sizeof(*r->arrival)));
    }
    r->arrival[r->arrivals++] = (struct arrival){r->now_ns, ok};
}

static void on_arrive(struct run *r, int slot)
{
    struct flight *f = &r->flight[slot];
    struct gate *g = &r->gate;
    int64_t finish_ns = r->now_ns;

    f->ok = g->kind->room(g, r->now_ns) >= 1;
    note_arrival(r, f->ok);
    if (f->ok)
        (void)g->kind->take(g, r->now_ns, 1);
    else if (g->kind->refuse)
        g->kind->refuse(g, r->now_ns, 1);
    tell(r, &f->outcome, f->ok);
    if (g->kind->leave && f->ok) {
        finish_ns += fb_span(SERVICE_S * fb_draw_between(&r->line, 0.5, 1.5));
        at(r, finish_ns, LEAVE, slot);
    }
    at(r, finish_ns + line_ns(r), ANSWER, slot);
}

/* ---- the client ---- */

static void send_one(struct run *r, uint64_t ticket)
{
    int slot = 0;

    while (r->busy[slot])
        slot++;
    r->busy[slot] = true;
    r->in_flight++;
    r->to_do--;
    r->flight[slot].outcome = (struct fly_outcome){
        .sent_ns = EPOCH_NS + r->now_ns,
        .limit = FLY_ABSENT,
        .remaining = FLY_ABSENT,
        .reset_ns = FLY_ABSENT,
        .retry_after_ns = FLY_ABSENT,
        .ticket = ticket,
    };
    at(r, r->now_ns + line_ns(r), ARRIVE, slot);
}

static void try_to_send(struct run *r)
{
    while (r->to_do > 0 && r->in_flight < WORKERS) {
        uint64_t ticket = 0;
        int64_t at_ns = fly_limiter_take(r->limiter, EPOCH_NS + r->now_ns, 1, &ticket);

        if (at_ns <= EPOCH_NS + r->now_ns) {
            send_one(r, ticket);
            continue;
        }
        if (at_ns == FLY_NEVER && r->in_flight > 0)
            return;
        at_ns = at_ns == FLY_NEVER ? r->now_ns + POLL_NS : at_ns - EPOCH_NS;
        if (at_ns != r->timer_ns)
            at(r, at_ns, TIMER, 0);
        r->timer_ns = at_ns;
        return;
    }
}

static void trace(struct run *r, const struct flight *f)
{
    struct fly_why why = {.size = sizeof(why)};

    if (!r->trace || f->ok)
        return;
    (void)fly_limiter_why(r->limiter, EPOCH_NS + r->now_ns, 1, &why);
    printf("    %9.3f  %5d arrived, %2d in flight; %s\n", fb_seconds(r->now_ns), r->arrivals,
           r->in_flight, why.text);
}

static void on_answer(struct run *r, int slot)
{
    struct flight *f = &r->flight[slot];

    r->busy[slot] = false;
    r->in_flight--;
    r->to_do += !f->ok;
    f->outcome.status = f->ok ? 200 : 429;
    f->outcome.latency_ns = EPOCH_NS + r->now_ns - f->outcome.sent_ns;
    if (r->row->dialect == IETF && f->outcome.reset_ns != FLY_ABSENT)
        f->outcome.reset_ns += EPOCH_NS + r->now_ns; /* told as a span */
    trace(r, f);
    fly_limiter_report(r->limiter, EPOCH_NS + r->now_ns, &f->outcome);
    try_to_send(r);
}

static void on_timer(struct run *r)
{
    r->timer_ns = -1;
    try_to_send(r);
}

/* The client stands still: what comes meanwhile is seen later. Whether it does. */
static bool is_stalled(struct run *r, const struct event *e)
{
    if (e->kind != TIMER && e->kind != ANSWER)
        return false;
    if (e->kind == TIMER && e->at_ns != r->timer_ns)
        return false;
    if (e->kind == TIMER && r->now_ns > r->stalled_ns && !r->even &&
        fb_draw_chance(&r->stall, 1.0 / LATE_ONE_IN))
        r->stalled_ns = r->now_ns + fb_span(fb_draw_between(&r->stall, 0.0, LATE_MOST_S));
    if (r->now_ns >= r->stalled_ns)
        return false;
    if (e->kind == TIMER)
        r->timer_ns = r->stalled_ns;
    at(r, r->stalled_ns, e->kind, e->slot);
    return true;
}

static void loop(struct run *r)
{
    struct event e;

    try_to_send(r);
    while (r->to_do + r->in_flight > 0 && r->now_ns < RUN_MOST_NS &&
           fb_agenda_pop(&r->agenda, &e)) {
        r->now_ns = e.at_ns;
        if (is_stalled(r, &e))
            continue;
        if (e.kind == ARRIVE)
            on_arrive(r, e.slot);
        else if (e.kind == LEAVE)
            r->gate.kind->leave(&r->gate);
        else if (e.kind == ANSWER)
            on_answer(r, e.slot);
        else if (e.at_ns == r->timer_ns)
            on_timer(r);
    }
}

/* ---- the judge ---- */

static int64_t settled_from(const struct run *r, bool headers)
{
    int64_t from_ns = r->arrival[0].at_ns;
    int32_t refused = 0;

    if (headers)
        return from_ns + fb_span(r->row->limit->window_s);
    for (int32_t i = 0; i < r->arrivals && refused < LEARNED; i++) {
        refused += !r->arrival[i].ok;
        if (!r->arrival[i].ok)
            from_ns = r->arrival[i].at_ns;
    }
    return from_ns;
}

static bool has_headers(const struct row *w)
{
    return w->limit->window_s > 0.0 && w->dialect <= IETF;
}

static struct verdict judge(const struct run *r)
{
    struct verdict v = {.done = r->to_do + r->in_flight == 0};
    int64_t from_ns = settled_from(r, has_headers(r->row));
    double span_s = fb_seconds(r->arrival[r->arrivals - 1].at_ns - from_ns);
    int32_t accepted = 0;

    for (int32_t i = 0; i < r->arrivals; i++) {
        const struct arrival *a = &r->arrival[i];
        v.refused += !a->ok;
        v.settled += !a->ok && a->at_ns > from_ns;
        accepted += a->ok && a->at_ns > from_ns;
    }
    v.per_1000 = 1000.0 * v.refused / r->arrivals;
    if (r->row->limit->window_s > 0.0 && span_s > 0.0)
        v.used = accepted / ((double)r->row->limit->amount * span_s / r->row->limit->window_s);
    return v;
}

/* ---- a row ---- */

struct plan {
    uint64_t seed;
    int seeds;
    const char *only;
    const char *spec;
    bool even, trace, missed, others;
};

static void init_gate(struct run *r, struct rng *draw)
{
    const struct limit *l = r->row->limit;

    r->gate = (struct gate){.kind = l->kind, .burst = l->burst, .limit = l->amount};
    if (l->kind == &fb_gate_bucket)
        r->gate.rate = (double)l->amount / l->window_s;
    else if (l->window_s > 0.0)
        r->gate.window_ns = fb_span(l->window_s);
    if (r->gate.window_ns > 0)
        r->gate.phase_ns = fb_draw_int(draw, 0, r->gate.window_ns - 1);
    if (fb_gate_init(&r->gate) < 0)
        must(NULL);
}

/* The process of the first run ends, and another begins a moment later with what it saved. */
static void begin_again(struct run *r, struct rng *draw, const struct plan *p, uint64_t seed)
{
    unsigned char bytes[FLY_STATE_BYTES];
    int size = fly_limiter_save(r->limiter, EPOCH_NS + r->now_ns, bytes, sizeof(bytes));
    int64_t pause_ns = fb_span(fb_draw_between(draw, 0.3, 1.5));

    fly_limiter_free(r->limiter);
    r->now_ns += pause_ns;
    r->limiter = must(fly_limiter_new(p->spec, EPOCH_NS + r->now_ns, seed + 1, NULL));
    if (size > 0)
        (void)fly_limiter_load(r->limiter, EPOCH_NS + r->now_ns, pause_ns, bytes, (size_t)size,
                               NULL);
}

static struct verdict run_once(struct run *r)
{
    struct agenda agenda = {0};

    if (fb_agenda_init(&agenda) < 0)
        must(NULL);
    r->agenda = agenda;
    r->to_do = COUNT;
    r->in_flight = r->arrivals = 0;
    r->timer_ns = r->stalled_ns = -1;
    memset(r->busy, 0, sizeof(r->busy));
    loop(r);
    fb_agenda_fini(&r->agenda);
    return judge(r);
}

static void run_twice(const struct row *w, const struct plan *p, int i, struct verdict *ret_two)
{
    uint64_t seed = p->seed + (uint64_t)i;
    struct rng draw = fb_draw_stream(seed, 1);
    struct run r = {.row = w, .even = p->even, .trace = p->trace && i == 0};

    r.line = fb_draw_stream(seed, 2);
    r.stall = fb_draw_stream(seed, 3);
    r.now_ns = fb_draw_int(&draw, 0, 20 * FB_NS_PER_S);
    init_gate(&r, &draw);
    struct gate fresh = r.gate;
    r.limiter = must(fly_limiter_new(p->spec, EPOCH_NS + r.now_ns, seed, NULL));
    ret_two[0] = run_once(&r);
    begin_again(&r, &draw, p, seed);
    if (r.trace)
        puts("    again");
    fresh.stamp = r.gate.stamp;
    r.gate = fresh;
    ret_two[1] = run_once(&r);
    fly_limiter_free(r.limiter);
    fb_gate_fini(&r.gate);
    free(r.arrival);
}

/* What is not kept, as in limits.py. */
enum { LOST, OFTEN, UNUSED, AGAIN, FAULTS };

static double aim(const struct row *w)
{
    double window_s = w->limit->window_s;

    if (!has_headers(w))
        return 0.9;
    return w->jitter ? 0.95 * window_s / (window_s + JITTER_S) : 0.95;
}

static bool note_faults(const struct row *w, const struct verdict *two, int *faults)
{
    bool fault[FAULTS] = {
        [LOST] = !two[0].done || !two[1].done,
        [OFTEN] = has_headers(w) ? two[0].settled > 0 : two[0].per_1000 >= 10.0,
        [UNUSED] = w->limit->window_s > 0.0 && two[0].used<aim(w), [AGAIN] = two[1].refused> 0,
    };
    bool any = false;

    for (int i = 0; i < FAULTS; i++) {
        faults[i] += fault[i];
        any = any || fault[i];
    }
    return any;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* So many runs kept it. */
static int row_kept(const struct row *w, const struct plan *p)
{
    static double used[SEEDS_MOST];
    int faults[FAULTS] = {0}, kept = 0, refused = 0, again = 0;

    for (int i = 0; i < p->seeds; i++) {
        struct verdict two[2];
        run_twice(w, p, i, two);
        bool missed = note_faults(w, two, faults);
        if (missed && p->missed)
            printf("    seed %llu: %.1f %% used, %d refused, then %d\n",
                   (unsigned long long)p->seed + (unsigned)i, 100.0 * two[0].used, two[0].refused,
                   two[1].refused);
        kept += !missed;
        used[i] = 100.0 * two[0].used;
        refused += two[0].refused;
        again += two[1].refused;
    }
    qsort(used, (size_t)p->seeds, sizeof(used[0]), by_size);
    printf("%-15s %-12s %-7s %5d %6.1f %6.1f %8.2f %8.2f  %d lost, %d often, %d unused, %d again\n",
           w->limit->name, DIALECT_NAMES[w->dialect], w->jitter ? "100 ms" : "-", kept, used[0],
           used[p->seeds / 2], (double)refused / p->seeds, (double)again / p->seeds, faults[LOST],
           faults[OFTEN], faults[UNUSED], faults[AGAIN]);
    fflush(stdout);
    return kept;
}

static bool is_wanted(const struct row *w, const char *only)
{
    char name[64];

    snprintf(name, sizeof(name), "%s %s %s", w->limit->name, DIALECT_NAMES[w->dialect],
             w->jitter ? "jitter" : "even");
    return strstr(name, only) != NULL;
}

static struct plan read_plan(int argc, char **argv)
{
    struct plan p = {.seed = 1, .seeds = 100, .only = "", .spec = ""};

    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--even") == 0)
            p.even = true;
        else if (strcmp(argv[i], "--trace") == 0)
            p.trace = true;
        else if (strcmp(argv[i], "--missed") == 0)
            p.missed = true;
        else if (strcmp(argv[i], "--others") == 0)
            p.others = true;
        else if (strcmp(argv[i], "--only") == 0)
            p.only = argv[++i] ? value : "";
        else if (strcmp(argv[i], "--spec") == 0)
            p.spec = argv[++i] ? value : "";
        else if (strcmp(argv[i], "--seed") == 0)
            p.seed = strtoull(value, NULL, 10), i++;
        else if (strcmp(argv[i], "--seeds") == 0)
            p.seeds = (int)fb_clamp64(strtol(value, NULL, 10), 1, SEEDS_MOST), i++;
    }
    return p;
}

/* Both ways of each dialect; how many were kept less often than they were. */
static int limit_bad(const struct limit *l, const struct plan *p, int *rows)
{
    int bad = 0;

    for (int i = 0; i < 2 * DIALECTS; i++) {
        struct row w = {l, (enum dialect)(i / 2), i % 2 == 1};
        if (!is_wanted(&w, p->only))
            continue;
        ++*rows;
        bad += 100 * row_kept(&w, p) < l->floor[i / 2][i % 2] * p->seeds;
    }
    return bad;
}

int main(int argc, char **argv)
{
    struct plan p = read_plan(argc, argv);
    const struct limit *l = p.others ? OTHERS : LIMITS;
    size_t count = (p.others ? sizeof(OTHERS) : sizeof(LIMITS)) / sizeof(LIMITS[0]);
    int rows = 0, bad = 0;

    printf("%-15s %-12s %-7s %5s %6s %6s %8s %8s\n", "limit", "dialect", "jitter", "kept", "least",
           "median", "refused", "2nd run");
    for (size_t i = 0; i < count; i++)
        bad += limit_bad(&l[i], &p, &rows);
    if (rows == 0) {
        fprintf(stderr,
                "limits_virtual: --only '%s': there is no such row; rows are named as in "
                "'%s %s even' or '... jitter'\n",
                p.only, LIMITS[0].name, DIALECT_NAMES[0]);
        return 2;
    }
    printf("%d of %d rows are kept as often as they were\n", rows - bad, rows);
    return bad > 0;
}
