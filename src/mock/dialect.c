/* SPDX-License-Identifier: MIT */
/* dialect.c - the dialects: one function and one row each. */
#include "mock/dialect.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/instant.h"
#include "util/text.h"

static int64_t seconds_up(int64_t ns)
{
    return (ns + FB_NS_PER_S - 1) / FB_NS_PER_S;
}

static void add_number(struct field_sink *out, const char *name, int64_t value)
{
    char text[24];
    struct text t;

    fb_text_init(&t, text, sizeof(text));
    fb_text_add_int(&t, value);
    out->add(out->to, name, text);
}

/* "Retry-After: 0" would invite to hammer. */
static void add_retry_after(const struct mock_told *t, struct field_sink *out)
{
    if (t->refused)
        add_number(out, "Retry-After", fb_max64(1, seconds_up(t->retry_ns)));
}

static void tell_retry_after(const struct mock_told *t, int64_t wall_ns, struct field_sink *out)
{
    (void)wall_ns;
    add_retry_after(t, out);
}

static void tell_github(const struct mock_told *t, int64_t wall_ns, struct field_sink *out)
{
    const struct mock_pool *p = &t->pool[t->tightest];

    if (t->pools > 0) {
        add_number(out, "X-RateLimit-Limit", p->limit);
        add_number(out, "X-RateLimit-Remaining", p->remaining);
        add_number(out, "X-RateLimit-Used", p->limit - p->remaining);
        add_number(out, "X-RateLimit-Reset", seconds_up(wall_ns + p->reset_ns));
        out->add(out->to, "X-RateLimit-Resource", "core");
    }
    add_retry_after(t, out);
}

/* A list with a member for each pool; the first is "default". */
static void add_members(const struct mock_told *t, const char *field, struct field_sink *out,
                        void (*add)(struct text *text, const struct mock_pool *p))
{
    char value[64 * FB_GATES_MAX];
    struct text text;

    fb_text_init(&text, value, sizeof(value));
    for (int32_t i = 0; i < t->pools; i++) {
        fb_text_add(&text, i > 0 ? ", \"w" : "\"default");
        if (i > 0)
            fb_text_add_int(&text, t->pool[i].window_s);
        fb_text_add(&text, "\"");
        add(&text, &t->pool[i]);
    }
    if (t->pools > 0)
        out->add(out->to, field, value);
}

static void add_policy(struct text *text, const struct mock_pool *p)
{
    fb_text_add(text, ";q=");
    fb_text_add_int(text, p->limit);
    fb_text_add(text, ";w=");
    fb_text_add_int(text, p->window_s);
}

static void add_state(struct text *text, const struct mock_pool *p)
{
    fb_text_add(text, ";r=");
    fb_text_add_int(text, p->remaining);
    fb_text_add(text, ";t=");
    fb_text_add_int(text, seconds_up(p->reset_ns));
}

static void tell_ietf(const struct mock_told *t, int64_t wall_ns, struct field_sink *out)
{
    (void)wall_ns;
    add_members(t, "RateLimit-Policy", out, add_policy);
    add_members(t, "RateLimit", out, add_state);
    add_retry_after(t, out);
}

static void tell_ietf_old(const struct mock_told *t, int64_t wall_ns, struct field_sink *out)
{
    const struct mock_pool *p = &t->pool[t->tightest];

    (void)wall_ns;
    if (t->pools > 0) {
        add_number(out, "RateLimit-Limit", p->limit);
        add_number(out, "RateLimit-Remaining", p->remaining);
        add_number(out, "RateLimit-Reset", seconds_up(p->reset_ns));
    }
    add_retry_after(t, out);
}

/* "120ms", "7.66s", "1m26.4s", as Go prints a duration, in milliseconds rounded up. */
static void write_duration(char *to, size_t size, int64_t ns)
{
    int64_t ms = (ns + FB_NS_PER_MS - 1) / FB_NS_PER_MS;
    struct text t;

    fb_text_init(&t, to, size);
    if (ms < 1000) {
        fb_text_add_int(&t, ms);
        fb_text_add(&t, "ms");
        return;
    }
    if (ms >= 60000) {
        fb_text_add_int(&t, ms / 60000);
        fb_text_add(&t, "m");
    }
    fb_text_add_fixed(&t, (double)(ms % 60000) / 1e3, ms % 1000 ? 3 : 0);
    fb_text_add(&t, "s");
}

static void tell_openai(const struct mock_told *t, int64_t wall_ns, struct field_sink *out)
{
    const struct mock_pool *p = &t->pool[t->tightest];
    char reset[40];

    (void)wall_ns;
    if (t->pools > 0) {
        write_duration(reset, sizeof(reset), p->reset_ns);
        add_number(out, "x-ratelimit-limit-requests", p->limit);
        add_number(out, "x-ratelimit-remaining-requests", p->remaining);
        out->add(out->to, "x-ratelimit-reset-requests", reset);
    }
    if (t->refused)
        add_number(out, "retry-after-ms", (t->retry_ns + FB_NS_PER_MS - 1) / FB_NS_PER_MS);
    add_retry_after(t, out);
}

static void tell_anthropic(const struct mock_told *t, int64_t wall_ns, struct field_sink *out)
{
    const struct mock_pool *p = &t->pool[t->tightest];
    time_t reset = (time_t)seconds_up(wall_ns + p->reset_ns);
    char text[32] = "";
    struct tm tm;

    if (t->pools > 0 && gmtime_r(&reset, &tm) &&
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm)) {
        add_number(out, "anthropic-ratelimit-requests-limit", p->limit);
        add_number(out, "anthropic-ratelimit-requests-remaining", p->remaining);
        out->add(out->to, "anthropic-ratelimit-requests-reset", text);
    }
    add_retry_after(t, out);
}

#define PLAIN "{\"error\":\"rate limit exceeded\"}\n"

static const struct dialect dialects[] = {
    {"github", tell_github,
     "{\"message\":\"API rate limit exceeded\",\"documentation_url\":\"about:blank\"}\n"},
    {"ietf", tell_ietf, PLAIN},
    {"ietf-old", tell_ietf_old, PLAIN},
    {"openai", tell_openai,
     "{\"error\":{\"message\":\"Rate limit reached for requests\",\"type\":\"requests\","
     "\"param\":null,\"code\":\"rate_limit_exceeded\"}}\n"},
    {"anthropic", tell_anthropic,
     "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\","
     "\"message\":\"Number of requests has exceeded your rate limit\"}}\n"},
    {"retry-after", tell_retry_after, PLAIN},
    {"none", NULL, PLAIN},
};

const char *const fb_dialect_names[] = {"github",    "ietf",        "ietf-old", "openai",
                                        "anthropic", "retry-after", "none",     NULL};

const struct dialect *fb_dialect_find(const char *name)
{
    for (size_t i = 0; i < sizeof(dialects) / sizeof(dialects[0]); i++)
        if (strcmp(dialects[i].name, name) == 0)
            return &dialects[i];
    return NULL;
}
