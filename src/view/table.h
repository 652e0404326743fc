/* SPDX-License-Identifier: MIT */
/*
 * table.h - rows and columns that fit the window.
 *
 * Every row is as wide as the window at most: where the columns do not fit, the least important is
 * left out, then the next; what is still too wide is cut, and says so by an ellipsis. Cells hold
 * text without ends of lines; control characters in them become '?'.
 */
#ifndef FLYBALL_VIEW_TABLE_H
#define FLYBALL_VIEW_TABLE_H

#include "view/view.h"

#define VIEW_COLUMNS_MAX 12

struct view_column {
    const char *title;
    int keep;      /* the lowest is left out first; 99: never */
    bool is_right; /* numbers stand on the right */
    bool is_state; /* cells are names of states: shown with their shape and colour */
};

struct view_table {
    const struct view_column *column;
    size_t column_count; /* <= VIEW_COLUMNS_MAX */
    struct buffer text;  /* cells, row by row, each ended by NUL */
    size_t cell_count;
};

/* Empty, with these columns, which are borrowed. */
void fb_view_table_init(struct view_table *t, const struct view_column *column, size_t count);
void fb_view_table_fini(struct view_table *t);

/* The next cell is what was appended to t->text since the last one. */
void fb_view_table_next(struct view_table *t);

/* A cell of this text; NULL counts as "". */
void fb_view_table_add(struct view_table *t, const char *text);

/* Titles and rows, each with its end of line; nothing but the rows when `titles` is false. */
void fb_view_table_print(const struct view_table *t, const struct view_style *style, bool titles,
                         struct buffer *to);

#endif
