/* SPDX-License-Identifier: MIT */
/*
 * name.c - header names, taken apart into words and put together into a role and a pool.
 *
 * One pass over the bytes makes the words, one pass over the words finds the anchor, one more
 * gives each of them its meaning. Of two words that tell what the value is, the last one counts:
 * "app-limit-24hour-remaining" is about what remains.
 */
#include "signal/name.h"

#include <assert.h>
#include <string.h>

#include "signal/number.h"
#include "signal/reading.h"
#include "signal/words.h"

#define WORDS_MAX 12

struct part {
    struct slice text;
    const struct word *word;
};

struct parse {
    struct part part[WORDS_MAX];
    size_t count;
    size_t anchor;     /* the first word of the anchor; count: there is none */
    size_t anchor_end; /* the first after it */

    bool has_role;
    enum role role;
    bool seen[WORD_KINDS]; /* which kinds of words there are after the anchor */
    bool calendar;
    int64_t times; /* a number before a span */
    int64_t window_ns;
    struct slice per;

    char *name; /* being put together in header_name.text */
    size_t length;
};

/* ---- words ---- */

/* Every name that the rules can read has one of these in it; few others have. */
static const char STEMS[][4] = {"lim", "lef", "quo", "rem", "res", "ret", "use", "usa"};
#define LETTER(c) (1u << ((c) - 'a'))
#define FIRST     (LETTER('l') | LETTER('q') | LETTER('r') | LETTER('u'))

static bool is_stem(const char *at)
{
    for (size_t k = 0; k < sizeof(STEMS) / sizeof(STEMS[0]); k++) {
        if (fb_lower(at[0]) == STEMS[k][0] && fb_lower(at[1]) == STEMS[k][1] &&
            fb_lower(at[2]) == STEMS[k][2])
            return true;
    }
    return false;
}

static bool may_matter(struct slice name)
{
    for (size_t i = 0; i + 2 < name.length; i++) {
        /* The lower five bits of a letter are its number, whatever its case. */
        bool may = (FIRST << 1 >> (name.at[i] & 31) & 1) != 0;
        if (may && is_stem(name.at + i))
            return true;
    }
    return false;
}

static bool add_word(struct parse *p, struct slice word)
{
    if (word.length == 0)
        return true;
    if (p->count == WORDS_MAX)
        return false;
    p->part[p->count].text = word;
    p->part[p->count++].word = fb_word_get(word);
    return true;
}

/* Words in small letters; an underscore is a dash. False: not a name that could be ours. */
static bool split(struct parse *p, struct slice name, char *text)
{
    size_t begin = 0;

    for (size_t i = 0; i < name.length; i++) {
        char c = fb_lower(name.at[i]);
        text[i] = c;
        if (c <= ' ' || c > '~')
            return false;
        if (c != '-' && c != '_')
            continue;
        if (!add_word(p, (struct slice){text + begin, i - begin}))
            return false;
        begin = i + 1;
    }
    return add_word(p, (struct slice){text + begin, name.length - begin});
}

/* "X-" says nothing. */
static void drop_front(struct parse *p)
{
    assert(p->count > 0);
    if (p->part[0].text.length != 1 || p->part[0].text.at[0] != 'x')
        return;
    p->count--;
    memmove(p->part, p->part + 1, p->count * sizeof(p->part[0]));
}

static bool is_kind(const struct parse *p, size_t i, enum word_kind kind)
{
    return i < p->count && p->part[i].word->kind == kind;
}

/* "readratelimit": the anchor with a scope before it, in one word. */
static bool is_fused(const struct part *part)
{
    return part->text.length > 9 && part->word->kind == WORD_NAME &&
           fb_slice_ends(part->text, "ratelimit");
}

static size_t anchor_words(const struct parse *p, size_t i)
{
    if (is_kind(p, i, WORD_ANCHOR) || is_fused(&p->part[i]))
        return 1;
    return is_kind(p, i, WORD_RATE) && is_kind(p, i + 1, WORD_LIMIT) ? 2 : 0;
}

static void find_anchor(struct parse *p)
{
    p->anchor = p->anchor_end = p->count;
    for (size_t i = 0; i < p->count; i++) {
        size_t words = anchor_words(p, i);
        if (words > 0) {
            p->anchor = i;
            p->anchor_end = i + words;
            return;
        }
    }
}

/* ---- meaning ---- */

static void add_name(struct parse *p, struct slice word)
{
    assert(p->length + word.length + 1 <= FB_NAME_MAX + 2);
    if (p->length > 0)
        p->name[p->length++] = '-';
    memcpy(p->name + p->length, word.at, word.length);
    p->length += word.length;
}

static void add_span(struct parse *p, size_t i, int64_t span_ns, struct slice word)
{
    bool per = i > 0 && is_kind(p, i - 1, WORD_PER);

    p->calendar |= span_ns == 0;
    if (span_ns > 0 && p->times > 0 && p->times <= FLY_SIGNAL_RESET_MAX_NS / span_ns)
        p->window_ns = span_ns * p->times;
    if (per)
        p->per = word;
    else
        add_name(p, word);
}

/* "24hour", "15min", "1m", "10s": the length of a window in one word. */
static bool fused_span(struct slice text, int64_t *ret_times, int64_t *ret_span_ns)
{
    static const struct word UNITS[] = {
        {"s", WORD_SPAN, FB_S},
        {"m", WORD_SPAN, 60 * FB_S},
        {"h", WORD_SPAN, FB_HOUR_NS},
        {"d", WORD_SPAN, FB_DAY_NS},
    };
    struct slice unit = text;

    if (!fb_is_digit(text.at[0]) || !fb_digits_take(&unit, ret_times) || unit.length == 0)
        return false;
    for (size_t i = 0; i < sizeof(UNITS) / sizeof(UNITS[0]); i++) {
        *ret_span_ns = UNITS[i].span_ns;
        if (fb_slice_is(unit, UNITS[i].text))
            return true;
    }
    const struct word *w = fb_word_get(unit);
    *ret_span_ns = w->span_ns;
    return w->kind == WORD_SPAN;
}

static void read_other(struct parse *p, size_t i, enum role role)
{
    struct slice text = p->part[i].text;
    int64_t times, span_ns;

    (void)role;
    if (fused_span(text, &times, &span_ns)) {
        p->times = times;
        add_span(p, i, span_ns, text);
        return;
    }
    if (fb_number_read(text, &times) && is_kind(p, i + 1, WORD_SPAN))
        p->times = times;
    add_name(p, text);
}

/* ---- what each kind of word does ---- */

typedef void read_fn(struct parse *p, size_t i, enum role role);

static void read_nothing(struct parse *p, size_t i, enum role role)
{
    (void)p;
    (void)i;
    (void)role;
}

static void read_role(struct parse *p, size_t i, enum role role)
{
    (void)i;
    p->role = role;
    p->has_role = true;
}

/* Words that too many other headers use: "X-Total-Count" is about pages. */
static void read_anchored(struct parse *p, size_t i, enum role role)
{
    if (p->anchor < p->count)
        read_role(p, i, role);
    else
        p->seen[WORD_MUTE] = true;
}

/* "X-RateLimit-Resource" tells the name, "...-Remaining-Resource-Reads" has the word in it. */
static void read_title(struct parse *p, size_t i, enum role role)
{
    if (p->anchor_end + 1 == p->count)
        read_role(p, i, role);
    else
        add_name(p, p->part[i].text);
}

static void read_named(struct parse *p, size_t i, enum role role)
{
    (void)role;
    add_name(p, p->part[i].text);
}

static void read_span(struct parse *p, size_t i, enum role role)
{
    const struct part *part = &p->part[i];
    bool today = fb_slice_is(part->text, "today");

    (void)role;
    add_span(p, i, part->word->span_ns, today ? FB_SLICE("day") : part->text);
}

static const struct {
    read_fn *read;
    enum role role;
} MEANING[WORD_KINDS] = {
    [WORD_NAME] = {read_other, ROLE_BARE},         [WORD_LIMIT] = {read_role, ROLE_LIMIT},
    [WORD_TOTAL] = {read_anchored, ROLE_LIMIT},    [WORD_REMAINING] = {read_role, ROLE_REMAINING},
    [WORD_USED] = {read_role, ROLE_USED},          [WORD_COUNT] = {read_anchored, ROLE_USED},
    [WORD_RESET] = {read_role, ROLE_RESET},        [WORD_NEXT] = {read_anchored, ROLE_RESET},
    [WORD_PERIOD] = {read_anchored, ROLE_PERIOD},  [WORD_FILL] = {read_anchored, ROLE_FILL},
    [WORD_RATE] = {read_anchored, ROLE_FILL},      [WORD_POLICY] = {read_anchored, ROLE_POLICY},
    [WORD_NEAR] = {read_anchored, ROLE_NEAR},      [WORD_ANCHOR] = {read_role, ROLE_LIMIT},
    [WORD_TITLE] = {read_title, ROLE_TITLE},       [WORD_REQUESTS] = {read_named, ROLE_BARE},
    [WORD_SCOPE] = {read_named, ROLE_BARE},        [WORD_SPAN] = {read_span, ROLE_BARE},
    [WORD_CALLS] = {read_nothing, ROLE_BARE},      [WORD_PER] = {read_nothing, ROLE_BARE},
    [WORD_AFTER] = {read_nothing, ROLE_BARE},      [WORD_RETRY] = {read_nothing, ROLE_BARE},
    [WORD_CONCURRENT] = {read_nothing, ROLE_BARE}, [WORD_MUTE] = {read_nothing, ROLE_BARE},
    [WORD_MS] = {read_nothing, ROLE_BARE},         [WORD_FILLER] = {read_nothing, ROLE_BARE},
};

/* Before the anchor stands whose limit it is, or only who tells it. */
static size_t read_front(struct parse *p)
{
    size_t vendor = 0;

    for (size_t i = 0; i < p->anchor; i++) {
        if (p->part[i].word->kind == WORD_NAME) {
            add_name(p, p->part[i].text);
            vendor = p->length + 1;
        }
    }
    for (size_t i = 0; i < p->anchor; i++) {
        enum word_kind kind = p->part[i].word->kind;
        if (kind == WORD_SCOPE || kind == WORD_SPAN)
            MEANING[kind].read(p, i, MEANING[kind].role);
    }
    if (is_fused(&p->part[p->anchor]))
        add_name(p, fb_slice_head(p->part[p->anchor].text, p->part[p->anchor].text.length - 9));
    return vendor;
}

static void read_words(struct parse *p, size_t from)
{
    for (size_t i = from; i < p->count; i++) {
        enum word_kind kind = p->part[i].word->kind;
        p->seen[kind] = true;
        MEANING[kind].read(p, i, MEANING[kind].role);
    }
}

/* ---- the whole ---- */

static bool settle_role(struct parse *p)
{
    if (p->seen[WORD_CONCURRENT]) {
        bool limit = p->role == ROLE_LIMIT;
        p->role = ROLE_CONCURRENCY;
        return limit;
    }
    if (p->seen[WORD_RETRY]) {
        p->role = ROLE_WAIT;
        return p->seen[WORD_AFTER];
    }
    if (p->has_role && p->role == ROLE_RESET && p->seen[WORD_AFTER])
        p->role = ROLE_RESET_AFTER;
    return true;
}

/* "X-HubSpot-RateLimit-Daily": a limit, though no word says so. */
static enum role unsaid_role(const struct parse *p)
{
    if (p->anchor_end == p->count)
        return ROLE_BARE;
    return p->seen[WORD_SPAN] ? ROLE_LIMIT : ROLE_PARAMS;
}

static bool is_counted(const struct parse *p)
{
    return p->seen[WORD_CALLS] || p->seen[WORD_REQUESTS] || p->window_ns != FLY_ABSENT ||
           p->calendar;
}

/*
 * Without an anchor, a name has to be about calls, or about a span of time; else its value has to
 * say what it is ("api-usage=18/5000").
 */
static bool is_about_limits(struct parse *p)
{
    if (p->anchor < p->count || p->role == ROLE_WAIT || p->role == ROLE_CONCURRENCY)
        return true;
    if (!p->has_role || is_counted(p))
        return p->has_role;
    bool amount = p->role <= ROLE_USED;
    p->role = ROLE_PARAMS;
    return amount;
}

static void parse_init(struct parse *p, struct header_name *n)
{
    /* The words are written before they are read; they need no zeroes. */
    p->count = 0;
    p->has_role = false;
    p->role = ROLE_BARE;
    memset(p->seen, 0, sizeof(p->seen));
    p->calendar = false;
    p->times = 1;
    p->window_ns = FLY_ABSENT;
    p->per = (struct slice){NULL, 0};
    p->name = n->text + FB_NAME_MAX;
    p->length = 0;
}

static void parse_finish(const struct parse *p, struct header_name *n)
{
    bool told = p->has_role || p->role == ROLE_WAIT;

    n->role = told ? p->role : unsaid_role(p);
    n->ms = p->seen[WORD_MS];
    n->calendar = p->calendar;
    n->window_ns = p->window_ns;
    n->per = p->per;
    n->pool = (struct slice){p->name, p->length};
}

bool fb_name_read(struct slice name, struct header_name *ret_name)
{
    struct parse p;

    if (name.length > FB_NAME_MAX || !may_matter(name))
        return false;
    parse_init(&p, ret_name);
    if (!split(&p, name, ret_name->text))
        return false;
    drop_front(&p);
    find_anchor(&p);
    bool anchored = p.anchor < p.count;
    ret_name->vendor = anchored ? read_front(&p) : 0;
    read_words(&p, anchored ? p.anchor_end : 0);
    if (p.seen[WORD_MUTE] || !settle_role(&p) || !is_about_limits(&p))
        return false;
    parse_finish(&p, ret_name);
    return true;
}
