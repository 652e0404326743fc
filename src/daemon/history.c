/* SPDX-License-Identifier: MIT */
/* history.c - rings that feed rings. */
#include "daemon/history.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "core/health.h"
#include "util/alloc.h"
#include "util/json.h"

const struct ring_form fb_history_form[HISTORY_RINGS] = {{1, 900}, {10, 360}, {60, 1440}};

enum joined { LAST, SUM, MOST };

struct figure_form {
    const char *name;
    enum joined joined; /* how two samples become one */
};

static const struct figure_form FORMS[FIGURES] = {
#define X(name, is_sum) {#name, is_sum ? SUM : LAST},
    FB_FIGURES(X)
#undef X
};

static const struct figure_form WATCHED[WATCH_FIGURES] = {
#define X(name, joined) {#name, joined},
    FB_WATCH_FIGURES(X)
#undef X
};

static_assert((int)WATCH_FIGURES <= (int)FIGURES, "they have the same memory");

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
    for (size_t s = 0; s < HISTORY_SETS; s++)
        for (int r = 0; r < HISTORY_RINGS; r++)
            h->pending[s][r] = fb_figures_none();
}

void fb_history_fini(struct history *h)
{
    for (size_t s = 0; s < HISTORY_SETS; s++)
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

static void merge(struct figures *to, const struct figures *more, const struct figure_form *form,
                  int count)
{
    for (int i = 0; i < count; i++) {
        if (isnan(more->value[i]))
            continue;
        if (form[i].joined == LAST || isnan(to->value[i]))
            to->value[i] = more->value[i];
        else if (form[i].joined == SUM)
            to->value[i] += more->value[i];
        else
            to->value[i] = fmaxf(to->value[i], more->value[i]);
    }
}

void fb_figures_merge(struct figures *to, const struct figures *more)
{
    merge(to, more, FORMS, FIGURES);
}

/* The i-th of `parts` seconds that it stands for: whole numbers stay whole. */
static struct figures part_of(const struct figures *f, const struct figure_form *form, int count,
                              int64_t i, int64_t parts)
{
    struct figures part = *f;

    for (int k = 0; k < count && parts > 1; k++) {
        double whole = (double)f->value[k];
        double share = whole / (double)parts;
        bool is_whole = whole == floor(whole);

        if (form[k].joined == SUM)
            part.value[k] = (float)(is_whole ? floor((double)(i + 1) * share + 1e-6) -
                                                   floor((double)i * share + 1e-6)
                                             : share);
    }
    return part;
}

static void put(struct history *h, size_t set, int ring, const struct figures *f)
{
    size_t at = offset_of(ring) + (size_t)(h->count[ring] % fb_history_form[ring].length);

    h->sample[set][at] = *f;
}

/* What is added: the figures of some sets and of what is watched, or of nothing. */
struct seconds {
    const struct figures *now;
    size_t sets;
    const struct figures *watched;
    int64_t at, parts; /* the at-th of so many seconds */
};

static bool is_known(const struct seconds *a, size_t set)
{
    return set < METER_SETS ? set < a->sets : a->watched != NULL;
}

static void add_to(struct figures *pending, const struct seconds *a, size_t set)
{
    const struct figures *whole = set < METER_SETS ? &a->now[set] : a->watched;
    const struct figure_form *form = set < METER_SETS ? FORMS : WATCHED;
    int count = set < METER_SETS ? FIGURES : WATCH_FIGURES;
    struct figures part = part_of(whole, form, count, a->at, a->parts);

    merge(pending, &part, form, count);
}

/* One second into the first ring, and into the others where their step ends with it. */
static void add_second(struct history *h, int64_t second, const struct seconds *a)
{
    for (int r = 0; r < HISTORY_RINGS; r++) {
        bool ends = second % fb_history_form[r].step_s == 0;

        for (size_t s = 0; s < HISTORY_SETS; s++) {
            struct figures *p = &h->pending[s][r];

            if (!is_known(a, s) && !h->sample[s])
                continue;
            if (is_known(a, s))
                add_to(p, a, s);
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

void fb_history_add(struct history *h, int64_t second, const struct figures *now, size_t sets,
                    const struct figures *watched)
{
    int64_t missed = h->second > 0 ? second - h->second - 1 : 0;
    struct seconds a = {.now = now, .sets = sets, .watched = watched, .parts = 1};
    struct seconds nothing = {.parts = 1};

    assert(sets <= METER_SETS);
    if (h->second > 0 && second <= h->second)
        return; /* the clock was set back: what was is kept until it is caught up with */
    if (missed > 86400)
        missed = 86400;
    if (missed < HISTORY_LATE)
        a.parts = missed + 1;
    for (int64_t i = missed; i > 0; i--, a.at += a.parts > 1)
        add_second(h, second - i, a.parts > 1 ? &a : &nothing);
    add_second(h, second, &a);
}

double fb_history_sum(const struct history *h, size_t set, int ring, enum figure f, size_t count)
{
    size_t length = fb_history_form[ring].length;
    double sum = 0.0;

    if (!h->sample[set])
        return 0.0;
    count = count < length ? count : length;
    count = h->count[ring] < count ? (size_t)h->count[ring] : count;
    for (size_t i = 1; i <= count; i++) {
        size_t at = offset_of(ring) + (size_t)((h->count[ring] - i) % length);
        double value = (double)h->sample[set][at].value[f];

        sum += isnan(value) ? 0.0 : value;
    }
    return sum;
}

/* ------------------------------------------------------------------------------------- JSON */

static void add_column(const struct history *h, size_t set, int ring, int figure, size_t count,
                       struct buffer *out)
{
    size_t length = fb_history_form[ring].length;

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

static void add_columns(const struct history *h, const struct history_part *part, size_t set,
                        int ring, size_t count, struct buffer *out)
{
    const struct figure_form *form = set < METER_SETS ? FORMS : WATCHED;
    int figures = set < METER_SETS ? FIGURES : WATCH_FIGURES;

    for (int f = 0; f < figures; f++) {
        if (part->only[0] && strcmp(part->only, form[f].name) != 0)
            continue;
        fb_json_name(out, form[f].name);
        add_column(h, set, ring, f, count, out);
    }
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
        fb_buffer_add_char(out, '{');
        fb_json_text(out, "provider", names->set[s].provider);
        fb_json_text(out, "pool", names->set[s].pool);
        add_columns(h, part, s, ring, count, out);
        fb_buffer_add_char(out, '}');
    }
}

/* Grades are numbers in the rings: their names go with them. */
static void add_watched(const struct history *h, const struct history_part *part, int ring,
                        size_t count, struct buffer *out)
{
    fb_json_name(out, "grades");
    fb_buffer_add_char(out, '[');
    for (int i = 0; i < HEALTHS; i++) {
        fb_buffer_add_text(out, i > 0 ? ",\"" : "\"");
        fb_buffer_add_text(out, fb_health_name((enum health)i));
        fb_buffer_add_char(out, '"');
    }
    fb_buffer_add_char(out, ']');
    fb_json_name(out, "watch");
    fb_buffer_add_char(out, '{');
    if (h->sample[METER_SETS])
        add_columns(h, part, METER_SETS, ring, count, out);
    fb_buffer_add_char(out, '}');
}

static bool is_figure(const struct history_part *part)
{
    bool is_found = !part->only[0];

    for (int i = 0; !part->watched && i < FIGURES; i++)
        is_found |= strcmp(part->only, FORMS[i].name) == 0;
    for (int i = 0; part->watched && i < WATCH_FIGURES; i++)
        is_found |= strcmp(part->only, WATCHED[i].name) == 0;
    return is_found;
}

int fb_history_json(const struct history *h, const struct meters *names,
                    const struct history_part *part, struct buffer *out)
{
    int ring = 0;

    while (ring < HISTORY_RINGS && fb_history_form[ring].step_s != part->step_s)
        ring++;
    if (ring == HISTORY_RINGS || !is_figure(part))
        return -EINVAL;
    size_t count = fb_history_form[ring].length;
    count = h->count[ring] < count ? (size_t)h->count[ring] : count;
    count = part->most < count ? part->most : count;
    fb_buffer_add_char(out, '{');
    fb_json_text(out, "schema", "flyball.history/1");
    fb_json_int(out, "step_s", part->step_s);
    fb_json_int(out, "end_s", h->second - h->second % part->step_s);
    fb_json_int(out, "samples", (int64_t)count);
    if (part->watched) {
        add_watched(h, part, ring, count, out);
    } else {
        fb_json_name(out, "series");
        fb_buffer_add_char(out, '[');
        add_sets(h, names, part, ring, count, out);
        fb_buffer_add_char(out, ']');
    }
    fb_buffer_add_text(out, "}\n");
    return 0;
}
