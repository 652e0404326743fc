/* SPDX-License-Identifier: MIT */
/*
 * match.c - matches as functions of time.
 *
 * Time is counted in seconds of play since the beginning of 2026; the pitches are spread evenly
 * over the length of a match, so that one ends now and then instead of all at once.
 */
#include "mock/match.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/instant.h"
#include "signal/number.h"
#include "util/hash.h"

#define BEGIN_MS  INT64_C(1767225600000) /* of 2026 */
#define LENGTH_S  (INT64_C(60) * FB_MATCH_MINUTES)
#define GOAL_EACH 45 /* minutes, on average, for each side */
#define ROUNDS    INT64_C(1000)

/* Numbers of matches that are always there, behind all those of pitches. */
#define NUMBER_IMMINENT  INT64_C(90000000)
#define NUMBER_COMPLETED INT64_C(95000000)

/* ---- the words ---- */

static const struct word {
    const char *name;
    size_t offset;
    int64_t low;
    int64_t high;
    const char *expects;
} words[] = {
    {"live", offsetof(struct fixture, live), 0, FB_MATCH_PITCHES - 1, "a number below 10000"},
    {"imminent", offsetof(struct fixture, imminent), 0, 1000000, "a number up to 1000000"},
    {"completed", offsetof(struct fixture, completed), 0, 1000000, "a number up to 1000000"},
    {"pace", offsetof(struct fixture, pace), 1, 600, "a number from 1 to 600"},
    {"unmapped", offsetof(struct fixture, unmapped), 1, 1000000, "a number from 1 on"},
    {"mismatch", offsetof(struct fixture, mismatch), 1, FB_MATCH_PITCHES - 1, "a pitch from 1 on"},
    {"broken", offsetof(struct fixture, broken), 1, FB_MATCH_PITCHES - 1, "a pitch from 1 on"},
    {"lies", offsetof(struct fixture, lies), 1, 99, "goals from 1 to 99"},
};

static bool read_word(struct slice word, struct fixture *f, const char **ret_expects)
{
    size_t equals = fb_slice_find(word, '=');
    struct slice name = fb_slice_head(word, equals);
    int64_t value;

    *ret_expects = "one of live, imminent, completed, pace, unmapped, mismatch, broken, lies";
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!fb_slice_is(name, words[i].name))
            continue;
        *ret_expects = words[i].expects;
        if (!fb_number_read(fb_slice_after(word, equals + 1), &value) || value < words[i].low ||
            value > words[i].high)
            return false;
        memcpy((char *)f + words[i].offset, &value, sizeof value);
        return true;
    }
    return false;
}

struct slice fb_fixture_read(const char *text, uint64_t seed, struct fixture *ret_fixture,
                             const char **ret_expects)
{
    struct slice rest = fb_slice_of(text ? text : "");
    struct slice word;

    *ret_fixture = (struct fixture){.live = 1, .pace = 1, .seed = seed};
    while (fb_slice_next(&rest, ' ', &word))
        if (word.length > 0 && !read_word(word, ret_fixture, ret_expects))
            return word;
    return (struct slice){NULL, 0};
}

/* ---- who and where ---- */

static const char *const TOWNS[] = {
    "Aldermere", "Brackwell",  "Castleby",  "Dunsford",  "Eastholm",  "Farrowgate",
    "Glenmoor",  "Hartbridge", "Inverlow",  "Juniper",   "Kingsway",  "Larkfield",
    "Marlstone", "Northwick",  "Oakenshaw", "Penrose",   "Quarrydon", "Ravensea",
    "Silverton", "Thornbury",  "Upperfold", "Valemouth", "Westering", "Yarrow",
};
static const char *const KINDS[] = {"United", "Rovers", "Athletic", "Town"};
static const char *const PLACES[] = {"Park", "Road", "Ground", "Lane"};

#define TOWN_COUNT (sizeof TOWNS / sizeof TOWNS[0])

static uint64_t chance(const struct fixture *f, const struct match *m, int64_t of)
{
    uint64_t hash = fb_hash_add_int(FB_HASH_INIT, f->seed);

    hash = fb_hash_add(hash, m->id, strlen(m->id));
    return fb_hash_end(fb_hash_add_int(hash, (uint64_t)of));
}

static void name_sides(const struct fixture *f, struct match *m)
{
    uint64_t c = chance(f, m, -1);
    size_t home = c % TOWN_COUNT;
    size_t away = (home + 1 + (c >> 8) % (TOWN_COUNT - 1)) % TOWN_COUNT;

    snprintf(m->home, sizeof m->home, "%s %s", TOWNS[home], KINDS[(c >> 16) % 4]);
    snprintf(m->away, sizeof m->away, "%s %s", TOWNS[away], KINDS[(c >> 24) % 4]);
    snprintf(m->venue, sizeof m->venue, "%s %s", TOWNS[home], PLACES[(c >> 32) % 4]);
}

static void play(const struct fixture *f, struct match *m)
{
    for (int64_t minute = 1; minute <= m->minute; minute++) {
        m->goals_home += chance(f, m, 2 * minute) % GOAL_EACH == 0;
        m->goals_away += chance(f, m, 2 * minute + 1) % GOAL_EACH == 0;
    }
    m->goals_home += m->state == MATCH_IMMINENT ? 0 : f->lies;
}

/* ---- when ---- */

static int64_t played_s(const struct fixture *f, int64_t wall_ns)
{
    return (wall_ns / FB_NS_PER_MS - BEGIN_MS) * f->pace / 1000;
}

/* Every pitch begins its rounds at another time: later pitches are ahead. */
static int64_t ahead_s(const struct fixture *f, int64_t pitch)
{
    return (pitch - 1) * LENGTH_S / f->live;
}

/* The match of a pitch; false: nobody tells of it yet, or any more. */
static bool set_round(const struct fixture *f, int64_t wall_ns, int64_t pitch, int64_t round,
                      struct match *m)
{
    int64_t now_s = played_s(f, wall_ns) + ahead_s(f, pitch);
    int64_t into_s = now_s - round * LENGTH_S;

    if (into_s < -60 * FB_MATCH_IMMINENT || into_s >= LENGTH_S + INT64_C(60) * FB_MATCH_COMPLETED)
        return false;
    *m = (struct match){.pitch = pitch, .round = round};
    m->state = into_s < 0 ? MATCH_IMMINENT : into_s < LENGTH_S ? MATCH_LIVE : MATCH_COMPLETED;
    m->minute = fb_clamp64(into_s / 60, 0, FB_MATCH_MINUTES);
    m->begins_s = BEGIN_MS / 1000 + (round * LENGTH_S - ahead_s(f, pitch)) / f->pace;
    snprintf(m->id, sizeof m->id, "m%" PRId64 "-%" PRId64, pitch, round % ROUNDS);
    name_sides(f, m);
    play(f, m);
    return true;
}

/* One of those that never change. */
static void set_fixed(const struct fixture *f, enum match_state state, int64_t number,
                      struct match *m)
{
    *m = (struct match){.state = state, .pitch = number};
    m->minute = state == MATCH_COMPLETED ? FB_MATCH_MINUTES : 0;
    m->begins_s = BEGIN_MS / 1000;
    snprintf(m->id, sizeof m->id, "%c%" PRId64, state == MATCH_COMPLETED ? 'c' : 'i', number);
    name_sides(f, m);
    play(f, m);
}

static int64_t round_now(const struct fixture *f, int64_t wall_ns, int64_t pitch)
{
    return (played_s(f, wall_ns) + ahead_s(f, pitch)) / LENGTH_S;
}

void fb_fixture_walk(const struct fixture *f, int64_t wall_ns,
                     void (*each)(void *to, const struct match *m), void *to)
{
    static const int STEP[MATCH_STATES] = {0, 1, -1};
    struct match m;

    for (int state = 0; state < MATCH_STATES; state++) {
        int64_t fixed = state == MATCH_IMMINENT    ? f->imminent
                        : state == MATCH_COMPLETED ? f->completed
                                                   : 0;

        for (int64_t pitch = 1; pitch <= f->live; pitch++)
            if (set_round(f, wall_ns, pitch, round_now(f, wall_ns, pitch) + STEP[state], &m))
                each(to, &m);
        for (int64_t number = 1; number <= fixed; number++) {
            set_fixed(f, (enum match_state)state, number, &m);
            each(to, &m);
        }
    }
}

/* ---- one of them ---- */

/* The round of a pitch whose last digits these are, near now. */
static bool find_round(const struct fixture *f, int64_t wall_ns, int64_t pitch, int64_t digits,
                       struct match *m)
{
    if (pitch < 1 || pitch > f->live)
        return false;
    int64_t now = round_now(f, wall_ns, pitch);
    for (int64_t round = now - 1; round <= now + 1; round++)
        if (round % ROUNDS == digits)
            return set_round(f, wall_ns, pitch, round, m);
    return false;
}

static bool find_fixed(const struct fixture *f, enum match_state state, int64_t number,
                       struct match *m)
{
    if (number < 1 || number > (state == MATCH_COMPLETED ? f->completed : f->imminent))
        return false;
    set_fixed(f, state, number, m);
    return true;
}

bool fb_match_find(const struct fixture *f, int64_t wall_ns, struct slice id,
                   struct match *ret_match)
{
    struct slice rest = fb_slice_after(id, 1);
    size_t dash = fb_slice_find(rest, '-');
    int64_t pitch;
    int64_t round;

    if (!fb_number_read(fb_slice_head(rest, dash), &pitch))
        return false;
    if (id.at[0] == 'm')
        return fb_number_read(fb_slice_after(rest, dash + 1), &round) &&
               find_round(f, wall_ns, pitch, round, ret_match);
    if (dash != rest.length || (id.at[0] != 'i' && id.at[0] != 'c'))
        return false;
    return find_fixed(f, id.at[0] == 'c' ? MATCH_COMPLETED : MATCH_IMMINENT, pitch, ret_match);
}

int64_t fb_match_number(const struct match *m)
{
    if (m->round > 0)
        return m->round % ROUNDS * FB_MATCH_PITCHES + m->pitch;
    return m->pitch + (m->state == MATCH_COMPLETED ? NUMBER_COMPLETED : NUMBER_IMMINENT);
}

bool fb_match_find_number(const struct fixture *f, int64_t wall_ns, int64_t number,
                          struct match *ret_match)
{
    if (number > NUMBER_COMPLETED)
        return find_fixed(f, MATCH_COMPLETED, number - NUMBER_COMPLETED, ret_match);
    if (number > NUMBER_IMMINENT)
        return find_fixed(f, MATCH_IMMINENT, number - NUMBER_IMMINENT, ret_match);
    return find_round(f, wall_ns, number % FB_MATCH_PITCHES, number / FB_MATCH_PITCHES, ret_match);
}

const char *fb_match_state_name(enum match_state state)
{
    static const char *const NAMES[MATCH_STATES] = {"live", "imminent", "completed"};

    return NAMES[state];
}
