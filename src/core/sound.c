/* SPDX-License-Identifier: MIT */
/* sound.c - books that were found somewhere: whether they can be asked without harm. */
#include <assert.h>
#include <string.h>

#include "core/accountant.h"
#include "core/bucket.h"
#include "core/field.h"
#include "core/instant.h"

#define X(name, slots) {&fb_constraint_##name, FB_SLOT_##name},
static const struct {
    const struct constraint *ops;
    int first; /* slot */
} rows[] = {FB_CONSTRAINTS(X)};
#undef X

#define WORDS_MAX 128 /* of what any controller keeps */

static bool same_shape(const struct accountant *a, const struct accountant *fresh)
{
    assert(fresh->tickets.words > 0);
    return a->in_force == fresh->in_force && a->plain == fresh->plain &&
           a->learner == fresh->learner && a->even == fresh->even && a->watched == fresh->watched &&
           a->tickets.words == fresh->tickets.words &&
           a->tickets.words_off == fresh->tickets.words_off;
}

/* The virtual clock began before the latest instant, and a stated rate does not change. */
static bool bucket_fits(const struct accountant *a, const struct accountant *fresh)
{
    const int64_t *bucket = &a->slot[FB_SLOT_bucket];
    const int64_t *pattern = &fresh->slot[FB_SLOT_bucket];
    size_t pace_bytes = (FB_BUCKET_SLOTS - FB_BUCKET_TICKS) * sizeof(int64_t);

    return bucket[FB_BUCKET_BASE] <= a->now_ns &&
           (a->learner != 0 ||
            memcmp(&bucket[FB_BUCKET_TICKS], &pattern[FB_BUCKET_TICKS], pace_bytes) == 0);
}

bool fb_accountant_is_sound(const struct accountant *a, const struct accountant *fresh)
{
    const struct range ranges[] = {
        FB_A_NUMBER(a->now_ns),
        FB_A_NUMBER(a->in_flight),
        FB_A_NUMBER(a->units_out),
        FB_A_NUMBER((int64_t)a->tickets.newest),
    };

    assert(fresh->in_flight == 0 && fresh->tickets.newest == 0);
    if (!same_shape(a, fresh) || !FB_ALL_IN_RANGE(ranges) || a->units_out < a->in_flight)
        return false;
    for (int i = 0; i < FB_CONSTRAINT_COUNT; i++) {
        const int64_t *slot = &a->slot[rows[i].first];
        if ((a->in_force >> i & 1) && !rows[i].ops->sound(slot, &fresh->slot[rows[i].first]))
            return false;
    }
    return bucket_fits(a, fresh);
}

/* A flag is 0 or 1 before it is read as one. */
static void mend_flags(const struct controller *c, union controller_state *found)
{
    for (size_t i = 0; i < c->field_count; i++)
        if (c->fields[i].kind == FIELD_BOOL) {
            assert(c->fields[i].offset < sizeof(*found));
            ((unsigned char *)found)[c->fields[i].offset] &= 1;
        }
}

bool fb_accountant_relearn(struct accountant *a, const struct accountant *fresh)
{
    const struct controller *c = fb_accountant_controller(fresh);
    union controller_state found = a->learned;
    union controller_state learned = fresh->learned;
    uint64_t word[WORDS_MAX];

    if (!c)
        return true;
    assert(a->learner == fresh->learner);
    assert(c->fields && c->field_count > 0 && c->resume);
    assert(fb_fields_words(c->fields, c->field_count) <= WORDS_MAX);
    mend_flags(c, &found);
    fb_fields_write(c->fields, c->field_count, &found, a->now_ns, word);
    bool good = !fb_fields_read(c->fields, c->field_count, word, a->now_ns, 0, &learned);
    a->learned = good ? learned : fresh->learned;
    a->pace = fresh->pace;
    if (good)
        c->resume(&a->learned, &a->pace, a->now_ns);
    fb_accountant_repace(a);
    return good;
}
