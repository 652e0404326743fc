/* SPDX-License-Identifier: MIT */
/*
 * restate.c - a limit that another process has stated for a key that both use.
 *
 * All processes of a ledger keep one limit for a key, and whoever takes it last says which. So a
 * command with a --limit of its own changes that of a batch that runs, and would leave it behind:
 * whoever is alone with the key again states his own. Until then it is said whose limit it is.
 */
#include <string.h>

#include "fetch/host_parts.h"
#include "ledger/inner.h"

bool fb_host_other_limit(struct fly_limiter *l, const char *own, char ret_text[FB_SPEC_BYTES],
                         bool *ret_alone)
{
    return fb_limiter_spec(l, ret_text, ret_alone) && strcmp(ret_text, own ? own : "") != 0;
}

static void look(void *context, const struct engine_key_state *s)
{
    struct host *h = context;
    char text[FB_SPEC_BYTES];
    struct fly_error err;
    bool is_alone;

    if (s->queued + s->in_flight == 0 || !fb_limiter_is_shared(s->limiter))
        return;
    const char *own = h->o.limit_of ? h->o.limit_of(h->o.user, &s->key) : NULL;
    if (!fb_host_other_limit(s->limiter, own, text, &is_alone))
        return;
    if (is_alone && fly_limiter_reconfigure(s->limiter, own, fly_now(), &err) == 0) {
        fb_host_say(h, "%s: the limit that another process had stated, %s, holds no longer",
                    s->key.provider, text[0] ? text : "none");
        return;
    }
    h->has_other_limit = true;
    if (!h->told_other_limit)
        fb_host_say(h,
                    "%s: another process has stated another limit, %s; it holds for all that use "
                    "the ledger, until that one has ended (--ledger none: not for this one)",
                    s->key.provider, text[0] ? text : "none");
}

void fb_host_restate(struct host *h)
{
    if (!h->ledger || !h->engine)
        return;
    h->has_other_limit = false;
    fb_engine_keys(h->engine, look, h);
    h->told_other_limit = h->has_other_limit;
}
