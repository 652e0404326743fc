/* SPDX-License-Identifier: MIT */
/*
 * A process that is stopped while it has a lock: it cannot be robbed, but nobody waits for it for
 * ever either. Each call gives up after a second, so all of them run at once.
 */
#include "ledger_rig.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/file.h>

#include <flyball/observe.h>
#include <flyball/state.h>

#include "ledger/inner.h"
#include "ledger/life.h"
#include "ledger/watch.h"

#define SPEC "concurrency=3 adapt=off"

struct scene {
    struct place place;
    struct fly_ledger *ledger;
    struct fly_limiter *l;     /* its slot is locked by the child */
    struct fly_limiter *other; /* of the same ledger, not locked */
    pid_t child;
};

/* A child that takes the lock and stops. */
static pid_t stop_with(struct robust *lock)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        (void)fb_robust_lock(lock, fb_life_me());
        (void)raise(SIGSTOP);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    assert_true(WIFSTOPPED(status));
    return child;
}

static void end(pid_t child)
{
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(status_of(child), -SIGKILL);
}

/* ---- calls: true where it says that it could not ---- */

static bool take(struct scene *s)
{
    uint64_t ticket = 7;

    return fly_limiter_take(s->l, 0, 1, &ticket) > 0 && ticket == 7;
}

static bool why(struct scene *s)
{
    struct fly_why w = {.size = sizeof(w)};

    return fly_limiter_why(s->l, 0, 1, &w) == 0 && strcmp(w.cause, "ledger-busy") == 0;
}

static bool take_one(struct scene *s)
{
    const uint32_t cost = 1;
    uint64_t ticket = 7;

    return fly_take_all(&s->l, &cost, 1, 0, &ticket) > 0 && ticket == 7;
}

/* The one that is not locked must not stay taken. */
static bool take_both(struct scene *s)
{
    struct fly_limiter *both[2] = {s->other, s->l};
    const uint32_t cost[2] = {1, 1};
    uint64_t ticket[2] = {7, 7};

    return fly_take_all(both, cost, 2, 0, ticket) > 0 && ticket[0] == 7 && ticket[1] == 7;
}

static bool rate(struct scene *s)
{
    return !(fly_limiter_rate(s->l) > 0.0);
}

static bool open_again(struct scene *s)
{
    struct fly_key key = {"api.example.com", "core", "secret"};
    struct fly_limiter *l = NULL;
    struct fly_error err;

    return fly_ledger_limiter(s->ledger, &key, SPEC, &l, &err) == -EBUSY && !l;
}

static bool reconfigure(struct scene *s)
{
    struct fly_error err;

    return fly_limiter_reconfigure(s->l, "rate=1/s", 0, &err) == -EBUSY;
}

static bool save(struct scene *s)
{
    char bytes[4096];

    return fly_limiter_save(s->l, 0, bytes, sizeof(bytes)) == -EBUSY;
}

static bool load(struct scene *s)
{
    struct fly_error err;

    return fly_limiter_load(s->l, 0, 0, "", 0, &err) == -EBUSY;
}

static bool load_first(struct scene *s)
{
    return fb_limiter_load_first(s->l, 0, 0, "", 0) == -EBUSY;
}

static bool secret(struct scene *s)
{
    unsigned char bytes[FB_SIPHASH_SECRET_BYTES];

    return fb_ledger_secret(s->ledger, NULL, bytes) == -EBUSY;
}

static bool learned(struct scene *s)
{
    struct fly_learned x = {.size = sizeof(x)};

    return fly_limiter_learned(s->l, 0, &x) == -EBUSY;
}

static bool usage(struct scene *s)
{
    struct fly_usage x = {.size = sizeof(x)};

    return fly_limiter_usage(s->l, 0, &x) == -EBUSY;
}

static bool window_in_use(struct scene *s)
{
    return isnan(fb_window_utilization(s->l, 0));
}

static bool available(struct scene *s)
{
    return !(fb_permits_available(s->l, 0) > 0.0);
}

/* What is told is owed; that of a ticket nobody knows changes nothing. */
static bool tell(struct scene *s)
{
    report(s->l, 0, 1, 200);
    fly_limiter_cancel(s->l, 0, 1);
    fly_limiter_settle(s->l, 0, 1, 1);
    return fb_owes((struct share *)s->l);
}

typedef bool (*call)(struct scene *s);

static const call slot_calls[] = {take,       why,         take_one,      take_both, rate,
                                  open_again, reconfigure, save,          load,      learned,
                                  usage,      available,   window_in_use, tell,      load_first};
static const call head_calls[] = {open_again, reconfigure, secret};

/* ---- all at once ---- */

struct job {
    pthread_t thread;
    call call;
    struct scene *scene;
    bool busy;
};

static void *work(void *arg)
{
    struct job *j = arg;

    j->busy = j->call(j->scene);
    return NULL;
}

static void all_busy(struct scene *s, const call *calls, size_t n)
{
    struct job job[COUNT_OF(slot_calls)];

    assert_true(n <= COUNT_OF(job));
    for (size_t i = 0; i < n; i++) {
        job[i] = (struct job){.call = calls[i], .scene = s};
        assert_int_equal(pthread_create(&job[i].thread, NULL, work, &job[i]), 0);
    }
    for (size_t i = 0; i < n; i++)
        assert_int_equal(pthread_join(job[i].thread, NULL), 0);
    for (size_t i = 0; i < n; i++)
        if (!job[i].busy)
            fail_msg("call %zu", i);
}

static struct scene scene_new(void)
{
    struct scene s = {.place = place_new()};

    s.ledger = ledger_at(s.place.path);
    s.other = limiter_of(s.ledger, "other", SPEC);
    s.l = limiter_of(s.ledger, "core", SPEC);
    return s;
}

/* Whoever was stopped is gone: everything is there, and nothing was taken. */
static void scene_free(struct scene *s)
{
    assert_int_equal(grants_now(s->l, 9), 3);
    assert_int_equal(grants_now(s->other, 9), 3);
    fly_limiter_free(s->l);
    fly_limiter_free(s->other);
    fly_ledger_close(s->ledger);
    place_free(&s->place);
}

static void a_stopped_owner_makes_a_key_busy(void **state)
{
    struct scene s = scene_new();

    (void)state;
    s.child = stop_with(&atomic_load(&((struct share *)s.l)->slot)->lock);
    all_busy(&s, slot_calls, COUNT_OF(slot_calls));
    end(s.child);
    scene_free(&s);
}

static void a_stopped_owner_makes_a_ledger_busy(void **state)
{
    struct scene s = scene_new();

    (void)state;
    s.child = stop_with(&s.ledger->head->lock);
    all_busy(&s, head_calls, COUNT_OF(head_calls));
    assert_int_equal(grants_now(s.l, 1), 1); /* who has a key goes on */
    fly_limiter_free(s.l);
    end(s.child);
    s.l = limiter_of(s.ledger, "core", SPEC);
    scene_free(&s);
}

/* ---- what is told meanwhile ---- */

static struct robust *lock_of(struct fly_limiter *l)
{
    return &atomic_load(&((struct share *)l)->slot)->lock;
}

static struct fly_usage usage_of(struct fly_limiter *l)
{
    struct fly_usage u = {.size = sizeof(u)};

    assert_int_equal(fly_limiter_usage(l, fly_now(), &u), 0);
    return u;
}

static uint64_t granted(struct fly_limiter *l)
{
    int64_t now_ns = fly_now();
    uint64_t ticket = 0;

    assert_at_most(fly_limiter_take(l, now_ns, 1, &ticket), now_ns);
    return ticket;
}

static void refuse(struct fly_limiter *l, uint64_t ticket)
{
    struct fly_outcome o = outcome(ticket, 429, fly_now());

    o.retry_after_ns = 3600 * S;
    fly_limiter_report(l, fly_now(), &o);
}

static void assert_held(struct fly_limiter *l)
{
    struct fly_why w = {.size = sizeof(w)};

    assert_int_equal(fly_limiter_why(l, fly_now(), 1, &w), 0);
    assert_string_equal(w.cause, "hold");
}

/* A refusal is heard as soon as it can be, and nothing leaves before. */
static void heard_later(bool observed)
{
    struct place place = place_new();
    struct fly_ledger *ledger = ledger_at(place.path);
    struct fly_limiter *l = limiter_of(ledger, "core", "rate=1/1h burst=1000");
    struct fly_limiter *other = limiter_of(ledger, "core", "rate=1/1h burst=1000");
    uint64_t ticket[3] = {0};

    assert_int_equal(fly_limiter_observe(l, observed ? FLY_EVENT_OUTCOME : 0, 8), 0);
    for (int i = 0; i < 3; i++)
        ticket[i] = granted(l);
    pid_t child = stop_with(lock_of(l));
    fly_limiter_settle(l, fly_now(), ticket[0], 7);
    fly_limiter_cancel(l, fly_now(), ticket[1]);
    refuse(l, ticket[2]);
    assert_true(fb_owes((struct share *)l));
    assert_int_equal(grants_now(l, 9), 0); /* as long as it is not heard */
    end(child);
    /* Not even the quick way out. */
    assert_int_equal(grants_now(l, 9), 0);
    assert_false(fb_owes((struct share *)l));
    assert_held(l);
    assert_held(other);
    assert_int_equal(usage_of(other).used, 1 + 7); /* one cancelled, one settled at 7 */
    assert_int_equal(usage_of(other).in_flight, 1);

    struct fly_metrics m = {.size = sizeof(m)};
    assert_int_equal(fly_limiter_metrics(l, fly_now(), &m), observed ? 0 : -ENOENT);
    assert_int_equal(m.throttled, observed);
    fly_limiter_free(l);
    fly_limiter_free(other);
    fly_ledger_close(ledger);
    place_free(&place);
}

static void what_is_told_meanwhile_is_heard_later(void **state)
{
    (void)state;
    heard_later(false);
    heard_later(true);
}

/* Nor is it lost with the handle. */
static void what_is_owed_is_paid_at_the_end(void **state)
{
    struct scene s = scene_new();
    struct fly_limiter *l = limiter_of(s.ledger, "core", SPEC);
    uint64_t ticket;

    (void)state;
    ticket = granted(l);
    s.child = stop_with(lock_of(l));
    report(l, fly_now(), ticket, 200);
    end(s.child);
    fly_limiter_free(l);
    assert_int_equal(usage_of(s.l).in_flight, 0);
    scene_free(&s);
}

/* What the parent owes is not the child's. */
static void a_child_owes_nothing(void **state)
{
    struct scene s = scene_new();
    uint64_t ticket;

    (void)state;
    ticket = granted(s.l);
    s.child = stop_with(lock_of(s.l));
    report(s.l, fly_now(), ticket, 200);
    end(s.child);
    pid_t child = fork();
    if (child == 0)
        _exit((int)usage_of(s.l).in_flight);
    assert_int_equal(status_of(child), 1);
    assert_int_equal(usage_of(s.l).in_flight, 0);
    scene_free(&s);
}

enum { MANY = FB_OWED_MAX + 6 };

struct teller {
    pthread_t thread;
    struct fly_limiter *l;
    uint64_t ticket;
    int number;
    bool refused;
};

/* A refusal in one of the ways in which they come, or what is none. */
static void *tell_one(void *arg)
{
    struct teller *t = arg;
    struct fly_outcome o = outcome(t->ticket, 200, fly_now());

    if (!t->refused && t->number % 8 == 0) {
        fly_limiter_cancel(t->l, fly_now(), t->ticket);
        return NULL;
    }
    if (t->refused && t->number % 4 == 0)
        o.status = 429;
    else if (t->refused && t->number % 4 == 1)
        o.status = 503;
    else if (t->refused && t->number % 4 == 2)
        o.flags = FLY_THROTTLED;
    else if (t->refused)
        o.retry_after_ns = 3600 * S;
    fly_limiter_report(t->l, fly_now(), &o);
    return NULL;
}

/* All at once, since each waits for a second. */
static void tell_many(struct fly_limiter *l, struct teller *t, bool refused)
{
    for (int i = 0; i < MANY; i++) {
        t[i].l = l;
        t[i].number = i;
        t[i].refused = refused;
        assert_int_equal(pthread_create(&t[i].thread, NULL, tell_one, &t[i]), 0);
    }
    for (int i = 0; i < MANY; i++)
        assert_int_equal(pthread_join(t[i].thread, NULL), 0);
}

/* Beyond what there is room for, answers count as lost, but for refusals. */
static void more_than_can_be_owed(bool refusals)
{
    struct place place = place_new();
    struct fly_ledger *ledger = ledger_at(place.path);
    struct fly_limiter *l = limiter_of(ledger, "core", "concurrency=100 adapt=off");
    struct teller t[MANY];
    uint64_t last = 0;

    for (int i = 0; i < MANY; i++)
        t[i].ticket = granted(l);
    last = granted(l);
    pid_t child = stop_with(lock_of(l));
    tell_many(l, t, refusals);
    refuse(l, last);
    end(child);
    assert_held(l);
    assert_int_equal(usage_of(l).in_flight, MANY + 1 - FB_OWED_MAX);
    fly_limiter_free(l);
    fly_ledger_close(ledger);
    place_free(&place);
}

static void refusals_are_not_lost(void **state)
{
    (void)state;
    more_than_can_be_owed(false);
    more_than_can_be_owed(true);
}

/* ---- files and seats ---- */

/* Whoever has the file itself, while it is made or judged. */
static void a_file_that_is_kept(void **state)
{
    struct scene s = scene_new();
    struct fly_ledger *again = NULL;
    struct fly_error err = {""};
    int fd = open(s.place.path, O_RDWR);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(fly_ledger_open(s.place.path, NULL, &again, &err), -EBUSY);
    assert_contains(err.text, "another process keeps it");
    assert_int_equal(close(fd), 0);
    assert_int_equal(fly_ledger_open(s.place.path, NULL, &again, &err), 0);
    fly_ledger_close(again);
    scene_free(&s);
}

/* A handle whose seat went to another process, while all the others are taken too. */
static void without_a_seat_there_is_nothing(void **state)
{
    struct scene s = scene_new();
    struct slot *slot = atomic_load(&((struct share *)s.l)->slot);
    int64_t now_ns = fly_now();
    uint64_t ticket;

    (void)state;
    for (int i = 0; i < FB_SEATS; i++)
        atomic_store(&slot->seat[i].who, (uint64_t)getppid()); /* without a start: by its number */
    assert_at_least(fly_limiter_take(s.l, now_ns, 1, &ticket), now_ns + 1);
    for (int i = 0; i < FB_SEATS; i++)
        atomic_store(&slot->seat[i].who, 0);
    assert_at_most(fly_limiter_take(s.l, now_ns, 1, &ticket), now_ns);
    report(s.l, now_ns, ticket, 200);
    scene_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stopped_owner_makes_a_key_busy),
        cmocka_unit_test(a_stopped_owner_makes_a_ledger_busy),
        cmocka_unit_test(what_is_told_meanwhile_is_heard_later),
        cmocka_unit_test(what_is_owed_is_paid_at_the_end),
        cmocka_unit_test(a_child_owes_nothing),
        cmocka_unit_test(refusals_are_not_lost),
        cmocka_unit_test(a_file_that_is_kept),
        cmocka_unit_test(without_a_seat_there_is_nothing),
    };

    return cmocka_run_group_tests_name("ledger, busy", tests, NULL, NULL);
}
