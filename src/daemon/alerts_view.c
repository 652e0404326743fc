/* SPDX-License-Identifier: MIT */
/* alerts_view.c - alerts as JSON: the rules, what is past them now, and what was told. */
#include <string.h>

#include "core/instant.h"
#include "daemon/parts.h"
#include "util/alloc.h"
#include "util/json.h"
#include "view/words.h"

static void add_rules(const struct daemon *d, struct buffer *b)
{
    const struct alert_rules *r = &d->alerts.rules;
    const struct config_alerts *c = &d->config->alerts;

    fb_json_name(b, "rules");
    fb_buffer_add_char(b, '{');
    fb_json_real(b, "warning_ratio", r->warning, 4);
    fb_json_real(b, "critical_ratio", r->critical, 4);
    fb_json_real(b, "wait_s", r->wait_s, 3);
    fb_json_bool(b, "grade", r->grade);
    fb_words_json_span(b, "every_s", r->every_ns);
    fb_json_bool(b, "webhook", c->webhook || fb_config_has_secret(&c->webhook_secret));
    fb_json_bool(b, "command", c->command && c->command[0]);
    fb_buffer_add_char(b, '}');
}

/* What is past a rule. */
struct past {
    enum alert_kind kind;
    enum alert_level level;
    double value;     /* the share in use, or the seconds of a wait */
    double threshold; /* that it passed */
};

static void add_one(const struct daemon *d, const struct past *a, size_t set, struct buffer *b)
{
    const struct meter_set *m = &d->meters.set[set];
    bool is_first = b->size > 0 && b->bytes[b->size - 1] == '[';

    if (a->level == ALERT_NONE)
        return;
    fb_buffer_add_text(b, is_first ? "{" : ",{");
    fb_json_text(b, "kind", fb_alert_kind_name(a->kind));
    fb_json_text(b, "level", fb_alert_level_name(a->level));
    fb_json_text(b, "provider", m->provider);
    fb_json_text(b, "pool", m->pool);
    fb_json_real(b, "value", a->value, 4);
    fb_json_real(b, "threshold", a->threshold, 4);
    fb_words_json_instant(b, "told", d->alerts.memory[a->kind][set].told_ns, fb_daemon_now(d));
    fb_buffer_add_char(b, '}');
}

static void add_now(struct daemon *d, struct buffer *b)
{
    const struct alert_rules *r = &d->alerts.rules;

    fb_json_name(b, "now");
    fb_buffer_add_char(b, '[');
    (void)pthread_mutex_lock(&d->meters.lock);
    for (size_t i = 1; i < d->gauges.sets; i++) {
        const struct gauge *g = &d->gauges.set[i];
        enum alert_level used = fb_alert_used(r, g->used);
        double passed = used == ALERT_CRITICAL ? r->critical : r->warning;

        add_one(d, &(struct past){ALERT_utilization, used, g->used, passed}, i, b);
        add_one(d, &(struct past){ALERT_wait, fb_alert_wait(r, g->wait_s), g->wait_s, r->wait_s}, i,
                b);
    }
    (void)pthread_mutex_unlock(&d->meters.lock);
    fb_buffer_add_char(b, ']');
}

/* Of the audit, what alerts have left there: the newest first. */
static void add_told(const struct daemon *d, struct buffer *b)
{
    struct view_audit_event *events = NULL;
    struct view_audit v = {0};
    const char *between = "{";

    fb_json_name(b, "events");
    fb_buffer_add_char(b, '[');
    (void)fb_audit_view(&d->audit, &events, &v);
    for (size_t i = 0; i < v.event_count; i++) {
        const struct view_audit_event *e = &v.event[i];

        if (strcmp(e->kind, "alert") != 0 && strcmp(e->kind, "grade") != 0)
            continue;
        fb_buffer_add_text(b, between);
        between = ",{";
        fb_words_json_instant(b, "at", e->at_ns, fb_daemon_now(d));
        fb_json_text(b, "kind", e->kind);
        fb_json_text(b, "cause", e->cause);
        fb_json_text(b, "outcome", e->outcome);
        fb_json_text(b, "provider", e->provider);
        fb_json_text(b, "pool", e->pool);
        fb_json_text(b, "text", e->text);
        fb_buffer_add_char(b, '}');
    }
    fb_buffer_add_char(b, ']');
    fb_free(events);
}

void fb_alerts_answer(struct call *c)
{
    struct daemon *d = fb_daemon_of(c);
    struct buffer b = BUFFER_INIT;

    fb_view_json_begin("alerts", fb_daemon_now(d), &b);
    fb_json_text(&b, "grade", fb_grade_name(d->grader.grade));
    fb_json_int(&b, "raised", d->alerts.raised);
    add_rules(d, &b);
    add_now(d, &b);
    add_told(d, &b);
    fb_buffer_add_text(&b, "}\n");
    fb_call_send_json(c, 200, &b);
}
