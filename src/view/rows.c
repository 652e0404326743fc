/* SPDX-License-Identifier: MIT */
/* rows.c - keys and batches as rows. */
#include "view/rows.h"

#include <string.h>

#include "util/text.h"
#include "view/table.h"
#include "view/words.h"

#define US         INT64_C(1000)
#define MS         (1000 * US)
#define HASH_BEGIN "fetch-"
#define HASH_SHOWN 8 /* digits: enough to tell batches apart, and to ask for one */

void fb_view_add_short(int64_t span_ns, struct buffer *to)
{
    char text[48];
    struct text t;

    fb_text_init(&t, text, sizeof text);
    if (span_ns < MS && span_ns > 0) {
        fb_text_add_int(&t, (span_ns + US / 2) / US);
        fb_text_add(&t, " \u00b5s");
    } else if (span_ns < 10 * MS) {
        fb_text_add_fixed(&t, (double)span_ns / (double)MS, 1);
        fb_text_add(&t, " ms");
    } else {
        fb_text_add_span(&t, span_ns);
    }
    fb_buffer_add_text(to, text);
}

void fb_view_waits(const struct view_wait *wait, int64_t count, struct buffer *to)
{
    for (int64_t i = 0; i < count; i++) {
        fb_buffer_add_text(to, i > 0 ? ", " : "");
        fb_buffer_add_text(to, wait[i].cause);
        fb_buffer_add_char(to, ' ');
        fb_view_add_short(wait[i].span_ns, to);
    }
}

void fb_view_batch_progress(const struct view_batch *b, struct buffer *to)
{
    int64_t ended = fb_view_batch_ended(b);

    fb_words_count(ended, to);
    if (b->total < 0)
        return;
    fb_buffer_add_text(to, b->total_grows ? " of at least " : " of ");
    fb_words_count(b->total, to);
    if (b->total == 0 || b->total_grows)
        return;
    fb_buffer_add_text(to, " (");
    fb_buffer_add_int(to, (int64_t)((double)ended / (double)b->total * 100.0));
    fb_buffer_add_text(to, " %)");
}

/* ---------------------------------------------------------------------------------------- keys */

static const struct view_column KEY_COLUMNS[] = {
    {.title = "key", .keep = 99},
    {.title = "state", .keep = 99, .is_state = true},
    {.title = "sent / limit", .keep = 8},
    {.title = "left", .keep = 7},
    {.title = "next start", .keep = 9},
    {.title = "queued", .keep = 5, .is_right = true},
    {.title = "429s", .keep = 6, .is_right = true},
    {.title = "why", .keep = 4},
};
enum { KEY_COLUMN_COUNT = sizeof KEY_COLUMNS / sizeof KEY_COLUMNS[0] };

/* "bucket", "4xx"; "breaker: 500" where too much fails. */
static void add_why(struct view_table *t, const struct view_key *k, int64_t now_ns)
{
    bool is_off = k->flags & VIEW_KEY_DISABLED;

    bool waits = k->ready_ns == VIEW_NEVER || fb_view_key_is_late(k, now_ns);

    fb_buffer_add_text(&t->text, is_off                            ? "disabled"
                                 : fb_view_key_is_wrong(k, now_ns) ? "4xx"
                                 : waits                           ? k->cause
                                                                   : "");
    if (!is_off && fb_view_key_is_down(k, now_ns) && k->failed_count > 0) {
        fb_buffer_add_text(&t->text, ": ");
        fb_view_key_failure(k, &t->text);
    }
    fb_view_table_next(t);
}

static void add_key(struct view_table *t, const struct view_key *k, int64_t now_ns)
{
    fb_view_key_name(k, &t->text);
    fb_view_table_next(t);
    fb_view_table_add(t, fb_view_state_name(fb_view_key_state(k, now_ns)));
    fb_view_key_rate(k, &t->text);
    fb_view_table_next(t);
    fb_view_key_left(k, now_ns, &t->text);
    fb_view_table_next(t);
    fb_view_key_next(k, now_ns, &t->text);
    fb_view_table_next(t);
    fb_words_count(k->queued, &t->text);
    fb_view_table_next(t);
    if (k->refused >= 0)
        fb_words_count(k->refused, &t->text);
    fb_view_table_next(t);
    add_why(t, k, now_ns);
}

void fb_view_keys_table(const struct view_key *const *group, size_t group_count,
                        const size_t *key_count, const struct view_style *style, int64_t now_ns,
                        struct buffer *to)
{
    struct view_table t;

    fb_view_table_init(&t, KEY_COLUMNS, KEY_COLUMN_COUNT);
    for (int s = 0; s < VIEW_STATES; s++) { /* what is wrong comes first */
        for (size_t g = 0; g < group_count; g++) {
            for (size_t i = 0; i < key_count[g]; i++) {
                if ((int)fb_view_key_state(&group[g][i], now_ns) == s)
                    add_key(&t, &group[g][i], now_ns);
            }
        }
    }
    fb_view_table_print(&t, style, true, to);
    fb_view_table_fini(&t);
}

/* ------------------------------------------------------------------------------------- batches */

static const struct view_column BATCH_COLUMNS[] = {
    {.title = "batch", .keep = 99},
    {.title = "state", .keep = 11, .is_state = true},
    {.title = "items", .keep = 99},
    {.title = "failed", .keep = 9, .is_right = true},
    {.title = "deferred", .keep = 5, .is_right = true},
    {.title = "items/s", .keep = 8, .is_right = true},
    {.title = "429s", .keep = 7, .is_right = true},
    {.title = "until", .keep = 10},
    {.title = "list", .keep = 4},
};
enum { BATCH_COLUMN_COUNT = sizeof BATCH_COLUMNS / sizeof BATCH_COLUMNS[0] };

/* When it will end, or when it did. */
static void add_until(const struct view_batch *b, int64_t now_ns, struct buffer *to)
{
    if (b->running && b->eta_ns > now_ns) {
        fb_buffer_add_text(to, "in ");
        fb_words_span(b->eta_ns - now_ns, to);
    } else if (!b->running) {
        int64_t ended_ns = b->ended_ns > 0 ? b->ended_ns : b->updated_ns;
        fb_words_span(now_ns - ended_ns, to);
        fb_buffer_add_text(to, " ago");
        if (b->ended_ns == 0)
            fb_buffer_add_text(to, ", killed");
    }
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

/* A name that was given is whole; of one that is a hash the first digits do. */
static size_t name_shown(const char *name)
{
    const char *hash = name + strlen(HASH_BEGIN);
    bool is_hash = strncmp(name, HASH_BEGIN, strlen(HASH_BEGIN)) == 0 && strlen(hash) == 16 &&
                   strspn(hash, "0123456789abcdef") == 16;

    return is_hash ? strlen(HASH_BEGIN) + HASH_SHOWN : strlen(name);
}

static void add_batch(struct view_table *t, const struct view_batch *b, int64_t now_ns)
{
    fb_buffer_add(&t->text, b->name, name_shown(b->name));
    fb_view_table_next(t);
    fb_view_table_add(t, fb_view_state_name(fb_view_batch_state(b, now_ns)));
    fb_view_batch_progress(b, &t->text);
    fb_view_table_next(t);
    fb_words_count(b->failed + b->unknown, &t->text);
    fb_view_table_next(t);
    fb_words_count(b->deferred, &t->text);
    fb_view_table_next(t);
    fb_words_rate(b->rate, &t->text);
    fb_view_table_next(t);
    fb_words_count(b->throttled, &t->text);
    fb_view_table_next(t);
    add_until(b, now_ns, &t->text);
    fb_view_table_next(t);
    fb_view_table_add(t, base_of(b->list));
}

void fb_view_batches_table(const struct view_batch *const *batch, size_t count,
                           const struct view_style *style, int64_t now_ns, struct buffer *to)
{
    struct view_table t;

    fb_view_table_init(&t, BATCH_COLUMNS, BATCH_COLUMN_COUNT);
    for (size_t i = 0; i < count; i++)
        add_batch(&t, batch[i], now_ns);
    fb_view_table_print(&t, style, true, to);
    fb_view_table_fini(&t);
}
