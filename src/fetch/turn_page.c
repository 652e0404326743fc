/* SPDX-License-Identifier: MIT */
/* turn_page.c - from an answer to the next page. */
#include <string.h>
#include <strings.h>

#include "engine/inside.h"
#include "fetch/fetch_parts.h"
#include "fetch/pages.h"
#include "util/alloc.h"

/* `size` bytes as a text of its own. */
static char *text_of(const char *bytes, size_t size)
{
    char *text = fb_alloc(size + 1);

    if (text)
        memcpy(text, bytes, size);
    return text;
}

char *fb_page_linked(const char *from, const struct engine_header *header, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *target = NULL;
        size_t size =
            strcasecmp(header[i].name, "Link") == 0 ? fb_pages_link(header[i].value, &target) : 0;
        char *location = size > 0 ? text_of(target, size) : NULL;
        char *url = NULL;

        if (location && fb_url_follow(from, location, &url) < 0)
            url = NULL;
        fb_free(location);
        if (url)
            return url;
    }
    return NULL;
}

/* What goes into a parameter may begin with a slash (base64 does), but not like this. */
static bool is_url(const char *cursor)
{
    return strncmp(cursor, "http://", 7) == 0 || strncmp(cursor, "https://", 8) == 0;
}

/* A cursor is a URL itself, or the value of a parameter. */
static char *from_cursor(const struct errand *e, const struct engine_result *r)
{
    const struct fetch_options *o = e->fetch->o;
    struct buffer cursor = BUFFER_INIT;
    struct buffer made = BUFFER_INIT;
    char *url = NULL;

    if (fb_pages_cursor(r->body, r->body_size, o->cursor, &cursor) > 0 && fb_buffer_text(&cursor)) {
        if (!o->cursor_name || is_url(cursor.bytes)) {
            if (fb_url_follow(r->url, cursor.bytes, &url) < 0)
                url = NULL;
        } else {
            fb_pages_set(r->url, o->cursor_name, cursor.bytes, &made);
            url = fb_buffer_text(&made) ? text_of(made.bytes, made.size) : NULL;
        }
    }
    fb_buffer_fini(&cursor);
    fb_buffer_fini(&made);
    return url;
}

/* That pages are left out is told once: whoever set the bound knows of the others. */
static void tell_bound(const struct errand *e)
{
    struct fetch *f = e->fetch;

    if (!f->o->quiet && !f->told_bound)
        fb_say(f, "flyball fetch: item %s has more pages than %lld; --pages says how many",
               e->item.id, (long long)f->o->pages_max);
    f->told_bound = true;
}

bool fb_errand_find_next(struct errand *e, const struct engine_result *r)
{
    const struct fetch_options *o = e->fetch->o;

    if (!o->paginate && !o->cursor)
        return false;
    e->page = e->page ? e->page : 1;
    char *next = o->cursor ? from_cursor(e, r) : fb_page_linked(r->url, r->header, r->header_count);
    /* A page that leads to itself is the last one. */
    if (next && strcmp(next, r->url) == 0) {
        fb_free(next);
        next = NULL;
    }
    if (next && (int64_t)e->page >= o->pages_max) {
        tell_bound(e);
        fb_free(next);
        next = NULL;
    }
    if (!next)
        return false;
    e->is_allowed = false; /* robots.txt has a say about each page */
    fb_free(e->next_url);
    e->next_url = next;
    return true;
}

void fb_errand_resume(struct errand *e)
{
    struct buffer url = BUFFER_INIT;
    uint32_t page = 0;
    const char *kept = fb_journal_next(e->fetch->journal, e->item.number, &page);

    if (!kept)
        return;
    fb_pages_restore(e->item.url, kept, &url);
    if (!fb_buffer_text(&url))
        return;
    e->next_url = url.bytes;
    e->page = page + 1;
}
