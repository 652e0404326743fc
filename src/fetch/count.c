/* SPDX-License-Identifier: MIT */
/*
 * count.c - how many items a list has.
 *
 * A command counts before it shows anything. Where the loop has other work, too, a long list is
 * counted by a thread of libuv's pool, and until that is done the number is not known.
 */
#include <string.h>
#include <sys/stat.h>

#include "fetch/fetch_parts.h"
#include "util/alloc.h"

#define SHORT_BYTES (1 << 18)          /* counted in less than a turn of the loop may take */
#define LONG_BYTES  (INT64_C(1) << 30) /* not worth the time that its end would have to wait */

/* Lives until it is counted, whatever becomes of the batch. */
struct list_count {
    uv_work_t work;
    struct fetch *fetch; /* NULL: it is gone */
    int64_t total;
    char path[];
};

static void count(uv_work_t *work)
{
    struct list_count *c = work->data;

    c->total = fb_list_count(c->path);
}

static void counted(uv_work_t *work, int status)
{
    struct list_count *c = work->data;

    if (c->fetch) {
        c->fetch->total = status == 0 ? c->total : -1;
        c->fetch->counting = NULL;
    }
    fb_free(c);
}

/* False: it cannot be done that way. */
static bool begin(struct fetch *f)
{
    size_t size = strlen(f->o->list) + 1;
    struct list_count *c = fb_alloc(sizeof *c + size);

    if (!c)
        return false;
    memcpy(c->path, f->o->list, size);
    c->fetch = f;
    c->work.data = c;
    if (uv_queue_work(f->loop, &c->work, count, counted) < 0) {
        fb_free(c);
        return false;
    }
    f->counting = c;
    return true;
}

static int64_t size_of(const char *path)
{
    struct stat there;

    return stat(path, &there) == 0 && S_ISREG(there.st_mode) ? (int64_t)there.st_size : 0;
}

int64_t fb_fetch_total(struct fetch *f)
{
    if (f->total != TOTAL_NOT_COUNTED || f->counting)
        return f->counting ? -1 : f->total;
    int64_t size = f->is_one_of_many && f->o->list ? size_of(f->o->list) : 0;
    if (size > LONG_BYTES)
        f->total = -1;
    else if (size > SHORT_BYTES && begin(f))
        return -1;
    else
        f->total =
            f->o->list ? fb_list_count(f->o->list) : fb_list_count_of(f->o->urls, f->o->url_count);
    return f->total;
}

void fb_count_forget(struct fetch *f)
{
    if (f->counting)
        f->counting->fetch = NULL;
    f->counting = NULL;
}
