/* SPDX-License-Identifier: MIT */
/* page.c - a template in which comments are places. */
#include "view/page.h"

#include <assert.h>
#include <string.h>

#include "signal/slice.h"
#include "view/plot.h"
#include "view/words.h"

#define MARK     "<!--fly:"
#define MARK_END "-->"

const struct asset *fb_asset_find(const char *path, size_t length)
{
    for (const struct asset *a = fb_assets; a->path; a++)
        if (strlen(a->path) == length && memcmp(a->path, path, length) == 0)
            return a;
    return NULL;
}

/* ------------------------------------------------------------------------------------- places */

static void put_place(const struct page_place *place, size_t places, struct slice name,
                      const void *arg, struct buffer *to)
{
    for (size_t i = 0; i < places; i++)
        if (fb_slice_is(name, place[i].name))
            place[i].put(arg, to);
}

void fb_page_fill(const struct page_place *place, size_t places, const void *arg, struct buffer *to)
{
    const struct asset *page = fb_asset_find("/page.html", strlen("/page.html"));

    assert(page);
    struct slice rest = {(const char *)page->plain.at, page->plain.size};
    for (;;) {
        size_t text = fb_slice_search(rest, MARK);

        fb_buffer_add(to, rest.at, text);
        if (text == rest.length)
            return;
        rest = fb_slice_after(rest, text + strlen(MARK));
        size_t name = fb_slice_find(rest, '-');
        put_place(place, places, (struct slice){rest.at, name}, arg, to);
        rest = fb_slice_after(rest, name + strlen(MARK_END));
    }
}

void fb_page_data(const struct buffer *json, struct buffer *to)
{
    for (size_t i = 0; i < json->size; i++) {
        if (json->bytes[i] == '<')
            fb_buffer_add_text(to, "\\u003c");
        else
            fb_buffer_add_char(to, json->bytes[i]);
    }
    if (json->failed)
        to->failed = true;
}

/* -------------------------------------------------------------------------------------- cells */

void fb_page_name(const struct view_key *k, int64_t now_ns, struct buffer *to)
{
    (void)now_ns;
    fb_view_key_name(k, to);
}

void fb_page_rate(const struct view_key *k, int64_t now_ns, struct buffer *to)
{
    (void)now_ns;
    fb_view_key_rate(k, to);
}

void fb_page_refused(const struct view_key *k, int64_t now_ns, struct buffer *to)
{
    (void)now_ns;
    fb_words_count(k->refused > 0 ? k->refused : 0, to);
}

void fb_page_why(const struct view_key *k, int64_t now_ns, struct buffer *to)
{
    fb_buffer_add_text(to, k->ready_ns > now_ns ? k->why : "");
}

void fb_page_concern(const struct view_key *k, int64_t now_ns, struct buffer *to)
{
    if (k->ready_ns > now_ns || fb_view_key_because(k, now_ns)[0]) {
        fb_buffer_add_text(to, k->why);
    } else if (fb_view_key_state(k, now_ns) < VIEW_ok) {
        fb_buffer_add_text(to, "Only ");
        fb_view_key_left(k, now_ns, to);
        fb_buffer_add_text(to, " are left.");
    }
}

/* -------------------------------------------------------------------------------------- table */

static void add_state(enum view_state s, struct buffer *to)
{
    fb_buffer_add_text(to, "<td class=\"state state-");
    fb_buffer_add_text(to, fb_view_state_name(s));
    fb_buffer_add_text(to, "\"><span class=\"shape\" aria-hidden=\"true\">");
    fb_buffer_add_text(to, fb_view_state_shape(s, false));
    fb_buffer_add_text(to, "</span> ");
    fb_buffer_add_text(to, fb_view_state_name(s));
    fb_buffer_add_text(to, "</td>");
}

static void add_cell(const struct page_column *c, const struct view_key *k, int64_t now_ns,
                     struct buffer *to)
{
    struct buffer text = BUFFER_INIT;

    if (!c->put) {
        add_state(fb_view_key_state(k, now_ns), to);
        return;
    }
    c->put(k, now_ns, &text);
    if (c->put == fb_page_name || strcmp(c->css_class, "why") == 0)
        fb_plot_add(to, "<td class=\"%s\">", c->css_class);
    else
        fb_plot_add(to, "<td class=\"%s\" data-label=\"%s\">", c->css_class, c->title);
    fb_plot_escape(text.size > 0 && fb_buffer_text(&text) ? text.bytes : "", to);
    fb_buffer_add_text(to, "</td>");
    fb_buffer_fini(&text);
}

void fb_page_table(const struct page_table *t, struct buffer *to)
{
    if (t->keys == 0)
        return;
    fb_buffer_add_text(to, "<div class=\"panel is-table\">"
                           "<table class=\"keys cards is-plain\">\n<thead><tr>");
    for (size_t i = 0; i < t->columns; i++)
        fb_plot_add(to, "<th scope=\"col\" class=\"%s\">%s</th>", t->column[i].css_class,
                    t->column[i].title);
    fb_buffer_add_text(to, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < t->keys; i++) {
        fb_buffer_add_text(to, "<tr>");
        for (size_t c = 0; c < t->columns; c++)
            add_cell(&t->column[c], &t->key[i], t->now_ns, to);
        fb_buffer_add_text(to, "</tr>\n");
    }
    fb_buffer_add_text(to, "</tbody>\n</table></div>\n");
}

static bool is_before(const struct view_key *a, const struct view_key *b, int64_t now_ns)
{
    int by_state = (int)fb_view_key_state(a, now_ns) - (int)fb_view_key_state(b, now_ns);
    int by_name = by_state ? by_state : strcmp(a->provider, b->provider);

    return (by_name ? by_name : strcmp(a->pool, b->pool)) < 0;
}

void fb_page_sort(struct view_key *key, size_t count, int64_t now_ns)
{
    for (size_t i = 1; i < count; i++) {
        struct view_key k = key[i];
        size_t at = i;

        for (; at > 0 && is_before(&k, &key[at - 1], now_ns); at--)
            key[at] = key[at - 1];
        key[at] = k;
    }
}
