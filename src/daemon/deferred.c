/* SPDX-License-Identifier: MIT */
/*
 * deferred.c - what batches have put off, for the dashboard.
 *
 * It is in their journals, which are files: they are read on another thread, and what was read last
 * is the answer meanwhile. So nobody waits for a disk, and who looks again sees what is new.
 */
#include "daemon/parts.h"
#include "fetch/deferrals.h"
#include "fetch/paths.h"
#include "util/alloc.h"
#include "util/json.h"

#define ROWS_MAX 500 /* the soonest of each journal come first */

struct reading {
    uv_work_t work;
    const char *store;      /* the folder; NULL: the usual one */
    struct deferrals fresh; /* of the thread */
    struct deferrals known;
    bool is_busy;
    bool was_read;
};

static void read_all(uv_work_t *work)
{
    struct reading *r = work->data;
    struct buffer folder = BUFFER_INIT;
    struct fly_error err;

    r->fresh.most = ROWS_MAX;
    if (fb_state_folder_named(r->store, &folder, &err) == 0 && fb_buffer_text(&folder))
        (void)!fb_deferrals_add_all(&r->fresh, folder.bytes, NULL);
    fb_buffer_fini(&folder);
}

static void was_read(uv_work_t *work, int status)
{
    struct reading *r = work->data;

    r->is_busy = false;
    if (status == 0) {
        fb_deferrals_fini(&r->known);
        r->known = r->fresh;
        r->fresh = (struct deferrals){0};
        r->was_read = true;
    }
}

/* One reading at a time; without memory there is none. */
static struct reading *begin_reading(struct daemon *d)
{
    struct reading *r = d->deferred;

    if (!r) {
        r = d->deferred = fb_alloc(sizeof *r);
        if (!r)
            return NULL;
        r->store = d->store.size > 0 ? fb_buffer_text(&d->store) : NULL;
        r->work.data = r;
    }
    if (!r->is_busy)
        r->is_busy = uv_queue_work(&d->loop, &r->work, read_all, was_read) == 0;
    return r;
}

void fb_deferred_answer(struct call *c)
{
    struct daemon *d = fb_daemon_of(c);
    struct reading *r = begin_reading(d);
    struct buffer b = BUFFER_INIT;

    if (!r || !r->was_read) {
        fb_view_json_begin("deferred", fb_daemon_now(d), &b);
        fb_json_bool(&b, "reading", true);
        fb_buffer_add_text(&b, "}\n");
        fb_call_send_json(c, 202, &b);
        return;
    }
    struct view_deferred v = {.row = r->known.row, .row_count = r->known.count};
    fb_view_deferred_json(&v, fb_daemon_now(d), &b);
    fb_call_send_json(c, 200, &b);
}

void fb_deferred_fini(struct daemon *d)
{
    if (!d->deferred)
        return;
    fb_deferrals_fini(&d->deferred->known);
    fb_deferrals_fini(&d->deferred->fresh);
    fb_free(d->deferred);
}
