/* SPDX-License-Identifier: MIT */
/*
 * picture.c - one picture of an item from what its domains say, and its versions.
 *
 * Each domain is two sources: what it says of what changes, and of what hardly does. Ranks are
 * those of the latest interval, so that a picture depends on what was said and not on the order in
 * which it came.
 */
#include <assert.h>
#include <string.h>

#include "util/hash.h"
#include "watch/inside.h"

#define VOICES_LEAST    2 /* that say the same, to contradict a third one */
#define ODD_LOOKS_LEAST 3 /* at which it was contradicted, without anybody who agreed between */

/* ---- how old ---- */

static int64_t newest_of(const struct watch_item *i)
{
    int64_t newest_ns = FB_LONG_AGO;

    for (size_t d = 0; d < WATCH_DOMAINS_MAX; d++)
        if (i->link[d] && i->link[d]->live && i->link[d]->domain->plan.enabled)
            newest_ns = fb_max64(newest_ns, i->link[d]->live->asked_ns);
    return newest_ns;
}

/*
 * A round through all domains, and one look: who was not asked for longer is heard only where
 * nobody else knows. Otherwise an item could be called fresh by the word of one, and show what
 * another one said a minute ago.
 */
static int64_t old_ns(const struct watch *w, const struct watch_item *i)
{
    return (fb_watch_links(i) + 1) * w->plan.aims.aim_ns[i->state];
}

bool fb_watch_is_old(const struct watch *w, const struct link *l)
{
    return l->live && newest_of(l->item) - l->live->asked_ns >= old_ns(w, l->item);
}

/* ---- reconciliation ---- */

static struct snapshot what(const struct said *s)
{
    return s ? s->says : (struct snapshot){.count = 0};
}

/* Fill the sources of an item; returns how many there are. */
static uint32_t gather(struct watch *w, const struct watch_item *i)
{
    int64_t newest_ns = newest_of(i);
    int64_t span_ns = old_ns(w, i);
    uint32_t count = 0;

    for (uint32_t d = 0; d < w->plan.domain_count; d++) {
        const struct link *l = i->link[d];
        const struct domain *of = w->domain[d];
        struct reconcile_source s = {
            .weight = of->plan.weight,
            .reliability = of->score,
            .demoted = of->reliability.demoted,
        };
        bool is_heard = l && of->plan.enabled;
        s.says = what(is_heard ? l->fixed : NULL);
        w->source[2 * d + 1] = s;
        s.says = what(is_heard ? l->live : NULL);
        if (is_heard && l->live && newest_ns - l->live->asked_ns >= span_ns)
            s.demoted = true;
        w->source[2 * d] = s;
        count = 2 * d + 2;
    }
    return count;
}

/* A bit for each source becomes a bit for each domain. */
static uint32_t fold(uint32_t sources)
{
    uint32_t domains = 0;

    for (uint32_t d = 0; d < WATCH_DOMAINS_MAX; d++)
        if (sources >> (2 * d) & 3)
            domains |= UINT32_C(1) << d;
    return domains;
}

static bool is_same(const struct picture *p, const struct reconciled *r, size_t count)
{
    if (!p || p->says.count != count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (strcmp(p->field[i].name, r[i].name) != 0 || strcmp(p->field[i].value, r[i].value) != 0)
            return false;
    return true;
}

static void set_origins(struct picture *p, const struct reconciled *r)
{
    for (size_t i = 0; i < p->says.count; i++)
        p->origin[i] = (struct origin){
            .domain = r[i].source / 2,
            .agree = fold(r[i].agree),
            .disagree = fold(r[i].disagree),
        };
}

/* Make a version of it, and tell what is new. Without memory the item stays as it was. */
static void add_version(struct watch *w, struct watch_item *i, size_t count)
{
    struct snapshot before = i->latest ? i->latest->says : (struct snapshot){.count = 0};
    struct picture *p = fb_watch_paint(w, w->reconciled, count);

    if (!p)
        return;
    set_origins(p, w->reconciled);
    p->seq = ++i->seq;
    p->at_ns = w->now_ns;
    size_t changes = fb_delta(&before, &p->says, w->change);
    p->older = i->latest;
    i->latest = p;
    i->kept++;
    w->figures.changes++;
    fb_watch_tell(w, (struct watch_event){
                         .kind = WATCH_CHANGED,
                         .id = i->id,
                         .seq = p->seq,
                         .change = w->change,
                         .change_count = changes,
                     });
    fb_watch_trim(w, i, i->state == ITEM_live ? w->plan.history : 1);
}

void fb_watch_reconcile(struct watch *w, struct watch_item *i)
{
    uint32_t sources = gather(w, i);
    size_t count = fb_reconcile(w->source, sources, w->reconciled);

    assert(count <= WATCH_SAID);
    if (is_same(i->latest, w->reconciled, count))
        set_origins(i->latest, w->reconciled);
    else if (count > 0 || i->latest)
        add_version(w, i, count);
}

/*
 * ---- contradictions ----
 *
 * A domain that is faster than the others is alone with the truth for a while, and then they agree.
 * One that is wrong stays alone. So a link that two others contradict in a field is followed: at
 * the first look at which anybody agrees it is forgotten; contradicted often and for long, its
 * looks count as failures of its domain. What changes with every look confirms as often as it
 * contradicts, by chance, and leads to nothing.
 */

/* Other domains that say the same in a field, and the most that agree on something else. */
struct voices {
    int same;
    int against;
};

static const char *voice(const struct watch *w, const struct link *l, const char *name)
{
    if (!l || !l->live || !l->domain->plan.enabled || fb_watch_is_old(w, l))
        return NULL;
    return fb_snapshot_find(&l->live->says, name);
}

static struct voices count_voices(const struct watch *w, const struct link *l,
                                  const struct snapshot_field *f)
{
    const char *said[WATCH_DOMAINS_MAX];
    int count = 0;
    struct voices v = {0, 0};

    for (size_t d = 0; d < w->plan.domain_count; d++) {
        const struct link *other = l->item->link[d];
        const char *value = other == l ? NULL : voice(w, other, f->name);
        if (value)
            said[count++] = value;
    }
    for (int a = 0; a < count; a++) {
        int like = 0;
        for (int b = 0; b < count; b++)
            like += strcmp(said[a], said[b]) == 0;
        if (strcmp(said[a], f->value) == 0)
            v.same = like;
        else if (like > v.against)
            v.against = like;
    }
    return v;
}

static bool is_against(struct voices v)
{
    return v.against >= VOICES_LEAST && v.against > v.same + 1;
}

static uint64_t hash_of(const char *name)
{
    return fb_hash_end(fb_hash_add(FB_HASH_INIT, name, strlen(name)));
}

/* Is the link still alone with what it says in the field in which it was? */
static void follow(const struct watch *w, struct link *l)
{
    bool is_there = false;

    for (size_t n = 0; n < l->live->says.count; n++) {
        if (hash_of(l->live->field[n].name) != l->odd_field)
            continue;
        struct voices v = count_voices(w, l, &l->live->field[n]);
        is_there = v.same == 0;
        if (is_against(v) && l->odd_looks < ODD_LOOKS_LEAST)
            l->odd_looks++;
    }
    if (!is_there)
        l->odd_since_ns = FB_NEVER;
}

/* The first field in which all others contradict it is the one to follow. */
static void begin_to_follow(const struct watch *w, struct link *l)
{
    for (size_t n = 0; n < l->live->says.count; n++) {
        const struct snapshot_field *f = &l->live->field[n];
        if (!is_against(count_voices(w, l, f)))
            continue;
        l->odd_field = hash_of(f->name);
        l->odd_since_ns = w->now_ns;
        l->odd_looks = 1;
        return;
    }
}

bool fb_watch_is_odd(struct watch *w, struct link *l)
{
    if (!l->live)
        return false;
    if (l->odd_since_ns != FB_NEVER)
        follow(w, l);
    if (l->odd_since_ns == FB_NEVER)
        begin_to_follow(w, l);
    return l->odd_since_ns != FB_NEVER && l->odd_looks >= ODD_LOOKS_LEAST &&
           w->now_ns - l->odd_since_ns >= w->plan.odd_ns;
}
