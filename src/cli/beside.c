/* SPDX-License-Identifier: MIT */
/* beside.c - what runs beside the daemon, below what it says itself. */
#include "cli/beside.h"

#include "cli/answer.h"
#include "store/runs.h"
#include "util/json.h"
#include "view/rows.h"

/* Those that run in another process are moved to the front; returns how many. */
static size_t choose(struct runs *all, int64_t pid)
{
    size_t count = 0;

    for (size_t i = 0; i < all->count; i++) {
        struct view_batch *b = all->batch[i];

        if (!b->running || b->pid == pid)
            continue;
        all->batch[i] = all->batch[count];
        all->batch[count++] = b;
    }
    return count;
}

/* On a screen, only where there is room: what is above must not go. */
static bool has_room(size_t lines, const struct view_style *style, const struct buffer *to)
{
    for (size_t i = 0; i < to->size; i++)
        lines += to->bytes[i] == '\n';
    return style->rows == 0 || lines <= style->rows;
}

static void add_text(const struct runs *all, size_t count, const struct view_style *style,
                     struct buffer *to)
{
    if (!has_room(count + 3, style, to))
        return;
    fb_buffer_add_text(to, "\nNot of the daemon, in processes of their own:\n");
    fb_view_batches_table((const struct view_batch *const *)all->batch, count, style,
                          fb_answer_now(), to);
}

/* Its object is opened again: "}\n" is its end. */
static void add_json(const struct runs *all, size_t count, struct buffer *to)
{
    if (to->size < 2 || to->bytes[to->size - 2] != '}')
        return;
    to->size -= 2;
    fb_json_name(to, "others");
    fb_buffer_add_char(to, '[');
    for (size_t i = 0; i < count; i++) {
        fb_buffer_add_text(to, i > 0 ? "," : "");
        fb_view_batch_json(all->batch[i], fb_answer_now(), to);
    }
    fb_buffer_add_text(to, "]}\n");
}

void fb_beside_add(const char *folder, int64_t pid, bool json, const struct view_style *style,
                   struct buffer *to)
{
    struct runs all = {.count = 0};

    if (fb_runs_read(folder, &all) < 0)
        return;
    size_t count = choose(&all, pid);
    if (count > 0 && json)
        add_json(&all, count, to);
    else if (count > 0)
        add_text(&all, count, style, to);
    fb_runs_free(&all);
}
