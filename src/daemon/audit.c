/* SPDX-License-Identifier: MIT */
/* audit.c - a ring of entries. */
#include "daemon/audit.h"

#include <errno.h>

#include "util/alloc.h"
#include "util/json.h"
#include "view/key.h"
#include "view/words.h"

static void put(char *field, size_t size, const char *text)
{
    fb_view_put(field, size, text ? text : "");
}

int fb_audit_resize(struct audit *a, size_t room)
{
    struct audit_entry *entry = fb_alloc(room * sizeof *entry);
    uint64_t kept = a->count - a->gone < room ? a->count - a->gone : room;

    if (!entry)
        return -ENOMEM;
    for (uint64_t n = a->count - kept; n < a->count; n++)
        entry[n % room] = a->entry[n % a->room];
    fb_free(a->entry);
    a->entry = entry;
    a->room = room;
    a->gone = a->count - kept;
    return 0;
}

void fb_audit_fini(struct audit *a)
{
    fb_free(a->entry);
    *a = (struct audit){0};
}

const struct audit_entry *fb_audit_add(struct audit *a, int64_t at_ns,
                                       const struct view_audit_event *e)
{
    struct audit_entry *to = &a->entry[a->count++ % a->room];

    if (a->count - a->gone > a->room)
        a->gone++;
    to->at_ns = at_ns;
    to->until_ns = e->until_ns;
    to->took_ns = e->took_ns;
    put(to->kind, sizeof to->kind, e->kind);
    put(to->cause, sizeof to->cause, e->cause);
    put(to->outcome, sizeof to->outcome, e->outcome && e->outcome[0] ? e->outcome : "done");
    put(to->provider, sizeof to->provider, e->provider);
    put(to->pool, sizeof to->pool, e->pool);
    put(to->item, sizeof to->item, e->item);
    put(to->text, sizeof to->text, e->text);
    return to;
}

int fb_audit_view(const struct audit *a, struct view_audit_event **ret_events,
                  struct view_audit *ret_view)
{
    size_t kept = (size_t)(a->count - a->gone);
    struct view_audit_event *event = fb_alloc((kept + 1) * sizeof *event);

    if (!event)
        return -ENOMEM;
    for (size_t i = 0; i < kept; i++) {
        const struct audit_entry *e = &a->entry[(a->count - 1 - i) % a->room];

        event[i] = (struct view_audit_event){.at_ns = e->at_ns,
                                             .provider = e->provider,
                                             .pool = e->pool,
                                             .kind = e->kind,
                                             .cause = e->cause,
                                             .item = e->item,
                                             .outcome = e->outcome,
                                             .until_ns = e->until_ns,
                                             .took_ns = e->took_ns,
                                             .text = e->text};
    }
    *ret_events = event;
    *ret_view = (struct view_audit){.event = event, .event_count = kept, .lost = a->gone};
    return 0;
}

void fb_audit_json(const struct audit_entry *e, struct buffer *to)
{
    fb_buffer_add_char(to, '{');
    fb_words_json_instant(to, "time", e->at_ns, e->at_ns);
    fb_json_text(to, "kind", e->kind);
    if (e->cause[0])
        fb_json_text(to, "cause", e->cause);
    if (e->provider[0])
        fb_json_text(to, "provider", e->provider);
    if (e->pool[0])
        fb_json_text(to, "pool", e->pool);
    if (e->item[0])
        fb_json_text(to, "item", e->item);
    if (e->outcome[0])
        fb_json_text(to, "outcome", e->outcome);
    if (e->until_ns > 0)
        fb_words_json_end(to, "until", e->until_ns, e->at_ns);
    if (e->took_ns > 0)
        fb_json_real(to, "took_s", (double)e->took_ns / 1e9, 3);
    fb_json_text(to, "text", e->text);
    fb_buffer_add_char(to, '}');
}
