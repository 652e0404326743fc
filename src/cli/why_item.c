/* SPDX-License-Identifier: MIT */
/*
 * why_item.c - an item of a batch: its id is looked for in the lists, its state in the journals.
 *
 * Batches that run are looked at first, then the latest. What came of an item that has ended is
 * told by its line in the output.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "cli/why.h"
#include "fetch/list.h"
#include "store/deferred.h"
#include "store/peek.h"
#include "util/alloc.h"

#define NS_PER_S INT64_C(1000000000)

/* An item that was found. */
struct found_item {
    uint64_t number;
    struct buffer url;
};

/* ------------------------------------------------------------------------------------ the list */

static bool find_in_list(const struct view_batch *b, const char *id, struct found_item *f)
{
    struct fly_error err = {""};
    struct list *l = NULL;
    struct item i;
    int found = b->list[0] == '/' ? fb_list_open(b->list, &l, &err) : -ENOENT;

    if (found < 0)
        return false;
    while ((found = fb_list_next(l, &i, &err)) == 1 || found == -EINVAL) {
        if (found != 1 || strcmp(i.id, id) != 0)
            continue;
        f->number = i.number;
        fb_buffer_add_text(&f->url, i.url);
        break;
    }
    fb_list_close(l);
    return found == 1 && fb_buffer_text(&f->url);
}

/* ---------------------------------------------------------------------------------- the output */

/* "{"item":17,": how its line begins. */
static bool is_line_of(const char *line, uint64_t number)
{
    char begin[40];
    int size = snprintf(begin, sizeof begin, "{\"item\":%llu,", (unsigned long long)number);

    return strncmp(line, begin, (size_t)size) == 0;
}

static void read_result(const char *line, size_t size, struct view_why *v)
{
    json_t *j = json_loadb(line, size, 0, NULL);
    const json_t *error = json_object_get(j, "error");
    const char *text = json_string_value(json_object_get(error, "text"));
    double waited_ms = json_number_value(json_object_get(j, "waited_ms"));
    long long attempts = (long long)json_integer_value(json_object_get(j, "attempts"));

    (void)snprintf(v->sentence, sizeof v->sentence,
                   "%.160s%sIt waited %.1f s for permission to start, in %lld attempt%s.",
                   text ? text : "", text ? ". " : "", waited_ms / 1000.0, attempts,
                   attempts == 1 ? "" : "s");
    json_decref(j);
}

static void find_in_output(const struct view_batch *b, uint64_t number, struct view_why *v)
{
    FILE *in = b->output[0] ? fopen(b->output, "re") : NULL;
    char *line = NULL;
    size_t room = 0;

    for (ssize_t size; in && (size = getline(&line, &room, in)) > 0;) {
        if (is_line_of(line, number)) {
            read_result(line, (size_t)size, v);
            break;
        }
    }
    free(line);
    if (in)
        (void)fclose(in);
}

/* --------------------------------------------------------------------------------- the journal */

struct deferral {
    uint64_t number;
    struct view_why *why;
};

static int note_deferral(void *context, const struct deferred *d)
{
    const struct deferral *look = context;

    if (d->item != look->number)
        return 0;
    look->why->until_ns = d->not_before_s * NS_PER_S;
    fb_view_put(look->why->sentence, sizeof look->why->sentence, d->reason);
    return 1;
}

static enum entry_state state_of(const struct view_batch *b, uint64_t number, struct view_why *v)
{
    enum entry_state state = ENTRY_pending;
    struct deferral look = {number, v};
    struct fly_error err = {""};
    struct db *db = NULL;

    if (b->journal[0] && fb_db_open(b->journal, DB_READ_ONLY, &db, &err) == 0 &&
        fb_peek_state(db, b->list, number, &state) == 0 && state == ENTRY_deferred &&
        fb_deferred_each(db, note_deferral, &look) < 0)
        v->until_ns = 0;
    fb_db_close(db);
    return state;
}

/* Not finished: as its key says while the batch runs, else as it will when that goes on. */
static void answer_pending(const struct known *k, const struct view_batch *b, const char *url,
                           int64_t now_ns, struct view_why *v)
{
    if (!b->running) {
        v->verdict = VIEW_VERDICT_stopped;
        fb_view_put(v->sentence, sizeof v->sentence, "It was not finished when its batch ended.");
        return;
    }
    if (!fb_why_url(k, url, now_ns, v))
        v->verdict = VIEW_VERDICT_now;
    if (b->eta_ns > now_ns) { /* which of those queued it is nobody outside knows */
        v->verdict = VIEW_VERDICT_waits;
        v->until_ns = b->eta_ns;
        fb_view_put(v->sentence, sizeof v->sentence, "Its batch is done by then, and it before.");
    }
}

static void answer_ended(const struct view_batch *b, uint64_t number, enum entry_state state,
                         struct view_why *v)
{
    static const enum view_verdict VERDICTS[ENTRY_STATES] = {
        [ENTRY_done] = VIEW_VERDICT_done,         [ENTRY_failed] = VIEW_VERDICT_failed,
        [ENTRY_deferred] = VIEW_VERDICT_deferred, [ENTRY_skipped] = VIEW_VERDICT_failed,
        [ENTRY_unknown] = VIEW_VERDICT_failed,    [ENTRY_barred] = VIEW_VERDICT_failed,
    };

    v->verdict = VERDICTS[state];
    if (state == ENTRY_deferred)
        return;
    if (state != ENTRY_done)
        (void)snprintf(v->sentence, sizeof v->sentence, "It ended as %s.",
                       fb_journal_outcome(state));
    find_in_output(b, number, v);
}

bool fb_why_item(const struct known *k, const char *id, int64_t now_ns, struct view_why *v)
{
    for (size_t i = 0; i < k->runs.count; i++) {
        const struct view_batch *b = k->runs.batch[i];
        struct found_item f = {.number = 0};
        bool is_found = find_in_list(b, id, &f);

        if (is_found) {
            enum entry_state state = state_of(b, f.number, v);

            if (state == ENTRY_pending || state == ENTRY_started)
                answer_pending(k, b, f.url.bytes, now_ns, v);
            else
                answer_ended(b, f.number, state, v);
            fb_view_put(v->batch, sizeof v->batch, b->name);
            fb_view_put(v->item, sizeof v->item, id);
            fb_why_source(b, b->updated_ns, now_ns, v);
        }
        fb_buffer_fini(&f.url);
        if (is_found)
            return true;
    }
    return false;
}
