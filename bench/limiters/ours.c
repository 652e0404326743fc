/* SPDX-License-Identifier: MIT */
/*
 * ours.c - libflyball and the floor, for `make bench-peers`: one line in, one figure out.
 *
 *     CASE TIMES    ->    nanoseconds of one operation
 *
 * "one" and "two": so many threads on one key, each reads the clock and takes. "keys": a million
 * keys in no order, found by their text. The floor does the least that could do the same: a clock
 * and a compare-and-swap, in a table that anybody can attack.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <flyball/flyball.h>

#define KEYS       1000000
#define PLACES     (1u << 21)
#define TEXT_BYTES 24
#define RATE       "rate=1000000000/s burst=1000000000"

static char (*names)[TEXT_BYTES];
static struct fly_limiter *limiter;
static struct fly_table *table;
static _Atomic int64_t level_ns;
static struct plain {
    uint64_t hash;
    _Atomic int64_t level_ns;
} * plain;

static int64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static uint64_t next_of(uint64_t x)
{
    x ^= x << 13;
    x ^= x >> 7;
    return x ^ x << 17;
}

/* ---- one key ---- */

static void swap(_Atomic int64_t *level, int64_t now_ns)
{
    int64_t seen = atomic_load_explicit(level, memory_order_relaxed);

    while (!atomic_compare_exchange_weak(level, &seen, (seen > now_ns ? seen : now_ns) + 1))
        ;
}

static void *floor_key(void *times)
{
    for (int64_t i = *(const int64_t *)times; i > 0; i--)
        swap(&level_ns, now());
    return NULL;
}

static void *our_key(void *times)
{
    uint64_t ticket;

    for (int64_t i = *(const int64_t *)times; i > 0; i--)
        (void)fly_limiter_take(limiter, now(), 1, &ticket);
    return NULL;
}

/* ---- a million ---- */

static struct plain *plain_find(const char *name)
{
    uint64_t hash = 0;
    uint64_t word;

    for (size_t left = strlen(name); left > 0; name += sizeof(word)) {
        size_t size = left < sizeof(word) ? left : sizeof(word);
        word = 0;
        memcpy(&word, name, size);
        hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
        left -= size;
    }
    hash |= 1;
    uint64_t at = hash >> 20 & (PLACES - 1);
    while (plain[at].hash != 0 && plain[at].hash != hash)
        at = (at + 1) & (PLACES - 1);
    plain[at].hash = hash;
    return &plain[at];
}

static void *floor_keys(void *times)
{
    uint64_t chance = 88172645463325252u;

    for (int64_t i = *(const int64_t *)times; i > 0; i--) {
        chance = next_of(chance);
        swap(&plain_find(names[(chance >> 16) % KEYS])->level_ns, now());
    }
    return NULL;
}

static void take_key(const char *name)
{
    struct fly_key key = {"api.example.com", "core", name};
    struct fly_id id;
    uint64_t ticket;

    fly_table_id(table, &key, &id);
    (void)fly_table_take(table, &id, now(), 1, &ticket);
}

static void *our_keys(void *times)
{
    uint64_t chance = 88172645463325252u;

    for (int64_t i = *(const int64_t *)times; i > 0; i--) {
        chance = next_of(chance);
        take_key(names[(chance >> 16) % KEYS]);
    }
    return NULL;
}

/* Only the one table that is asked for: its memory is measured from outside. */
static void begin_keys(int floor)
{
    names = calloc(KEYS, TEXT_BYTES);
    plain = floor ? calloc(PLACES, sizeof(*plain)) : NULL;
    table = floor ? NULL : fly_table_new(RATE, now(), NULL, NULL);
    if (!names || (!plain && !table))
        exit(1);
    for (int i = 0; i < KEYS; i++) {
        (void)snprintf(names[i], TEXT_BYTES, "token-%07d", i % KEYS);
        if (floor)
            (void)plain_find(names[i]);
        else
            take_key(names[i]);
    }
}

static double measure(void *(*work)(void *), int threads, int64_t times)
{
    pthread_t thread[2];
    int64_t begin_ns = now();

    for (int i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, work, &times) != 0)
            exit(1);
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    return (double)(now() - begin_ns) / (double)times;
}

int main(int argc, char **argv)
{
    int floor = argc > 1 && strcmp(argv[1], "floor") == 0;
    char name[16];
    long long times;

    limiter = fly_limiter_new(RATE, now(), 1, NULL);
    if (!limiter)
        return 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    while (scanf("%15s %lld", name, &times) == 2) {
        int keys = strcmp(name, "keys") == 0;
        int threads = strcmp(name, "two") == 0 ? 2 : 1;
        if (keys && !names)
            begin_keys(floor);
        void *(*work)(void *) =
            keys ? (floor ? floor_keys : our_keys) : (floor ? floor_key : our_key);
        printf("%.3f\n", measure(work, threads, times));
    }
    return 0;
}
