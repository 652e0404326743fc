/* SPDX-License-Identifier: MIT */
/*
 * state.c - header, words, checksum; refused unless all of it is as it must be.
 *
 *     0   "flystate"
 *     8   version, 2 bytes; number of words, 2 bytes; 4 bytes of 0
 *     16  the name of what learned, filled up with zeroes to 16 bytes
 *     32  the words, 8 bytes each
 *     ..  the checksum of all bytes before it, 8 bytes
 *
 * All numbers are little-endian. The checksum (FNV-1a) is against accidents. Against malice there
 * are the ranges: what passes them is no faster than the bounds of the spec allow.
 */
#include "core/state.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "core/accountant.h"
#include "core/bucket.h"
#include "core/field.h"
#include "core/hold.h"
#include "core/instant.h"
#include "core/quota.h"
#include "core/spec.h"
#include "core/window.h"
#include "util/text.h"

#define MAGIC      "flystate"
#define VERSION    2
#define NAME_AT    16
#define NAME_BYTES 16
#define WORDS_AT   32
#define SUM_BYTES  8
#define WORDS_MAX  128
#define AGE_MOST_S 4e9
#define HOLD_S     -2.8e6 /* FB_RESET_MAX, and a second of jitter */
#define SPACED_NS  4e14   /* what `even` may have run ahead */

static_assert(WORDS_AT + WORDS_MAX * 8 + SUM_BYTES <= FLY_STATE_BYTES, "as promised to callers");

/* What is not learned but must not be forgotten either. */
struct kept {
    int64_t hold_until_ns;
    int64_t ramp;
    int64_t quota[FB_QUOTA_SLOTS];
    int64_t owed; /* permits that are missing from a full bucket */
    int64_t used; /* units in the fullest window */
};

#define QUOTA(slot, kind, least, most)                                                       \
    {                                                                                        \
#slot, kind, offsetof(struct kept, quota) + sizeof(int64_t) * (slot), 1, least, most \
    }

static const struct field kept_fields[] = {
    FB_FIELD(struct kept, hold_until_ns, FIELD_INSTANT, HOLD_S, AGE_MOST_S),
    FB_FIELD(struct kept, ramp, FIELD_INT64, 0, FB_HOLD_RAMP_DONE - 1),
    QUOTA(FB_QUOTA_LIMIT, FIELD_INT64, 0, (double)FB_QUOTA_MAX),
    QUOTA(FB_QUOTA_LEFT, FIELD_INT64, 0, (double)FB_QUOTA_MAX),
    QUOTA(FB_QUOTA_UNTOLD, FIELD_INT64, 0, (double)FB_QUOTA_MAX),
    QUOTA(FB_QUOTA_SILENT_AT, FIELD_INSTANT, 0, AGE_MOST_S),
    QUOTA(FB_QUOTA_ANCHOR, FIELD_INSTANT, HOLD_S, AGE_MOST_S),
    QUOTA(FB_QUOTA_OPENS, FIELD_INSTANT, HOLD_S, AGE_MOST_S),
    QUOTA(FB_QUOTA_SINCE, FIELD_INSTANT, 0, AGE_MOST_S),
    QUOTA(FB_QUOTA_BACKLOG, FIELD_INT64, 0, (double)FB_QUOTA_MAX), /* `asked` was counted on */
    QUOTA(FB_QUOTA_ASKED_AT, FIELD_INSTANT, 0, AGE_MOST_S),
    QUOTA(FB_QUOTA_NEXT, FIELD_INSTANT, HOLD_S, AGE_MOST_S),
    QUOTA(FB_QUOTA_AHEAD, FIELD_INT64, 0, SPACED_NS),
    FB_FIELD(struct kept, owed, FIELD_INT64, 0, 1e15),
    FB_FIELD(struct kept, used, FIELD_INT64, 0, (double)FB_COUNT_MAX),
};

#define KEPT_FIELDS (sizeof(kept_fields) / sizeof(kept_fields[0]))

/* ---- bytes ---- */

static void put(unsigned char *at, uint64_t value, size_t size)
{
    assert(size == 8 || (size < 8 && value >> 8 * size == 0));
    for (size_t i = 0; i < size; i++)
        at[i] = (unsigned char)(value >> 8 * i);
}

static uint64_t get(const unsigned char *at, size_t size)
{
    uint64_t value = 0;

    assert(size <= sizeof(value));
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

static uint64_t checksum(const unsigned char *bytes, size_t size)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);

    assert(size >= WORDS_AT);
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    return sum;
}

static const char *name_of(const struct controller *c)
{
    return c ? c->name : "off";
}

bool fb_state_is_learned(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;

    assert(at || size == 0);
    return size > WORDS_AT && memcmp(at, MAGIC, 8) == 0 && get(at + 8, 2) == VERSION &&
           memcmp(at + NAME_AT, name_of(NULL), sizeof("off")) != 0;
}

static size_t words_of(const struct accountant *a)
{
    const struct controller *c = fb_accountant_controller(a);
    size_t words = fb_fields_words(kept_fields, KEPT_FIELDS);

    if (c)
        words += fb_fields_words(c->fields, c->field_count);
    assert(words > 0);
    assert(words <= WORDS_MAX);
    return words;
}

size_t fb_state_bytes(const struct accountant *a)
{
    return WORDS_AT + words_of(a) * 8 + SUM_BYTES;
}

/* ---- writing ---- */

static bool in_force(const struct accountant *a, int constraint)
{
    assert(constraint >= 0 && constraint < FB_CONSTRAINT_COUNT);
    return a->in_force >> constraint & 1;
}

static struct kept gather(const struct accountant *a, int64_t now_ns)
{
    struct kept k = {
        .hold_until_ns = a->slot[FB_SLOT_hold + FB_HOLD_UNTIL],
        .ramp = a->slot[FB_SLOT_hold + FB_HOLD_RAMP],
        .owed = fb_bucket_owed(&a->slot[FB_SLOT_bucket], now_ns),
    };

    memcpy(k.quota, &a->slot[FB_SLOT_quota], sizeof(k.quota));
    /* What is out is spent: nobody will hear of it. */
    k.quota[FB_QUOTA_UNTOLD] = fb_min64(k.quota[FB_QUOTA_UNTOLD] + a->units_out, FB_QUOTA_MAX);
    k.quota[FB_QUOTA_BACKLOG] &= FB_QUOTA_ASKED_MAX; /* the rest is for those who are there */
    k.quota[FB_QUOTA_LEFT] = fb_min64(k.quota[FB_QUOTA_LEFT], k.quota[FB_QUOTA_LIMIT]);
    assert(k.ramp >= 0 && k.ramp < FB_HOLD_RAMP_DONE && k.owed >= 0);
    assert(k.quota[FB_QUOTA_UNTOLD] >= 0 && k.quota[FB_QUOTA_LEFT] >= 0);
    if (in_force(a, FB_CONSTRAINT_window))
        k.used = fb_window_used(&a->slot[FB_SLOT_window], now_ns);
    return k;
}

void fb_state_write(const struct accountant *a, int64_t now_ns, unsigned char *ret_bytes)
{
    const struct controller *c = fb_accountant_controller(a);
    struct kept k = gather(a, fb_max64(now_ns, a->now_ns));
    uint64_t word[WORDS_MAX];
    size_t words = words_of(a);

    fb_fields_write(kept_fields, KEPT_FIELDS, &k, now_ns, word);
    if (c)
        fb_fields_write(c->fields, c->field_count, &a->learned, now_ns,
                        word + fb_fields_words(kept_fields, KEPT_FIELDS));
    assert(k.owed >= 0 && k.used >= 0 && strlen(name_of(c)) < NAME_BYTES);
    memset(ret_bytes, 0, WORDS_AT);
    memcpy(ret_bytes, MAGIC, 8);
    put(ret_bytes + 8, VERSION, 2);
    put(ret_bytes + 10, words, 2);
    memcpy(ret_bytes + NAME_AT, name_of(c), strlen(name_of(c)));
    for (size_t i = 0; i < words; i++)
        put(ret_bytes + WORDS_AT + 8 * i, word[i], 8);
    size_t size = WORDS_AT + 8 * words;
    assert(size + SUM_BYTES == fb_state_bytes(a));
    put(ret_bytes + size, checksum(ret_bytes, size), SUM_BYTES);
}

/* ---- reading ---- */

static int refuse(struct fly_error *err, const char *why, const char *what)
{
    struct text t;

    assert(why && what);
    if (err) {
        fb_text_init(&t, err->text, sizeof(err->text));
        fb_text_add(&t, "saved state: ");
        fb_text_add(&t, why);
        fb_text_add(&t, what);
    }
    return -EINVAL;
}

/* What is wrong with the outside of it; NULL: nothing. */
static const char *fault_of(const struct accountant *a, const unsigned char *bytes, size_t size)
{
    static const unsigned char zeroes[4];

    assert(bytes || size == 0);

    if (size < WORDS_AT + SUM_BYTES)
        return "cut short";
    if (memcmp(bytes, MAGIC, 8) != 0)
        return "not one of this library";
    if (checksum(bytes, size - SUM_BYTES) != get(bytes + size - SUM_BYTES, SUM_BYTES))
        return "damaged, the checksum does not match";
    if (get(bytes + 8, 2) != VERSION || memcmp(bytes + 12, zeroes, 4) != 0)
        return "written by another version of this library";
    if (memcmp(bytes + NAME_AT, name_of(fb_accountant_controller(a)),
               strlen(name_of(fb_accountant_controller(a))) + 1) != 0)
        return "learned by another adapt= than this limiter has";
    if (size != fb_state_bytes(a) || get(bytes + 10, 2) != words_of(a))
        return "of the wrong length";
    return NULL;
}

static void spread_out(struct accountant *a, const struct kept *k, int64_t now_ns,
                       int64_t passed_ns)
{
    int64_t *quota = &a->slot[FB_SLOT_quota];
    int64_t even = quota[FB_QUOTA_EVEN];
    int64_t reserve = quota[FB_QUOTA_RESERVE];

    assert(passed_ns >= 0 && k->ramp >= 0 && k->ramp < FB_HOLD_RAMP_DONE);
    a->slot[FB_SLOT_hold + FB_HOLD_UNTIL] = k->hold_until_ns;
    a->slot[FB_SLOT_hold + FB_HOLD_RAMP] = k->ramp;
    if (in_force(a, FB_CONSTRAINT_quota)) {
        memcpy(quota, k->quota, sizeof(k->quota));
        quota[FB_QUOTA_EVEN] = even;
        quota[FB_QUOTA_RESERVE] = reserve;
        quota[FB_QUOTA_BACKLOG] = fb_min64(quota[FB_QUOTA_BACKLOG], FB_QUOTA_ASKED_MAX);
    }
    fb_bucket_owe(&a->slot[FB_SLOT_bucket], k->owed, now_ns, passed_ns);
    if (in_force(a, FB_CONSTRAINT_window))
        fb_window_fill(&a->slot[FB_SLOT_window], k->used, now_ns, passed_ns);
}

int fb_state_read(struct accountant *a, int64_t now_ns, int64_t passed_ns,
                  const unsigned char *bytes, size_t size, struct fly_error *err)
{
    const struct controller *c = fb_accountant_controller(a);
    size_t kept_words = fb_fields_words(kept_fields, KEPT_FIELDS);
    union controller_state learned = a->learned;
    uint64_t word[WORDS_MAX];
    struct kept k;

    const char *fault = fault_of(a, bytes, size);
    if (fault)
        return refuse(err, fault, "");
    for (size_t i = 0; i < words_of(a); i++)
        word[i] = get(bytes + WORDS_AT + 8 * i, 8);

    now_ns = fb_max64(now_ns, a->now_ns);
    fault = fb_fields_read(kept_fields, KEPT_FIELDS, word, now_ns, passed_ns, &k);
    if (!fault && c)
        fault = fb_fields_read(c->fields, c->field_count, word + kept_words, now_ns, passed_ns,
                               &learned);
    if (!fault && k.quota[FB_QUOTA_LEFT] > k.quota[FB_QUOTA_LIMIT])
        fault = "FB_QUOTA_LEFT";
    if (fault)
        return refuse(err, "out of range: ", fault);

    /* What lies in its range cannot take the books where they were never meant to be. */
    assert(k.owed >= 0);
    assert(k.used >= 0);
    assert(now_ns >= a->now_ns);
    a->now_ns = now_ns;
    if (c) {
        a->learned = learned;
        c->resume(&a->learned, &a->pace, now_ns);
        fb_accountant_repace(a);
    }
    spread_out(a, &k, now_ns, passed_ns);
    return 0;
}
