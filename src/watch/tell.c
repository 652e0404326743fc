/* SPDX-License-Identifier: MIT */
/*
 * tell.c - what happened is told, and part of it is kept: the audit, and warnings of ids.
 */
#include <string.h>

#include "util/text.h"
#include "watch/inside.h"

static void copy(char *to, size_t size, const char *text)
{
    struct text t;

    fb_text_init(&t, to, size);
    fb_text_add(&t, text);
}

/* ---- sentences ---- */

static void add_rest(struct text *t, const struct watch_event *e)
{
    if (e->count > 0) {
        fb_text_add(t, ", ");
        fb_text_add_int(t, e->count);
        fb_text_add(t, e->kind == WATCH_DEFERRED ? " looks" : " in a row");
    }
    if (e->until_ns > e->at_ns && e->until_ns != FB_NEVER) {
        fb_text_add(t, ", for ");
        fb_text_add_span(t, e->until_ns - e->at_ns);
    }
    if (e->took_ns > 0) {
        fb_text_add(t, ", after ");
        fb_text_add_span(t, e->took_ns);
    }
}

/* For those who gave none: what, whom, why. */
static void sentence(const struct watch_event *e, char *to, size_t size)
{
    struct text t;

    fb_text_init(&t, to, size);
    fb_text_add(&t, fb_watch_event_name(e->kind));
    fb_text_add(&t, e->domain[0] ? ": " : "");
    fb_text_add(&t, e->domain);
    fb_text_add(&t, e->id[0] ? " " : "");
    fb_text_add(&t, e->id);
    fb_text_add(&t, e->trigger[0] ? " because of " : "");
    fb_text_add(&t, e->trigger);
    fb_text_add(&t, e->outcome[0] ? ": " : "");
    fb_text_add(&t, e->outcome);
    add_rest(&t, e);
}

/* ---- audit ---- */

static void audit(struct watch *w, const struct watch_event *e)
{
    struct watch_audit_entry *to = &w->audit[w->audits++ % WATCH_AUDIT_MAX];

    *to = (struct watch_audit_entry){.at_ns = e->at_ns, .kind = e->kind};
    copy(to->trigger, sizeof(to->trigger), e->trigger);
    copy(to->outcome, sizeof(to->outcome), e->outcome);
    copy(to->domain, sizeof(to->domain), e->domain);
    copy(to->id, sizeof(to->id), e->id);
    copy(to->text, sizeof(to->text), e->text);
}

uint64_t fb_watch_audits(const struct watch *w)
{
    return w->audits;
}

const struct watch_audit_entry *fb_watch_audit(const struct watch *w, size_t n)
{
    if (n >= w->audits || n >= WATCH_AUDIT_MAX)
        return NULL;
    return &w->audit[(w->audits - 1 - n) % WATCH_AUDIT_MAX];
}

void fb_watch_tell(struct watch *w, struct watch_event e)
{
    char text[160];

    e.at_ns = w->now_ns;
    e.id = e.id ? e.id : "";
    e.domain = e.domain ? e.domain : "";
    e.trigger = e.trigger ? e.trigger : "";
    e.outcome = e.outcome ? e.outcome : "";
    if (!e.text) {
        sentence(&e, text, sizeof(text));
        e.text = text;
    }
    if (fb_watch_event_is_audit(e.kind)) {
        e.outcome = e.outcome[0] ? e.outcome : "done";
        audit(w, &e);
    }
    w->is_telling = true;
    w->ports.tell(w->ports.self, &e);
    w->is_telling = false;
}

void fb_watch_tell_nobody(void *self, const struct watch_event *e)
{
    (void)self;
    (void)e;
}

/* ---- warnings ---- */

static bool is_same(const struct watch_warning *a, const struct watch_warning *b)
{
    return a->kind == b->kind && a->domain == b->domain && strcmp(a->id, b->id) == 0 &&
           strcmp(a->domain_id, b->domain_id) == 0;
}

/*
 * Where it is kept: with its like, else instead of the one that is longest ago, unless the list
 * that came last had even that one: then there are too many, and this is one of the rest.
 */
static struct watch_warning *place_of(struct watch *w, const struct watch_warning *like)
{
    struct watch_warning *oldest = w->warning;

    for (size_t n = 0; n < w->warnings; n++) {
        if (is_same(&w->warning[n], like))
            return &w->warning[n];
        if (w->warning[n].last_ns < oldest->last_ns)
            oldest = &w->warning[n];
    }
    if (w->warnings < WATCH_WARNINGS_MAX)
        oldest = &w->warning[w->warnings++];
    else if (oldest->last_ns >= w->figures.list_ns)
        return NULL;
    oldest->count = 0;
    return oldest;
}

static void describe(struct watch_warning *g, const char *domain)
{
    static const char *const says[] = {
        [WATCH_WARN_UNMAPPED] = "no id for this item",
        [WATCH_WARN_UNKNOWN] = "no item is known by this id",
        [WATCH_WARN_TWICE] = "another item has this id, too",
        [WATCH_WARN_CHANGED] = "its id is another one than before",
        [WATCH_WARN_MISMATCH] = "the answer is about another item",
        [WATCH_WARN_REFUSED] = "the list has an entry that cannot be taken",
        [WATCH_WARN_LOST] = "the list no longer has it",
        [WATCH_WARN_STATE] = "the list has a state for it that nobody knows",
        [WATCH_WARN_AMBIGUOUS] = "its file of ids has another one for this item before",
    };
    struct text t;

    fb_text_init(&t, g->text, sizeof(g->text));
    fb_text_add(&t, domain);
    fb_text_add(&t, domain[0] ? ": " : "");
    fb_text_add(&t, says[g->kind]);
    fb_text_add(&t, g->id[0] || g->domain_id[0] ? ": " : "");
    fb_text_add(&t, g->id);
    fb_text_add(&t, g->id[0] && g->domain_id[0] ? " as " : "");
    fb_text_add(&t, g->domain_id);
}

/* One that is kept; returns whether it is new. */
static bool renew(struct watch *w, struct watch_warning *kept, struct watch_warning *g)
{
    bool is_new = kept->count == 0;

    g->first_ns = is_new ? w->now_ns : kept->first_ns;
    g->last_ns = w->now_ns;
    g->count = kept->count + 1;
    *kept = *g;
    return is_new;
}

void fb_watch_warn(struct watch *w, enum watch_warning_kind kind, struct domain *d, const char *id,
                   const char *domain_id)
{
    struct watch_warning g = {.kind = kind, .domain = d ? (int)d->index : -1};

    copy(g.id, sizeof(g.id), id ? id : "");
    copy(g.domain_id, sizeof(g.domain_id), domain_id ? domain_id : "");
    struct watch_warning *kept = place_of(w, &g);
    describe(&g, d ? d->plan.name : "");
    w->warned[kind]++;
    w->figures.warnings++;
    if (d)
        d->warnings++;
    /* With every list comes the same again: it is told once. */
    if (!kept)
        w->untold++;
    else if (renew(w, kept, &g))
        fb_watch_tell(w, (struct watch_event){
                             .kind = WATCH_WARNING,
                             .id = g.id,
                             .domain = d ? d->plan.name : "",
                             .trigger = fb_watch_warning_name(kind),
                             .text = g.text,
                         });
}

void fb_watch_warn_of_rest(struct watch *w)
{
    char line[80];
    struct text t;

    if (w->untold > 0 && w->untold != w->untold_before) {
        fb_text_init(&t, line, sizeof(line));
        fb_text_add_int(&t, w->untold);
        fb_text_add(&t, " more warnings that are not told one by one");
        fb_watch_tell(w, (struct watch_event){.kind = WATCH_WARNING, .text = line});
    }
    w->untold_before = w->untold;
    w->untold = 0;
}

const struct watch_warning *fb_watch_warning(const struct watch *w, size_t n)
{
    return n < w->warnings ? &w->warning[w->warnings - 1 - n] : NULL;
}

int64_t fb_watch_warned(const struct watch *w, enum watch_warning_kind kind)
{
    return kind < WATCH_WARNING_KINDS ? w->warned[kind] : 0;
}
