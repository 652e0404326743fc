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
#include "daemon/assets.h"
#include "daemon/parts.h"
#include "util/alloc.h"
#include "view/words.h"

#define KEYS_MAX 256

/* ------------------------------------------------------------------------------------- files */

const struct asset *fb_asset_find(const char *path, size_t length)
{
    for (const struct asset *a = fb_assets; a->path; a++)
        if (strlen(a->path) == length && memcmp(a->path, path, length) == 0)
            return a;
    return NULL;
}

void fb_asset_answer(struct call *c)
{
    const struct asset *a = fb_asset_find(c->path.at, c->path.length);
    struct slice accept = fb_guard_field(c->x->request, "Accept-Encoding");
    bool is_packed = fb_slice_search(accept, "gzip") < accept.length;

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

/* -------------------------------------------------------------------------------------- rows */

static const char *escape_of(char byte)
{
    switch (byte) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

static void add_escaped(struct buffer *to, const char *text)
{
    for (; *text; text++) {
        const char *escape = escape_of(*text);

        if (escape)
            fb_buffer_add_text(to, escape);
        else
            fb_buffer_add_char(to, *text);
    }
}

/* A cell with what was appended to `text`, which is emptied. */
static void add_cell(struct buffer *to, const char *open, struct buffer *text)
{
    fb_buffer_add_text(to, open);
    add_escaped(to, fb_buffer_text(text) ? text->bytes : "");
    fb_buffer_add_text(to, "</td>");
    fb_buffer_clear(text);
}

static void add_state(struct buffer *to, enum view_state s)
{
    fb_buffer_add_text(to, "<td class=\"state state-");
    fb_buffer_add_text(to, fb_view_state_name(s));
    fb_buffer_add_text(to, "\"><span class=\"shape\" aria-hidden=\"true\">");
    fb_buffer_add_text(to, fb_view_state_shape(s, false));
    fb_buffer_add_text(to, "</span> ");
    fb_buffer_add_text(to, fb_view_state_name(s));
    fb_buffer_add_text(to, "</td>");
}

static void add_row(struct buffer *to, const struct view_key *k, int64_t now_ns)
{
    struct buffer text = BUFFER_INIT;

    fb_buffer_add_text(to, "<tr>");
    fb_view_key_name(k, &text);
    add_cell(to, "<td>", &text);
    add_state(to, fb_view_key_state(k, now_ns));
    fb_view_key_rate(k, &text);
    add_cell(to, "<td>", &text);
    fb_view_key_left(k, now_ns, &text);
    add_cell(to, "<td>", &text);
    fb_view_key_next(k, now_ns, &text);
    add_cell(to, "<td>", &text);
    fb_words_count(k->queued, &text);
    add_cell(to, "<td class=\"number\">", &text);
    fb_words_count(k->refused > 0 ? k->refused : 0, &text);
    add_cell(to, "<td class=\"number\">", &text);
    fb_buffer_add_text(&text, k->ready_ns > now_ns ? k->why : "");
    add_cell(to, "<td class=\"why\">", &text);
    fb_buffer_add_text(to, "</tr>\n");
    fb_buffer_fini(&text);
}

/* ------------------------------------------------------------------------------ what goes in */

struct filling {
    struct daemon *daemon;
    bool is_public;
    int64_t now_ns;
    struct view_key *key;
    size_t keys;
};

/* What is wrong comes first, then by name: as the page sorts them. */
static bool is_before(const struct view_key *a, const struct view_key *b, int64_t now_ns)
{
    int by_state = (int)fb_view_key_state(a, now_ns) - (int)fb_view_key_state(b, now_ns);
    int by_name = by_state ? by_state : strcmp(a->provider, b->provider);

    return (by_name ? by_name : strcmp(a->pool, b->pool)) < 0;
}

static void sort(struct filling *f)
{
    for (size_t i = 1; i < f->keys; i++) {
        struct view_key k = f->key[i];
        size_t at = i;

        for (; at > 0 && is_before(&k, &f->key[at - 1], f->now_ns); at--)
            f->key[at] = f->key[at - 1];
        f->key[at] = k;
    }
}

static void put_rows(const struct filling *f, struct buffer *to)
{
    for (size_t i = 0; i < f->keys; i++)
        add_row(to, &f->key[i], f->now_ns);
}

static void put_empty(const struct filling *f, struct buffer *to)
{
    if (f->keys == 0)
        fb_buffer_add_text(to, "<p class=\"empty\">No request yet. Try: "
                               "<code>flyball fetch --submit urls.txt</code></p>");
}

static void put_now(const struct filling *f, struct buffer *to)
{
    fb_words_instant(f->now_ns / FB_NS_PER_S, to);
}

static void put_who(const struct filling *f, struct buffer *to)
{
    char host[72] = "";

    if (f->is_public)
        return;
    (void)gethostname(host, sizeof host - 1);
    add_escaped(to, host);
    fb_buffer_add_text(to, ", up ");
    fb_words_span(f->now_ns - f->daemon->began_ns, to);
}

static void put_summary(const struct filling *f, struct buffer *to)
{
    const struct engine_stats *s = &f->daemon->gauges.stats;

    fb_buffer_add_text(to, fb_grade_name(f->daemon->grader.grade));
    fb_buffer_add_text(to, ", ");
    fb_words_count(s->in_flight, to);
    fb_buffer_add_text(to, " in flight, ");
    fb_words_count(s->queued, to);
    fb_buffer_add_text(to, " queued, 429s ");
    fb_words_count(s->throttled, to);
}

/* JSON inside a script element: no "<" may be in it, and JSON has another way to write one. */
static void add_quoted(struct buffer *to, const struct buffer *json)
{
    for (size_t i = 0; i < json->size; i++) {
        if (json->bytes[i] == '<')
            fb_buffer_add_text(to, "\\u003c");
        else
            fb_buffer_add_char(to, json->bytes[i]);
    }
}

/* Of the provider that is shown first; the page asks for more when it has time. */
static void add_history(const struct filling *f, struct buffer *json)
{
    struct daemon *d = f->daemon;
    struct history_part part = {
        .step_s = 10, .most = 90, .provider = f->key[0].provider, .pool = f->key[0].pool};
    fb_buffer_add_text(json, ",\"history\":");
    (void)pthread_mutex_lock(&d->meters.lock);
    int rc = fb_history_json(&d->history, &d->meters, &part, json);
    (void)pthread_mutex_unlock(&d->meters.lock);
    assert(rc == 0);
    (void)rc;
}

static void put_boot(const struct filling *f, struct buffer *to)
{
    struct buffer json = BUFFER_INIT;

    fb_buffer_add_text(&json, "{\"status\":");
    fb_status_write(f->daemon, f->is_public, &json);
    if (f->keys > 0)
        add_history(f, &json);
    fb_buffer_add_char(&json, '}');
    if (!json.failed)
        add_quoted(to, &json);
    fb_buffer_fini(&json);
}

/* ---------------------------------------------------------------------------------- the page */

struct page_place {
    const char *mark;
    void (*put)(const struct filling *f, struct buffer *to);
};

static const struct page_place PLACES[] = {
    {"<!--fly:rows-->", put_rows}, {"<!--fly:empty-->", put_empty},
    {"<!--fly:now-->", put_now},   {"<!--fly:who-->", put_who},
    {"<!--fly:boot-->", put_boot}, {"<!--fly:summary-->", put_summary},
};

/* The place that begins here, or NULL. */
static const struct page_place *place_at(struct slice rest)
{
    for (size_t i = 0; i < sizeof PLACES / sizeof PLACES[0]; i++) {
        size_t length = strlen(PLACES[i].mark);

        if (rest.length >= length && memcmp(rest.at, PLACES[i].mark, length) == 0)
            return &PLACES[i];
    }
    return NULL;
}

static void fill(const struct asset *page, const struct filling *f, struct buffer *to)
{
    struct slice rest = {(const char *)page->plain.at, page->plain.size};

    while (rest.length > 0) {
        const struct page_place *p = rest.at[0] == '<' ? place_at(rest) : NULL;

        if (p)
            p->put(f, to);
        else
            fb_buffer_add_char(to, rest.at[0]);
        rest = fb_slice_after(rest, p ? strlen(p->mark) : 1);
    }
}

void fb_page_answer(struct call *c)
{
    struct daemon *d = fb_daemon_of(c);
    const struct asset *page = fb_asset_find("/page.html", strlen("/page.html"));
    struct buffer b = BUFFER_INIT;
    struct filling f = {.daemon = d,
                        .is_public = c->router == &d->door[DOOR_PUBLIC].router,
                        .now_ns = fb_daemon_now(d),
                        .key = fb_alloc(KEYS_MAX * sizeof *f.key)};

    if (f.key)
        f.keys = fb_status_keys(d, f.key, KEYS_MAX);
    sort(&f);
    fb_engine_stats(d->engine, &d->gauges.stats);
    fill(page, &f, &b);
    fb_free(f.key);
    if (b.failed)
        fb_call_refuse(c, 503, "out of memory");
    else
        fb_call_send(c, 200, page->type, (struct slice){b.bytes, b.size});
    fb_buffer_fini(&b);
}
