/* SPDX-License-Identifier: MIT */
/*
 * spec.c - the words of a limit text: the one table they are read, checked and explained from.
 *
 * Reading is in three steps that never mix: each word by itself (its value alone is right or
 * wrong), then what the words mean together, then the defaults for what was not said.
 */
#include "core/spec.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "core/instant.h"
#include "core/quota.h"
#include "core/value.h"
#include "core/wide.h"
#include "util/text.h"

#define WORD_MAX 64 /* bytes of one word with its value */

#define MARGIN_DEFAULT (FB_MILLION / 10)

struct reading {
    struct spec spec;
    uint64_t said; /* bit per word of the table, then own words of constraints, then more words */
    bool adapt_said;
    const struct spec_word *more;
    size_t more_count;
    void *into;
};

typedef enum value_error read_fn(struct reading *r, const char *value);

static enum value_error read_rate(struct reading *r, const char *value)
{
    return fb_value_rate(value, &r->spec.rate);
}

static enum value_error read_floor(struct reading *r, const char *value)
{
    return fb_value_rate(value, &r->spec.floor);
}

static enum value_error read_ceiling(struct reading *r, const char *value)
{
    return fb_value_rate(value, &r->spec.ceiling);
}

static enum value_error read_burst(struct reading *r, const char *value)
{
    return fb_value_count(value, &r->spec.burst);
}

static enum value_error read_margin(struct reading *r, const char *value)
{
    return fb_value_share(value, &r->spec.margin_ppm);
}

static enum value_error read_reserve(struct reading *r, const char *value)
{
    return fb_value_share(value, &r->spec.reserve_ppm);
}

static enum value_error read_interval(const char *value, int64_t *ret_interval_ns)
{
    int64_t interval_ns;
    enum value_error error = fb_value_span(value, &interval_ns);

    assert(error != VALUE_OK || interval_ns >= 1);
    if (error == VALUE_OK && interval_ns > FB_INTERVAL_MAX)
        return VALUE_TOO_LARGE;
    if (error == VALUE_OK)
        *ret_interval_ns = interval_ns;
    return error;
}

static enum value_error read_interval_min(struct reading *r, const char *value)
{
    return read_interval(value, &r->spec.interval_min_ns);
}

static enum value_error read_interval_max(struct reading *r, const char *value)
{
    return read_interval(value, &r->spec.interval_max_ns);
}

static enum value_error read_ahead(struct reading *r, const char *value)
{
    enum value_error error = fb_value_count(value, &r->spec.ahead);

    return error == VALUE_OK && r->spec.ahead > FB_AHEAD_MAX ? VALUE_TOO_LARGE : error;
}

/* A window is written as a rate, but its limit is a whole number and its length is meant. */
static enum value_error read_window(struct reading *r, const char *value)
{
    struct spec *s = &r->spec;
    struct rate n_per_w;

    assert(s->window_count <= FB_WINDOWS_MAX);
    enum value_error error = fb_value_rate(value, &n_per_w);
    if (error != VALUE_OK)
        return error;
    if (memchr(value, '.', strcspn(value, "/")))
        return VALUE_MALFORMED;
    if (s->window_count == FB_WINDOWS_MAX)
        return VALUE_TOO_MANY;
    if (n_per_w.permits > FB_COUNT_MAX)
        return VALUE_TOO_LARGE;
    assert(n_per_w.permits >= 1 && n_per_w.period_ns >= 1);
    s->window[s->window_count++] = (struct spec_window){
        .limit = n_per_w.permits,
        .length_ns = n_per_w.period_ns,
    };
    return VALUE_OK;
}

static enum value_error read_pacing(struct reading *r, const char *value)
{
    static const char *const names[] = {"", "even", "demand"};

    for (int i = PACING_EVEN; i <= PACING_DEMAND; i++) {
        if (strcmp(value, names[i]) == 0) {
            r->spec.pacing = (enum pacing)i;
            return VALUE_OK;
        }
    }
    return VALUE_MALFORMED;
}

static enum value_error read_adapt(struct reading *r, const char *value)
{
    r->adapt_said = true;
    if (strcmp(value, "off") == 0)
        return VALUE_OK;
    for (size_t i = 1; i <= FB_CONTROLLER_COUNT; i++) {
        if (strcmp(value, fb_controllers[i]->name) == 0) {
            r->spec.controller = fb_controllers[i];
            return VALUE_OK;
        }
    }
    return VALUE_MALFORMED;
}

#define X(name) #name ", "
#define ADAPT_EXPECTS \
    FB_CONTROLLERS(X) \
    "or off"

static const struct word {
    const char *name;
    const char *expects;
    read_fn *read;
    bool repeatable;
} words[] = {
    {"rate", "a rate such as 10/s", read_rate, false},
    {"burst", "a whole number such as 10", read_burst, false},
    {"floor", "a rate such as 0.1/s", read_floor, false},
    {"ceiling", "a rate such as 2/s", read_ceiling, false},
    {"window", "a count and a length such as 5000/1h", read_window, true},
    {"margin", "a share below 100 % such as 10%", read_margin, false},
    {"adapt", ADAPT_EXPECTS, read_adapt, false},
    {"pacing", "even or demand", read_pacing, false},
    {"reserve", "a share below 100 % such as 10%", read_reserve, false},
    {"interval_min", "a time up to 1h such as 50ms", read_interval_min, false},
    {"interval_max", "a time up to 1h such as 60s", read_interval_max, false},
    {"ahead", "a whole number up to 100000 such as 10", read_ahead, false},
};
#undef X

#define WORD_COUNT (sizeof(words) / sizeof(words[0]))

#define X(name, slots) &fb_constraint_##name,
static const struct constraint *const constraints[] = {FB_CONSTRAINTS(X)};
#undef X

/* ---- saying what is wrong ---- */

static int fail(struct fly_error *err, const char *word, const char *found, const char *expects)
{
    struct text t;

    assert(word && found && expects);
    if (!err)
        return -EINVAL;
    fb_text_init(&t, err->text, sizeof(err->text));
    fb_text_add(&t, word);
    fb_text_add(&t, ": ");
    fb_text_add(&t, found);
    fb_text_add(&t, ", expected ");
    fb_text_add(&t, expects);
    return -EINVAL;
}

static int fail_value(struct fly_error *err, const char *word, enum value_error error,
                      const char *expects)
{
    static const char *const found[] = {
        [VALUE_OK] = "fine",
        [VALUE_MALFORMED] = "not understood",
        [VALUE_NOT_POSITIVE] = "must be above zero",
        [VALUE_NEGATIVE] = "below zero",
        [VALUE_TOO_LARGE] = "too large or too fine",
        [VALUE_TOO_MANY] = "one more than the 16 there may be",
    };

    static_assert(FB_WINDOWS_MAX == 16, "as the sentence above says");
    assert(error > VALUE_OK && error <= VALUE_TOO_MANY);
    return fail(err, word, found[error], expects);
}

static int fail_unknown(const struct reading *r, struct fly_error *err, const char *word)
{
    char list[200];
    struct text t;

    if (word[0] >= '0' && word[0] <= '9')
        return fail(err, word, "a value without its word", "as in rate=10/s or window=100/1m");
    fb_text_init(&t, list, sizeof(list));
    fb_text_add(&t, "one of ");
    assert(WORD_COUNT > 0 && (r->more || r->more_count == 0));
    for (size_t i = 0; i < WORD_COUNT; i++) {
        fb_text_add(&t, i > 0 ? ", " : "");
        fb_text_add(&t, words[i].name);
    }
    for (size_t i = 0; i < FB_CONSTRAINT_COUNT; i++) {
        if (constraints[i]->word) {
            fb_text_add(&t, ", ");
            fb_text_add(&t, constraints[i]->word);
        }
    }
    for (size_t i = 0; i < r->more_count; i++) {
        fb_text_add(&t, ", ");
        fb_text_add(&t, r->more[i].name);
    }
    return fail(err, word, "unknown word", list);
}

/* ---- one word ---- */

static bool is_named(const char *word, size_t name_size, const char *name)
{
    assert(name_size <= WORD_MAX && name[0]);
    return strlen(name) == name_size && memcmp(word, name, name_size) == 0;
}

static bool said_before(struct reading *r, size_t index)
{
    bool before = r->said >> index & 1;

    assert(index < 64);
    r->said |= UINT64_C(1) << index;
    return before;
}

static int read_own(struct reading *r, size_t index, const char *word, const char *value,
                    struct fly_error *err)
{
    const struct constraint *c = constraints[index];
    int64_t *own = &r->spec.own[index];

    assert(c->word && c->read && c->expects);
    if (said_before(r, WORD_COUNT + index))
        return fail(err, word, "said twice", "it once");
    enum value_error error = c->read(value, own);
    return error == VALUE_OK ? 0 : fail_value(err, word, error, c->expects);
}

static int read_more(struct reading *r, const char *word, size_t name_size, const char *value,
                     struct fly_error *err)
{
    for (size_t i = 0; i < r->more_count; i++) {
        const struct spec_word *w = &r->more[i];

        assert(w->name && w->read && w->expects);
        if (!is_named(word, name_size, w->name))
            continue;
        if (said_before(r, WORD_COUNT + FB_CONSTRAINT_COUNT + i) && !w->repeatable)
            return fail(err, word, "said twice", "it once");
        enum value_error error = w->read(value, r->into);
        return error == VALUE_OK ? 0 : fail_value(err, word, error, w->expects);
    }
    return fail_unknown(r, err, word);
}

static int read_word(struct reading *r, const char *word, struct fly_error *err)
{
    size_t name_size = strcspn(word, "=");
    const char *value = word[name_size] ? word + name_size + 1 : word + name_size;

    for (size_t i = 0; i < WORD_COUNT; i++) {
        if (!is_named(word, name_size, words[i].name))
            continue;
        if (said_before(r, i) && !words[i].repeatable)
            return fail(err, word, "said twice", "it once");
        enum value_error error = words[i].read(r, value);
        return error == VALUE_OK ? 0 : fail_value(err, word, error, words[i].expects);
    }
    for (size_t i = 0; i < FB_CONSTRAINT_COUNT; i++)
        if (constraints[i]->word && is_named(word, name_size, constraints[i]->word))
            return read_own(r, i, word, value, err);
    return read_more(r, word, name_size, value, err);
}

static int read_words(struct reading *r, const char *text, struct fly_error *err)
{
    static const char blanks[] = " \t\r\n";
    char word[WORD_MAX + 1];

    for (;;) {
        text += strspn(text, blanks);
        if (!*text)
            return 0;
        size_t size = strcspn(text, blanks);
        size_t kept = size < WORD_MAX ? size : WORD_MAX;
        assert(kept >= 1 && kept < sizeof(word));
        memcpy(word, text, kept);
        word[kept] = '\0';
        int rc = size > WORD_MAX ? fail(err, word, "too long", "a word such as rate=10/s")
                                 : read_word(r, word, err);
        if (rc < 0)
            return rc;
        text += size;
    }
}

/* ---- the words together ---- */

/* a > b, exactly; a rate that is not given is 0/0, neither larger nor smaller. */
static bool faster(const struct rate *a, const struct rate *b)
{
    assert((a->permits == 0) == (a->period_ns == 0) && (b->permits == 0) == (b->period_ns == 0));
    return (fb_wide)a->permits * b->period_ns > (fb_wide)b->permits * a->period_ns;
}

static bool floor_above_ceiling(const struct spec *s)
{
    return faster(&s->floor, &s->ceiling);
}

static bool rate_above_ceiling(const struct spec *s)
{
    return faster(&s->rate, &s->ceiling);
}

static bool rate_below_floor(const struct spec *s)
{
    return faster(&s->floor, &s->rate);
}

static bool floor_of_nothing(const struct spec *s)
{
    return !s->controller && s->floor.permits;
}

static bool ceiling_of_nothing(const struct spec *s)
{
    return !s->controller && s->ceiling.permits;
}

static bool burst_of_nothing(const struct spec *s)
{
    return !s->controller && s->burst && !s->rate.permits;
}

static bool step_of_nothing(const struct spec *s)
{
    return s->controller == &fb_controller_step && !s->rate.permits && !s->window_count;
}

static bool says_spacing(const struct spec *s)
{
    return s->interval_min_ns || s->interval_max_ns || s->ahead;
}

static bool spacing_of_nothing(const struct spec *s)
{
    return s->pacing == PACING_DEMAND && says_spacing(s);
}

static bool intervals_crossed(const struct spec *s)
{
    int64_t max_ns = s->interval_max_ns ? s->interval_max_ns : FB_QUOTA_DELAY_MAX_NS;

    assert(max_ns >= 1 && s->interval_min_ns >= 0);
    return s->interval_min_ns > max_ns ||
           (s->interval_max_ns && !s->interval_min_ns && max_ns < FB_QUOTA_DELAY_MIN_NS);
}

#define ADAPT_BESIDE "adapt=probe, aimd or step beside it"

/* What must not be said together; the first that is broken is told. */
static const struct {
    bool (*broken)(const struct spec *s);
    const char *word;
    const char *found;
    const char *expects;
} rules[] = {
    {floor_above_ceiling, "floor", "above the ceiling", "a floor at or below it"},
    {rate_above_ceiling, "rate", "above the ceiling", "a rate at or below it"},
    {rate_below_floor, "rate", "below the floor", "a rate at or above it"},
    {floor_of_nothing, "floor", "nothing adapts", ADAPT_BESIDE},
    {ceiling_of_nothing, "ceiling", "nothing adapts", ADAPT_BESIDE},
    {burst_of_nothing, "burst", "there is no rate to exceed", "rate=10/s or such beside it"},
    {spacing_of_nothing, "pacing=demand", "nothing is spaced", "pacing=even beside such words"},
    {intervals_crossed, "interval_max", "below interval_min", "one at or above it"},
    {step_of_nothing, "adapt=step", "there is no limit to cut", "a rate or a window beside it"},
};

static int check(const struct spec *s, struct fly_error *err)
{
    assert(s->window_count >= 0 && s->window_count <= FB_WINDOWS_MAX);
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (rules[i].broken(s))
            return fail(err, rules[i].word, rules[i].found, rules[i].expects);
    return 0;
}

static void fill_defaults(struct spec *s)
{
    assert(s->margin_ppm >= 0 && s->margin_ppm <= FB_MILLION);

    if (says_spacing(s))
        s->pacing = PACING_EVEN;

    if (s->burst == 0 && s->rate.permits && s->controller != &fb_controller_probe)
        s->burst = FB_BURST_DEFAULT;
    for (int64_t i = 0; i < s->window_count; i++) {
        struct spec_window *w = &s->window[i];
        /* Rounded down, towards waiting; but a window of 1 is not one of 0. */
        w->effective = fb_max64(1, w->limit * (FB_MILLION - s->margin_ppm) / FB_MILLION);
        assert(w->effective <= w->limit);
        assert(w->effective >= 1 && w->length_ns >= 1);
    }
}

int fb_spec_read_with(const char *text, const struct spec_word *more, size_t count, void *into,
                      struct spec *ret_spec, struct fly_error *err)
{
    struct reading r = {
        .spec = {.margin_ppm = MARGIN_DEFAULT, .reserve_ppm = -1},
        .more = more,
        .more_count = count,
        .into = into,
    };

    assert(count <= FB_MORE_WORDS_MAX);
    int rc = read_words(&r, text ? text : "", err);
    if (rc < 0)
        return rc;
    if (!r.adapt_said && !r.spec.rate.permits && !r.spec.window_count)
        r.spec.controller = &fb_controller_probe;
    rc = check(&r.spec, err);
    if (rc < 0)
        return rc;
    fill_defaults(&r.spec);
    assert(r.spec.controller || !r.spec.rate.permits || r.spec.burst >= 1);
    *ret_spec = r.spec;
    return 0;
}

int fb_spec_read(const char *text, struct spec *ret_spec, struct fly_error *err)
{
    return fb_spec_read_with(text, NULL, 0, NULL, ret_spec, err);
}
