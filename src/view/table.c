/* SPDX-License-Identifier: MIT */
/* table.c - measure, leave out, cut, pad. */
#include "view/table.h"

#include <assert.h>
#include <string.h>

#include "view/words.h"

#define GAP     2 /* columns between cells */
#define CUT_MIN 8 /* a cell is not cut below this while others are wider */

void fb_view_table_init(struct view_table *t, const struct view_column *column, size_t count)
{
    assert(count > 0 && count <= VIEW_COLUMNS_MAX);

    *t = (struct view_table){.column = column, .column_count = count};
}

void fb_view_table_fini(struct view_table *t)
{
    fb_buffer_fini(&t->text);
}

void fb_view_table_next(struct view_table *t)
{
    fb_buffer_add_char(&t->text, '\0');
    t->cell_count++;
}

void fb_view_table_add(struct view_table *t, const char *text)
{
    fb_buffer_add_text(&t->text, text ? text : "");
    fb_view_table_next(t);
}

/* How a table is laid out: which columns are there, and how wide. */
struct layout {
    size_t width[VIEW_COLUMNS_MAX]; /* 0: left out */
    size_t sum;
};

/* Columns that a cell takes; a state has its shape before it. */
static size_t measure(const struct view_column *c, const char *cell, bool ascii)
{
    enum view_state s = c->is_state ? fb_view_state_find(cell) : VIEW_STATES;
    const char *shape = s < VIEW_STATES ? fb_view_state_shape(s, ascii) : "";
    size_t before = *shape ? fb_words_columns(shape, strlen(shape)) + 1 : 0;

    return before + fb_words_columns(cell, strlen(cell));
}

static void add_up(struct layout *l, size_t count)
{
    l->sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (l->width[i] > 0)
            l->sum += l->width[i] + (l->sum > 0 ? GAP : 0);
    }
}

static void measure_all(const struct view_table *t, const struct view_style *style, bool titles,
                        struct layout *l)
{
    const char *cell = t->text.bytes;

    *l = (struct layout){.sum = 0};
    for (size_t i = 0; i < t->cell_count; i++, cell += strlen(cell) + 1) {
        size_t c = i % t->column_count;
        size_t width = measure(&t->column[c], cell, style->ascii);
        l->width[c] = width > l->width[c] ? width : l->width[c];
    }
    for (size_t c = 0; titles && c < t->column_count; c++) {
        size_t width = strlen(t->column[c].title);
        if (l->width[c] > 0) /* a column with nothing in it is not shown */
            l->width[c] = width > l->width[c] ? width : l->width[c];
    }
    add_up(l, t->column_count);
}

/* The least important of those that are there; -1: all must stay. */
static int least(const struct view_table *t, const struct layout *l)
{
    int found = -1;

    for (size_t i = 0; i < t->column_count; i++) {
        if (l->width[i] > 0 && t->column[i].keep < 99 &&
            (found < 0 || t->column[i].keep < t->column[found].keep))
            found = (int)i;
    }
    return found;
}

static size_t widest(const struct layout *l, size_t count)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++)
        found = l->width[i] > l->width[found] ? i : found;
    return found;
}

static void fit(const struct view_table *t, size_t width, struct layout *l)
{
    size_t wide = widest(l, t->column_count);
    int out = 0;

    /* A long text gives way before a whole column does. */
    if (l->sum > width && l->width[wide] > 3 * CUT_MIN) {
        size_t over = l->sum - width;
        size_t room = l->width[wide] - 3 * CUT_MIN;
        l->width[wide] -= over < room ? over : room;
        add_up(l, t->column_count);
    }
    while (l->sum > width && (out = least(t, l)) >= 0) {
        l->width[out] = 0;
        add_up(l, t->column_count);
    }
    while (l->sum > width && l->width[widest(l, t->column_count)] > 1) {
        l->width[widest(l, t->column_count)]--;
        add_up(l, t->column_count);
    }
}

static void add_spaces(struct buffer *to, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fb_buffer_add_char(to, ' ');
}

/* At most `width` columns of a text. */
static void add_cut(const char *text, size_t width, bool ascii, struct buffer *to)
{
    size_t size = strlen(text);
    bool is_cut = fb_words_columns(text, size) > width;
    size_t left = is_cut ? width - 1 : width;

    for (size_t i = 0; i < size; i++) {
        if (((unsigned char)text[i] & 0xc0) != 0x80 && left-- == 0)
            break;
        bool is_control = (unsigned char)text[i] < 0x20 || text[i] == 0x7f;
        fb_buffer_add_char(to, is_control ? '?' : text[i]);
    }
    if (is_cut)
        fb_buffer_add_text(to, ascii ? "~" : "\u2026");
}

static void add_cell(const struct view_column *c, const char *cell, size_t width,
                     const struct view_style *style, struct buffer *to)
{
    enum view_state s = c->is_state ? fb_view_state_find(cell) : VIEW_STATES;
    struct buffer shown = BUFFER_INIT;

    if (s < VIEW_STATES) {
        fb_view_color_begin(s, style, to);
        fb_buffer_add_text(&shown, fb_view_state_shape(s, style->ascii));
        fb_buffer_add_char(&shown, ' ');
    }
    fb_buffer_add_text(&shown, cell);
    if (fb_buffer_text(&shown))
        add_cut(shown.bytes, width, style->ascii, to);
    else
        to->failed = true;
    if (s < VIEW_STATES)
        fb_view_color_end(style, to);
    fb_buffer_fini(&shown);
}

/* One row; `cell` is its first, NULL: the titles. Returns what follows. */
static const char *add_row(const struct view_table *t, const struct layout *l, const char *cell,
                           const struct view_style *style, struct buffer *to)
{
    size_t pending = 0; /* spaces that are written only if something follows */
    bool is_first = true;

    for (size_t i = 0; i < t->column_count; i++) {
        const struct view_column *c = &t->column[i];
        const char *text = cell ? cell : c->title;

        if (l->width[i] > 0) {
            size_t size = cell ? measure(c, text, style->ascii) : strlen(text);
            size_t pad = size < l->width[i] ? l->width[i] - size : 0;

            pending += (is_first ? 0 : GAP) + (c->is_right ? pad : 0);
            is_first = false;
            if (size > 0) {
                add_spaces(to, pending);
                pending = 0;
                add_cell(c, text, l->width[i], style, to);
            }
            pending += c->is_right ? 0 : pad;
        }
        cell = cell ? cell + strlen(cell) + 1 : NULL;
    }
    fb_buffer_add_char(to, '\n');
    return cell;
}

void fb_view_table_print(const struct view_table *t, const struct view_style *style, bool titles,
                         struct buffer *to)
{
    const char *cell = t->text.bytes;
    struct layout l;

    assert(t->cell_count % t->column_count == 0);

    if (t->text.failed) {
        to->failed = true;
        return;
    }
    if (t->cell_count == 0)
        return;
    measure_all(t, style, titles, &l);
    if (style->width > 0)
        fit(t, style->width, &l);
    if (titles)
        (void)add_row(t, &l, NULL, style, to);
    for (size_t i = 0; i < t->cell_count; i += t->column_count)
        cell = add_row(t, &l, cell, style, to);
}
