/* SPDX-License-Identifier: MIT */
/*
 * page.c - the dashboard's page: its template with the figures of now in it.
 *
 * What comes from outside (names of providers, sentences) is escaped where it enters the page, and
 * once more where it stands inside the script element that holds the same figures as JSON.
 */
#include <assert.h>
#include <string.h>
#include <unistd.h>

#include "core/instant.h"
#include "daemon/parts.h"
#include "serve/pack.h"
#include "util/alloc.h"
#include "view/page.h"
#include "view/plot.h"
#include "view/words.h"

#define KEYS_MAX 256

/* ------------------------------------------------------------------------------------- files */

void fb_asset_answer(struct call *c)
{
    const struct asset *a = fb_asset_find(c->path.at, c->path.length);
    struct slice accept = fb_guard_field(c->x->request, "Accept-Encoding");
    bool is_packed = fb_pack_is_wanted(accept);

    if (!a) {
        fb_call_refuse(c, 404, "there is nothing here");
        return;
    }
    const struct asset_bytes *b = is_packed ? &a->packed : &a->plain;
    fb_call_begin(c, 200, a->type);
    if (is_packed)
        fb_answer_field(c->x, "Content-Encoding", FB_SLICE("gzip"));
    fb_answer_field(c->x, "Vary", FB_SLICE("Accept-Encoding"));
    fb_answer_send(c->x, (struct slice){(const char *)b->at, b->size});
}

/* ------------------------------------------------------------------------------ what goes in */

struct filling {
    struct daemon *daemon;
    bool is_public;
    int64_t now_ns;
    struct view_key *key;
    size_t keys;
};

static void cell_queued(const struct view_key *k, int64_t now_ns, struct buffer *to)
{
    (void)now_ns;
    fb_words_count(k->queued, to);
}

static const struct page_column COLUMNS[] = {
    {"provider/pool", "", fb_page_name},  {"state", "", NULL},
    {"rate / limit", "", fb_page_rate},   {"left", "", fb_view_key_left},
    {"next start", "", fb_view_key_next}, {"queued", "number", cell_queued},
    {"429s", "number", fb_page_refused},  {"why", "why", fb_page_concern},
};

static void put_head(const void *arg, struct buffer *to)
{
    (void)arg;
    fb_buffer_add_text(to, "<link rel=\"stylesheet\" href=\"app.css\">\n"
                           "<script defer src=\"app.js\"></script>");
}

static void put_table(const void *arg, struct buffer *to)
{
    const struct filling *f = arg;
    struct page_table t = {.column = COLUMNS,
                           .columns = sizeof COLUMNS / sizeof COLUMNS[0],
                           .key = f->key,
                           .keys = f->keys,
                           .now_ns = f->now_ns};

    fb_page_table(&t, to);
}

static void put_empty(const void *arg, struct buffer *to)
{
    const struct filling *f = arg;

    if (f->keys > 0)
        return;
    fb_buffer_add_text(to, "<p class=\"empty\">No request yet. Try: "
                           "<code>flyball mock --listen 127.0.0.1:8070 --limit rate=5/s "
                           "--for 2m &amp; flyball fetch --submit "
                           "'http://127.0.0.1:8070/items/{1..60}'</code></p>");
}

static void put_now(const void *arg, struct buffer *to)
{
    const struct filling *f = arg;
    fb_words_instant(f->now_ns / FB_NS_PER_S, to);
}

static void put_who(const void *arg, struct buffer *to)
{
    const struct filling *f = arg;
    char host[72] = "";

    if (f->is_public)
        return;
    (void)gethostname(host, sizeof host - 1);
    fb_plot_escape(host, to);
    fb_buffer_add_text(to, ", up ");
    fb_words_span(f->now_ns - f->daemon->began_ns, to);
}

static void put_summary(const void *arg, struct buffer *to)
{
    const struct filling *f = arg;
    const struct engine_stats *s = &f->daemon->gauges.stats;

    fb_buffer_add_text(to, fb_grade_name(f->daemon->grader.grade));
    fb_buffer_add_text(to, ", ");
    fb_words_count(s->in_flight, to);
    fb_buffer_add_text(to, " in flight, ");
    fb_words_count(s->queued, to);
    fb_buffer_add_text(to, " queued, 429s ");
    fb_words_count(s->throttled, to);
}

/* Of the provider that is shown first; the page asks for more when it has time. */
static void add_history(const struct filling *f, struct buffer *json)
{
    struct daemon *d = f->daemon;
    struct history_part part = {.step_s = 10,
                                .most = 90,
                                .provider = f->key[0].provider,
                                .pool = f->key[0].pool,
                                .only = ""};
    fb_buffer_add_text(json, ",\"history\":");
    (void)pthread_mutex_lock(&d->meters.lock);
    int rc = fb_history_json(&d->history, &d->meters, &part, json);
    (void)pthread_mutex_unlock(&d->meters.lock);
    assert(rc == 0);
    (void)rc;
}

static void put_boot(const void *arg, struct buffer *to)
{
    const struct filling *f = arg;
    struct buffer json = BUFFER_INIT;

    fb_buffer_add_text(&json, "{\"status\":");
    fb_status_write(f->daemon, f->is_public, 0, &json); /* the first paint needs no more */
    if (f->keys > 0)
        add_history(f, &json);
    fb_buffer_add_char(&json, '}');
    fb_page_data(&json, to);
    fb_buffer_fini(&json);
}

/* ---------------------------------------------------------------------------------- the page */

static void put_noscript(const void *arg, struct buffer *to)
{
    fb_buffer_add_text(to, "Scripts are off: these are the figures of ");
    put_now(arg, to);
    fb_buffer_add_text(to, "; load the page again for newer ones. The same as JSON: "
                           "<a href=\"status\">status</a>.");
}

static const struct page_place PLACES[] = {
    {"head", put_head}, {"table", put_table}, {"empty", put_empty},     {"now", put_now},
    {"who", put_who},   {"boot", put_boot},   {"summary", put_summary}, {"noscript", put_noscript},
};

void fb_page_answer(struct call *c)
{
    struct daemon *d = fb_daemon_of(c);
    struct buffer b = BUFFER_INIT;
    struct filling f = {.daemon = d,
                        .is_public = c->router == &d->door[DOOR_PUBLIC].router,
                        .key = fb_alloc(KEYS_MAX * sizeof *f.key)};

    if (f.key)
        f.keys = fb_status_keys(d, f.key, KEYS_MAX);
    f.now_ns = fb_daemon_now(d); /* not before what the keys were asked at: "now" would be later */
    fb_page_sort(f.key, f.keys, f.now_ns);
    fb_engine_stats(d->engine, &d->gauges.stats);
    fb_page_fill(PLACES, sizeof PLACES / sizeof PLACES[0], &f, &b);
    fb_free(f.key);
    if (b.failed)
        fb_call_refuse(c, 503, "out of memory");
    else
        fb_call_send(c, 200, "text/html; charset=utf-8", (struct slice){b.bytes, b.size});
    fb_buffer_fini(&b);
}
