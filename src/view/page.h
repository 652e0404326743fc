/* SPDX-License-Identifier: MIT */
/*
 * page.h - the dashboard's page: its template, and what goes into it.
 *
 * A daemon fills it with the figures of now, a report with those of a run that is over. Whatever
 * comes from outside is escaped here, where it enters the page.
 */
#ifndef FLYBALL_VIEW_PAGE_H
#define FLYBALL_VIEW_PAGE_H

#include "view/assets.h"
#include "view/key.h"

/* What stands in the template as "<!--fly:name-->". */
struct page_place {
    const char *name;
    void (*put)(const void *arg, struct buffer *to);
};

/* A column of the table of keys. */
struct page_column {
    const char *title;
    const char *css_class; /* of its cells, or "" */
    void (*put)(const struct view_key *k, int64_t now_ns, struct buffer *to); /* NULL: the state */
};

struct page_table {
    const struct page_column *column;
    size_t columns;
    const struct view_key *key;
    size_t keys;
    int64_t now_ns;
};

/* The template with everything put; a place that nobody fills is left out. */
void fb_page_fill(const struct page_place *place, size_t places, const void *arg,
                  struct buffer *to);

/* JSON inside a script element: no "<" may be in it, and JSON has another way to write one. */
void fb_page_data(const struct buffer *json, struct buffer *to);

void fb_page_table(const struct page_table *t, struct buffer *to);

/* What is wrong first, then by name: as the scripts sort them. */
void fb_page_sort(struct view_key *key, size_t count, int64_t now_ns);

/* Cells that several tables have. */
void fb_page_refused(const struct view_key *k, int64_t now_ns, struct buffer *to);
void fb_page_name(const struct view_key *k, int64_t now_ns, struct buffer *to);
void fb_page_rate(const struct view_key *k, int64_t now_ns, struct buffer *to);
void fb_page_why(const struct view_key *k, int64_t now_ns, struct buffer *to);

/* The same, and of one that may start why its state is what it is; "": it is well. */
void fb_page_concern(const struct view_key *k, int64_t now_ns, struct buffer *to);

#endif
