/* SPDX-License-Identifier: MIT */
/*
 * limits.c - a paragraph for each budget: what remains, when it is full again.
 *
 * What a server tells comes first, then what was stated, then what was learned; a budget of which
 * nothing is known says that.
 */
#include "view/limits.h"

#include <string.h>

#include "util/json.h"
#include "view/words.h"

#define LABEL     13 /* columns */
#define SECOND_NS INT64_C(1000000000)

static const char *const HEALTH[] = {"EXHAUSTED", "CRITICAL", "WARNING", "HEALTHY"};
static const char *const HEALTH_WORD[] = {"exhausted", "critical", "warning", "healthy"};

static enum view_health of_quota(const struct view_key *k, int64_t now_ns)
{
    if (!fb_view_key_has_quota(k, now_ns) || fb_view_key_resets_soon(k, now_ns))
        return VIEW_HEALTHY;
    double left = (double)k->quota_left / (double)k->quota_limit;
    return k->quota_left <= 0 ? VIEW_EXHAUSTED
           : left < 0.2       ? VIEW_CRITICAL
           : left <= 0.5      ? VIEW_WARNING
                              : VIEW_HEALTHY;
}

/* Whoever was told to wait is not healthy, however much is left. */
enum view_health fb_view_health(const struct view_key *k, int64_t now_ns)
{
    bool is_held = strcmp(k->cause, "hold") == 0 && !(k->flags & VIEW_KEY_SPENT);
    enum view_health health = of_quota(k, now_ns);

    return health == VIEW_HEALTHY && is_held && fb_view_key_waits(k, now_ns) ? VIEW_WARNING
                                                                             : health;
}

static enum view_health worst(const struct view_limits *v, int64_t now_ns)
{
    enum view_health worst = VIEW_HEALTHY;

    for (size_t i = 0; i < v->key_count; i++) {
        enum view_health h = fb_view_health(&v->key[i], now_ns);
        worst = h < worst ? h : worst;
    }
    return worst;
}

/* As colour and shape have it. */
static enum view_state state_of(enum view_health h)
{
    static const enum view_state STATES[] = {VIEW_critical, VIEW_critical, VIEW_warning, VIEW_ok};

    return STATES[h];
}

/* -------------------------------------------------------------------------------- a paragraph */

static void begin(struct buffer *to, const char *name)
{
    fb_buffer_add_text(to, "  ");
    fb_buffer_add_text(to, name);
}

static void add_quota(const struct view_key *k, const struct view_style *style, int64_t now_ns,
                      struct buffer *to)
{
    int64_t percent = (int64_t)((double)k->quota_left / (double)k->quota_limit * 100.0 + 0.5);

    begin(to, "Remaining: ");
    fb_words_count(k->quota_left, to);
    fb_buffer_add_text(to, " / ");
    fb_words_count(k->quota_limit, to);
    fb_buffer_add_text(to, " (");
    fb_buffer_add_int(to, percent);
    fb_buffer_add_text(to, "%)\n");
    if (k->quota_reset_ns == 0)
        return;
    begin(to, "Resets in: ");
    fb_words_span(k->quota_reset_ns - now_ns, to);
    if (style->verbose) {
        fb_buffer_add_text(to, " (");
        fb_words_moment(k->quota_reset_ns, now_ns, style->zone_s, to);
        fb_buffer_add_char(to, ')');
    }
    fb_buffer_add_char(to, '\n');
}

static void add_window(const struct view_key *k, struct buffer *to)
{
    begin(to, "Window:    ");
    fb_words_count(k->window_left, to);
    fb_buffer_add_text(to, " left; ");
    fb_words_window(k->window_stated, k->window_ns, to);
    fb_buffer_add_text(to, " as stated");
    if (k->window_limit < k->window_stated) {
        fb_buffer_add_text(to, ", of which ");
        fb_words_count(k->window_limit, to);
        fb_buffer_add_text(to, " are used at most");
    }
    fb_buffer_add_char(to, '\n');
}

static void add_rate(const struct view_key *k, struct buffer *to)
{
    if (k->flags & VIEW_KEY_LEARNING) {
        bool refused = k->refused > 0 || k->refused_ns > 0;
        begin(to, refused ? "Limit:     not known yet; being learned\n"
                          : "Limit:     not known yet; nothing has refused in this run\n");
        return;
    }
    if (k->limit <= 0.0)
        return;
    begin(to, "Limit:     ");
    fb_view_key_limit(k, to);
    if (k->flags & VIEW_KEY_TOLD) {
        fb_buffer_add_text(to, ", as the server tells");
        if (k->quota_window_ns > SECOND_NS) {
            fb_buffer_add_text(to, ": ");
            fb_words_window(k->quota_limit, k->quota_window_ns, to);
        }
        fb_buffer_add_char(to, '\n');
    } else if (k->flags & VIEW_KEY_LEARNED) {
        fb_buffer_add_text(to, ", learned, confidence ");
        fb_buffer_add_int(to, (int64_t)(k->confidence * 100.0 + 0.5));
        fb_buffer_add_text(to, " %\n");
    } else {
        fb_buffer_add_text(to, ", as stated\n");
    }
}

static void add_wait(const struct view_key *k, const struct view_style *style, int64_t now_ns,
                     struct buffer *to)
{
    if (!fb_view_key_waits(k, now_ns))
        return;
    begin(to, "Next:      ");
    fb_words_when(k->ready_ns, now_ns, style->zone_s, to);
    if (k->cause[0]) {
        fb_buffer_add_text(to, ", because: ");
        fb_buffer_add_text(to, k->cause);
    }
    fb_buffer_add_char(to, '\n');
}

/* With -v: where all this is from. */
static void add_source(const struct view_key *k, const struct view_style *style, int64_t now_ns,
                       struct buffer *to)
{
    if (k->spec[0]) {
        begin(to, "Stated:    ");
        fb_buffer_add_text(to, k->spec);
        fb_buffer_add_text(to, k->said_by[0] ? " (" : "");
        fb_buffer_add_text(to, k->said_by);
        fb_buffer_add_text(to, k->said_by[0] ? ")\n" : "\n");
    }
    if (k->told_by[0]) {
        begin(to, "Told by:   ");
        fb_buffer_add_text(to, k->told_by);
        fb_buffer_add_char(to, '\n');
    }
    if (k->refused_ns > 0) {
        begin(to, "Refused:   ");
        fb_words_when(k->refused_ns, now_ns, style->zone_s, to);
        fb_buffer_add_text(to, ", status ");
        fb_buffer_add_int(to, k->refused_status);
        fb_buffer_add_char(to, '\n');
    }
    begin(to, "Seen:      ");
    fb_words_when(k->seen_ns, now_ns, style->zone_s, to);
    fb_buffer_add_char(to, '\n');
}

static void add_key(const struct view_key *k, const struct view_style *style, int64_t now_ns,
                    struct buffer *to)
{
    fb_buffer_add_char(to, '\n');
    fb_view_key_name(k, to);
    if (k->credential[0]) {
        fb_buffer_add_text(to, " (credential ");
        fb_buffer_add(to, k->credential, 4);
        fb_buffer_add_char(to, ')');
    }
    fb_buffer_add_text(to, ":\n");
    size_t began = to->size;
    if (fb_view_key_has_quota(k, now_ns))
        add_quota(k, style, now_ns, to);
    if (k->window_limit > 0)
        add_window(k, to);
    add_rate(k, to);
    add_wait(k, style, now_ns, to);
    if (to->size == began)
        begin(to, k->quota_limit > 0 ? "Remaining: all of it, its reset is past\n"
                                     : "Limit:     none is known\n");
    if (style->verbose)
        add_source(k, style, now_ns, to);
    fb_view_fold(to, began, LABEL, style);
}

void fb_view_limits_text(const struct view_limits *v, const struct view_style *style,
                         int64_t now_ns, struct buffer *to)
{
    enum view_health h = worst(v, now_ns);

    if (v->key_count == 0) {
        fb_buffer_add_text(to, v->hidden > 0 ? "No limit is in use now; --all shows those known.\n"
                               : v->after_demo ? VIEW_AFTER_DEMO
                                               : "No limit is known yet. Try: flyball demo\n");
        return;
    }
    fb_buffer_add_text(to, "Rate Limit Status: ");
    fb_view_color_begin(state_of(h), style, to);
    fb_buffer_add_text(to, HEALTH[h]);
    fb_buffer_add_char(to, ' ');
    fb_buffer_add_text(to, fb_view_state_shape(state_of(h), style->ascii));
    fb_view_color_end(style, to);
    fb_buffer_add_char(to, '\n');
    for (size_t i = 0; i < v->key_count; i++)
        add_key(&v->key[i], style, now_ns, to);
    if (v->hidden > 0) {
        fb_buffer_add_char(to, '\n');
        fb_words_count((int64_t)v->hidden, to);
        fb_buffer_add_text(to, " more with --all\n");
    }
}

/* ------------------------------------------------------------------------------------- as JSON */

void fb_view_limits_json(const struct view_limits *v, int64_t now_ns, struct buffer *to)
{
    fb_view_json_begin("limits", now_ns, to);
    fb_json_text(to, "status", HEALTH_WORD[worst(v, now_ns)]);
    fb_json_int(to, "hidden", (int64_t)v->hidden);
    fb_json_name(to, "limits");
    fb_buffer_add_char(to, '[');
    for (size_t i = 0; i < v->key_count; i++) {
        fb_buffer_add_text(to, i > 0 ? "," : "");
        fb_view_key_json(&v->key[i], now_ns, to);
    }
    fb_buffer_add_text(to, "]}\n");
}
