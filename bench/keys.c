/* SPDX-License-Identifier: MIT */
/*
 * keys.c - a million keys, asked for in no order: our table, and what any table must pay.
 *
 * The floor is a table as plain as can be: a quick hash that anybody can break, one word a key
 * that is swapped, no memory of what is out, no limit on the number of keys. Both make the text
 * of the key and read the clock for each request.
 */
#include "bench.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <flyball/flyball.h>

#define KEYS      1000000
#define PLACES    (1u << 21)
#define PERIOD_NS INT64_C(1000) /* between two permits of a key */

/* The credential sets the keys apart; its text has just arrived, as with a real request. */
static const char *name_of(uint64_t number)
{
    static char name[] = "Bearer token-0000000";

    for (char *digit = name + sizeof(name) - 2; *digit != '-'; digit--, number /= 10)
        *digit = (char)('0' + number % 10);
    return name;
}

static const char *random_name(void)
{
    static uint64_t chance = 1;

    chance ^= chance << 13;
    chance ^= chance >> 7;
    chance ^= chance << 17;
    return name_of((chance >> 16) % KEYS);
}

/* ---- the floor ---- */

struct plain {
    uint64_t hash;
    _Atomic int64_t level_ns; /* when the bucket is full */
};

static struct plain *plain_table;

static uint64_t plain_hash(const char *s)
{
    uint64_t hash = 0;
    uint64_t word;

    for (size_t left = strlen(s); left > 0; s += sizeof(word)) {
        size_t size = left < sizeof(word) ? left : sizeof(word);
        word = 0;
        memcpy(&word, s, size);
        hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
        left -= size;
    }
    return hash | 1;
}

static struct plain *plain_find(const char *name)
{
    uint64_t hash = plain_hash(name);
    uint64_t at = hash >> 20 & (PLACES - 1);

    while (plain_table[at].hash != 0 && plain_table[at].hash != hash)
        at = (at + 1) & (PLACES - 1);
    plain_table[at].hash = hash;
    return &plain_table[at];
}

static bool plain_take(const char *name, int64_t now_ns)
{
    struct plain *p = plain_find(name);
    int64_t level_ns = atomic_load_explicit(&p->level_ns, memory_order_relaxed);
    int64_t next_ns;

    do {
        next_ns = (level_ns > now_ns ? level_ns : now_ns) + PERIOD_NS;
        if (next_ns - now_ns > 10 * PERIOD_NS)
            return false;
    } while (!atomic_compare_exchange_weak(&p->level_ns, &level_ns, next_ns));
    return true;
}

bool bench_keys_floor_open(struct bench_case *c)
{
    c->now_ns = bench_clock_ns();
    plain_table = calloc(PLACES, sizeof(*plain_table));
    if (!plain_table)
        return false;
    for (int i = 0; i < KEYS; i++)
        (void)plain_take(name_of((uint64_t)i), c->now_ns);
    return true;
}

void bench_keys_floor(struct bench_case *c, int64_t times)
{
    for (int64_t i = 0; i < times; i++) {
        c->now_ns = bench_clock_ns();
        (void)plain_take(random_name(), c->now_ns);
    }
}

/* ---- ours ---- */

static void table_take(struct bench_case *c, const char *name)
{
    struct fly_key key = {"api.example.com", "core", name};
    struct fly_id id;
    uint64_t ticket;

    fly_table_id(c->table, &key, &id);
    (void)fly_table_take(c->table, &id, c->now_ns, 1, &ticket);
    c->ticket = ticket;
    c->id = id;
}

static void table_report(struct bench_case *c)
{
    struct fly_outcome o = FLY_OUTCOME_INIT;

    o.sent_ns = c->now_ns;
    o.status = 200;
    o.ticket = c->ticket;
    fly_table_report(c->table, &c->id, c->now_ns, &o);
}

bool bench_keys_open(struct bench_case *c)
{
    struct fly_error err = {{0}};

    c->now_ns = bench_clock_ns();
    c->table = fly_table_new(c->spec, c->now_ns, NULL, &err);
    if (!c->table) {
        fprintf(stderr, "bench: %s: %s\n", c->name, err.text);
        return false;
    }
    for (int i = 0; i < KEYS; i++) {
        table_take(c, name_of((uint64_t)i));
        table_report(c);
    }
    return true;
}

void bench_keys_take(struct bench_case *c, int64_t times)
{
    for (int64_t i = 0; i < times; i++) {
        c->now_ns = bench_clock_ns();
        table_take(c, random_name());
    }
}

void bench_keys_take_report(struct bench_case *c, int64_t times)
{
    for (int64_t i = 0; i < times; i++) {
        c->now_ns = bench_clock_ns();
        table_take(c, random_name());
        table_report(c);
    }
}

double bench_keys_bytes(const struct bench_case *c)
{
    struct fly_table_usage u = {.size = sizeof(u)};

    if (fly_table_usage(c->table, &u) != 0 || u.keys != KEYS || u.with_more != 0) {
        fprintf(stderr, "bench: %s: not a million idle keys\n", c->name);
        exit(1);
    }
    return (double)u.bytes / (double)u.keys;
}
