/* SPDX-License-Identifier: MIT */
/* audit.c - a ring of entries. */
#include "daemon/audit.h"

#include "util/json.h"
#include "view/key.h"
#include "view/words.h"

static void put(char *field, size_t size, const char *text)
{
    fb_view_put(field, size, text ? text : "");
}

const struct audit_entry *fb_audit_add(struct audit *a, int64_t at_ns,
                                       const struct view_audit_event *e)
{
    struct audit_entry *to = &a->entry[a->count++ % AUDIT_MAX];

    to->at_ns = at_ns;
    put(to->kind, sizeof to->kind, e->kind);
    put(to->cause, sizeof to->cause, e->cause);
    put(to->provider, sizeof to->provider, e->provider);
    put(to->pool, sizeof to->pool, e->pool);
    put(to->text, sizeof to->text, e->text);
    return to;
}

void fb_audit_view(const struct audit *a, struct view_audit_event *event, size_t most,
                   struct view_audit *ret_view)
{
    size_t kept = a->count < AUDIT_MAX ? (size_t)a->count : AUDIT_MAX;
    size_t shown = kept < most ? kept : most;

    for (size_t i = 0; i < shown; i++) {
        const struct audit_entry *e = &a->entry[(a->count - 1 - i) % AUDIT_MAX];

        event[i] = (struct view_audit_event){.at_ns = e->at_ns,
                                             .provider = e->provider,
                                             .pool = e->pool,
                                             .kind = e->kind,
                                             .cause = e->cause,
                                             .text = e->text};
    }
    *ret_view = (struct view_audit){.event = event, .event_count = shown, .lost = a->count - shown};
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
    fb_json_text(to, "text", e->text);
    fb_buffer_add_char(to, '}');
}
