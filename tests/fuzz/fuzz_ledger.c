/* SPDX-License-Identifier: MIT */
/*
 * fuzz_ledger.c - a ledger that somebody wrote into while nobody used it.
 *
 *     byte 0        which spec
 *     then edits    two bytes of an offset, one that says how many bytes follow (1 or 8), these
 *
 * Whatever is changed: opening it and using the key ends in a sentence or in a limiter that works.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <flyball/flyball.h>

#include "ledger/ledger.h"
#include "ledger/life.h"

#define BYTES 65536
#define USED  12288 /* of it: the head, the index and a slot */
#define S     INT64_C(1000000000)

static const char *const specs[] = {
    "rate=10/s burst=5",
    "window=20/1s margin=0% concurrency=4",
    "",
    "adapt=aimd rate=5/s ceiling=9/s",
    "adapt=step window=30/1s",
    "window=20000/1m pacing=even",
    "adapt=probe pacing=demand rate=50/s concurrency=9",
    "rate=1000/s burst=3000",
};

static char path[64];
static char aside[80];

static const struct fly_key key = {"api.example.com", "core", "secret"};

static void use(struct fly_limiter *l)
{
    int64_t now_ns = fly_now();
    uint64_t ticket = 0;

    for (int i = 0; i < 40; i++) {
        struct fly_outcome o = FLY_OUTCOME_INIT;
        if (fly_limiter_take(l, now_ns, 1 + (uint32_t)i % 3, &ticket) <= now_ns && i % 4 == 0) {
            fly_limiter_settle(l, now_ns, ticket, (uint32_t)i % 5);
            fly_limiter_cancel(l, now_ns, ticket);
        }
        o.ticket = ticket;
        o.sent_ns = now_ns;
        o.latency_ns = i * 1000000;
        o.status = i % 9 == 8 ? 429 : 200;
        if (i % 3 == 0) {
            o.limit = 100;
            o.remaining = 100 - i;
            o.reset_ns = now_ns + 60 * S;
        }
        fly_limiter_report(l, now_ns, &o);
        now_ns += S / 7;
    }
    struct fly_why why = {.size = sizeof(why)};
    (void)fly_limiter_why(l, now_ns, 1, &why);
    (void)fly_limiter_rate(l);
}

static struct fly_ledger *open_ledger(void)
{
    struct fly_ledger_options small = {.size = sizeof(small), .bytes = BYTES};
    struct fly_ledger *ledger = NULL;
    struct fly_error err;

    return fly_ledger_open(path, &small, &ledger, &err) < 0 ? NULL : ledger;
}

/* Open it and use the key; a limiter that is not given back is as one of a killed process. */
static void visit(const char *spec)
{
    struct fly_ledger *ledger = open_ledger();
    struct fly_limiter *l = NULL;
    struct fly_error err;

    if (!ledger)
        return;
    if (fly_ledger_limiter(ledger, &key, spec, &l, &err) == 0) {
        use(l);
        fly_limiter_free(l);
    }
    fly_ledger_close(ledger);
}

/* A lock of a living process is waited for, a second each time: nothing is learned by that. */
static void free_lock(struct robust *lock)
{
    if (!fb_life_is_over(atomic_load(&lock->owner) & ~FB_LIFE_SPARE))
        atomic_store(&lock->owner, 0);
}

static void edit(const uint8_t *data, size_t size)
{
    int fd = open(path, O_RDWR);
    unsigned char *file = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (file == MAP_FAILED)
        abort();
    struct head *head = (struct head *)(void *)file;
    struct slot *slot = fb_ledger_at(head, head->entry[0].at);
    while (size >= 4) {
        size_t at = (size_t)(data[0] | data[1] << 8) % USED;
        size_t count = data[2] % 2 ? 8 : 1;
        data += 3;
        size -= 3;
        if (count > size)
            break;
        memcpy(file + at, data, count);
        data += count;
        size -= count;
    }
    free_lock(&head->lock);
    free_lock(&slot->lock);
    (void)munmap(file, BYTES);
    (void)close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!path[0]) {
        (void)snprintf(path, sizeof(path), "/tmp/flyball-fuzz-%ld", (long)getpid());
        (void)snprintf(aside, sizeof(aside), "%s.damaged", path);
    }
    if (size < 2)
        return 0;
    const char *spec = specs[data[0] % (sizeof(specs) / sizeof(specs[0]))];
    (void)unlink(path);
    visit(spec);
    edit(data + 1, size - 1);
    visit(spec);
    visit(specs[0]);
    (void)unlink(path);
    (void)unlink(aside);
    return 0;
}
