/* SPDX-License-Identifier: MIT */
/*
 * ietf.c - the RateLimit header fields, from the first drafts to the last.
 *
 *     RateLimit-Limit: 10, 10;w=1, 50;w=60           the limit in force, then policies
 *     RateLimit-Policy: 100;w=10                     policies without names
 *     RateLimit-Policy: "burst";q=100;w=60           with names
 *     RateLimit: "burst";r=50;t=30
 *
 * All are structured fields: a mistake anywhere makes the whole field void. Policies without a
 * name are called after their window until all is known; the one that fits the limit in force is
 * then seen to be that limit's own.
 */
#include "signal/dialect.h"
#include "signal/fields.h"
#include "signal/list.h"

/* What a member and its parameters told so far. */
struct member {
    struct bare value;
    int64_t q, w, r, t; /* FLY_ABSENT unless told as an integer >= 0 */
};

static const struct member NO_MEMBER = {
    .q = FLY_ABSENT, .w = FLY_ABSENT, .r = FLY_ABSENT, .t = FLY_ABSENT};

static void take_parameter(struct member *m, const struct field *f)
{
    static const struct {
        const char *key;
        size_t at;
    } KEYS[] = {
        {"q", offsetof(struct member, q)},      {"w", offsetof(struct member, w)},
        {"window", offsetof(struct member, w)}, /* the first drafts */
        {"r", offsetof(struct member, r)},      {"t", offsetof(struct member, t)},
    };

    for (size_t i = 0; i < sizeof(KEYS) / sizeof(KEYS[0]); i++) {
        int64_t *told = (int64_t *)(void *)((char *)m + KEYS[i].at);
        bool fits = f->value.type == BARE_INTEGER && f->value.number >= 0;
        if (fb_slice_is(f->key, KEYS[i].key))
            *told = fits ? f->value.number : FLY_ABSENT;
    }
}

/* A window of 0 is none; one beyond a reset's bound is not believed. */
static void tell_window(struct pool *p, int64_t seconds)
{
    if (seconds > 0 && seconds <= FLY_SIGNAL_RESET_MAX_NS / FB_S)
        fb_told_window(p, seconds * FB_S);
}

static void tell_after(struct pool *p, int64_t seconds)
{
    if (seconds >= 0 && seconds <= FLY_SIGNAL_RESET_MAX_NS / FB_S)
        fb_told_most(&p->after_ns, seconds * FB_S);
}

static void tell_named(struct reading *r, const struct member *m)
{
    char name[FLY_POOL_NAME_SIZE];
    size_t length = fb_bare_decode(&m->value, name, sizeof(name));
    struct slice key = {name, length < sizeof(name) ? length : sizeof(name)};
    struct pool *p = fb_pool_get(r, key, 0);

    if (!p)
        return;
    fb_told_least(&p->limit, m->q);
    fb_told_least(&p->remaining, m->r);
    tell_window(p, m->w);
    tell_after(p, m->t);
}

/* "w60": what a policy is called that has no name. */
static struct pool *policy_pool(struct reading *r, int64_t seconds)
{
    char name[FLY_POOL_NAME_SIZE];
    size_t at = sizeof(name);

    do {
        name[--at] = (char)('0' + seconds % 10);
        seconds /= 10;
    } while (seconds > 0);
    name[--at] = 'w';
    return fb_pool_get(r, (struct slice){name + at, sizeof(name) - at}, 0);
}

static void tell_unnamed(struct reading *r, const struct member *m)
{
    if (m->w <= 0 || m->value.number < 0)
        return;
    struct pool *p = policy_pool(r, m->w);
    if (!p)
        return;
    p->flags |= POOL_POLICY;
    fb_told_least(&p->limit, m->value.number);
    tell_window(p, m->w);
}

static void tell_member(struct reading *r, const struct member *m)
{
    if (m->value.type == BARE_STRING || m->value.type == BARE_TOKEN)
        tell_named(r, m);
    else if (m->value.type == BARE_INTEGER)
        tell_unnamed(r, m);
}

static bool next_member(struct fields *f, struct field *head, struct member *ret_member)
{
    enum field_event event;

    *ret_member = NO_MEMBER;
    ret_member->value = head->value;
    while ((event = fb_fields_next(f, head)) == FIELD_PARAMETER)
        take_parameter(ret_member, head);
    return event == FIELD_MEMBER;
}

void fb_policies_tell(struct reading *r, struct slice value)
{
    struct fields f;
    struct field head;
    struct member m;

    if (!fb_fields_valid(FIELDS_LIST, value))
        return;
    fb_fields_init(&f, FIELDS_LIST, value);
    bool more = fb_fields_next(&f, &head) == FIELD_MEMBER;
    while (more) {
        more = next_member(&f, &head, &m);
        tell_member(r, &m);
    }
}

void fb_active_tell(struct reading *r, struct pool *p, enum role role, struct slice value)
{
    struct fields f;
    struct field head;
    struct member m;

    if (!p || !fb_fields_valid(FIELDS_LIST, value))
        return;
    fb_fields_init(&f, FIELDS_LIST, value);
    bool more = fb_fields_next(&f, &head) == FIELD_MEMBER;
    bool first = true;
    while (more) {
        more = next_member(&f, &head, &m);
        if (first && m.value.type == BARE_INTEGER) {
            fb_count_tell(p, role, m.value.number);
            tell_window(p, m.w);
        } else {
            tell_member(r, &m);
        }
        first = false;
    }
}

/* ---- when all is known ---- */

static size_t count_policies(const struct reading *r)
{
    size_t n = 0;

    for (size_t i = 0; i < r->pool_count; i++)
        n += (r->pool[i].flags & POOL_POLICY) != 0;
    return n;
}

/* Does this policy say the window of the limit in force, or the whole of it? */
static bool is_active(const struct pool *active, const struct pool *policy, size_t policies)
{
    if (active->limit == FLY_ABSENT)
        return policies == 1;
    return active->limit == policy->limit && active->window_ns == FLY_ABSENT;
}

static void ietf_finish(struct reading *r)
{
    size_t policies = count_policies(r);
    struct pool *active = fb_pool_find(r, (struct slice){NULL, 0});

    for (size_t i = 0; active && policies > 0 && i < r->pool_count; i++) {
        struct pool *p = &r->pool[i];
        if (!(p->flags & POOL_POLICY) || !is_active(active, p, policies))
            continue;
        active->limit = p->limit;
        active->window_ns = p->window_ns;
        fb_pool_drop(r, p);
        return;
    }
}

const struct dialect fb_dialect_ietf = {.name = "ietf", .finish = ietf_finish};
