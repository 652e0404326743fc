/* SPDX-License-Identifier: MIT */
/*
 * probe_search.c - sit a margin under the limit, and look for more when a look is worth it.
 *
 * A look that finds nothing costs what is under way then, each worth REFUSAL_WORTH requests; not
 * looking while the limit may have risen costs ever more with time. The limit last changed `age`
 * ago, so it changes about once in `age`: the cheapest time between looks is
 * sqrt(worth x under way x age / rate). After a change looks are frequent, later rare. Most
 * limits never move: a refusal is worth more where none was seen to.
 */
#include <assert.h>

#include "core/adapt/probe_parts.h"

#define RATE_MAX   1e9f
#define LONG_AGO_S 400.0f /* what was counted for longer than that says little about now */

static void set_pace(struct probe *p)
{
    assert(p->limit > 0.0f && p->lean > -1.0f);

    p->rate = fb_minf(p->limit * (1.0f + p->lean), RATE_MAX);
}

static float under_way(const struct probe *p)
{
    assert(p->rate > 0.0f && p->unit >= 1.0f);

    return p->rate * p->latency_s / p->unit;
}

/*
 * What is under way when a window closes is all refused; a bucket lets most of it through, as was
 * seen the last time. Where limits move there is no time to be so careful.
 */
static float refused_by_look(const struct probe *p)
{
    bool closes = p->window_s > 0.0f || fb_probe_by_second(p);
    float most = closes ? 64.0f : 1.0f + (float)p->also_refused;

    assert(most >= 1.0f);
    return fb_probe_steady(p) ? fb_maxf(1.0f, fb_minf(under_way(p), most)) : 1.0f;
}

/*
 * A limit that never moved is left alone for a share of its age, so that looks become rarer where
 * many requests are sent, too; for far longer where each look costs several.
 */
static float left_alone_s(const struct probe *p, float age)
{
    float cost = fb_minf(refused_by_look(p), 4.0f);

    assert(age >= 0.0f && cost >= 1.0f);
    if (!fb_probe_steady(p) || under_way(p) <= 1.0f)
        return 0.0f;
    return (cost > 1.2f && fb_probe_is_quick(p) ? LOOK_AGES * cost : LOOK_SHARE) * age;
}

/* A refusal costs a second of waiting, and the limit was counted well. */
static bool costs_second(const struct probe *p)
{
    return fb_probe_by_second(p) || (p->told_when && p->looked && p->window_s <= 0.0f);
}

/*
 * On an uneven line some of what is under way is refused as well, and what a bucket has stored
 * looks like a higher limit until it is on trial: what was counted well is left alone for longer.
 */
static bool costs_several(const struct probe *p, float weight)
{
    assert(weight >= 0.0f);

    return fb_probe_is_uneven(p) && fb_probe_steady(p) && weight >= COUNTED * p->unit;
}

static float seconds_to_look(const struct probe *p, float weight, const struct answer *a)
{
    float seconds_each = p->unit / p->rate;
    float noise = fb_probe_noisy(p) ? 4.0f : 1.0f; /* a look is refused so often */
    float age = fb_maxf(0.0f, fb_secs(a->now_ns - p->changed_ns));
    float worth = noise * (p->moves ? WORTH_MOVING : REFUSAL_WORTH);
    float evidence = fb_minf(weight / p->unit + 2.0f, 40.0f) / 40.0f;
    bool costly = costs_second(p) || costs_several(p, weight);
    float requests = costly ? REFUSAL_WORTH : LOOK_LEAST;
    float least = fb_maxf(noise * evidence * requests * seconds_each, 5.0f);
    float best = __builtin_sqrtf(worth * refused_by_look(p) * age * seconds_each);

    if (p->window_s > 0.0f)
        best *= 2.0f; /* a whole window is lost */
    assert(p->rate > 0.0f && p->unit >= 1.0f && weight >= 0.0f);
    return fb_maxf(fb_maxf(least, 2.0f * p->window_s), fb_maxf(best, left_alone_s(p, age)));
}

/* Whether it moved by more than some per cent. In the first climb there was none. */
static bool is_news(const struct probe *p, float limit)
{
    return p->phase == PROBE_FIRST || limit > 1.12f * p->limit || limit < 0.88f * p->limit;
}

void fb_probe_settle(struct probe *p, float limit, float weight, const struct answer *a)
{
    bool look_planned = p->lean < 0.0f && p->look_ns > a->now_ns;

    assert(p->margin > 0.0f && p->margin < 1.0f);
    limit = fb_maxf(limit, 0.001f); /* a believed limit is never zero */
    if (limit > 1.05f * p->limit || limit < 0.95f * p->limit)
        fb_probe_set_by_second(p, false);
    if (is_news(p, limit)) {
        p->changed_ns = a->now_ns;
        p->put_off = false;
    }
    p->limit = limit;
    p->lean = -p->margin;
    p->evidence = weight / p->unit;
    p->phase = PROBE_SETTLED;
    set_pace(p);

    int64_t look_ns = fb_after(a->now_ns, fb_span(seconds_to_look(p, weight, a)));
    if (look_planned && (fb_probe_noisy(p) || p->told_reset_ns != FB_LONG_AGO))
        look_ns = fb_min64(look_ns, p->look_ns); /* noise, or what is told, does not put it off */
    p->look_ns = look_ns;
}

void fb_probe_climb_again(struct probe *p)
{
    assert(p->rate > 0.0f && p->unit >= 1.0f);

    p->phase = PROBE_FIRST;
    p->limit = 0.5f * p->rate;
    p->lean = 1.0f;
    p->held = 0.0f;
    p->forgiven = false;
}

static void begin_step(struct probe *p, int64_t now_ns)
{
    assert(p->lean > 0.0f);

    set_pace(p);
    p->step_ns = now_ns;
    p->step_count = 0;
}

/*
 * The application asks for less than the pace: there is nothing to learn by raising it. Before a
 * limit was met, and while it is not the answers that are waited for, nobody should wait at all.
 */
static bool application_limited(const struct probe *p, const struct answer *a)
{
    bool first = p->phase == PROBE_FIRST && a->in_flight < 3;

    return p->late > (first ? 0.95f : 0.5f);
}

static void first_lean(struct probe *p, int64_t now_ns)
{
    assert(p->lean < 0.0f);

    /* What was counted from a few is uncertain by more than a small step. */
    p->lean = fb_maxf(FIRST_LEAN, fb_minf(0.5f, 4.0f / fb_maxf(1.0f, p->evidence)));
    p->held = 0.0f;
    if (fb_probe_spaced(p)) {
        p->lean = fb_probe_lean_of_spacing(p);
        p->phase = PROBE_SETTLED;         /* nothing is in doubt there */
    } else if (p->phase == PROBE_TRIAL) { /* the raise was not refuted: go on */
        p->changed_ns = now_ns;
        p->lean = 0.25f;
        p->burst *= 0.5f;
    } else if (p->phase == PROBE_DOUBT) { /* the cut was not confirmed: climb again */
        p->doubts++;
        p->limit *= 0.5f;
        p->lean = 1.0f;
    }
}

/* Nothing was refused for much longer than noise would let through. */
static bool was_quiet(const struct probe *p)
{
    float usual = fb_maxf((float)FAR, p->noise_known ? p->noise_gap : 0.0f);

    assert(p->since_refusal >= 0);
    return (float)p->since_refusal > 5.0f * usual;
}

static void look_upward(struct probe *p, const struct answer *a)
{
    assert(a->now_ns >= p->look_ns);

    if (application_limited(p, a)) {
        fb_probe_settle(p, p->limit, 200.0f, a);
        return;
    }
    first_lean(p, a->now_ns);
    p->looked = true;
    p->unrest = 0.0f;
    p->forgiven = false;
    p->bursting = false;
    if (!fb_probe_by_second(p) && !fb_probe_spaced(p)) /* what the line needs it needs for good */
        p->margin = fb_maxf(0.5f * p->margin, MARGIN);
    if (was_quiet(p)) {
        p->surprises = 0;
        p->noise_known = false;
    }
    p->since_refusal = 0;
    begin_step(p, a->now_ns);
}

/* Whether all that was got beyond the limit may come from what the provider has stored. */
static bool is_stored(const struct probe *p)
{
    return !fb_probe_spaced(p) && p->ahead <= 1.2f * p->burst + 4.0f * p->unit;
}

/*
 * All of it may come from what is stored, and where nothing moves there is time to find out. Where
 * a refusal has a penalty it may store more than is known.
 */
static bool uses_up_slowly(const struct probe *p, float lasted_s)
{
    if (lasted_s >= 30.0f || p->window_s > 0.0f || !fb_probe_steady(p))
        return false;
    return is_stored(p) || fb_probe_in_penalty(p);
}

/* Was a refusal in a climb chance? Hardly, where it told when to come again. */
static int32_t successes_of_climb(const struct probe *p)
{
    if (p->surprises == 0)
        return STEP_FIRST;
    return p->told_when ? STEP_STORED : NEAR;
}

/*
 * How many successes are enough. Slow limits are looked at by the clock: their steps would take
 * many minutes. What is stored is used up slowly, so that it does not look like a higher limit.
 */
static int32_t successes_needed(const struct probe *p, float lasted_s)
{
    assert(p->lean >= 0.0f && lasted_s >= 0.0f);

    if (fb_probe_climbing(p))
        return successes_of_climb(p);
    if (fb_probe_spaced(p))
        return fb_probe_tests_of_spacing(p);
    if (p->lean >= 0.5f && !fb_probe_in_penalty(p))
        return STEP_FIRST;
    if (p->lean <= FIRST_LEAN)
        return STEP;
    if (lasted_s >= (p->moves ? 30.0f : 60.0f))
        return STEP / 4;
    return uses_up_slowly(p, lasted_s) ? STEP_STORED : STEP;
}

static float step_least_s(const struct probe *p)
{
    assert(p->window_s >= 0.0f);

    if (p->phase == PROBE_FIRST)
        return 0.5f;
    return fb_maxf(fb_probe_climbing(p) ? 0.5f : 1.0f, 1.05f * p->window_s);
}

static bool step_is_over(const struct probe *p, int64_t now_ns)
{
    float lasted_s = fb_secs(now_ns - p->step_ns);

    assert(p->step_count >= 0);
    if (fb_probe_pairs(p))
        return p->step_count >= 1;
    if (p->phase == PROBE_FIRST && fb_probe_has_room(p) && p->surprises == 0)
        return p->step_count >= 1;
    return p->step_count >= successes_needed(p, lasted_s) && lasted_s >= step_least_s(p);
}

/*
 * Far above the limit, and all of it may still come from what the provider has stored: going faster
 * would only make the fall deeper. Wait until the store must be empty.
 */
static bool in_the_shadow(const struct probe *p)
{
    float far = fb_probe_climbing(p) ? 1.0f : 0.5f;

    return p->phase != PROBE_FIRST && p->lean >= far && is_stored(p);
}

/*
 * More than what is in flight can use is no pace: it would be kept by nothing once the bound on
 * that turned out to be none.
 */
static float lean_in_crowd(const struct probe *p)
{
    float usable = p->unit * (float)p->crowd_min / p->latency_s;

    assert(usable > 0.0f && p->limit > 0.0f);
    return fb_maxf(p->rate, 4.0f * usable) / p->limit - 1.0f;
}

/*
 * What is under way when a climb meets the limit will all be refused: no more than two, or a small
 * share of what was accepted so far, and of more than sixteen a smaller one: who was let through so
 * often may be in a long window, whose pace is far below. Where answers take long it is in service,
 * not under way.
 */
static float lean_at_risk(const struct probe *p)
{
    float share = fb_maxf(fb_minf(p->total / 600.0f, 16.0f * p->unit), p->total / 3000.0f);
    float under_way = fb_maxf(2.0f * p->unit, share);
    float sure = p->phase == PROBE_FIRST ? p->rate : fb_maxf(p->rate, 2.0f * p->limit);
    bool climbs = fb_probe_climbing(p) || p->lean >= 0.5f;

    assert(p->latency_s >= 0.0f && p->limit > 0.0f);
    if (fb_probe_crowded(p) && p->latency_s > 0.0f)
        return lean_in_crowd(p);
    if (!climbs || p->latency_s <= 0.0f || p->latency_s > 0.1f)
        return RATE_MAX / p->limit;
    return fb_maxf(sure, under_way / p->latency_s) / p->limit - 1.0f;
}

/* Whether a step that was not refused proves its pace: what is stored cannot explain it. */
static bool proves_pace(const struct probe *p)
{
    if (fb_probe_spaced(p))
        return p->phase != PROBE_FIRST;        /* else a cycle may lie there */
    if (p->window_s > 0.0f && p->opening_seen) /* from one opening to the next it did */
        return fb_secs(p->opened_ns - p->step_ns) >= 0.98f * p->window_s;
    return p->window_s > 0.0f || p->phase == PROBE_DOUBT;
}

/*
 * A pace that lasted: for a whole window, or for a step that began when all that is stored had been
 * used up. The first step beyond that only proves the limit.
 */
static void note_held(struct probe *p)
{
    float beyond = (float)p->step_count * p->lean / (1.0f + p->lean);

    assert(p->lean > 0.0f && beyond >= 0.0f);
    if (proves_pace(p))
        p->held = p->rate;
    else if (!is_stored(p) && !fb_probe_climbing(p) && fb_probe_steady(p) && beyond > 2.0f)
        p->held = p->held > 0.0f ? p->rate : p->limit;
}

/*
 * From step to step. With several in flight answers are late, and all of them may be refused. A
 * short window that has room would be over before it is used; a step in another lasts for a window,
 * and between chance refusals there is no time for many.
 */
static float growth(const struct probe *p, const struct answer *a)
{
    bool slow = fb_probe_noisy(p) || (p->window_s > 0.0f && p->lean < 0.25f);

    assert(p->lean > 0.0f);
    if (slow && p->phase == PROBE_SETTLED)
        return 2.0f;
    if (a->in_flight >= 2 || (p->phase == PROBE_FIRST && p->told_when))
        return 1.15f;
    return fb_probe_has_room(p) && fb_probe_is_short(p) ? 4.0f : 2.0f;
}

static void step_up(struct probe *p, const struct answer *a)
{
    assert(p->late <= 1.0f);

    note_held(p);
    if (in_the_shadow(p)) { /* it goes on at this pace */
        p->step_ns = a->now_ns;
        return;
    }
    if (p->rate < RATE_MAX) {
        p->lean = fb_minf(p->lean * growth(p, a), lean_at_risk(p));
        if (fb_probe_climbing(p) && !p->told_when)
            p->surprises = 0; /* a refusal before this step was chance */
    }
    begin_step(p, a->now_ns);
}

/*
 * The application cannot use that much: what it uses, and a little more, is limit enough. Where it
 * was empty not long ago a window that slides may have had room for that, so it is on trial. Else
 * what was counted since then says little about now: it is measured afresh.
 */
static void settle_at_use(struct probe *p, const struct answer *a)
{
    float used = p->unit * (float)p->step_count / fb_secs(a->now_ns - p->step_ns);
    float limit_before = p->limit;

    assert(a->now_ns > p->step_ns);
    /* A step that went on in the shadow was longer than that. */
    fb_probe_settle(p, 1.1f * fb_minf(used, p->rate), 200.0f, a);
    if (p->window_s <= 0.0f && fb_secs(a->now_ns - p->empty_ns) < LONG_AGO_S) {
        p->limit_before = limit_before;
        p->phase = PROBE_TRIAL;
        return;
    }
    p->empty_ns = a->now_ns;
    p->accepted = 0.0f;
    fb_probe_lose_opening(p);
}

static void go_on_in_cycle(struct probe *p, const struct answer *a)
{
    float limit = fb_probe_cycle_held(p, a->now_ns);

    if (limit <= 0.0f)
        return;
    if (fb_probe_cycle_by_second(p))
        fb_probe_settle_by_second(p, fb_probe_number_of_second(p), a);
    else
        fb_probe_settle(p, limit, 100.0f, a);
}

/* Two close together, in the middle of an even pace: does it store anything? */
static void begin_pair(struct probe *p, int64_t now_ns)
{
    assert(p->lean < 0.0f && p->too_fast > 0.0f);

    p->lean = FB_PAIR_LEAN;
    begin_step(p, now_ns);
}

/* It does. */
static void end_pair(struct probe *p)
{
    assert(fb_probe_pairs(p));

    p->too_fast = 0.0f;
    p->lean = -p->margin;
    set_pace(p);
    p->block_ns = fb_after(p->step_ns, fb_span(2.0f * p->unit / p->rate)); /* even again */
}

static void next_step(struct probe *p, const struct answer *a)
{
    if (fb_probe_in_cycle(p))
        go_on_in_cycle(p, a);
    else if (fb_probe_pairs(p))
        end_pair(p);
    else if (fb_probe_halves_spacing(p) && !application_limited(p, a))
        fb_probe_keep_spacing(p, a);
    else if (!application_limited(p, a))
        step_up(p, a);
    else if (!fb_probe_climbing(p) && p->ahead > 1.2f * p->burst + 30.0f * p->unit)
        settle_at_use(p, a);
    else
        begin_step(p, a->now_ns);
}

/* A look upward tells nothing while the provider fills up: back to where it began. */
static void stop_looking(struct probe *p)
{
    assert(p->lean > 0.0f);

    if (p->phase == PROBE_DOUBT) {
        p->limit *= 2.0f;
        p->phase = p->doubts < DOUBTS_MAX ? PROBE_DOUBT : PROBE_SETTLED;
    }
    p->lean = -p->margin;
    p->evidence = 200.0f;
    set_pace(p);
}

/*
 * It has filled up: a look would see its store, not its limit. And what begins now may be no more
 * than a refusal is worth; but that puts it off only once for a limit.
 */
static void put_off(struct probe *p, int64_t now_ns)
{
    float least = p->moves ? LOOK_LEAST : REFUSAL_WORTH;

    assert(p->unit >= 1.0f);
    if (p->put_off) /* apart: read as one word with `moves` it waits for what was just written */
        least = LOOK_LEAST;
    p->put_off = true;
    if (p->phase != PROBE_FIRST) /* else none is planned */
        p->look_ns = fb_max64(p->look_ns, fb_after(now_ns, fb_span(least * p->unit / p->rate)));
}

void fb_probe_count_anew(struct probe *p, int64_t now_ns)
{
    assert(p->limit > 0.0f && p->episode == EPISODE_NONE);

    int64_t stored_ns = p->burst > 0.0f ? fb_span(p->burst / p->limit) : 0;
    (void)fb_probe_forget_slots(p, now_ns);
    p->empty_ns = fb_max64(p->empty_ns, now_ns - stored_ns);
    p->accepted = 0.0f;
    fb_probe_lose_opening(p);
    p->ahead = 0.0f;
    p->ahead_ns = now_ns;
    p->step_ns = now_ns;
    p->step_count = 0;
    fb_probe_told_paused(p);
    if (!p->opening_seen) {
        p->total_ns = now_ns;
        p->total = 0.0f;
        p->looked = false;
    }
    if (p->lean > 0.0f && p->phase != PROBE_FIRST)
        stop_looking(p);
    put_off(p, now_ns);
}

void fb_probe_paused(struct probe *p, int64_t now_ns)
{
    assert(p->rate > 0.0f && p->episode == EPISODE_NONE);

    if (!p->put_off && p->lean < 0.0f)
        put_off(p, now_ns);
}

void fb_probe_idled(struct probe *p, const struct ask *q, float idle_s)
{
    bool window_over = idle_s >= p->window_s;
    bool again = p->put_off; /* the first pause at a limit may be the last: try nothing */

    assert(idle_s > 0.0f && q->in_flight >= 0);
    fb_probe_count_anew(p, q->now_ns);
    p->bursting = q->in_flight == 0 && (p->opening_seen ? window_over : again);
    if (p->opening_seen && window_over) { /* nothing counts any more: a quota from now on is safe */
        p->quotas = 0;
        p->opened_ns = q->now_ns;
        p->spent = 0.0f;
    }
}

void fb_probe_advance(struct probe *p, const struct answer *a)
{
    assert(p->episode == EPISODE_NONE);

    fb_probe_widen(p, a);
    if (p->lean < 0.0f) {
        if (a->in_flight == 0 && fb_probe_may_pair(p)) /* the next answer is about the pair */
            begin_pair(p, a->now_ns);
        else if (a->now_ns >= p->look_ns)
            look_upward(p, a);
    } else if (step_is_over(p, a->now_ns)) {
        next_step(p, a);
    }
}
