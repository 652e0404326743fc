/* SPDX-License-Identifier: MIT */
/*
 * recovery.c - the table of what is done about failures.
 *
 * Rules given as text come first, then those built in; the first that fits decides. The built-in
 * ones end with a rule for everything, so there is always an answer.
 */
#include "core/recovery.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include <flyball/flyball.h>

#include "util/text.h"

#define FOREVER INT32_MAX

static const struct {
    const char *name;
    const char *says;
    enum failure_family family;
} failures[FAIL_KINDS] = {
#define X(id, name, family, says) [FAIL_##id] = {name, says, FAMILY_##family},
    FB_FAILURES(X)
#undef X
};

static const char *const strategies[STRATEGY_KINDS] = {"retry", "defer", "failover", "skip",
                                                       "escalate"};
static const char *const modes[MODE_KINDS] = {"graceful", "strict", "offline"};

/* "429" is what people call it. */
static const struct {
    const char *name;
    enum failure_family family;
} families[] = {
    {"*", FAMILY_NONE},          {"429", FAMILY_THROTTLED},   {"throttled", FAMILY_THROTTLED},
    {"timeout", FAMILY_TIMEOUT}, {"network", FAMILY_NETWORK}, {"5xx", FAMILY_5XX},
    {"4xx", FAMILY_4XX},         {"payload", FAMILY_PAYLOAD},
};

#define RULE(operation, family, from, to, strategy)                          \
    {                                                                        \
        operation, FAMILY_##family, FAIL_NONE, from, to, STRATEGY_##strategy \
    }

static const struct recovery_rule built_in[] = {
    /* Whoever watches looks again by himself, and perhaps elsewhere. */
    RULE("look", NONE, 1, FOREVER, SKIP),
    RULE("download", THROTTLED, 1, FOREVER, RETRY),
    RULE("validate", THROTTLED, 1, FOREVER, DEFER),
    RULE("resolve", THROTTLED, 1, FOREVER, FAILOVER),
    RULE("", THROTTLED, 1, FOREVER, RETRY),
    RULE("download", TIMEOUT, 1, FOREVER, RETRY),
    RULE("resolve", TIMEOUT, 1, 2, RETRY),
    RULE("resolve", TIMEOUT, 3, FOREVER, FAILOVER),
    RULE("manifest-fetch", TIMEOUT, 1, 2, RETRY),
    RULE("manifest-fetch", TIMEOUT, 3, FOREVER, FAILOVER),
    RULE("validate", TIMEOUT, 1, FOREVER, DEFER),
    RULE("", TIMEOUT, 1, 2, RETRY),
    RULE("", TIMEOUT, 3, FOREVER, SKIP),
    RULE("download", NETWORK, 1, FOREVER, RETRY),
    RULE("", NETWORK, 1, 2, RETRY),
    RULE("", NETWORK, 3, FOREVER, ESCALATE),
    RULE("download", 5XX, 1, 4, RETRY),
    RULE("", 5XX, 1, 1, RETRY),
    RULE("", 5XX, 1, FOREVER, SKIP),
    RULE("", 4XX, 1, FOREVER, ESCALATE),
    RULE("", PAYLOAD, 1, FOREVER, RETRY),
    RULE("", NONE, 1, FOREVER, ESCALATE),
};

#define BUILT_IN (sizeof(built_in) / sizeof(built_in[0]))

void fb_recovery_init(struct recovery *r)
{
    *r = (struct recovery){.mode = MODE_GRACEFUL, .attempts_max = FB_RECOVERY_ATTEMPTS_MAX};
}

/* ------------------------------------------------------------------------------------- deciding */

static bool fits(const struct recovery_rule *rule, const char *operation, enum failure failure,
                 int32_t attempt)
{
    assert(failure < FAIL_KINDS && rule->from <= rule->to);
    if (rule->operation[0] && strcmp(rule->operation, operation) != 0)
        return false;
    if (rule->family != FAMILY_NONE && rule->family != failures[failure].family)
        return false;
    if (rule->failure != FAIL_NONE && rule->failure != failure)
        return false;
    return attempt >= rule->from && attempt <= rule->to;
}

/* The rule that decides, and whether somebody gave it. */
static const struct recovery_rule *rule_get(const struct recovery *r, const char *operation,
                                            enum failure failure, int32_t attempt, bool *ret_given)
{
    assert(r->count >= 0 && r->count <= FB_RECOVERY_RULES_MAX);
    *ret_given = true;
    for (int32_t i = 0; i < r->count; i++)
        if (fits(&r->rule[i], operation, failure, attempt))
            return &r->rule[i];

    const struct recovery_rule *rule = built_in;

    *ret_given = false;
    while (!fits(rule, operation, failure, attempt)) {
        rule++;
        assert(rule < built_in + BUILT_IN);
    }
    return rule;
}

/* A rule without an end would try for ever; a throttled answer is not an attempt. */
static bool is_used_up(const struct recovery *r, const struct recovery_rule *rule,
                       enum failure failure, int32_t attempt)
{
    bool is_bound = rule->to == FOREVER || r->bounds_all;

    assert(r->attempts_max >= 1);
    return is_bound && failure != FAIL_THROTTLED && attempt >= r->attempts_max;
}

/* What a rule comes to: its retries end, and strict leaves nothing out silently. */
static enum strategy strategy_of(const struct recovery *r, const struct recovery_rule *rule,
                                 enum failure failure, int32_t attempt)
{
    bool silent = rule->strategy == STRATEGY_SKIP || rule->strategy == STRATEGY_DEFER;

    assert(rule->strategy < STRATEGY_KINDS);
    if (rule->strategy == STRATEGY_RETRY && is_used_up(r, rule, failure, attempt))
        return STRATEGY_ESCALATE;
    return silent && r->mode == MODE_STRICT ? STRATEGY_ESCALATE : rule->strategy;
}

enum strategy fb_recovery_decide(const struct recovery *r, const char *operation,
                                 enum failure failure, int32_t attempt, bool has_other)
{
    assert(failure > FAIL_NONE && failure < FAIL_KINDS);
    assert(attempt >= 1);
    if (failures[failure].family == FAMILY_LOCAL)
        return STRATEGY_ESCALATE;

    bool is_given;
    const struct recovery_rule *rule = rule_get(r, operation, failure, attempt, &is_given);
    enum strategy s = strategy_of(r, rule, failure, attempt);
    bool gives_up = s == STRATEGY_SKIP || s == STRATEGY_ESCALATE;
    bool is_wanted = is_given && rule->strategy != STRATEGY_RETRY;

    return has_other && gives_up && !is_wanted ? STRATEGY_FAILOVER : s;
}

enum failure fb_failure_of_status(int32_t status)
{
    if (status == 429)
        return FAIL_THROTTLED;
    if (status >= 500)
        return FAIL_5XX;
    return status >= 400 ? FAIL_4XX : FAIL_NONE;
}

/* -------------------------------------------------------------------------------------- reading */

/* A piece of the text, without its end. */
struct piece {
    const char *at;
    size_t size;
};

static bool piece_is(const struct piece *p, const char *word)
{
    return strlen(word) == p->size && memcmp(p->at, word, p->size) == 0;
}

/* The part up to one of `ends`, which is passed over where `over` says so. */
static struct piece next_piece(const char **text, const char *ends)
{
    struct piece p = {*text, strcspn(*text, ends)};

    assert(p.at[p.size] == '\0' || strchr(ends, p.at[p.size]));

    *text += p.size;
    return p;
}

static int mistake(struct fly_error *err, const struct piece *p, const char *expected)
{
    struct text t;

    if (!err)
        return -EINVAL;
    assert(p->at && expected);
    fb_text_init(&t, err->text, sizeof(err->text));
    fb_text_add(&t, "\"");
    fb_text_add_bytes(&t, p->at, p->size);
    fb_text_add(&t, "\" in a recovery rule; expected: ");
    fb_text_add(&t, expected);
    return -EINVAL;
}

static int read_operation(struct recovery_rule *rule, const struct piece *p, struct fly_error *err)
{
    if (p->size == 0 || p->size >= sizeof(rule->operation))
        return mistake(err, p, "an operation such as download, or * for all");
    assert(!rule->operation[0]); /* all zeroes: what is copied has its end */
    if (!piece_is(p, "*"))
        memcpy(rule->operation, p->at, p->size);
    return 0;
}

static int read_failure(struct recovery_rule *rule, const struct piece *p, struct fly_error *err)
{
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        if (piece_is(p, families[i].name)) {
            rule->family = families[i].family;
            return 0;
        }
    for (int i = FAIL_NONE + 1; i < FAIL_KINDS; i++)
        if (failures[i].family != FAMILY_LOCAL && piece_is(p, failures[i].name)) {
            rule->family = failures[i].family;
            rule->failure = (enum failure)i;
            return 0;
        }
    return mistake(err, p, "429, timeout, network, 5xx, 4xx, payload, a class of them, or *");
}

/* Up to four digits. */
static bool read_number(const char **at, const char *end, int32_t *ret_number)
{
    const char *start = *at;
    int32_t number = 0;

    while (*at < end && **at >= '0' && **at <= '9' && *at - start < 4)
        number = 10 * number + (*(*at)++ - '0');
    assert(number <= 9999 && *at <= end);
    *ret_number = number;
    return *at > start && number > 0;
}

/* "*", "2", "1-2", "3-". */
static int read_attempts(struct recovery_rule *rule, const struct piece *p, struct fly_error *err)
{
    const char *at = p->at;
    const char *end = p->at + p->size;
    bool good = true;

    rule->from = 1;
    rule->to = FOREVER;
    if (piece_is(p, "*"))
        return 0;
    good = read_number(&at, end, &rule->from);
    rule->to = rule->from;
    if (good && at < end && *at == '-') {
        at++;
        rule->to = FOREVER;
        if (at < end)
            good = read_number(&at, end, &rule->to);
    }
    if (!good || at != end || rule->to < rule->from)
        return mistake(err, p, "attempts such as 1, 1-2, 3- or *");
    return 0;
}

static int read_strategy(struct recovery_rule *rule, const struct piece *p, struct fly_error *err)
{
    for (int i = 0; i < STRATEGY_KINDS; i++)
        if (piece_is(p, strategies[i])) {
            rule->strategy = (enum strategy)i;
            return 0;
        }
    return mistake(err, p, "retry, defer, failover, skip or escalate");
}

/* The parts of a rule, what each ends with, and what reads it. */
static const struct {
    const char *ends;
    int (*read)(struct recovery_rule *rule, const struct piece *p, struct fly_error *err);
} parts[] = {
    {"/=, \t\n", read_operation},
    {"/=, \t\n", read_failure},
    {"=, \t\n", read_attempts},
    {", \t\n", read_strategy},
};

enum { OPERATION, FAILURE, ATTEMPTS, STRATEGY, PARTS };

static int read_rule(const char **text, struct recovery_rule *ret_rule, struct fly_error *err)
{
    static const struct piece all = {"*", 1};

    *ret_rule = (struct recovery_rule){0};
    for (int i = 0; i < PARTS; i++) {
        /* Behind the failure stands "/" and the attempts, or "=" and the strategy. */
        bool left_out = i == ATTEMPTS && **text == '=';
        struct piece p = all;

        if (i > OPERATION && !left_out) {
            if (**text != (i == STRATEGY ? '=' : '/'))
                return mistake(err, &(struct piece){*text, **text != '\0'},
                               "operation/failure/attempts=strategy");
            (*text)++;
        }
        if (!left_out)
            p = next_piece(text, parts[i].ends);

        int rc = parts[i].read(ret_rule, &p, err);

        if (rc < 0)
            return rc;
    }
    assert(ret_rule->from >= 1 && ret_rule->to >= ret_rule->from);
    return 0;
}

int fb_recovery_add(struct recovery *r, const char *text, struct fly_error *err)
{
    struct recovery_rule added[FB_RECOVERY_RULES_MAX];
    int32_t count = 0;

    for (text += strspn(text, ", \t\n"); *text; text += strspn(text, ", \t\n")) {
        struct recovery_rule rule;
        int rc = read_rule(&text, &rule, err);

        if (rc < 0)
            return rc;
        if (r->count + count >= FB_RECOVERY_RULES_MAX) {
            (void)mistake(err, &(struct piece){text, 0}, "at most 32 rules");
            return -ENOSPC;
        }
        added[count++] = rule;
    }
    assert(r->count + count <= FB_RECOVERY_RULES_MAX);
    memmove(&r->rule[count], r->rule, (size_t)r->count * sizeof(r->rule[0]));
    memcpy(r->rule, added, (size_t)count * sizeof(added[0]));
    assert(r->count >= 0 && r->count <= FB_RECOVERY_RULES_MAX);
    r->count += count;
    return 0;
}

/* ---------------------------------------------------------------------------------------- names */

enum failure_family fb_failure_family(enum failure f)
{
    assert(f < FAIL_KINDS);
    return failures[f].family;
}

const char *fb_failure_name(enum failure f)
{
    assert(f < FAIL_KINDS);
    return failures[f].name;
}

const char *fb_failure_says(enum failure f)
{
    assert(f < FAIL_KINDS);
    return failures[f].says;
}

const char *fb_strategy_name(enum strategy s)
{
    assert(s < STRATEGY_KINDS);
    return strategies[s];
}

int fb_recovery_mode_find(const char *name)
{
    assert(name);
    for (int i = 0; i < MODE_KINDS; i++)
        if (strcmp(name, modes[i]) == 0)
            return i;
    return -1;
}
