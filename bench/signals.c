/* SPDX-License-Identifier: MIT */
/*
 * signals.c - what it costs to read what a response says about limits.
 *
 * The headers are those that well-known APIs send with every answer, the other ones included.
 */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include <flyball/flyball.h>

#define NOW_NS      (INT64_C(1773144000) * 1000000000)
#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))
#define H(name, value)                                      \
    {                                                       \
        name, sizeof(name) - 1, value "", sizeof(value) - 1 \
    }

static const struct fly_header GITHUB[] = {
    H("server", "github.com"),
    H("date", "Tue, 10 Mar 2026 12:00:00 GMT"),
    H("content-type", "application/json; charset=utf-8"),
    H("cache-control", "private, max-age=60, s-maxage=60"),
    H("vary", "Accept, Authorization, Cookie, X-GitHub-OTP"),
    H("etag", "W/\"0f8b7a5d\""),
    H("x-github-media-type", "github.v3; format=json"),
    H("x-ratelimit-limit", "5000"),
    H("x-ratelimit-remaining", "4994"),
    H("x-ratelimit-reset", "1773147600"),
    H("x-ratelimit-used", "6"),
    H("x-ratelimit-resource", "core"),
    H("access-control-allow-origin", "*"),
    H("strict-transport-security", "max-age=31536000"),
    H("x-frame-options", "deny"),
    H("x-github-request-id", "C0DE:1:2:3:4"),
};

static const struct fly_header OPENAI[] = {
    H("date", "Tue, 10 Mar 2026 12:00:00 GMT"),
    H("content-type", "application/json"),
    H("x-request-id", "req_b176c7aa266e48aa"),
    H("openai-processing-ms", "312"),
    H("x-ratelimit-limit-requests", "10000"),
    H("x-ratelimit-limit-tokens", "200000"),
    H("x-ratelimit-remaining-requests", "9991"),
    H("x-ratelimit-remaining-tokens", "199961"),
    H("x-ratelimit-reset-requests", "1m13.588s"),
    H("x-ratelimit-reset-tokens", "11ms"),
    H("cf-cache-status", "DYNAMIC"),
    H("server", "cloudflare"),
};

static const struct fly_header IETF[] = {
    H("date", "Tue, 10 Mar 2026 12:00:00 GMT"),
    H("content-type", "application/json"),
    H("server", "cloudflare"),
    H("ratelimit-policy", "\"default\";q=1200;w=300"),
    H("ratelimit", "\"default\";r=50;t=30"),
};

static const struct fly_header PLAIN[] = {
    H("date", "Tue, 10 Mar 2026 12:00:00 GMT"),
    H("server", "nginx"),
    H("content-type", "text/html"),
    H("content-length", "1234"),
    H("connection", "keep-alive"),
    H("last-modified", "Tue, 10 Mar 2026 11:00:00 GMT"),
    H("etag", "\"65ed\""),
    H("accept-ranges", "bytes"),
};

static const struct fly_header REFUSAL[] = {
    H("date", "Tue, 10 Mar 2026 12:00:00 GMT"),
    H("content-type", "application/json; charset=utf-8"),
    H("retry-after", "60"),
};

static const struct response {
    const char *name;
    int32_t status;
    const struct fly_header *header;
    size_t count;
    const char *body;
    uint32_t flags; /* what it means, to be sure that it was read */
} RESPONSES[] = {
    {"github", 200, GITHUB, COUNT_OF(GITHUB), "", FLY_SIGNAL_FOUND},
    {"openai", 200, OPENAI, COUNT_OF(OPENAI), "", FLY_SIGNAL_FOUND},
    {"ietf", 200, IETF, COUNT_OF(IETF), "", FLY_SIGNAL_FOUND},
    {"plain", 200, PLAIN, COUNT_OF(PLAIN), "", 0},
    {"refusal", 403, REFUSAL, COUNT_OF(REFUSAL),
     "{\"message\":\"You have exceeded a secondary rate limit. Please wait a few minutes before "
     "you try again.\"}",
     FLY_SIGNAL_THROTTLED | FLY_SIGNAL_RETRYABLE | FLY_SIGNAL_FOUND},
};

/* The typical ones are those before the refusal. */
#define TYPICAL (COUNT_OF(RESPONSES) - 1)

static void read_response(const struct response *q)
{
    struct fly_response about = {.size = sizeof(about), .now_ns = NOW_NS, .status = q->status};
    struct fly_signal s = {.size = sizeof(s)};

    if (fly_signal_read(&about, q->header, q->count, q->body, strlen(q->body), &s) < 0 ||
        s.flags != q->flags) {
        fprintf(stderr, "bench: the response '%s' was not understood\n", q->name);
        exit(1);
    }
}

bool bench_signal_open(struct bench_case *c)
{
    c->ticket = TYPICAL; /* which response; TYPICAL: in turn */
    for (size_t i = 0; c->spec && i < COUNT_OF(RESPONSES); i++) {
        if (!strcmp(c->spec, RESPONSES[i].name))
            c->ticket = i;
    }
    if (c->spec && !strcmp(c->spec, "refusal"))
        c->ticket = TYPICAL;
    return true;
}

void bench_signal(struct bench_case *c, int64_t times)
{
    size_t turn = 0;

    for (int64_t i = 0; i < times; i++) {
        size_t which = c->spec ? c->ticket : turn;
        turn = turn + 1 < TYPICAL ? turn + 1 : 0;
        read_response(&RESPONSES[which]);
    }
}

/* ---- instructions ---- */

static void read_typical(void *of)
{
    (void)of;
    for (size_t i = 0; i < TYPICAL; i++)
        read_response(&RESPONSES[i]);
}

double bench_signal_instructions(const struct bench_case *c)
{
    (void)c;
    return bench_instructions(read_typical, NULL) / (double)TYPICAL;
}

/* A hostile response: a list, a structured field and digits without end, and a body of quotes. */
static char hostile[4][2048];

static void read_hostile(void *of)
{
    size_t size = *(const size_t *)of;
    const struct fly_header header[] = {
        {"x-ratelimit-limit", 17, hostile[0], size},
        {"ratelimit-policy", 16, hostile[1], size},
        {"x-ratelimit-remaining", 21, hostile[2], size},
        {"x-app-usage", 11, hostile[3], size},
    };
    struct fly_response about = {.size = sizeof(about), .now_ns = NOW_NS, .status = 429};
    struct fly_signal s = {.size = sizeof(s)};

    (void)fly_signal_read(&about, header, COUNT_OF(header), hostile[3], size, &s);
}

double bench_signal_growth(const struct bench_case *c)
{
    size_t half = sizeof(hostile[0]) / 2, whole = sizeof(hostile[0]);

    (void)c;
    for (size_t i = 0; i < whole; i++) {
        hostile[0][i] = i % 2 ? ',' : '1';
        hostile[1][i] = "a;b=1,"[i % 6];
        hostile[2][i] = '9';
        hostile[3][i] = "{\"a\":"[i % 5];
    }
    double small = bench_instructions(read_hostile, &half);
    return bench_instructions(read_hostile, &whole) / small;
}
