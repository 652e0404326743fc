/* SPDX-License-Identifier: MIT */
/*
 * journal_output.c - the file of results: appended to, cut, read back, sifted.
 *
 * Every line begins with {"item":N,"outcome":"..." as fb_journal_begin_line() writes it: that is
 * all that is read back. Lines of another form are nobody's and stay where they are.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/journal_parts.h"
#include "util/alloc.h"
#include "util/hash.h"
#include "util/json.h"

#define BLOCK      (256 * 1024)
#define HEAD_MOST  64 /* of a line, enough for the item and the outcome */
#define PATH_MOST  4096
#define FIRST_MOST 512 /* of the first line, enough to tell it from others */

static const char HEAD[] = "{\"item\":";
static const char OUTCOME[] = ",\"outcome\":\"";
static const char MORE[] = ",\"more\":true";

void fb_journal_begin_line(struct buffer *out, uint64_t item, enum entry_state state, bool more)
{
    fb_buffer_add_text(out, HEAD);
    fb_buffer_add_int(out, (int64_t)item);
    fb_buffer_add_text(out, OUTCOME);
    fb_buffer_add_text(out, fb_journal_outcome(state));
    fb_buffer_add_char(out, '"');
    if (more)
        fb_buffer_add_text(out, MORE);
}

static char *copy_text(const char *text)
{
    char *copy = fb_alloc(strlen(text) + 1);

    if (copy)
        memcpy(copy, text, strlen(text));
    return copy;
}

int fb_output_open(struct output *o, const struct journal_options *options, struct fly_error *err)
{
    struct stat there;

    *o = (struct output){.fd = options->stream};
    if (!options->output)
        return 0;
    o->path = copy_text(options->output);
    o->fd = open(options->output, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    o->is_new = o->fd >= 0;
    if (o->fd < 0 && errno == EEXIST) /* a link to what is not there yet is this, too */
        o->fd = open(options->output, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (o->fd < 0 && errno == EACCES) /* a pipe or a device that can only be written */
        o->fd = open(options->output, O_WRONLY | O_CLOEXEC);
    if (!o->path || o->fd < 0 || fstat(o->fd, &there) < 0) {
        int error = o->path ? -errno : -ENOMEM;
        (void)snprintf(err->text, sizeof err->text, "cannot write %.180s: %s", options->output,
                       strerror(-error));
        return error;
    }
    o->is_file = S_ISREG(there.st_mode);
    return 0;
}

void fb_output_fini(struct output *o)
{
    if (o->path && o->fd >= 0)
        (void)close(o->fd);
    fb_free(o->path);
    fb_buffer_fini(&o->next);
}

int64_t fb_output_length(const struct output *o)
{
    struct stat there;

    return o->is_file && fstat(o->fd, &there) == 0 ? (int64_t)there.st_size : 0;
}

int64_t fb_output_first(const struct output *o)
{
    char line[FIRST_MOST];
    ssize_t n = o->is_file ? pread(o->fd, line, sizeof line, 0) : 0;
    const char *newline = n > 0 ? memchr(line, '\n', (size_t)n) : NULL;

    if (n <= 0 || (!newline && (size_t)n < sizeof line))
        return 0;
    return (int64_t)fb_hash_end(
        fb_hash_add(FB_HASH_INIT, line, newline ? (size_t)(newline - line) : (size_t)n));
}

int fb_output_cut(struct output *o, int64_t size)
{
    o->size = size;
    return o->is_file && ftruncate(o->fd, (off_t)size) < 0 ? -errno : 0;
}

/* A file is written at its place, so that a second attempt writes over the first. */
static int write_file(struct output *o)
{
    for (size_t done = 0; done < o->next.size;) {
        ssize_t n = pwrite(o->fd, o->next.bytes + done, o->next.size - done,
                           (off_t)(o->size + (int64_t)done));
        if (n < 0 && errno != EINTR)
            return -errno;
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* What a stream has taken cannot be taken back: a second attempt goes on behind it. */
static int write_stream(struct output *o)
{
    while (o->written < o->next.size) {
        ssize_t n = write(o->fd, o->next.bytes + o->written, o->next.size - o->written);
        if (n < 0 && errno != EINTR)
            return -errno;
        o->written += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

int fb_output_write(struct output *o, bool sync)
{
    if (o->fd < 0)
        return 0;
    int error = o->is_file ? write_file(o) : write_stream(o);
    if (error < 0)
        return error;
    o->unsynced |= o->next.size > 0;
    if (sync && o->is_file && o->unsynced) {
        if (fdatasync(o->fd) < 0)
            return -errno;
        o->unsynced = false;
    }
    return 0;
}

void fb_output_committed(struct output *o)
{
    o->size += (int64_t)o->next.size;
    o->written = 0;
    fb_buffer_clear(&o->next);
}

/* ------------------------------------------------------------------------------ reading it back */

static bool find_outcome(const char *text, size_t size, enum entry_state *ret_state)
{
    for (int s = ENTRY_done; s < ENTRY_STATES; s++) {
        const char *name = fb_journal_outcome((enum entry_state)s);
        size_t length = strlen(name);
        if (length < size && memcmp(text, name, length) == 0 && text[length] == '"') {
            bool more = size - length > sizeof MORE - 1 &&
                        memcmp(text + length + 1, MORE, sizeof MORE - 1) == 0;
            *ret_state = more ? ENTRY_failed : (enum entry_state)s;
            return true;
        }
    }
    return false;
}

/* The item and the outcome at the beginning of a line. */
static bool read_head(const char *line, size_t size, uint64_t *ret_item,
                      enum entry_state *ret_state)
{
    size_t at = sizeof HEAD - 1;
    uint64_t item = 0;

    if (size < at || memcmp(line, HEAD, at) != 0)
        return false;
    for (; at < size && line[at] >= '0' && line[at] <= '9' && item <= ITEMS_MAX; at++)
        item = 10 * item + (uint64_t)(line[at] - '0');
    if (item == 0 || item > ITEMS_MAX || size - at < sizeof OUTCOME - 1 ||
        memcmp(line + at, OUTCOME, sizeof OUTCOME - 1) != 0)
        return false;
    at += sizeof OUTCOME - 1;
    if (!find_outcome(line + at, size - at, ret_state))
        return false;
    *ret_item = item;
    return true;
}

/* A walk over a file, block by block: lines may be longer than memory. */
struct scan {
    fb_output_line *each;
    void *context;
    char head[HEAD_MOST];
    size_t head_size;
    int64_t begin; /* of the line */
    int64_t end;   /* of the last whole one */
};

static int end_line(struct scan *s, int64_t end)
{
    enum entry_state state = ENTRY_pending;
    uint64_t item = 0; /* 0: nobody's */
    int result = 0;

    (void)read_head(s->head, s->head_size, &item, &state);
    if (s->each)
        result = s->each(s->context, item, state, s->begin, end);
    s->begin = s->end = end;
    s->head_size = 0;
    return result;
}

static int scan_block(struct scan *s, const char *block, size_t size, int64_t offset)
{
    for (size_t at = 0; at < size;) {
        const char *newline = memchr(block + at, '\n', size - at);
        size_t length = newline ? (size_t)(newline - block) - at : size - at;
        size_t more = HEAD_MOST - s->head_size < length ? HEAD_MOST - s->head_size : length;

        memcpy(s->head + s->head_size, block + at, more);
        s->head_size += more;
        at += length + (newline ? 1 : 0);
        if (newline) {
            int result = end_line(s, offset + (int64_t)at);
            if (result != 0)
                return result;
        }
    }
    return 0;
}

int fb_output_scan(struct output *o, fb_output_line *each, void *context)
{
    struct scan s = {.each = each, .context = context};
    char *block = fb_alloc(BLOCK);
    int64_t offset = 0;
    ssize_t n = 0;
    int result = block ? 0 : -ENOMEM;

    while (result == 0 && (n = pread(o->fd, block, BLOCK, (off_t)offset)) > 0) {
        result = scan_block(&s, block, (size_t)n, offset);
        offset += n;
    }
    if (result == 0 && n < 0)
        result = -errno;
    fb_free(block);
    return result != 0 ? result : fb_output_cut(o, s.end);
}

/* ------------------------------------------------------------------------------------- sifting */

struct sift {
    struct output *from;
    int to;
    fb_output_keep *keep;
    void *context;
    int64_t size;
};

static bool new_name(const struct output *o, char *ret_name, size_t size)
{
    int length = snprintf(ret_name, size, "%s.new", o->path);

    return length > 0 && (size_t)length < size;
}

static int copy_bytes(struct sift *s, int64_t begin, int64_t end)
{
    char block[8192];

    while (begin < end) {
        size_t want = end - begin < (int64_t)sizeof block ? (size_t)(end - begin) : sizeof block;
        ssize_t n = pread(s->from->fd, block, want, (off_t)begin);
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        ssize_t m = pwrite(s->to, block, (size_t)n, (off_t)s->size);
        if (m <= 0)
            return m < 0 ? -errno : -EIO;
        begin += m;
        s->size += m;
    }
    return 0;
}

static int sift_line(void *context, uint64_t item, enum entry_state state, int64_t begin,
                     int64_t end)
{
    struct sift *s = context;

    (void)state;
    return item != 0 && !s->keep(s->context, item) ? 0 : copy_bytes(s, begin, end);
}

int fb_output_sift(struct output *o, fb_output_keep *keep, void *context, int64_t *ret_size)
{
    struct sift s = {.from = o, .keep = keep, .context = context};
    char name[PATH_MOST];

    if (!new_name(o, name, sizeof name))
        return -ENAMETOOLONG;
    s.to = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (s.to < 0)
        return -errno;
    int error = fb_output_scan(o, sift_line, &s);
    if (error == 0 && fsync(s.to) < 0)
        error = -errno;
    (void)close(s.to);
    if (error == 0)
        *ret_size = s.size;
    else
        (void)unlink(name);
    return error;
}

int fb_output_replace(struct output *o)
{
    char name[PATH_MOST];

    if (!o->is_file || !new_name(o, name, sizeof name))
        return 0;
    if (rename(name, o->path) < 0)
        return errno == ENOENT ? 0 : -errno;
    int fd = open(o->path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    (void)close(o->fd);
    o->fd = fd;
    return 0;
}
