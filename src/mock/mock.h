/* SPDX-License-Identifier: MIT */
/*
 * mock.h - an HTTP API on this machine that enforces a real limit, and says what it saw.
 *
 * Every request but those to "/__..." is judged when its head has arrived, by the gates of a model
 * provider (mock/limit.h), told about in a dialect (mock/dialect.h), answered as its query asks
 * (mock/ask.h) and logged (mock/log.h). Where it is a site (mock/site.h), its pages are answered
 * and no others.
 */
#ifndef FLYBALL_MOCK_MOCK_H
#define FLYBALL_MOCK_MOCK_H

#include <flyball/flyball.h>

#include "mock/dialect.h"
#include "mock/log.h"
#include "mock/site.h"
#include "serve/address.h"

struct mock_options {
    union address listen;
    const char *limit; /* text; NULL or "": no limit */
    const struct dialect *dialect;
    const char *log;     /* path, or NULL */
    int32_t status;      /* of a refusal for rate */
    int64_t latency_ns;  /* before every answer that is no refusal */
    int64_t jitter_ns;   /* and up to this more, by chance */
    int64_t fail_ppm;    /* of what passes is answered with 503, by chance */
    uint64_t seed;       /* of chance */
    int64_t lifetime_ns; /* then it ends by itself; 0: never */

    const struct site *site; /* what is told, or NULL: every path answers */
    struct fixture fixture;  /* of which it tells */

    /* It listens now. */
    void (*on_listening)(void *to, const union address *where);
    void *to;
};

/*
 * Run until SIGINT, SIGTERM or the end of its time: answers in progress get a second, a second
 * signal ends at once. When it returns, both are blocked: the program is about to end. 0 with the
 * counts; -EINVAL when the limit text is wrong; or the negative errno of what failed; with a
 * sentence in *err.
 */
int fb_mock_run(const struct mock_options *o, struct mock_stats *ret_stats, struct fly_error *err)
    __attribute__((warn_unused_result));

#endif
