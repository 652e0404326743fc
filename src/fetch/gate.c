/* SPDX-License-Identifier: MIT */
/*
 * gate.c - robots.txt: read once for each origin, before anything else is asked of it.
 *
 * What arrives meanwhile waits here. No such file: all is allowed. A file that cannot be had
 * because the server fails: nothing is (RFC 9309, section 2.3.1.4), and the items are deferred.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "fetch/fetch_parts.h"
#include "fetch/place.h"
#include "fetch/robots.h"
#include "util/alloc.h"
#include "util/hash.h"

#define ROBOTS_BYTES_MAX (500 * 1024) /* the rest of a larger file is not read */

enum gate_state { GATE_ASKED, GATE_OPEN, GATE_RULES, GATE_DOWN };

struct gate {
    struct gate *next; /* in its slot */
    enum gate_state state;
    struct errand *first; /* those that wait */
    struct errand **end;
    char *rules;
    size_t rules_size;
    char origin[]; /* "https://host:port" */
};

static void origin_text(const char *url, struct buffer *out)
{
    struct origin o;

    fb_origin_of(url, &o);
    fb_buffer_add(out, url, o.scheme_size);
    fb_buffer_add(out, "://", 3);
    fb_buffer_add(out, url + o.host, o.host_size);
}

static struct gate **slot_of(struct fetch *f, const char *origin)
{
    uint64_t hash = fb_hash_end(fb_hash_add(FB_HASH_INIT, origin, strlen(origin)));

    return &f->gates[hash % FETCH_GATES];
}

static struct gate *find(struct fetch *f, const char *origin)
{
    struct gate *g = *slot_of(f, origin);

    while (g && strcasecmp(g->origin, origin) != 0)
        g = g->next;
    return g;
}

static struct gate *make(struct fetch *f, const char *origin)
{
    struct gate *g = fb_alloc(sizeof *g + strlen(origin) + 1);
    struct gate **slot = slot_of(f, origin);

    if (!g)
        return NULL;
    memcpy(g->origin, origin, strlen(origin));
    g->end = &g->first;
    g->next = *slot;
    *slot = g;
    return g;
}

/* The name before the '/' of our User-Agent. */
static const char *agent(const struct fetch *f, char *buffer, size_t size)
{
    const char *name = f->o->engine.connect.user_agent;
    size_t length = name ? strcspn(name, "/ ") : 0;

    if (length == 0 || length >= size)
        return "flyball";
    memcpy(buffer, name, length);
    buffer[length] = '\0';
    return buffer;
}

/* Of a page that is due its own URL: a link may lead to what is not allowed. */
static const char *url_of(const struct errand *e)
{
    return e->next_url ? e->next_url : e->item.url;
}

static bool is_allowed(const struct gate *g, const struct errand *e)
{
    struct origin o;
    char name[64];

    fb_origin_of(url_of(e), &o);
    const char *path = url_of(e) + o.path;
    return fb_robots_allow(g->rules, g->rules_size, agent(e->fetch, name, sizeof name),
                           *path == '/' ? path : "/");
}

/* The gate knows: through, or out. True: through. */
static bool decide(const struct gate *g, struct errand *e)
{
    e->is_allowed = g->state == GATE_OPEN || (g->state == GATE_RULES && is_allowed(g, e));
    if (e->is_allowed)
        return true;
    if (g->state == GATE_DOWN)
        fb_errand_fail(e, ENTRY_deferred, GATE_FAILURE, "its robots.txt could not be read");
    else
        fb_errand_fail(e, ENTRY_barred, GATE_FAILURE, "robots.txt does not allow it");
    return false;
}

static bool ask(struct fetch *f, struct gate *g)
{
    struct buffer url = BUFFER_INIT;

    fb_buffer_add_text(&url, g->origin);
    fb_buffer_add_text(&url, "/robots.txt");
    struct item item = {.id = "robots.txt", .url = fb_buffer_text(&url)};
    struct errand *e = item.url ? fb_errand_new(f, &item, 0) : NULL;
    fb_buffer_fini(&url);
    if (!e)
        return false;
    e->is_robots = true;
    e->is_allowed = true;
    e->gate = g;
    f->out++;
    fb_errand_go(e);
    return true;
}

bool fb_gate_pass(struct errand *e)
{
    struct fetch *f = e->fetch;
    struct buffer origin = BUFFER_INIT;

    origin_text(url_of(e), &origin);
    const char *name = fb_buffer_text(&origin);
    struct gate *g = name ? find(f, name) : NULL;
    bool is_new = !g;
    if (is_new && name)
        g = make(f, name);
    fb_buffer_fini(&origin);
    if (!g) {
        fb_errand_fail(e, ENTRY_failed, fb_failure_name(FAIL_MEMORY), "out of memory");
        return false;
    }
    if (g->state != GATE_ASKED)
        return decide(g, e);
    *g->end = e;
    g->end = &e->next;
    if (is_new && !ask(f, g))
        fb_gate_answer(g, 0, NULL, 0);
    return false;
}

static enum gate_state state_of(int32_t status)
{
    return status >= 200 && status < 300   ? GATE_RULES
           : status >= 400 && status < 500 ? GATE_OPEN
                                           : GATE_DOWN;
}

void fb_gate_answer(struct gate *g, int32_t status, const void *body, size_t size)
{
    g->state = state_of(status);
    if (g->state == GATE_RULES) {
        g->rules_size = size < ROBOTS_BYTES_MAX ? size : ROBOTS_BYTES_MAX;
        g->rules = fb_alloc(g->rules_size + 1);
        if (!g->rules)
            g->state = GATE_DOWN;
        else if (g->rules_size > 0)
            memcpy(g->rules, body, g->rules_size);
    }
    for (struct errand *e = g->first, *next; e; e = next) {
        next = e->next;
        if (e->fetch->stopping)
            fb_errand_end(e);
        else if (decide(g, e))
            fb_errand_go(e);
    }
    g->first = NULL;
}

void fb_gates_free(struct fetch *f)
{
    for (size_t i = 0; i < FETCH_GATES; i++) {
        for (struct gate *g = f->gates[i], *next; g; g = next) {
            next = g->next;
            fb_free(g->rules);
            fb_free(g);
        }
    }
}
