/* SPDX-License-Identifier: MIT */
/* The ledger: one budget, whoever comes and goes; and what it makes of files it did not expect. */
#include "ledger_rig.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/resource.h>

#include "util/alloc.h"

static const char *cause_of(struct fly_limiter *l, int64_t now_ns)
{
    static struct fly_why why;

    why.size = sizeof(why);
    assert_int_equal(fly_limiter_why(l, now_ns, 1, &why), 0);
    return why.cause;
}

static int open_rc(const char *path, struct fly_error *err)
{
    struct fly_ledger *ledger = NULL;
    int rc = fly_ledger_open(path, NULL, &ledger, err);

    if (rc == 0)
        fly_ledger_close(ledger);
    return rc;
}

static void refused(const char *path, int code, const char *part)
{
    struct fly_error err = {""};

    assert_int_equal(open_rc(path, &err), -code);
    assert_contains(err.text, part);
    assert_int_equal(open_rc(path, NULL), -code);
}

/* ---- one budget ---- */

static void a_key_is_the_same_for_all(void **state)
{
    struct place place = place_new();
    struct fly_ledger *one = ledger_at(place.path);
    struct fly_ledger *two = ledger_at(place.path);
    struct fly_limiter *a = limiter_of(one, "core", "rate=1/1h burst=10");
    struct fly_limiter *b = limiter_of(two, "core", "rate=1/1h burst=10");
    struct fly_limiter *c = limiter_of(two, "search", "rate=1/1h burst=10");

    (void)state;
    assert_int_equal(grants_now(a, 6), 6);
    assert_int_equal(grants_now(b, 100), 4);
    assert_int_equal(grants_now(a, 100), 0);
    assert_string_equal(cause_of(a, fly_now()), "bucket");
    assert_int_equal(grants_now(c, 100), 10);
    assert_close(fly_limiter_rate(c), 1.0 / 3600, 1e-9);
    fly_limiter_free(a);
    fly_limiter_free(b);
    fly_limiter_free(c);
    fly_ledger_close(one);
    /* It is all still there. */
    a = limiter_of(two, "core", "rate=1/1h burst=10");
    assert_int_equal(grants_now(a, 100), 0);
    fly_limiter_free(a);
    fly_ledger_close(two);
    place_free(&place);
}

static void keys_without_texts_are_keys(void **state)
{
    struct place place = place_new();
    struct fly_ledger *ledger = ledger_at(place.path);
    struct fly_key none = {NULL, NULL, NULL};
    struct fly_limiter *l = NULL;

    (void)state;
    assert_int_equal(fly_ledger_limiter(ledger, &none, NULL, &l, NULL), 0);
    assert_int_equal(grants_now(l, 1), 1);
    fly_limiter_free(l);
    fly_ledger_close(ledger);
    fly_ledger_close(NULL);
    place_free(&place);
}

static void several_at_once_or_none(void **state)
{
    struct place place = place_new();
    struct fly_ledger *ledger = ledger_at(place.path);
    struct fly_limiter *l[3] = {limiter_of(ledger, "a", "window=3/1h margin=0%"),
                                limiter("rate=1/1h burst=2", fly_now()),
                                limiter_of(ledger, "b", "concurrency=5 adapt=off")};
    const uint32_t cost[3] = {1, 1, 1};
    uint64_t ticket[3] = {0};
    int64_t now_ns = fly_now();

    (void)state;
    assert_at_most(fly_take_all(l, cost, 3, now_ns, ticket), now_ns);
    assert_at_most(fly_take_all(l, cost, 3, now_ns, ticket), now_ns);
    assert_at_least(fly_take_all(l, cost, 3, now_ns, ticket), now_ns + 1);
    assert_int_equal(grants_now(l[0], 9), 1);
    for (int i = 0; i < 3; i++)
        report(l[i], fly_now(), ticket[i], 200);
    for (int i = 0; i < 3; i++)
        fly_limiter_free(l[i]);
    fly_ledger_close(ledger);
    place_free(&place);
}

/* Locked in one order, whatever the order they are given in. */
static void several_ledgers_at_once(void **state)
{
    struct place place[2] = {place_new(), place_new()};
    struct fly_ledger *ledger[2] = {ledger_at(place[0].path), ledger_at(place[1].path)};
    struct fly_limiter *l[2] = {limiter_of(ledger[0], "a", "rate=1/1h burst=5"),
                                limiter_of(ledger[1], "a", "rate=1/1h burst=3")};
    struct fly_limiter *turned[2] = {l[1], l[0]};
    const uint32_t cost[2] = {1, 1};
    uint64_t ticket[2];
    int64_t now_ns = fly_now();

    (void)state;
    assert_at_most(fly_take_all(l, cost, 2, now_ns, ticket), now_ns);
    assert_at_most(fly_take_all(turned, cost, 2, now_ns, ticket), now_ns);
    assert_int_equal(grants_now(l[0], 9), 3);
    assert_int_equal(grants_now(l[1], 9), 1);
    for (int i = 0; i < 2; i++) {
        fly_limiter_free(l[i]);
        fly_ledger_close(ledger[i]);
        place_free(&place[i]);
    }
}

/* ---- processes ---- */

/* Run `work` in a child that ends without giving anything back. */
static int in_child(int (*work)(struct fly_limiter *l), struct fly_limiter *l)
{
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0)
        _exit(work(l));
    return status_of(child);
}

static int take_two(struct fly_limiter *l)
{
    return grants_now(l, 2);
}

static void what_the_dead_had_in_flight_comes_back(void **state)
{
    struct place place = place_new();
    struct fly_ledger *ledger = ledger_at(place.path);
    struct fly_limiter *l = limiter_of(ledger, "core", "concurrency=3 adapt=off");
    int64_t now_ns = fly_now();
    uint64_t ticket;

    (void)state;
    assert_int_equal(in_child(take_two, l), 2);
    /* Some time later somebody waits for it. */
    assert_at_most(fly_limiter_take(l, now_ns + S, 1, &ticket), now_ns + S);
    assert_at_most(fly_limiter_take(l, now_ns + S, 1, &ticket), now_ns + S);
    assert_at_most(fly_limiter_take(l, now_ns + S, 1, &ticket), now_ns + S);
    /* Those are our own, and we live. The answer is never "never": its owner may die. */
    assert_at_least(fly_limiter_take(l, now_ns + 2 * S, 1, &ticket), now_ns + 2 * S + 1);
    assert_at_most(fly_limiter_take(l, now_ns + 2 * S, 1, &ticket), now_ns + 3 * S);
    fly_limiter_free(l);
    fly_ledger_close(ledger);
    place_free(&place);
}

/* So it does for those who want several at once, who else look again before long. */
static void several_at_once_after_a_death(void **state)
{
    struct place place = place_new();
    struct fly_ledger *ledger = ledger_at(place.path);
    struct fly_limiter *l = limiter_of(ledger, "core", "concurrency=2 adapt=off");
    const uint32_t cost = 1;
    int64_t now_ns = fly_now();
    uint64_t ticket;

    (void)state;
    assert_int_equal(in_child(take_two, l), 2);
    assert_at_most(fly_take_all(&l, &cost, 1, now_ns + S, &ticket), now_ns + S);
    assert_at_most(fly_take_all(&l, &cost, 1, now_ns + S, &ticket), now_ns + S);
    int64_t at_ns = fly_take_all(&l, &cost, 1, now_ns + S, &ticket);
    assert_at_least(at_ns, now_ns + S + 1);
    assert_true(at_ns < FLY_NEVER);
    fly_limiter_free(l);
    fly_ledger_close(ledger);
    place_free(&place);
}

static int take_a_thousand(struct fly_limiter *l)
{
    return grants_now(l, 1000) == 1000 ? 0 : 1;
}

/* Of the fast path nothing but the number is known: it comes back as well. */
static void what_the_dead_took_from_the_bucket_is_not_in_flight(void **state)
{
    struct place place = place_new();
    struct fly_ledger *ledger = ledger_at(place.path);
    struct fly_limiter *l = limiter_of(ledger, "core", "rate=1000000/s burst=1000000");
    int64_t now_ns = fly_now();
    uint64_t ticket = 0;

    (void)state;
    assert_int_equal(in_child(take_a_thousand, l), 0);
    assert_at_most(fly_limiter_take(l, now_ns, 1, &ticket), now_ns);
    struct fly_outcome o = outcome(ticket, 429, now_ns);
    o.retry_after_ns = S;
    fly_limiter_report(l, now_ns, &o);
    /* After a hold one may be in flight: the thousand must not be. */
    assert_at_most(fly_limiter_take(l, now_ns + 5 * S, 1, &ticket), now_ns + 5 * S);
    fly_limiter_free(l);
    fly_ledger_close(ledger);
    place_free(&place);
}

/* More grants than are recorded one by one: the rest is counted. */
static void more_in_flight_than_records(void **state)
{
    struct place place = place_new();
    struct fly_ledger *ledger = ledger_at(place.path);
    struct fly_limiter *l = limiter_of(ledger, "core", "concurrency=300 adapt=off");
    uint64_t ticket[300];
    int64_t now_ns = fly_now();

    (void)state;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 300; i++)
            assert_at_most(fly_limiter_take(l, now_ns, 1, &ticket[i]), now_ns);
        assert_string_equal(cause_of(l, now_ns), "concurrency");
        for (int i = 0; i < 300; i++)
            report(l, now_ns, ticket[(i * 7) % 300], 200);
        now_ns += S;
    }
    fly_limiter_free(l);
    fly_ledger_close(ledger);
    place_free(&place);
}

static void freeing_ends_what_is_in_flight(void **state)
{
    struct place place = place_new();
    struct fly_ledger *ledger = ledger_at(place.path);
    struct fly_limiter *a = limiter_of(ledger, "core", "concurrency=2 adapt=off");
    struct fly_limiter *b = limiter_of(ledger, "core", "concurrency=2 adapt=off");

    (void)state;
    assert_int_equal(grants_now(a, 9), 2);
    fly_limiter_free(a);
    /* The process has another handle: what it took is still its own. */
    assert_int_equal(grants_now(b, 9), 0);
    fly_limiter_free(b);
    b = limiter_of(ledger, "core", "concurrency=2 adapt=off");
    assert_int_equal(grants_now(b, 9), 2);
    fly_limiter_free(b);
    fly_ledger_close(ledger);
    place_free(&place);
}

static int use_as_oneself(struct fly_limiter *l)
{
    uint64_t ticket;
    int64_t now_ns = fly_now();

    if (fly_limiter_take(l, now_ns, 1, &ticket) > now_ns)
        return 1;
    report(l, fly_now(), ticket, 200);
    if (grants_now(l, 9) != 1)
        return 2;
    fly_limiter_free(l); /* gives back what this process has, and nothing else */
    return 0;
}

static void a_child_is_a_process_of_its_own(void **state)
{
    struct place place = place_new();
    struct fly_ledger *ledger = ledger_at(place.path);
    struct fly_limiter *l = limiter_of(ledger, "core", "concurrency=3 adapt=off");

    (void)state;
    assert_int_equal(grants_now(l, 2), 2);
    assert_int_equal(in_child(use_as_oneself, l), 0);
    assert_int_equal(grants_now(l, 9), 1);
    fly_limiter_free(l);
    fly_ledger_close(ledger);
    place_free(&place);
}

/* Everybody who may sit there does, and lives. */
static void no_more_processes_than_seats(void **state)
{
    struct place place = place_new();
    struct fly_ledger *ledger = ledger_at(place.path);
    struct fly_limiter *l = limiter_of(ledger, "core", "rate=1/s");
    struct slot *slot = atomic_load(&((struct share *)l)->slot);
    struct fly_key key = {"api.example.com", "core", "secret"};
    struct fly_limiter *other = NULL;
    struct fly_error err = {""};

    (void)state;
    fly_limiter_free(l);
    pid_t child = fork();
    if (child == 0)
        for (;;)
            (void)pause();
    /* One living process in all seats will do for the test. */
    for (int i = 0; i < FB_SEATS; i++)
        atomic_store(&slot->seat[i].who, (uint64_t)getppid()); /* without a start: by its number */
    assert_int_equal(fly_ledger_limiter(ledger, &key, "rate=1/s", &other, &err), -EUSERS);
    assert_contains(err.text, "64 processes");
    assert_int_equal(kill(child, SIGKILL), 0);
    (void)status_of(child);
    for (int i = 0; i < FB_SEATS; i++)
        atomic_store(&slot->seat[i].who, (uint64_t)child); /* dead by now */
    assert_int_equal(fly_ledger_limiter(ledger, &key, "rate=1/s", &other, &err), 0);
    fly_limiter_free(other);
    fly_ledger_close(ledger);
    place_free(&place);
}

/* ---- room ---- */

static void a_full_ledger_gives_up_what_is_idle_or_says_so(void **state)
{
    struct place place = place_new();
    struct fly_ledger_options tiny = {.size = sizeof(tiny), .bytes = 65536};
    struct fly_ledger *ledger = NULL;
    struct fly_limiter *l[32];
    struct fly_error err = {""};
    char pool[32];
    int made = 0;
    int rc = 0;

    (void)state;
    assert_int_equal(fly_ledger_open(place.path, &tiny, &ledger, &err), 0);
    for (; made < 32 && rc == 0; made += rc == 0) {
        (void)snprintf(pool, sizeof(pool), "pool %d", made);
        struct fly_key key = {"api", pool, ""};
        rc = fly_ledger_limiter(ledger, &key, "rate=1/1h burst=1", &l[made], &err);
    }
    assert_int_equal(rc, -ENOSPC);
    assert_contains(err.text, "full");
    assert_at_least(made, 4);
    /* One that was used stays; the others have nothing to remember. */
    assert_int_equal(grants_now(l[0], 9), 1);
    for (int i = 0; i < made; i++)
        fly_limiter_free(l[i]);
    for (int i = 0; i < made - 1; i++) {
        (void)snprintf(pool, sizeof(pool), "other %d", i);
        struct fly_key key = {"api", pool, ""};
        assert_int_equal(fly_ledger_limiter(ledger, &key, "rate=1/1h burst=1", &l[i], &err), 0);
    }
    struct fly_key first = {"api", "pool 0", ""};
    assert_int_equal(fly_ledger_limiter(ledger, &first, "rate=1/1h burst=1", &l[made], &err), 0);
    assert_int_equal(grants_now(l[made], 9), 0);
    for (int i = 0; i < made - 1; i++)
        fly_limiter_free(l[i]);
    fly_limiter_free(l[made]);
    fly_ledger_close(ledger);
    place_free(&place);
}

/* Keys that learn are kept while there is room, and do not keep others out when there is none. */
static void what_nobody_uses_makes_room_at_last(void **state)
{
    struct place place = place_new();
    struct fly_ledger_options tiny = {.size = sizeof(tiny), .bytes = 65536};
    struct fly_ledger *ledger = NULL;
    struct fly_limiter *held = NULL;
    struct fly_error err = {""};
    struct fly_key first = {"api", "held", ""};
    char pool[32];

    (void)state;
    assert_int_equal(fly_ledger_open(place.path, &tiny, &ledger, &err), 0);
    /* One of them was asked to wait: that is never given up. */
    assert_int_equal(fly_ledger_limiter(ledger, &first, "adapt=probe", &held, &err), 0);
    struct fly_outcome o = FLY_OUTCOME_INIT;
    o.sent_ns = fly_now();
    assert_true(fly_limiter_take(held, o.sent_ns, 1, &o.ticket) <= o.sent_ns);
    o.status = 429;
    o.flags = FLY_THROTTLED;
    o.retry_after_ns = 3600 * S;
    fly_limiter_report(held, o.sent_ns, &o);
    fly_limiter_free(held);
    for (int i = 0; i < 100; i++) {
        struct fly_key key = {"api", pool, ""};
        struct fly_limiter *l = NULL;

        (void)snprintf(pool, sizeof(pool), "pool %d", i);
        assert_int_equal(fly_ledger_limiter(ledger, &key, "adapt=probe", &l, &err), 0);
        fly_limiter_free(l);
    }
    assert_int_equal(fly_ledger_limiter(ledger, &first, "adapt=probe", &held, &err), 0);
    assert_int_equal(grants_now(held, 9), 0);
    fly_limiter_free(held);
    fly_ledger_close(ledger);
    place_free(&place);
}

/* ---- a file that is cut ---- */

static int take_from_cut(struct fly_limiter *l)
{
    (void)signal(SIGBUS, SIG_DFL); /* which a sanitizer may have taken */
    return grants_now(l, 1);
}

/* Nobody goes on with what is not there. */
static void a_ledger_that_is_cut_ends_its_users(void **state)
{
    struct place place = place_new();
    struct fly_ledger *ledger = ledger_at(place.path);
    struct fly_limiter *l = limiter_of(ledger, "core", "rate=1/1h burst=9");
    struct stat st;

    (void)state;
    assert_int_equal(stat(place.path, &st), 0);
    assert_int_equal(truncate(place.path, 4096), 0);
    assert_int_equal(in_child(take_from_cut, l), -SIGBUS);
    /* Others find it damaged, and nothing left of its limits. */
    struct fly_ledger *anew = ledger_at(place.path);
    struct fly_limiter *of_anew = limiter_of(anew, "core", "rate=1/1h burst=9");
    assert_int_equal(grants_now(of_anew, 9), 0);
    fly_limiter_free(of_anew);
    fly_ledger_close(anew);

    char aside[128];
    (void)snprintf(aside, sizeof(aside), "%s.damaged", place.path);
    assert_int_equal(truncate(aside, st.st_size), 0); /* so that it can be left */
    fly_limiter_free(l);
    fly_ledger_close(ledger);
    place_free(&place);
}

/* Its users must not take what others put there for their own. */
static void a_ledger_that_is_emptied_grants_nothing(void **state)
{
    struct place place = place_new();
    struct fly_ledger *ledger = ledger_at(place.path);
    struct fly_limiter *l = limiter_of(ledger, "core", "rate=1/1h burst=9");
    struct fly_error err = {""};
    uint64_t ticket = 0;

    (void)state;
    assert_at_most(fly_limiter_take(l, 0, 1, &ticket), 0);
    assert_int_equal(truncate(place.path, 0), 0);
    struct fly_ledger *anew = ledger_at(place.path);
    struct fly_limiter *other = limiter_of(anew, "other", "rate=1/1h burst=9");
    assert_int_equal(grants_now(l, 9), 0);
    assert_string_equal(cause_of(l, fly_now()), "ledger-lost");
    report(l, 0, ticket, 200);
    assert_int_equal(fly_limiter_reconfigure(l, "rate=1/s", fly_now(), &err), -EBUSY);
    assert_int_equal(grants_now(other, 99), 9);
    fly_limiter_free(l);
    fly_limiter_free(other);
    fly_ledger_close(ledger);
    fly_ledger_close(anew);
    place_free(&place);
}

/* ---- mistakes ---- */

static void mistakes_are_explained(void **state)
{
    struct place place = place_new();
    struct fly_ledger *ledger = ledger_at(place.path);
    struct fly_key key = {"api", "core", ""};
    struct fly_limiter *l = NULL;
    struct fly_error err = {""};
    char longest[FB_SLOT_SPEC_MAX + 64] = "rate=1/s";

    (void)state;
    assert_int_equal(fly_ledger_limiter(ledger, &key, "rate=fast", &l, &err), -EINVAL);
    assert_contains(err.text, "rate=fast");
    memset(longest + 8, ' ', FB_SLOT_SPEC_MAX);
    longest[FB_SLOT_SPEC_MAX + 8] = '\0';
    assert_int_equal(fly_ledger_limiter(ledger, &key, longest, &l, &err), -EINVAL);
    l = limiter_of(ledger, "core", "rate=1/s");
    assert_int_equal(fly_limiter_reconfigure(l, longest, fly_now(), &err), -EINVAL);
    fly_limiter_free(l);
    fly_ledger_close(ledger);

    struct fly_ledger_options options = {.size = 1};
    assert_int_equal(fly_ledger_open(place.path, &options, &ledger, &err), -EINVAL);
    options = (struct fly_ledger_options){.size = sizeof(options), .bytes = 1};
    assert_int_equal(fly_ledger_open(place.path, &options, &ledger, &err), -EINVAL);
    assert_contains(err.text, "64 KiB");
    options.bytes = UINT64_C(1) << 40;
    assert_int_equal(fly_ledger_open(place.path, &options, &ledger, NULL), -EINVAL);
    place_free(&place);
}

static void memory_may_be_out(void **state)
{
    struct place place = place_new();
    struct fly_key key = {"api", "core", ""};
    struct fly_limiter *l = NULL;
    struct fly_error err;

    (void)state;
    fb_alloc_fail_at(1);
    assert_int_equal(open_rc(place.path, &err), -ENOMEM);
    assert_contains(err.text, "out of memory");
    struct fly_ledger *ledger = ledger_at(place.path);
    for (size_t n = 1; n <= 4; n++) {
        fb_alloc_fail_at(n);
        int rc = fly_ledger_limiter(ledger, &key, "", &l, &err);
        fb_alloc_fail_at(0);
        if (rc == 0)
            fly_limiter_free(l);
    }
    fly_ledger_close(ledger);
    place_free(&place);
}

/* ---- files ---- */

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *out = fopen(path, "wb");

    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, size, out), size);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(chmod(path, 0600), 0);
}

static void strange_files_are_left_alone(void **state)
{
    struct place place = place_new();
    struct stat st;
    char link[128];

    (void)state;
    refused(place.folder, EISDIR, "directory");
    (void)snprintf(link, sizeof(link), "%s/link", place.folder);
    assert_int_equal(symlink("/etc/passwd", link), 0);
    refused(link, ELOOP, "symbolic link");
    assert_int_equal(unlink(link), 0);
    refused("/nowhere/at/all", ENOENT, "/nowhere/at/all");
    refused("/dev/null", EINVAL, "regular");
    assert_int_equal(mkfifo(place.path, 0600), 0);
    refused(place.path, EINVAL, "regular");
    assert_int_equal(unlink(place.path), 0);

    char text[70000] = "This is somebody's letter.";
    write_file(place.path, text, 27);
    refused(place.path, EINVAL, "not a ledger");
    write_file(place.path, text, sizeof(text));
    refused(place.path, EINVAL, "not a ledger");
    memset(text, 0, sizeof(text)); /* zeroes, but not as many as any ledger has */
    write_file(place.path, text, sizeof(text));
    refused(place.path, EINVAL, "not a ledger");
    write_file(place.path, text, 32768);
    refused(place.path, EINVAL, "not a ledger");
    assert_int_equal(truncate(place.path, INT64_C(1) << 31), 0);
    refused(place.path, EINVAL, "not a ledger");
    write_file(place.path, text, sizeof(text));
    assert_int_equal(stat(place.path, &st), 0);
    assert_int_equal(st.st_size, sizeof(text));
    assert_int_equal(chmod(place.path, 0620), 0);
    refused(place.path, EPERM, "others may write");
    place_free(&place);
}

static void another_users_file_is_refused(void **state)
{
    struct place place = place_new();

    (void)state;
    fly_ledger_close(ledger_at(place.path));
    if (geteuid() == 0) { /* nobody else can give a file away */
        assert_int_equal(chown(place.path, 12345, 12345), 0);
        refused(place.path, EPERM, "another user");
    }
    place_free(&place);
}

static void a_full_disk_is_an_error(void **state)
{
    struct place place = place_new();
    struct rlimit all;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &all), 0);
    struct rlimit little = {.rlim_cur = 4096, .rlim_max = all.rlim_max};
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    refused(place.path, EFBIG, "no room");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
    fly_ledger_close(ledger_at(place.path)); /* what is left behind is in nobody's way */
    place_free(&place);
}

static void make_newer(struct head *head)
{
    head->version++;
}

static void put_elsewhere(struct head *head)
{
    head->pid_space++;
}

static void put_in_another_time(struct head *head)
{
    head->time_space++;
}

static void newer_and_foreign_ledgers_are_refused(void **state)
{
    struct place place = place_new();

    (void)state;
    fly_ledger_close(ledger_at(place.path));
    change_head(place.path, put_elsewhere);
    refused(place.path, ENOTSUP, "another container");
    assert_int_equal(unlink(place.path), 0);
    fly_ledger_close(ledger_at(place.path));
    change_head(place.path, put_in_another_time);
    refused(place.path, ENOTSUP, "another container");
    change_head(place.path, make_newer);
    refused(place.path, ENOTSUP, "newer version");
    place_free(&place);
}

static void an_unfinished_ledger_is_finished(void **state)
{
    static const char zeroes[65536];
    struct place place = place_new();

    (void)state;
    write_file(place.path, zeroes, sizeof(zeroes));
    struct fly_ledger *ledger = ledger_at(place.path);
    struct fly_limiter *l = limiter_of(ledger, "core", "rate=1/1h burst=5");
    assert_int_equal(grants_now(l, 99), 0);
    fly_limiter_free(l);
    fly_ledger_close(ledger);
    place_free(&place);
}

static void boot_again(struct head *head)
{
    head->boot[0] ^= 1;
    head->anchor_ns += 1000 * S; /* a clock that was ahead */
    for (uint32_t i = 0; i < head->entries; i++)
        if (atomic_load(&head->entry[i].state) == ENTRY_USED) {
            struct slot *slot = (struct slot *)((unsigned char *)head + head->entry[i].at);
            slot->origin_ns += 1000 * S;
        }
}

/* Limits are used up, what was learned or told lasts, and nobody from before is in flight. */
static void after_a_new_boot_limits_are_used_up(void **state)
{
    struct place place = place_new();
    struct fly_ledger *ledger = ledger_at(place.path);
    struct fly_limiter *l = limiter_of(ledger, "core", "rate=1/1h burst=5");
    struct fly_limiter *held = limiter_of(ledger, "held", "concurrency=1 adapt=off");
    struct fly_limiter *broken = limiter_of(ledger, "broken", "rate=1/1h burst=5");
    uint64_t ticket = 0;
    int64_t now_ns = fly_now();

    (void)state;
    assert_at_most(fly_limiter_take(held, now_ns, 1, &ticket), now_ns);
    struct fly_outcome o = outcome(ticket, 429, now_ns);
    o.retry_after_ns = 3600 * S;
    fly_limiter_report(held, now_ns, &o);
    atomic_load(&((struct share *)broken)->slot)->undo_at++;
    fly_ledger_close(ledger); /* as if killed: nothing is given back */
    free(l);
    free(held);
    free(broken);
    change_head(place.path, boot_again);

    ledger = ledger_at(place.path);
    l = limiter_of(ledger, "core", "rate=1/1h burst=5");
    held = limiter_of(ledger, "held", "concurrency=1 adapt=off");
    broken = limiter_of(ledger, "broken", "rate=1/1h burst=5");
    assert_int_equal(grants_now(l, 99), 0);
    assert_int_equal(grants_now(broken, 99), 0);
    assert_string_equal(cause_of(held, fly_now()), "hold");
    fly_limiter_free(l);
    fly_limiter_free(held);
    fly_limiter_free(broken);
    fly_ledger_close(ledger);
    place_free(&place);
}

/* ---- where it is ---- */

static void the_default_place(void **state)
{
    struct place place = place_new();
    char expected[128];
    char path[128];
    struct stat st;

    (void)state;
    (void)unsetenv("FLYBALL_LEDGER");
    assert_int_equal(setenv("XDG_RUNTIME_DIR", place.folder, 1), 0);
    assert_int_equal(fb_ledger_path(path, sizeof(path), NULL), 0);
    (void)snprintf(expected, sizeof(expected), "%s/flyball/ledger", place.folder);
    assert_string_equal(path, expected);
    (void)snprintf(expected, sizeof(expected), "%s/flyball", place.folder);
    assert_int_equal(stat(expected, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(chmod(expected, 0777), 0);
    struct fly_error err = {""};
    assert_int_equal(fb_ledger_path(path, sizeof(path), &err), -EPERM);
    assert_contains(err.text, "only this user");
    assert_int_equal(rmdir(expected), 0);

    assert_int_equal(setenv("XDG_RUNTIME_DIR", "", 1), 0);
    assert_int_equal(setenv("TMPDIR", place.folder, 1), 0);
    assert_int_equal(fb_ledger_path(path, sizeof(path), NULL), 0);
    (void)snprintf(expected, sizeof(expected), "%s/flyball-%d", place.folder, (int)geteuid());
    assert_int_equal(rmdir(expected), 0);
    assert_int_equal(setenv("TMPDIR", "/nowhere", 1), 0);
    assert_int_equal(fb_ledger_path(path, sizeof(path), &err), -ENOENT);
    assert_int_equal(fb_ledger_path(path, 8, &err), -ENAMETOOLONG);

    assert_int_equal(setenv("FLYBALL_LEDGER", place.path, 1), 0);
    struct fly_ledger *ledger = NULL;
    assert_int_equal(fly_ledger_open(NULL, NULL, &ledger, NULL), 0);
    fly_ledger_close(ledger);
    assert_int_equal(access(place.path, R_OK), 0);
    (void)unsetenv("FLYBALL_LEDGER");
    assert_int_equal(fly_ledger_open(NULL, NULL, &ledger, NULL), -ENOENT);
    (void)unsetenv("TMPDIR");
    place_free(&place);
}

static void now_does_not_fall(void **state)
{
    int64_t last_ns = fly_now();

    (void)state;
    assert_at_least(last_ns, INT64_C(1600000000) * S);
    for (int i = 0; i < 1000; i++) {
        int64_t now_ns = fly_now();
        assert_at_least(now_ns, last_ns);
        last_ns = now_ns;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_is_the_same_for_all),
        cmocka_unit_test(keys_without_texts_are_keys),
        cmocka_unit_test(several_at_once_or_none),
        cmocka_unit_test(several_ledgers_at_once),
        cmocka_unit_test(what_the_dead_had_in_flight_comes_back),
        cmocka_unit_test(several_at_once_after_a_death),
        cmocka_unit_test(what_the_dead_took_from_the_bucket_is_not_in_flight),
        cmocka_unit_test(more_in_flight_than_records),
        cmocka_unit_test(freeing_ends_what_is_in_flight),
        cmocka_unit_test(a_child_is_a_process_of_its_own),
        cmocka_unit_test(no_more_processes_than_seats),
        cmocka_unit_test(a_full_ledger_gives_up_what_is_idle_or_says_so),
        cmocka_unit_test(what_nobody_uses_makes_room_at_last),
        cmocka_unit_test(a_ledger_that_is_cut_ends_its_users),
        cmocka_unit_test(a_ledger_that_is_emptied_grants_nothing),
        cmocka_unit_test(mistakes_are_explained),
        cmocka_unit_test(memory_may_be_out),
        cmocka_unit_test(strange_files_are_left_alone),
        cmocka_unit_test(another_users_file_is_refused),
        cmocka_unit_test(a_full_disk_is_an_error),
        cmocka_unit_test(newer_and_foreign_ledgers_are_refused),
        cmocka_unit_test(an_unfinished_ledger_is_finished),
        cmocka_unit_test(after_a_new_boot_limits_are_used_up),
        cmocka_unit_test(the_default_place),
        cmocka_unit_test(now_does_not_fall),
    };

    return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
