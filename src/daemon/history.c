/* SPDX-License-Identifier: MIT */
/* history.c - rings that feed rings. */
#include "daemon/history.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "util/alloc.h"
#include "util/json.h"

const struct ring_form fb_history_form[HISTORY_RINGS] = {{1, 900}, {10, 360}, {60, 1440}};

static const struct {
    const char *name;
    bool is_sum;
} FORMS[FIGURES] = {
#define X(name, is_sum) {#name, is_sum},
    FB_FIGURES(X)
#undef X
};

const char *fb_figure_name(enum figure f)
{
    return FORMS[f].name;
}

struct figures fb_figures_none(void)
{
    struct figures none;

    for (int i = 0; i < FIGURES; i++)
        none.value[i] = NAN;
    return none;
}

static size_t offset_of(int ring)
{
    size_t at = 0;

    for (int i = 0; i < ring; i++)
        at += fb_history_form[i].length;
    return at;
}

void fb_history_init(struct history *h)
{
    *h = (struct history){0};
    for (size_t s = 0; s < METER_SETS; s++)
        for (int r = 0; r < HISTORY_RINGS; r++)
            h->pending[s][r] = fb_figures_none();
}

void fb_history_fini(struct history *h)
{
    for (size_t s = 0; s < METER_SETS; s++)
        fb_free(h->sample[s]);
    *h = (struct history){0};
}

/* A set that is first seen has had nothing so far. Without memory it has no history. */
static bool make(struct history *h, size_t set)
{
    size_t length = offset_of(HISTORY_RINGS);

    if (h->sample[set])
        return true;
    h->sample[set] = fb_alloc(length * sizeof *h->sample[set]);
    for (size_t i = 0; h->sample[set] && i < length; i++)
        h->sample[set][i] = fb_figures_none();
    return h->sample[set] != NULL;
}

void fb_figures_merge(struct figures *to, const struct figures *more)
{
    for (int i = 0; i < FIGURES; i++) {
        if (isnan(more->value[i]))
            continue;
        if (FORMS[i].is_sum && !isnan(to->value[i]))
            to->value[i] += more->value[i];
        else
            to->value[i] = more->value[i];
    }
}

static void put(struct history *h, size_t set, int ring, const struct figures *f)
{
    size_t at = offset_of(ring) + (size_t)(h->count[ring] % fb_history_form[ring].length);

    h->sample[set][at] = *f;
}

/* One second into the first ring, and into the others where their step ends with it. */
static void add_second(struct history *h, int64_t second, const struct figures *now, size_t sets)
{
    for (int r = 0; r < HISTORY_RINGS; r++) {
        bool ends = second % fb_history_form[r].step_s == 0;

        for (size_t s = 0; s < METER_SETS; s++) {
            struct figures *p = &h->pending[s][r];

            if (s >= sets && !h->sample[s])
                continue;
            if (s < sets)
                fb_figures_merge(p, &now[s]);
            if (!ends)
                continue;
            if (make(h, s))
                put(h, s, r, p);
            *p = fb_figures_none();
        }
        h->count[r] += ends;
    }
    h->second = second;
}

void fb_history_add(struct history *h, int64_t second, const struct figures *now, size_t sets)
{
    int64_t missed = h->second > 0 ? second - h->second - 1 : 0;

    assert(sets <= METER_SETS);
    if (h->second > 0 && second <= h->second)
        return; /* the clock was set back: what was is kept until it is caught up with */
    if (missed > 86400)
        missed = 86400;
    for (int64_t i = missed; i > 0; i--)
        add_second(h, second - i, now, 0);
    add_second(h, second, now, sets);
}

/* ------------------------------------------------------------------------------------- JSON */

static void add_column(const struct history *h, size_t set, int ring, int figure, size_t count,
                       struct buffer *out)
{
    size_t length = fb_history_form[ring].length;

    fb_json_name(out, FORMS[figure].name);
    fb_buffer_add_char(out, '[');
    for (size_t i = count; i > 0; i--) {
        size_t at = (size_t)((h->count[ring] - i) % length) + offset_of(ring);
        double value = (double)h->sample[set][at].value[figure];

        if (i < count)
            fb_buffer_add_char(out, ',');
        fb_json_add_real(out, value, value == floor(value) ? 0 : 3);
    }
    fb_buffer_add_char(out, ']');
}

static void add_set(const struct history *h, const struct meters *names, size_t set, int ring,
                    size_t count, struct buffer *out)
{
    fb_buffer_add_char(out, '{');
    fb_json_text(out, "provider", names->set[set].provider);
    fb_json_text(out, "pool", names->set[set].pool);
    for (int f = 0; f < FIGURES; f++)
        add_column(h, set, ring, f, count, out);
    fb_buffer_add_char(out, '}');
}

static bool is_wanted(const struct meter_set *m, const struct history_part *part)
{
    return (!part->provider[0] || strcmp(m->provider, part->provider) == 0) &&
           (!part->pool[0] || strcmp(m->pool, part->pool) == 0);
}

static void add_sets(const struct history *h, const struct meters *names,
                     const struct history_part *part, int ring, size_t count, struct buffer *out)
{
    bool is_first = true;

    for (size_t s = 0; s < names->sets; s++) {
        if (!h->sample[s] || !is_wanted(&names->set[s], part))
            continue;
        if (!is_first)
            fb_buffer_add_char(out, ',');
        is_first = false;
        add_set(h, names, s, ring, count, out);
    }
}

int fb_history_json(const struct history *h, const struct meters *names,
                    const struct history_part *part, struct buffer *out)
{
    int ring = 0;

    while (ring < HISTORY_RINGS && fb_history_form[ring].step_s != part->step_s)
        ring++;
    if (ring == HISTORY_RINGS)
        return -EINVAL;
    size_t count = fb_history_form[ring].length;
    count = h->count[ring] < count ? (size_t)h->count[ring] : count;
    count = part->most < count ? part->most : count;
    fb_buffer_add_char(out, '{');
    fb_json_text(out, "schema", "flyball.history/1");
    fb_json_int(out, "step_s", part->step_s);
    fb_json_int(out, "end_s", h->second - h->second % part->step_s);
    fb_json_int(out, "samples", (int64_t)count);
    fb_json_name(out, "series");
    fb_buffer_add_char(out, '[');
    add_sets(h, names, part, ring, count, out);
    fb_buffer_add_text(out, "]}\n");
    return 0;
}
