/* SPDX-License-Identifier: MIT */
/*
 * why.c - until when, because of what, who says so, and what would change it.
 *
 * What would change it depends on the cause alone, and on whether the limit was stated or learned:
 * a table of advice.
 */
#include "view/why.h"

#include <string.h>

#include "util/json.h"
#include "view/rows.h"
#include "view/words.h"

#define NS_PER_S INT64_C(1000000000)
#define LABEL    11 /* columns before the text of a line */

static const char *const VERDICT[VIEW_VERDICTS] = {
#define X(name) #name,
    FB_VIEW_VERDICTS(X)
#undef X
};

static const enum view_state VERDICT_STATE[VIEW_VERDICTS] = {
    [VIEW_VERDICT_now] = VIEW_ok,          [VIEW_VERDICT_waits] = VIEW_holding,
    [VIEW_VERDICT_waited] = VIEW_ok,       [VIEW_VERDICT_deferred] = VIEW_holding,
    [VIEW_VERDICT_done] = VIEW_ok,         [VIEW_VERDICT_failed] = VIEW_critical,
    [VIEW_VERDICT_stopped] = VIEW_warning, [VIEW_VERDICT_unknown] = VIEW_idle,
};

static const char *const SAID[VIEW_VERDICTS] = {
    [VIEW_VERDICT_now] = "a request may start now",
    [VIEW_VERDICT_waits] = "waits",
    [VIEW_VERDICT_waited] = "waits no longer",
    [VIEW_VERDICT_deferred] = "deferred",
    [VIEW_VERDICT_done] = "done",
    [VIEW_VERDICT_failed] = "failed",
    [VIEW_VERDICT_stopped] = "its batch does not run",
    [VIEW_VERDICT_unknown] = "not known",
};

/* What the learned holds back is told apart from what a server asked for. */
#define LEARNED_SPENT "learned: spent"
#define TOLD_SPENT    "told: spent"
#define LEARNED_WAITS "learned: waits"
#define LEARNED_ASKS  "learned: asks"

/* Cause, what it is, what would change it where it was stated, and where it was learned or told. */
static const struct {
    const char *cause;
    const char *is;
    const char *stated;
    const char *learned;
} CAUSES[] = {
    {"hold", "a refusal holds the whole key",
     "only time: the server asked for it, and nothing here shortens it. Another credential has a "
     "budget of its own.",
     "only time: the server asked for it, and nothing here shortens it. Another credential has a "
     "budget of its own."},
    {LEARNED_SPENT, "what the learned limit allows until then is used up",
     "only time: then it goes on by itself. --limit states a limit, 'flyball learned reset' begins "
     "anew.",
     "only time: then it goes on by itself. --limit states a limit, 'flyball learned reset' begins "
     "anew."},
    {TOLD_SPENT, "what the server says is left until then is used up",
     "only time: its reset, and nothing here brings that nearer.",
     "only time: its reset, and nothing here brings that nearer."},
    {LEARNED_WAITS, "no server said for how long: one request tries it then",
     "the answer to that request.", "the answer to that request."},
    {LEARNED_ASKS, "one request is out to see how the others may go on", "its answer.",
     "its answer."},
    {"ramp", "after a hold the key comes back gently", "the next answer, or a second or two.",
     "the next answer, or a second or two."},
    {"bucket", "the rate allows no more yet", "a higher rate= or burst= where the limit is stated.",
     "answers: the pace rises by itself while nothing refuses. --limit states one, 'flyball "
     "learned "
     "reset' begins anew."},
    {"window", "a stated window is full",
     "time, as requests leave the window; or a larger window= where it is stated.",
     "time, as requests leave the window."},
    {"quota", "the quota that the server told is spread or used up",
     "its reset; before that a smaller reserve= or pacing=demand.",
     "its reset; before that a smaller reserve= or pacing=demand."},
    {"concurrency", "as many requests as allowed are under way",
     "any answer; or a larger concurrency= or --concurrency.",
     "any answer; or a larger --concurrency."},
    {"breaker", "too many failures in a row: only trials leave",
     "a trial that succeeds, at the time above.", "a trial that succeeds, at the time above."},
    {"pause", "too many failures in a row: the key is left alone for a while",
     "only time; other keys go on.", "only time; other keys go on."},
    {"asking", "the provider is asked first how much is left",
     "its answer; without one it starts all the same, ten seconds after it was asked.",
     "its answer; without one it starts all the same, ten seconds after it was asked."},
    {"starting", "requests that must not be sent twice are written down first",
     "that they are, in a moment.", "that they are, in a moment."},
    {"disabled", "its provider is switched off", NULL, NULL}, /* see add_change */
    {"too-large", "it costs more than a window allows", "a smaller cost, or a larger window=.",
     "a smaller cost."},
};
enum { CAUSE_COUNT = sizeof CAUSES / sizeof CAUSES[0] };

/* Nobody states a limit here: the server tells of one with its answers. */
static bool is_told(const struct view_key *k)
{
    return !k->spec[0] && k->quota_limit > 0 && k->told_by[0];
}

/* The row of the table; "hold" and "ramp" have others where it is not a server that asks. */
static const char *row_of(const struct view_key *k)
{
    if (k->flags & VIEW_KEY_PACED && strcmp(k->cause, "hold") == 0)
        return !(k->flags & VIEW_KEY_SPENT)       ? LEARNED_WAITS
               : is_told(k) && k->quota_left <= 0 ? TOLD_SPENT
                                                  : LEARNED_SPENT;
    return k->flags & VIEW_KEY_PACED && strcmp(k->cause, "ramp") == 0 ? LEARNED_ASKS : k->cause;
}

static int cause_of(const struct view_why *v)
{
    for (int i = 0; v->has_key && i < CAUSE_COUNT; i++) {
        if (strcmp(CAUSES[i].cause, row_of(&v->key)) == 0)
            return i;
    }
    return -1;
}

static bool is_waiting(const struct view_why *v)
{
    return v->verdict == VIEW_VERDICT_waits || v->verdict == VIEW_VERDICT_waited;
}

/* A sentence, or NULL. */
static const char *change_of(const struct view_why *v)
{
    int cause = cause_of(v);

    if (v->verdict == VIEW_VERDICT_stopped)
        return "running its batch again.";
    if (v->verdict == VIEW_VERDICT_deferred)
        return "running its batch again with --deferred, at that time.";
    if (v->verdict == VIEW_VERDICT_failed)
        return "running its batch again with --retry-failed.";
    if (v->verdict != VIEW_VERDICT_waits || cause < 0)
        return NULL;
    if (is_told(&v->key) && strcmp(v->key.cause, "bucket") == 0)
        return "the reset of its quota, which is spent evenly until then; or --limit.";
    return v->key.spec[0] ? CAUSES[cause].stated : CAUSES[cause].learned;
}

/* What would change it, if anything would. */
static void add_change(const struct view_why *v, struct buffer *to)
{
    const char *change = change_of(v);

    if (v->verdict == VIEW_VERDICT_waits && v->has_key && v->key.flags & VIEW_KEY_DISABLED) {
        fb_buffer_add_text(to, "turn it on with: flyball provider enable ");
        fb_buffer_add_text(to, v->key.provider);
    } else if (change) {
        fb_buffer_add_text(to, change);
    }
}

void fb_view_why_judge(const struct view_key *key, bool sends, int64_t now_ns,
                       struct view_why *ret_why)
{
    struct view_why *v = ret_why;
    int64_t next_ns = sends ? fb_view_key_next_ns(key, now_ns) : key->ready_ns;

    v->has_key = true;
    v->key = *key;
    v->key.ready_ns = next_ns;
    v->verdict = next_ns > now_ns ? VIEW_VERDICT_waits : VIEW_VERDICT_now;
    v->until_ns = next_ns > now_ns && !(key->flags & VIEW_KEY_DISABLED) ? next_ns : 0;
    if (v->verdict == VIEW_VERDICT_now)
        v->key.cause[0] = '\0';
}

/* "ratelimit-policy: 48 of 50/10s left, told 3 s ago" */
static void add_told(const struct view_key *k, int64_t now_ns, struct buffer *to)
{
    fb_buffer_add_text(to, k->told_by[0] ? k->told_by : "limit headers of its answers");
    fb_buffer_add_text(to, ": ");
    fb_words_count(k->quota_left, to);
    fb_buffer_add_text(to, " of ");
    if (k->quota_window_ns > 0)
        fb_words_window(k->quota_limit, k->quota_window_ns, to);
    else
        fb_words_count(k->quota_limit, to);
    fb_buffer_add_text(to, " left");
    if (k->told_ns > 0 && k->told_ns < now_ns) {
        fb_buffer_add_text(to, ", told ");
        fb_words_span(now_ns - k->told_ns, to);
        fb_buffer_add_text(to, " ago");
    }
}

/* The header, or the rule, that decides. */
static void add_rule(const struct view_why *v, int64_t now_ns, struct buffer *to)
{
    const struct view_key *k = &v->key;
    /* Of a wait that is over it is what was so then. */
    bool is_quota_over =
        !fb_view_key_has_quota(k, v->verdict == VIEW_VERDICT_waited ? k->seen_ns : now_ns);
    bool is_hold = (strcmp(k->cause, "hold") == 0 || strcmp(k->cause, "ramp") == 0) &&
                   !(k->flags & VIEW_KEY_SPENT);
    bool is_quota = strcmp(k->cause, "quota") == 0;

    if (fb_view_key_is_down(k, 0) && k->failed_count > 0) {
        fb_view_key_failures(k, to);
    } else if ((is_hold || is_quota) && k->refused_ns > 0 && k->retry_after_ns > 0) {
        fb_buffer_add_text(to, "Retry-After: ");
        fb_buffer_add_int(to, (k->retry_after_ns + NS_PER_S - 1) / NS_PER_S);
        fb_buffer_add_text(to, ", with status ");
        fb_buffer_add_int(to, k->refused_status);
    } else if (is_hold && k->refused_ns > 0) {
        fb_buffer_add_text(to, "status ");
        fb_buffer_add_int(to, k->refused_status);
        fb_buffer_add_text(to, ", without a time");
    } else if (is_hold && k->flags & VIEW_KEY_SHARED) {
        fb_buffer_add_text(to, "a server told it to another run");
    } else if (is_quota || (is_told(k) && !is_quota_over)) {
        add_told(k, now_ns, to);
    } else if (k->spec[0]) {
        fb_buffer_add_text(to, k->spec);
        fb_buffer_add_text(to, k->said_by[0] ? " (" : "");
        fb_buffer_add_text(to, k->said_by);
        fb_buffer_add_text(to, k->said_by[0] ? ")" : "");
    } else if (k->limit > 0.0 && k->flags & VIEW_KEY_LEARNED && !(k->flags & VIEW_KEY_LEARNING)) {
        fb_buffer_add_text(to, "learned: ");
        fb_view_key_limit(k, to);
        fb_buffer_add_text(to, ", confidence ");
        fb_buffer_add_int(to, (int64_t)(k->confidence * 100.0 + 0.5));
        fb_buffer_add_text(to, " %");
    }
}

/* -------------------------------------------------------------------------------- for people */

/* A label, and a text folded to the window, each further line below the first. */
static void add_line(const char *label, const char *text, const struct view_style *style,
                     struct buffer *to)
{
    size_t width = style->width > 30 ? style->width : 79;
    size_t column = LABEL;

    fb_buffer_add_text(to, "  ");
    fb_buffer_add_text(to, label);
    for (size_t i = strlen(label) + 2; i < LABEL; i++)
        fb_buffer_add_char(to, ' ');
    while (*text) {
        size_t word = strcspn(text, " ");
        size_t wide = fb_words_columns(text, word);

        if (column + 1 + wide > width && column > LABEL) {
            fb_buffer_add_char(to, '\n');
            for (column = 0; column < LABEL; column++)
                fb_buffer_add_char(to, ' ');
        } else if (column > LABEL) {
            fb_buffer_add_char(to, ' ');
            column++;
        }
        for (size_t i = 0; i < word; i++)
            fb_buffer_add_char(to,
                               (unsigned char)text[i] < 0x20 || text[i] == 0x7f ? '?' : text[i]);
        column += wide;
        text += word + strspn(text + word, " ");
    }
    fb_buffer_add_char(to, '\n');
}

static void add_buffer(const char *label, struct buffer *text, const struct view_style *style,
                       struct buffer *to)
{
    if (!fb_buffer_text(text))
        to->failed = true;
    else if (text->size > 0)
        add_line(label, text->bytes, style, to);
    fb_buffer_fini(text);
}

/* "; it did for 5.2 s, until " */
static void add_past(const struct view_why *v, struct buffer *to)
{
    fb_buffer_add_text(to, v->verdict == VIEW_VERDICT_waited ? "; it did " : "; due ");
    if (v->verdict != VIEW_VERDICT_waited)
        return;
    if (v->lasted_ns > 0) {
        fb_buffer_add_text(to, "for ");
        fb_view_add_short(v->lasted_ns, to);
        fb_buffer_add_text(to, ", ");
    }
    fb_buffer_add_text(to, "until ");
}

static void add_verdict(const struct view_why *v, const struct view_style *style, int64_t now_ns,
                        struct buffer *to)
{
    enum view_state s = VERDICT_STATE[v->verdict];

    fb_view_color_begin(s, style, to);
    fb_buffer_add_text(to, fb_view_state_shape(s, style->ascii));
    fb_buffer_add_char(to, ' ');
    fb_buffer_add_text(to, SAID[v->verdict]);
    fb_view_color_end(style, to);
    if (v->until_ns == VIEW_NEVER) {
        fb_buffer_add_text(to, " until an answer comes");
    } else if (v->until_ns > now_ns) {
        fb_buffer_add_text(to, " until ");
        fb_words_end(v->until_ns, now_ns, style->zone_s, to);
        fb_buffer_add_text(to, ", in ");
        fb_words_span(v->until_ns - now_ns, to);
    } else if (v->until_ns > 0) {
        add_past(v, to);
        fb_words_when_over(v->until_ns, now_ns, style->zone_s, to);
    }
    fb_buffer_add_char(to, '\n');
}

static void add_cause(const struct view_why *v, const struct view_style *style, struct buffer *to)
{
    int cause = cause_of(v);
    struct buffer text = BUFFER_INIT;

    if (is_waiting(v) && cause >= 0) {
        fb_buffer_add_text(&text, v->key.cause);
        fb_buffer_add_text(&text, ": ");
        fb_buffer_add_text(&text, CAUSES[cause].is);
        fb_buffer_add_text(&text, v->sentence[0] ? ". " : "");
    }
    fb_buffer_add_text(&text, v->sentence);
    add_buffer("because", &text, style, to);
}

static void add_key(const struct view_why *v, const struct view_style *style, int64_t now_ns,
                    struct buffer *to)
{
    struct buffer text = BUFFER_INIT;

    if (!v->has_key)
        return;
    add_rule(v, now_ns, &text);
    add_buffer("rule", &text, style, to);
    fb_view_key_name(&v->key, &text);
    if (v->key.queued > 0) {
        fb_buffer_add_text(&text, ", ");
        fb_words_count(v->key.queued, &text);
        fb_buffer_add_text(&text, v->verdict == VIEW_VERDICT_waited ? " queued then" : " queued");
    }
    add_buffer("key", &text, style, to);
    if (fb_view_key_has_quota(&v->key, now_ns)) {
        fb_view_key_left(&v->key, now_ns, &text);
        if (v->key.quota_reset_ns > 0) {
            fb_buffer_add_text(&text, ", full again ");
            fb_words_when(v->key.quota_reset_ns, now_ns, style->zone_s, &text);
        }
        add_buffer("left", &text, style, to);
    }
    if (v->key.refused_ns > 0) {
        fb_words_when(v->key.refused_ns, now_ns, style->zone_s, &text);
        fb_buffer_add_text(&text, ", item ");
        fb_buffer_add_text(&text, v->key.refused_item);
        add_buffer("refused", &text, style, to);
    }
}

void fb_view_why_text(const struct view_why *v, const struct view_style *style, int64_t now_ns,
                      struct buffer *to)
{
    struct buffer text = BUFFER_INIT;

    fb_buffer_add_text(to, v->subject);
    fb_buffer_add_char(to, '\n');
    add_verdict(v, style, now_ns, to);
    add_cause(v, style, to);
    add_key(v, style, now_ns, to);
    if (v->batch[0]) {
        fb_buffer_add_text(&text, v->batch);
        fb_buffer_add_text(&text, v->item[0] ? ", item " : "");
        fb_buffer_add_text(&text, v->item);
        fb_buffer_add_text(&text, v->progress[0] ? ", " : "");
        fb_buffer_add_text(&text, v->progress);
        add_buffer("batch", &text, style, to);
    }
    fb_view_waits(v->wait, v->wait_count, &text);
    add_buffer("in all", &text, style, to);
    add_change(v, &text);
    add_buffer("change", &text, style, to);
    if (v->next[0]) { /* one line, to be copied */
        fb_buffer_add_text(to, "  next     ");
        fb_buffer_add_text(to, v->next);
        fb_buffer_add_char(to, '\n');
    }
    if (v->source[0])
        add_line("source", v->source, style, to);
}

/* ------------------------------------------------------------------------------------- as JSON */

static void add_text_json(struct buffer *to, const char *name, const char *text)
{
    if (text && text[0])
        fb_json_text(to, name, text);
}

void fb_view_why_json(const struct view_why *v, int64_t now_ns, struct buffer *to)
{
    struct buffer rule = BUFFER_INIT;

    fb_view_json_begin("why", now_ns, to);
    fb_json_text(to, "subject", v->subject);
    fb_json_text(to, "verdict", VERDICT[v->verdict]);
    fb_words_json_end(to, "until", v->until_ns, now_ns);
    if (v->until_ns == VIEW_NEVER)
        fb_json_bool(to, "until_an_answer", true);
    if (v->has_key && is_waiting(v))
        add_text_json(to, "cause", v->key.cause);
    add_text_json(to, "sentence", v->sentence);
    if (v->has_key)
        add_rule(v, now_ns, &rule);
    add_text_json(to, "rule", fb_buffer_text(&rule));
    fb_buffer_clear(&rule);
    add_change(v, &rule);
    add_text_json(to, "change", fb_buffer_text(&rule));
    fb_buffer_fini(&rule);
    add_text_json(to, "batch", v->batch);
    add_text_json(to, "item", v->item);
    if (v->lasted_ns > 0)
        fb_words_json_span(to, "lasted_s", v->lasted_ns);
    if (v->wait_count > 0) {
        fb_json_name(to, "waits");
        fb_view_waits_json(v->wait, v->wait_count, to);
    }
    add_text_json(to, "next", v->next);
    add_text_json(to, "source", v->source);
    if (v->has_key) {
        fb_json_name(to, "key");
        fb_view_key_json(&v->key, now_ns, to);
    }
    fb_buffer_add_text(to, "}\n");
}
