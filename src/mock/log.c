/* SPDX-License-Identifier: MIT */
/* log.c - lines to memory and to a file; counts. */
#include "mock/log.h"

#include <errno.h>
#include <string.h>

#include "core/instant.h"
#include "util/json.h"

int fb_mock_log_open(struct mock_log *l, const char *path)
{
    *l = (struct mock_log){.file = NULL};
    if (!path)
        return 0;
    l->file = fopen(path, "a");
    return l->file ? 0 : -errno;
}

static void note_error(struct mock_log *l)
{
    if (l->error == 0)
        l->error = errno;
}

void fb_mock_log_flush(struct mock_log *l)
{
    if (l->file && fflush(l->file) != 0)
        note_error(l);
}

int fb_mock_log_close(struct mock_log *l)
{
    if (l->file && fclose(l->file) != 0)
        note_error(l);
    l->file = NULL;
    fb_buffer_fini(&l->recent);
    return -l->error;
}

/* Forget the older half, up to the end of a line. */
static void make_room(struct buffer *b)
{
    const char *half = b->bytes + b->size / 2;
    const char *end = memchr(half, '\n', b->size - b->size / 2);
    size_t gone = (size_t)(end + 1 - b->bytes);

    memmove(b->bytes, b->bytes + gone, b->size - gone);
    b->size -= gone;
}

/* The line that begins at `from` is complete. */
static void end_line(struct mock_log *l, size_t from)
{
    struct buffer *b = &l->recent;

    fb_buffer_add_char(b, '\n');
    if (b->failed) {
        b->failed = false; /* this line is lost to /__log; the file has the others */
        b->size = from;
        return;
    }
    if (l->file && fwrite(b->bytes + from, 1, b->size - from, l->file) != b->size - from)
        note_error(l);
    if (b->size > FB_MOCK_LOG_MAX)
        make_room(b);
}

static void add_int(struct buffer *b, int64_t value)
{
    fb_buffer_add_char(b, '\t');
    fb_buffer_add_int(b, value);
}

/* A field; nothing becomes "-", and a tab a blank. */
static void add_text(struct buffer *b, struct slice s)
{
    fb_buffer_add_char(b, '\t');
    if (s.length == 0)
        fb_buffer_add_char(b, '-');
    for (size_t i = 0; i < s.length; i++)
        fb_buffer_add_char(b, s.at[i] == '\t' ? ' ' : s.at[i]);
}

static void count_arrival(struct mock_stats *s, const struct mock_arrival *a)
{
    s->arrivals++;
    s->accepted += a->verdict == 'A';
    s->refused += a->verdict == 'R';
    s->failed += a->verdict == 'F';
    s->inflight++;
    s->peak_inflight = fb_max64(s->peak_inflight, s->inflight);
    if (s->arrivals == 1)
        s->first_ns = a->mono_ns;
    s->last_ns = a->mono_ns;
}

int64_t fb_mock_log_arrival(struct mock_log *l, const struct mock_arrival *a)
{
    struct buffer *b = &l->recent;
    size_t from = b->size;

    count_arrival(&l->stats, a);
    fb_buffer_add_char(b, 'A');
    add_int(b, a->mono_ns);
    add_int(b, a->wall_ns);
    add_int(b, l->stats.arrivals);
    add_int(b, (int64_t)a->connection);
    add_text(b, FB_SLICE("*"));
    add_text(b, a->method);
    add_text(b, a->target);
    add_text(b, a->id);
    add_text(b, (struct slice){&a->verdict, 1});
    add_int(b, a->status);
    add_int(b, l->stats.inflight);
    end_line(l, from);
    return l->stats.arrivals;
}

void fb_mock_log_end(struct mock_log *l, int64_t mono_ns, int64_t seq, const char *outcome)
{
    struct buffer *b = &l->recent;
    size_t from = b->size;

    l->stats.inflight--;
    l->stats.aborted += strcmp(outcome, "aborted") == 0;
    fb_buffer_add_char(b, 'E');
    add_int(b, mono_ns);
    add_int(b, seq);
    add_text(b, fb_slice_of(outcome));
    end_line(l, from);
}

void fb_mock_stats_json(const struct mock_stats *s, struct buffer *to)
{
    double span_s = fb_seconds(s->last_ns - s->first_ns);

    fb_json_int(to, "arrivals", s->arrivals);
    fb_json_int(to, "accepted", s->accepted);
    fb_json_int(to, "rejected", s->refused);
    fb_json_int(to, "failed", s->failed);
    fb_json_int(to, "aborted", s->aborted);
    fb_json_int(to, "inflight", s->inflight);
    fb_json_int(to, "peak_inflight", s->peak_inflight);
    fb_json_real(to, "span_s", span_s, 3);
}
