/* SPDX-License-Identifier: MIT */
/* log.c - a table of fields, written in one form or the other. */
#include "engine/observers/log.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/instant.h"
#include "util/buffer.h"
#include "util/json.h"
#include "util/text.h"

/* How a field of the event is read; those whose value is nothing are left out. */
enum field_kind { FIELD_TEXT, FIELD_INT, FIELD_MS, FIELD_INSTANT, FIELD_RATE };

struct field {
    const char *name;
    enum field_kind kind;
    size_t offset;
};

#define FIELD(name, kind, member)                          \
    {                                                      \
        name, FIELD_##kind, offsetof(struct event, member) \
    }

static const struct field fields[] = {
    FIELD("item", TEXT, item),         FIELD("provider", TEXT, provider),
    FIELD("pool", TEXT, pool),         FIELD("operation", TEXT, operation),
    FIELD("outcome", TEXT, outcome),   FIELD("error", TEXT, error),
    FIELD("cause", TEXT, cause),       FIELD("status", INT, status),
    FIELD("attempt", INT, attempt),    FIELD("duration_ms", MS, duration_ns),
    FIELD("waited_ms", MS, waited_ns), FIELD("until", INSTANT, until_ns),
    FIELD("rate", RATE, rate),         FIELD("lost", INT, lost),
    FIELD("trace_id", TEXT, trace),
};

/* "2026-01-31T23:59:59.123Z". */
static void write_time(char *to, size_t size, int64_t at_ns)
{
    time_t seconds = (time_t)(at_ns / FB_NS_PER_S);
    struct tm utc;
    struct text t;
    char fraction[4] = "000";
    int64_t ms = at_ns % FB_NS_PER_S / FB_NS_PER_MS;
    size_t used;

    gmtime_r(&seconds, &utc);
    used = strftime(to, size, "%Y-%m-%dT%H:%M:%S.", &utc);
    for (int i = 2; i >= 0; i--, ms /= 10)
        fraction[i] = (char)('0' + ms % 10);
    fb_text_init(&t, to + used, size - used);
    fb_text_add(&t, fraction);
    fb_text_add(&t, "Z");
}

/* The value as text; "" for nothing. */
static void write_value(char *to, size_t size, const struct field *f, const struct event *e,
                        int64_t anchor_ns)
{
    const char *at = (const char *)e + f->offset;
    int64_t wide = 0;
    int32_t narrow = 0;
    double real = 0.0;
    struct text t;

    fb_text_init(&t, to, size);
    switch (f->kind) {
    case FIELD_TEXT:
        fb_text_add(&t, at);
        break;
    case FIELD_INT:
        memcpy(&narrow, at, sizeof(narrow));
        if (narrow)
            fb_text_add_int(&t, narrow);
        break;
    case FIELD_MS:
        memcpy(&wide, at, sizeof(wide));
        if (wide)
            fb_text_add_fixed(&t, (double)wide / 1e6, 3);
        break;
    case FIELD_INSTANT:
        memcpy(&wide, at, sizeof(wide));
        if (wide > 0 && wide != FB_NEVER)
            write_time(to, size, wide + anchor_ns);
        break;
    case FIELD_RATE:
        memcpy(&real, at, sizeof(real));
        if (real > 0.0)
            fb_text_add_number(&t, real);
        break;
    }
}

static void add_json(struct buffer *b, const struct field *f, const char *value)
{
    if (f->kind == FIELD_TEXT || f->kind == FIELD_INSTANT) {
        fb_json_text(b, f->name, value);
        return;
    }
    fb_json_name(b, f->name);
    fb_buffer_add_text(b, value);
}

/* Quoted where it has to be; quoted text is as in JSON. */
static void add_logfmt(struct buffer *b, const char *name, const char *value)
{
    bool is_plain = value[strcspn(value, " \"=\\")] == '\0';

    for (const unsigned char *c = (const unsigned char *)value; *c; c++)
        is_plain = is_plain && *c > ' ' && *c < 0x7f;
    if (b->size > 0 && b->bytes[b->size - 1] != '\n')
        fb_buffer_add_char(b, ' ');
    fb_buffer_add_text(b, name);
    fb_buffer_add_char(b, '=');
    if (is_plain)
        fb_buffer_add_text(b, value);
    else
        fb_json_add_string(b, value, strlen(value));
}

void fb_log_field(struct buffer *to, enum log_form form, const char *name, const char *value)
{
    if (form == LOG_JSON)
        fb_json_text(to, name, value);
    else
        add_logfmt(to, name, value);
}

void fb_log_begin(struct buffer *to, enum log_form form, int64_t at_ns, const char *level,
                  const char *event)
{
    char when[40];

    write_time(when, sizeof(when), at_ns);
    if (form == LOG_JSON)
        fb_buffer_add_char(to, '{');
    fb_log_field(to, form, "time", when);
    if (level)
        fb_log_field(to, form, "level", level);
    fb_log_field(to, form, "event", event);
}

void fb_log_end(struct buffer *to, enum log_form form)
{
    fb_buffer_add_text(to, form == LOG_JSON ? "}\n" : "\n");
}

void fb_log_line(struct buffer *to, enum log_form form, int64_t anchor_ns, const char *level,
                 const struct event *e)
{
    char value[96];

    fb_log_begin(to, form, e->at_ns + anchor_ns, level, fb_event_name(e->kind));
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        write_value(value, sizeof(value), &fields[i], e, anchor_ns);
        if (!value[0])
            continue;
        if (form == LOG_JSON)
            add_json(to, &fields[i], value);
        else
            add_logfmt(to, fields[i].name, value);
    }
    fb_log_end(to, form);
}

void fb_log_on_event(void *self, const struct event *e)
{
    struct log_sink *sink = self;
    struct buffer line = BUFFER_INIT;

    fb_log_line(&line, sink->form, sink->anchor_ns, NULL, e);
    if (line.failed || write(sink->fd, line.bytes, line.size) != (ssize_t)line.size)
        sink->lines_lost++;
    fb_buffer_fini(&line);
}
