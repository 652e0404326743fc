/* SPDX-License-Identifier: MIT */
/* home.c - the engine as the configuration wants it, with those who watch it. */
#include "core/instant.h"
#include "daemon/parts.h"
#include "engine/configure.h"

static const char *limit_of(void *user, const struct engine_key *k)
{
    const struct daemon *d = user;

    return fb_provider_configured(d->config, k);
}

static void say(void *user, const char *sentence)
{
    struct daemon *d = user;

    fb_log(&d->log, LEVEL_warning, "engine", "%s", sentence);
}

/* On the watchdog's own thread: what is logged is written with one call. */
static void stuck(void *user, int64_t still_ns)
{
    struct daemon *d = user;

    fb_log(&d->log, LEVEL_error, "stuck", "the loop has stood still for %lld s",
           (long long)(still_ns / FB_NS_PER_S));
}

void fb_home_options(const struct daemon *d, const struct config *c, struct engine_options *o)
{
    (void)d;
    fb_engine_options_init(o);
    fb_engine_configure(c, o);
    o->limit = NULL; /* limits are asked for key by key */
    o->retry_throttled_forever = true;
}

int fb_home_open(struct daemon *d, struct fly_error *err)
{
    struct observer observers[] = {
        {fb_meters_on_event, &d->meters},
        {fb_news_on_event, &d->news},
        {fb_log_event, &d->log},
    };
    struct host_options o = {.user = d,
                             .limit_of = limit_of,
                             .say = say,
                             .on_stuck = stuck,
                             .on_result = fb_alarm_posted};

    o.folder = d->store.size > 0 ? fb_buffer_text(&d->store) : NULL;
    o.ledger = d->config->ledger.shared ? d->config->ledger.path : "none";
    fb_home_options(d, d->config, &o.engine);
    o.engine.observer = observers;
    o.engine.observer_count = sizeof observers / sizeof observers[0];
    o.engine.events_max = 16384;
    int rc = fb_host_open(&d->loop, &o, &d->home, err);
    if (rc < 0)
        return rc;
    d->engine = fb_host_engine(d->home);
    return fb_engine_configure_providers(d->engine, d->config, err);
}
