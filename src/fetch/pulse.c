/* SPDX-License-Identifier: MIT */
/*
 * pulse.c - four times a second: how far is it, how long will it take, and is that worth a line?
 */
#include <string.h>

#include "fetch/fetch_parts.h"
#include "fetch/live.h"
#include "fetch/look.h"
#include "view/words.h"

#define NS_PER_S     INT64_C(1000000000)
#define LINE_NS      (30 * NS_PER_S)
#define JSON_NS      NS_PER_S
#define HOLD_TOLD_NS (2 * NS_PER_S) /* shorter ones are over before they are read */

int64_t fb_pulse_ended(const struct fetch *f)
{
    int64_t sum = 0;

    for (int s = ENTRY_done; s < ENTRY_STATES; s++)
        sum += f->count[s];
    return sum;
}

void fb_pulse_read(struct fetch *f, struct progress *ret_progress)
{
    struct look l;

    fb_look(f, &l, ret_progress);
}

/* ------------------------------------------------------------------------------------- a hold */

static void add_reason(const struct view_key *v, int64_t now_ns, struct buffer *to)
{
    const char *reason = strstr(v->why, ": ");

    if (v->refused_ns > 0 && v->retry_after_ns > 0 &&
        v->refused_ns + v->retry_after_ns + NS_PER_S >= now_ns) {
        fb_buffer_add_text(to, "server said Retry-After ");
        fb_buffer_add_int(to, (v->retry_after_ns + NS_PER_S - 1) / NS_PER_S);
        fb_buffer_add_text(to, " (");
        fb_buffer_add_int(to, v->refused_status);
        fb_buffer_add_text(to, " on item ");
        fb_buffer_add_text(to, v->refused_item);
        fb_buffer_add_text(to, ")");
        return;
    }
    /* "holding" has said it already; one sentence is enough. */
    bool is_said = reason && strcmp(v->cause, "hold") == 0;
    const char *sentence = is_said ? reason + 2 : reason ? reason : "";
    const char *end = strstr(sentence, ". ");
    size_t size = end ? (size_t)(end - sentence) : strlen(sentence);

    fb_buffer_add_text(to, is_said ? "" : v->cause);
    fb_buffer_add(to, sentence, size > 0 && sentence[size - 1] == '.' ? size - 1 : size);
}

static void tell_hold(struct fetch *f, const struct look *l, size_t i, int64_t done)
{
    const struct view_key *v = &l->shown[i];
    struct buffer b = BUFFER_INIT;

    fb_buffer_add_text(&b, "holding ");
    fb_view_key_name(v, &b);
    fb_buffer_add_text(&b, " for ");
    fb_words_span(l->key[i].wait_ns, &b);
    fb_buffer_add_text(&b, ": ");
    add_reason(v, l->now_ns, &b);
    fb_buffer_add_text(&b, ". Nothing lost; ");
    fb_words_count(done, &b);
    fb_buffer_add_text(&b, " done. Ctrl-C stops safely.");
    if (fb_buffer_text(&b))
        fb_screen_say(&f->screen, b.bytes, true);
    fb_buffer_fini(&b);
}

/* From one request to the next, as the pace has it: who goes slowly is not held. */
static bool is_pace(const struct view_key *v, int64_t wait_ns)
{
    bool spaces = strcmp(v->cause, "bucket") == 0 || strcmp(v->cause, "quota") == 0;

    return spaces && v->bound.rate > 0.0 && (double)(wait_ns - NS_PER_S) <= 1e9 / v->bound.rate;
}

/* Once for each hold that is longer than what was told before. */
static void look_for_holds(struct fetch *f, const struct look *l, int64_t done)
{
    for (size_t i = 0; i < l->busy; i++) {
        int64_t until_ns = l->now_ns + l->key[i].wait_ns;

        if (l->key[i].wait_ns < HOLD_TOLD_NS || until_ns <= f->meter.hold_until_ns + HOLD_TOLD_NS ||
            is_pace(&l->shown[i], l->key[i].wait_ns))
            continue;
        f->meter.hold_until_ns = until_ns;
        tell_hold(f, l, i, done);
    }
}

/* ------------------------------------------------------------------------------------- showing */

static void print(struct fetch *f, const struct progress *p)
{
    struct buffer b = BUFFER_INIT;

    if (f->screen.mode == SCREEN_json)
        fb_progress_json(p, &b);
    else if (f->screen.is_terminal)
        fb_progress_line(p, fb_screen_width(), &b);
    else
        fb_progress_plain(p, &b);
    if (fb_buffer_text(&b))
        fb_screen_print(&f->screen, b.bytes);
    fb_buffer_fini(&b);
}

static void draw(struct fetch *f, const struct progress *p)
{
    struct buffer b = BUFFER_INIT;

    fb_progress_line(p, fb_screen_width(), &b);
    if (!b.failed)
        fb_screen_draw(&f->screen, b.bytes, b.size);
    fb_buffer_fini(&b);
}

/* A limit was met, a hold that was told is over: worth a line before its time. */
static bool has_changed(struct meter *m, const struct progress *p, int64_t now_ns)
{
    bool waits = now_ns < m->hold_until_ns;
    bool changed =
        (m->was_learning && !p->learning && p->limit > 0.0) || (m->was_waiting && !waits);

    m->was_learning = p->learning;
    m->was_waiting = waits;
    return changed;
}

static void show(struct fetch *f, const struct look *l, const struct progress *p)
{
    struct meter *m = &f->meter;
    bool changed = has_changed(m, p, l->now_ns);
    int64_t every_ns = f->screen.mode == SCREEN_json ? JSON_NS : LINE_NS;

    look_for_holds(f, l, p->done);
    if (f->screen.mode == SCREEN_bar) {
        draw(f, p);
    } else if (changed || l->now_ns - (m->line_ns ? m->line_ns : f->began_ns) >= every_ns) {
        m->line_ns = l->now_ns;
        print(f, p);
    }
}

void fb_pulse(struct fetch *f)
{
    bool is_shown = f->screen.mode != SCREEN_none || f->o->on_progress;
    struct progress p;
    struct look l;

    if (!is_shown && !f->live)
        return;
    fb_look(f, &l, &p);
    fb_live_beat(f, &l, &p);
    if (f->o->on_progress)
        f->o->on_progress(f->o->to, &p, false);
    else if (is_shown)
        show(f, &l, &p);
}

void fb_pulse_now(struct fetch *f)
{
    struct progress p;
    struct look l;

    fb_look(f, &l, &p);
    print(f, &p);
}
