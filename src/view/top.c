/* SPDX-License-Identifier: MIT */
/*
 * top.c - one screen: how many of each state, the batches, the keys with the worst first.
 *
 * What does not fit below is left out, and the last line says how much.
 */
#include <string.h>

#include "util/alloc.h"
#include "view/rows.h"
#include "view/status.h"
#include "view/words.h"

#define NS_PER_S INT64_C(1000000000)

/* All arrays of keys: the daemon's, then those of each batch. */
struct groups {
    const struct view_key **key;
    size_t *count;
    size_t group_count;
};

static bool groups_make(const struct view_status *v, struct groups *g)
{
    size_t most = v->batch_count + 1;

    *g = (struct groups){.key = fb_alloc(most * sizeof *g->key),
                         .count = fb_alloc(most * sizeof *g->count)};
    if (!g->key || !g->count)
        return false;
    g->key[0] = v->key;
    g->count[0] = v->key_count;
    for (size_t i = 0; i < v->batch_count; i++) {
        g->key[i + 1] = v->batch[i]->key;
        g->count[i + 1] = fb_view_batch_keys(v->batch[i]);
    }
    g->group_count = most;
    return true;
}

static void groups_free(struct groups *g)
{
    fb_free(g->key);
    fb_free(g->count);
}

/* "‖ 1 holding  ● 3 ok": zeros are left out. */
static void add_states(const struct groups *g, const struct view_style *style, int64_t now_ns,
                       struct buffer *to)
{
    int64_t count[VIEW_STATES] = {0};

    for (size_t i = 0; i < g->group_count; i++) {
        for (size_t k = 0; k < g->count[i]; k++)
            count[fb_view_key_state(&g->key[i][k], now_ns)]++;
    }
    for (int s = 0; s < VIEW_STATES; s++) {
        if (count[s] == 0)
            continue;
        fb_buffer_add_text(to, "  ");
        fb_view_color_begin((enum view_state)s, style, to);
        fb_buffer_add_text(to, fb_view_state_shape((enum view_state)s, style->ascii));
        fb_buffer_add_char(to, ' ');
        fb_words_count(count[s], to);
        fb_buffer_add_char(to, ' ');
        fb_buffer_add_text(to, fb_view_state_name((enum view_state)s));
        fb_view_color_end(style, to);
    }
}

static void add_head(const struct view_status *v, const struct groups *g,
                     const struct view_style *style, int64_t now_ns, struct buffer *to)
{
    fb_buffer_add_text(to, "flyball  ");
    fb_words_clock(now_ns / NS_PER_S + style->zone_s, to);
    if (v->daemon) {
        fb_buffer_add_text(to, "  up ");
        fb_words_span(now_ns - v->daemon->began_ns, to);
    }
    add_states(g, style, now_ns, to);
    fb_buffer_add_char(to, '\n');
}

/* The first `most` lines; the last of them says how many are left out. */
static void keep_lines(struct buffer *b, size_t began, size_t most)
{
    size_t lines = 0;
    size_t cut = b->size;

    for (size_t i = began; i < b->size; i++) {
        if (b->bytes[i] == '\n' && ++lines == most - 1)
            cut = i + 1;
    }
    if (most == 0 || lines <= most)
        return;
    b->size = cut;
    fb_words_count((int64_t)(lines - most + 1), b);
    fb_buffer_add_text(b, " more lines\n");
}

void fb_view_top_text(const struct view_status *v, const struct view_style *style, int64_t now_ns,
                      struct buffer *to)
{
    size_t began = to->size;
    struct groups g;

    if (!groups_make(v, &g)) {
        to->failed = true;
        groups_free(&g);
        return;
    }
    add_head(v, &g, style, now_ns, to);
    if (v->batch_count > 0) {
        fb_buffer_add_char(to, '\n');
        fb_view_batches_table(v->batch, v->batch_count, style, now_ns, to);
        fb_buffer_add_char(to, '\n');
    } else if (v->key_count == 0) {
        fb_buffer_add_text(to, "\nNothing runs. Try: flyball fetch urls.txt\n");
    }
    fb_view_keys_table(g.key, g.group_count, g.count, style, now_ns, to);
    groups_free(&g);
    if (!to->failed)
        keep_lines(to, began, style->rows);
}
