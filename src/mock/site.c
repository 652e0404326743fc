/* SPDX-License-Identifier: MIT */
/*
 * site.c - a backend and three sites.
 *
 * What they have in common ends with the matches: one counts in numbers and one in text, one writes
 * HTML, one has numbers of its own, and not every one tells of what has not begun.
 */
#include "mock/site.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "signal/number.h"
#include "util/json.h"

/* What is between two texts; its length is 0 where the path is another. */
static struct slice between(struct slice path, const char *before, const char *after)
{
    if (!fb_slice_begins(path, before) || !fb_slice_ends(path, after) ||
        path.length < strlen(before) + strlen(after))
        return (struct slice){"", 0};
    return fb_slice_head(fb_slice_after(path, strlen(before)),
                         path.length - strlen(before) - strlen(after));
}

static void add_instant(struct buffer *b, const char *name, int64_t at_s)
{
    time_t at = (time_t)at_s;
    struct tm parts;
    char text[24];

    gmtime_r(&at, &parts);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    fb_json_text(b, name, text);
}

/* ---- the backend: what there is, and what others call it ---- */

struct listing {
    const struct fixture *fixture;
    struct buffer *page;
    bool has_one;
};

static void list_match(void *to, const struct match *m)
{
    struct listing *l = to;
    struct buffer *b = l->page;
    int64_t every = l->fixture->unmapped;

    fb_buffer_add_text(b, l->has_one ? ",\n{" : "\n{");
    l->has_one = true;
    fb_json_text(b, "id", m->id);
    fb_json_text(b, "state", fb_match_state_name(m->state));
    fb_json_text(b, "home", m->home);
    fb_json_text(b, "away", m->away);
    add_instant(b, "begins", m->begins_s);
    fb_json_name(b, "ids");
    fb_buffer_add_char(b, '{');
    if (every == 0 || m->pitch % every != 0)
        fb_json_int(b, "ticker", fb_match_number(m));
    fb_buffer_add_text(b, "}}");
}

static int answer_backend(const struct fixture *f, int64_t wall_ns, struct slice path,
                          struct buffer *page)
{
    struct listing l = {.fixture = f, .page = page};

    if (!fb_slice_is(path, "/matches"))
        return 404;
    fb_buffer_add_text(page, "{\"matches\":[");
    fb_fixture_walk(f, wall_ns, list_match, &l);
    fb_buffer_add_text(page, "\n]}\n");
    return 200;
}

/* ---- score: JSON, by the backend's ids ---- */

static int answer_score(const struct fixture *f, int64_t wall_ns, struct slice path,
                        struct buffer *page)
{
    static const char *const STATUS[MATCH_STATES] = {"in_play", "scheduled", "finished"};
    struct match m;

    if (!fb_match_find(f, wall_ns, between(path, "/api/match/", ""), &m))
        return 404;
    if (m.pitch == f->broken)
        return 500;
    fb_buffer_add_char(page, '{');
    fb_json_text(page, "id", m.id);
    fb_json_text(page, "status", STATUS[m.state]);
    fb_json_int(page, "minute", m.minute);
    fb_json_name(page, "score");
    fb_buffer_add_char(page, '{');
    fb_json_int(page, "home", m.goals_home);
    fb_json_int(page, "away", m.goals_away);
    fb_buffer_add_text(page, "}");
    fb_json_name(page, "teams");
    fb_buffer_add_char(page, '{');
    fb_json_text(page, "home", m.home);
    fb_json_text(page, "away", m.away);
    fb_buffer_add_text(page, "}");
    fb_json_text(page, "venue", m.venue);
    fb_buffer_add_text(page, "}\n");
    return 200;
}

/* ---- arena: HTML, by the backend's ids; of what has not begun it has no page ---- */

static void add_page(struct buffer *b, const struct match *m)
{
    char text[700];

    snprintf(text, sizeof text,
             "<!DOCTYPE html>\n"
             "<html><head><title>%s v %s</title></head><body>\n"
             "<h1><span class=\"home\">%s</span> v <span class=\"away\">%s</span></h1>\n"
             "<p class=\"score\"><b class=\"home\">%d</b>:<b class=\"away\">%d</b></p>\n"
             "<p class=\"minute\">%d</p>\n"
             "<p class=\"ground\" data-id=\"%s\">%s</p>\n"
             "</body></html>\n",
             m->home, m->away, m->home, m->away, (int)m->goals_home, (int)m->goals_away,
             (int)m->minute, m->id, m->venue);
    fb_buffer_add_text(b, text);
}

static int answer_arena(const struct fixture *f, int64_t wall_ns, struct slice path,
                        struct buffer *page)
{
    struct match m;

    if (!fb_match_find(f, wall_ns, between(path, "/live/", ".html"), &m) ||
        m.state == MATCH_IMMINENT)
        return 404;
    if (m.pitch == f->broken)
        return 500;
    add_page(page, &m);
    return 200;
}

/* ---- ticker: JSON, by numbers of its own, and everything is text ---- */

static void add_number(struct buffer *b, const char *name, int64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%lld", (long long)value);
    fb_json_text(b, name, text);
}

static int answer_ticker(const struct fixture *f, int64_t wall_ns, struct slice path,
                         struct buffer *page)
{
    int64_t number;
    struct match m;

    if (!fb_number_read(between(path, "/v2/events/", ""), &number) ||
        !fb_match_find_number(f, wall_ns, number, &m))
        return 404;
    if (m.pitch == f->broken)
        return 500;
    fb_buffer_add_text(page, "{\"event\":{");
    fb_json_int(page, "nr", number + (m.pitch == f->mismatch));
    add_number(page, "t", m.minute);
    add_number(page, "h", m.goals_home);
    add_number(page, "a", m.goals_away);
    fb_json_text(page, "ground", m.venue);
    fb_buffer_add_text(page, "}}\n");
    return 200;
}

/* ---- all of them ---- */

static const struct site SITES[] = {
    {"backend", "application/json", answer_backend},
    {"score", "application/json", answer_score},
    {"arena", "text/html; charset=utf-8", answer_arena},
    {"ticker", "application/json", answer_ticker},
};

const char *const fb_site_names[] = {"backend", "score", "arena", "ticker", NULL};

const struct site *fb_site_find(const char *name)
{
    for (size_t i = 0; i < sizeof SITES / sizeof SITES[0]; i++)
        if (strcmp(SITES[i].name, name) == 0)
            return &SITES[i];
    return NULL;
}
