/* SPDX-License-Identifier: MIT */
/* manners.c - deadlines and recovery of one provider, where they are not those of all. */
#include <errno.h>

#include "engine/inside.h"
#include "util/alloc.h"

static int64_t said_or(int64_t said_ns, int64_t else_ns)
{
    return said_ns > 0 ? said_ns : else_ns;
}

static int read_manners(const struct engine *e, const struct engine_manners *m,
                        struct manners *ret_manners, struct fly_error *err)
{
    const struct engine_options *o = &e->options;

    *ret_manners = (struct manners){
        .connect_ns = said_or(m->connect_ns, o->connect_ns),
        .first_byte_ns = said_or(m->first_byte_ns, o->first_byte_ns),
        .idle_ns = said_or(m->idle_ns, o->idle_ns),
        .total_ns = said_or(m->total_ns, o->total_ns),
        .recovery = e->manners.recovery,
    };
    for (const char *const *text = m->recovery; text && *text; text++) {
        int rc = fb_recovery_add(&ret_manners->recovery, *text, err);

        if (rc < 0)
            return rc;
    }
    return 0;
}

int fb_engine_set_manners(struct engine *e, const char *provider, const struct engine_manners *m,
                          struct fly_error *err)
{
    struct manners *own = fb_alloc(sizeof(*own));
    struct provider *p = own ? fb_provider_get(e, provider, true) : NULL;
    int rc = p ? read_manners(e, m, own, err) : -ENOMEM;

    if (rc < 0) {
        fb_free(own);
        return rc;
    }
    fb_free(p->manners);
    p->manners = own;
    return 0;
}

static void drop(void *arg, struct table_entry *entry)
{
    struct provider *p = FB_HEAP_OWNER(entry, struct provider, entry);

    (void)arg;
    fb_free(p->manners);
    p->manners = NULL;
    fb_free(p->quota_path);
    p->quota_path = NULL;
}

/* They were made from what all have, and that has changed. */
int fb_manners_renew(struct engine *e, const struct engine_options *o, struct fly_error *err)
{
    struct manners all = {
        .connect_ns = o->connect_ns,
        .first_byte_ns = o->first_byte_ns,
        .idle_ns = o->idle_ns,
        .total_ns = o->total_ns,
    };
    int rc = fb_engine_read_rules(o, &all.recovery, err);

    if (rc < 0)
        return rc;
    e->manners = all;
    fb_table_each(&e->providers, drop, NULL);
    return 0;
}

const struct manners *fb_manners_of(const struct key *k, const struct engine *e)
{
    return k->provider->manners ? k->provider->manners : &e->manners;
}
