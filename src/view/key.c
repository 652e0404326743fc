/* SPDX-License-Identifier: MIT */
/* key.c - a key in words, as cells of a table, and as JSON. */
#include "view/key.h"

#include <math.h>
#include <string.h>

#include "core/instant.h"
#include "util/json.h"
#include "util/text.h"
#include "util/utf8.h"
#include "view/limits.h"
#include "view/words.h"

#define SOON_NS  (5 * INT64_C(1000000000))
#define NS_PER_S INT64_C(1000000000)
#define EVEN     0.8 /* of what would be left at an even pace */

void fb_view_put(char *field, size_t size, const char *text)
{
    size_t length = strlen(text);

    if (length >= size)
        length = fb_utf8_prefix(text, size - 1);
    for (size_t i = 0; i < length; i++) {
        bool is_control = (unsigned char)text[i] < 0x20 || text[i] == 0x7f;
        field[i] = (char)(is_control ? '?' : text[i]);
    }
    memset(field + length, 0, size - length);
}

void fb_view_key_name(const struct view_key *k, struct buffer *to)
{
    fb_buffer_add_text(to, k->provider);
    if (!k->pool[0] || strcmp(k->pool, "default") == 0)
        return;
    fb_buffer_add_char(to, '/');
    fb_buffer_add_text(to, k->pool);
}

bool fb_view_key_has_quota(const struct view_key *k, int64_t now_ns)
{
    return k->quota_limit > 0 && (k->quota_reset_ns == 0 || k->quota_reset_ns > now_ns);
}

bool fb_view_key_waits(const struct view_key *k, int64_t now_ns)
{
    return k->ready_ns != VIEW_NEVER && k->ready_ns - now_ns >= NS_PER_S;
}

int64_t fb_view_key_next_ns(const struct view_key *k, int64_t now_ns)
{
    bool is_paced = strcmp(k->cause, "bucket") == 0 || strcmp(k->cause, "quota") == 0;

    if (k->ready_ns > now_ns || k->ready_ns <= 0 || k->queued == 0 || !is_paced || k->pace <= 0.0)
        return k->ready_ns;
    int64_t step_ns = fb_max64(1, (int64_t)fmin(1e9 / k->pace, 1e18));
    return k->ready_ns + ((now_ns - k->ready_ns) / step_ns + 1) * step_ns;
}

bool fb_view_key_is_late(const struct view_key *k, int64_t now_ns)
{
    return fb_view_key_waits(k, now_ns) ||
           (k->queued > 0 && fb_view_key_next_ns(k, now_ns) > now_ns);
}

int64_t fb_view_key_wait_ns(const struct view_key *k)
{
    bool is_known = k->since_ns > 0 && k->ready_ns != VIEW_NEVER && k->ready_ns > k->since_ns;

    return is_known ? k->ready_ns - k->since_ns : 0;
}

/* A hold lasts as long as was told and a little longer, by chance. */
static bool is_told_to_wait(const struct view_key *k)
{
    int64_t until_ns = k->refused_ns + k->retry_after_ns;

    return k->retry_after_ns > 0 && k->ready_ns >= until_ns &&
           k->ready_ns - until_ns <= 2 * NS_PER_S;
}

bool fb_view_key_is_wrong(const struct view_key *k, int64_t now_ns)
{
    return k->flags & VIEW_KEY_WRONG && !fb_view_key_waits(k, now_ns);
}

const char *fb_view_key_because(const struct view_key *k, int64_t now_ns)
{
    if (fb_view_key_is_wrong(k, now_ns))
        return "4xx";
    if (k->ready_ns <= now_ns)
        return k->flags & VIEW_KEY_BROKEN ? "failing" : "";
    if (strcmp(k->cause, "hold") == 0 && k->flags & VIEW_KEY_SPENT)
        return "learned";
    if (strcmp(k->cause, "hold") != 0 || k->refused_ns == 0)
        return k->cause;
    return is_told_to_wait(k) ? "Retry-After" : "refused";
}

void fb_view_key_failure(const struct view_key *k, struct buffer *to)
{
    if (k->failed_status > 0)
        fb_buffer_add_int(to, k->failed_status);
    else
        fb_buffer_add_text(to, k->failed);
}

void fb_view_key_failures(const struct view_key *k, struct buffer *to)
{
    bool is_answer = k->failed_status > 0;

    if (k->failed_count <= 0)
        return;
    fb_buffer_add_text(to, "the last ");
    if (k->failed_count > 1) {
        fb_words_count(k->failed_count, to);
        fb_buffer_add_text(to, is_answer ? " answers were " : " requests failed: ");
    } else {
        fb_buffer_add_text(to, is_answer ? "answer was " : "request failed: ");
    }
    fb_view_key_failure(k, to);
}

bool fb_view_key_is_down(const struct view_key *k, int64_t now_ns)
{
    return k->ready_ns > now_ns &&
           (strcmp(k->cause, "breaker") == 0 || strcmp(k->cause, "pause") == 0);
}

void fb_view_key_why(const struct view_key *k, int64_t now_ns, struct buffer *to)
{
    static const char BEGIN[] = "Next start in ";
    bool is_timed = strncmp(k->why, BEGIN, strlen(BEGIN)) == 0;
    const char *reason = is_timed ? strstr(k->why, ": ") : NULL;
    const char *pace = reason ? strstr(reason, ". ") : NULL;
    char text[48];
    struct text t;

    if (!reason) {
        fb_buffer_add_text(to, k->why);
    } else if (k->ready_ns > now_ns) {
        fb_text_init(&t, text, sizeof text);
        fb_text_add_span(&t, k->ready_ns - now_ns);
        fb_buffer_add_text(to, BEGIN);
        fb_buffer_add_text(to, text);
        fb_buffer_add_text(to, reason);
    } else {
        fb_buffer_add_text(to, "May start now.");
        fb_buffer_add_text(to, pace ? pace + 1 : "");
    }
}

bool fb_view_key_resets_soon(const struct view_key *k, int64_t now_ns)
{
    return fb_view_key_has_quota(k, now_ns) && k->quota_reset_ns > 0 &&
           k->quota_reset_ns - now_ns < SOON_NS;
}

/* A quota that is spent evenly gets low, as it should: what is left lasts until there is more. */
static bool is_spent_evenly(const struct view_key *k, int64_t now_ns)
{
    int64_t window_ns = fb_max64(k->quota_window_ns, k->quota_most_s * NS_PER_S);

    if (k->quota_left <= 0 || k->quota_reset_ns <= 0 || window_ns <= 0)
        return false;
    double share = (double)(k->quota_reset_ns - now_ns) / (double)window_ns;
    return (double)k->quota_left >= EVEN * share * (double)k->quota_limit;
}

static enum view_health concern_of(const struct view_key *k, int64_t now_ns)
{
    if (fb_view_key_has_quota(k, now_ns) && is_spent_evenly(k, now_ns))
        return VIEW_HEALTHY;
    return fb_view_health(k, now_ns);
}

enum view_state fb_view_key_state(const struct view_key *k, int64_t now_ns)
{
    enum view_health health = concern_of(k, now_ns);

    if (k->flags & VIEW_KEY_DISABLED)
        return k->queued > 0 ? VIEW_holding : VIEW_idle;
    if (k->flags & VIEW_KEY_BROKEN || fb_view_key_is_down(k, now_ns))
        return VIEW_critical; /* it waits as well, and not because it was asked to */
    if (fb_view_key_waits(k, now_ns))
        return VIEW_holding;
    if (health <= VIEW_CRITICAL)
        return VIEW_critical;
    if (health == VIEW_WARNING || k->flags & VIEW_KEY_WRONG)
        return VIEW_warning;
    return k->queued + k->in_flight > 0 ? VIEW_ok : VIEW_idle;
}

/* ----------------------------------------------------------------------------------- the cells */

bool fb_view_key_is_guess(const struct view_key *k)
{
    return k->flags & VIEW_KEY_LEARNED && !(k->flags & VIEW_KEY_TOLD);
}

void fb_view_key_limit(const struct view_key *k, struct buffer *to)
{
    if (k->flags & VIEW_KEY_LEARNING) {
        fb_buffer_add_char(to, '?');
        return;
    }
    if (k->limit <= 0.0) {
        fb_buffer_add_char(to, '-');
        return;
    }
    fb_buffer_add_text(to, fb_view_key_is_guess(k) ? "~" : "");
    fb_words_rate(k->limit, to);
    fb_buffer_add_text(to, "/s");
}

const char *fb_view_bound_name(enum bound_by by)
{
    static const char *const NAMES[] = {
        [BOUND_NOTHING] = "",      [BOUND_STATED] = "stated", [BOUND_LEARNED] = "learned",
        [BOUND_WINDOW] = "window", [BOUND_QUOTA] = "quota",
    };

    return NAMES[by];
}

void fb_view_key_rate(const struct view_key *k, struct buffer *to)
{
    bool is_amount = k->bound.by == BOUND_WINDOW || k->bound.by == BOUND_QUOTA;

    fb_words_rate(k->rate, to);
    fb_buffer_add_text(to, " / ");
    if (!is_amount) {
        fb_view_key_limit(k, to);
        return;
    }
    fb_words_rate(k->bound.rate, to);
    fb_buffer_add_text(to, "/s");
}

enum view_left fb_view_key_left_by(const struct view_key *k, int64_t now_ns)
{
    bool is_full = k->ready_ns > now_ns && strcmp(k->cause, "window") == 0;

    if (fb_view_key_has_quota(k, now_ns) && !(is_full && k->window_limit > 0))
        return VIEW_LEFT_QUOTA;
    return k->window_limit > 0 ? VIEW_LEFT_WINDOW : VIEW_LEFT_NOTHING;
}

void fb_view_key_left(const struct view_key *k, int64_t now_ns, struct buffer *to)
{
    enum view_left by = fb_view_key_left_by(k, now_ns);

    if (by == VIEW_LEFT_QUOTA) {
        fb_words_count(k->quota_left, to);
        fb_buffer_add_text(to, " of ");
        fb_words_count(k->quota_limit, to);
    } else if (by == VIEW_LEFT_WINDOW) {
        fb_words_count(k->window_left, to);
        fb_buffer_add_text(to, " of ");
        fb_words_window(k->window_limit, k->window_ns, to);
    } else if (fb_view_key_is_guess(k) && k->limit > 0.0 && !(k->flags & VIEW_KEY_LEARNING)) {
        fb_buffer_add_text(to, "learned, ");
        fb_buffer_add_int(to, (int64_t)(k->confidence * 100.0 + 0.5));
        fb_buffer_add_text(to, " %");
    }
}

void fb_view_key_next(const struct view_key *k, int64_t now_ns, struct buffer *to)
{
    if (k->flags & VIEW_KEY_DISABLED) {
        fb_buffer_add_text(to, "switched off");
    } else if (k->ready_ns == VIEW_NEVER) {
        fb_buffer_add_text(to, "with an answer");
    } else if (fb_view_key_is_late(k, now_ns)) {
        fb_buffer_add_text(to, "in ");
        fb_words_span(fb_view_key_next_ns(k, now_ns) - now_ns, to);
    } else {
        fb_buffer_add_text(to, k->queued + k->in_flight > 0 ? "now" : "-");
    }
}

/* ------------------------------------------------------------------------------------- as JSON */

static void add_limit_json(const struct view_key *k, int64_t now_ns, struct buffer *to)
{
    if (k->spec[0])
        fb_json_text(to, "spec", k->spec);
    if (k->said_by[0])
        fb_json_text(to, "said_by", k->said_by);
    if (k->bound.by != BOUND_NOTHING) {
        fb_json_real(to, "limit_per_s", k->bound.rate, 4);
        fb_json_text(to, "limit_by", fb_view_bound_name(k->bound.by));
    }
    fb_json_bool(to, "learned", (k->flags & VIEW_KEY_LEARNED) != 0);
    fb_json_bool(to, "learning", (k->flags & VIEW_KEY_LEARNING) != 0);
    if (k->permits >= 0.0)
        fb_json_real(to, "permits", k->permits, 2);
    if (k->flags & VIEW_KEY_LEARNED) {
        fb_json_real(to, "confidence", k->confidence, 3);
        if (k->limit > 0.0 && !(k->flags & VIEW_KEY_LEARNING))
            fb_json_real(to, "learned_per_s", k->limit, 4);
        if (k->flags & VIEW_KEY_TOLD)
            fb_json_bool(to, "limit_told", true);
        fb_words_json_instant(to, "changed", k->changed_ns, now_ns);
    }
    if (k->window_limit <= 0)
        return;
    fb_json_name(to, "window");
    fb_buffer_add_char(to, '{');
    fb_json_int(to, "limit", k->window_limit);
    fb_json_int(to, "stated", k->window_stated);
    fb_json_int(to, "remaining", k->window_left);
    fb_words_json_span(to, "window_s", k->window_ns);
    if (k->window_frees_ns > now_ns)
        fb_words_json_end(to, "reset", k->window_frees_ns, now_ns);
    fb_buffer_add_char(to, '}');
}

static void add_quota_json(const struct view_key *k, int64_t now_ns, struct buffer *to)
{
    if (!fb_view_key_has_quota(k, now_ns))
        return;
    fb_json_name(to, "quota");
    fb_buffer_add_char(to, '{');
    fb_json_int(to, "limit", k->quota_limit);
    fb_json_int(to, "remaining", k->quota_left);
    if (k->reserve_ppm > 0)
        fb_json_int(to, "reserve", (k->quota_limit * k->reserve_ppm + 999999) / 1000000);
    fb_json_real(to, "remaining_ratio", (double)k->quota_left / (double)k->quota_limit, 4);
    if (k->quota_window_ns > 0)
        fb_words_json_span(to, "window_s", k->quota_window_ns);
    fb_words_json_end(to, "reset", k->quota_reset_ns, now_ns);
    fb_words_json_instant(to, "told", k->told_ns, now_ns);
    fb_buffer_add_char(to, '}');
}

static void add_wait_json(const struct view_key *k, int64_t now_ns, struct buffer *to)
{
    fb_json_bool(to, "may_start", k->ready_ns <= now_ns);
    if (k->ready_ns > now_ns)
        fb_words_json_end(to, "next_start", k->ready_ns, now_ns);
    const char *because = fb_view_key_because(k, now_ns);

    if (k->ready_ns > now_ns && k->cause[0])
        fb_json_text(to, "cause", k->cause);
    if (because[0])
        fb_json_text(to, "because", because);
    struct buffer why = BUFFER_INIT;
    fb_view_key_why(k, now_ns, &why);
    if (why.size > 0)
        fb_json_text(to, "why", fb_buffer_text(&why));
    fb_buffer_fini(&why);
}

static void add_refusal_json(const struct view_key *k, int64_t now_ns, struct buffer *to)
{
    if (k->requests >= 0)
        fb_json_int(to, "requests", k->requests);
    if (k->refused >= 0)
        fb_json_int(to, "throttled", k->refused);
    if (k->refused_hour >= 0)
        fb_json_int(to, "throttled_1h", k->refused_hour);
    if (k->told_by[0])
        fb_json_text(to, "told_by", k->told_by);
    if (k->failed_count > 0) {
        fb_json_name(to, "failures");
        fb_buffer_add_char(to, '{');
        fb_json_int(to, "in_a_row", k->failed_count);
        if (k->failed_status > 0)
            fb_json_int(to, "status", k->failed_status);
        else
            fb_json_text(to, "text", k->failed);
        fb_buffer_add_char(to, '}');
    }
    if (k->refused_ns == 0)
        return;
    fb_json_name(to, "last_refusal");
    fb_buffer_add_char(to, '{');
    fb_words_json_instant(to, "at", k->refused_ns, now_ns);
    fb_json_int(to, "status", k->refused_status);
    fb_json_text(to, "item", k->refused_item[0] ? k->refused_item : NULL);
    if (k->retry_after_ns > 0)
        fb_words_json_span(to, "retry_after_s", k->retry_after_ns);
    fb_buffer_add_char(to, '}');
}

/* Of what is queued: how urgent it is, and for how long the oldest has been there. */
static void add_queue_json(const struct view_key *k, int64_t now_ns, struct buffer *to)
{
    static const char *const NAMES[FB_QUEUE_LEVELS] = {"high", "live", "imminent", "normal",
                                                       "background"};

    if (k->oldest_ns > 0 && k->oldest_ns < now_ns)
        fb_words_json_span(to, "oldest_s", now_ns - k->oldest_ns);
    if (k->queued == 0)
        return;
    fb_json_name(to, "queued_by");
    fb_buffer_add_char(to, '{');
    for (int i = 0; i < FB_QUEUE_LEVELS; i++)
        fb_json_int(to, NAMES[i], k->queued_by[i]);
    fb_buffer_add_char(to, '}');
}

void fb_view_key_json(const struct view_key *k, int64_t now_ns, struct buffer *to)
{
    fb_buffer_add_char(to, '{');
    fb_json_text(to, "provider", k->provider);
    fb_json_text(to, "pool", k->pool);
    if (k->credential[0])
        fb_json_text(to, "credential", k->credential);
    fb_json_text(to, "state", fb_view_state_name(fb_view_key_state(k, now_ns)));
    fb_json_bool(to, "enabled", !(k->flags & VIEW_KEY_DISABLED));
    fb_json_bool(to, "breaker_open", (k->flags & VIEW_KEY_BROKEN) != 0);
    if (k->flags & VIEW_KEY_BROKEN && k->broken_ns > now_ns)
        fb_words_json_end(to, "breaker_until", k->broken_ns, now_ns);
    fb_words_json_instant(to, "seen", k->seen_ns, now_ns);
    fb_json_int(to, "queued", k->queued);
    add_queue_json(k, now_ns, to);
    fb_json_int(to, "in_flight", k->in_flight);
    fb_json_real(to, "rate_per_s", k->rate, 3);
    add_limit_json(k, now_ns, to);
    add_quota_json(k, now_ns, to);
    enum view_left by = fb_view_key_left_by(k, now_ns);
    if (by != VIEW_LEFT_NOTHING)
        fb_json_text(to, "left_by", by == VIEW_LEFT_QUOTA ? "quota" : "window");
    add_wait_json(k, now_ns, to);
    add_refusal_json(k, now_ns, to);
    fb_buffer_add_char(to, '}');
}
