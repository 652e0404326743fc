/* SPDX-License-Identifier: MIT */
/*
 * spill.c - the body of an answer: in memory while it is small, in a file without a name when not.
 *
 * The file is on the disk where the body is to stay, so that giving it a name is all that is left
 * to do, and nothing is left of it when the process is killed. Pieces are written as they come:
 * they go to the page cache, and a disk that cannot keep up holds the loop back, which lets
 * requests leave later, never earlier. Where there is no such file, or no room for it, the body is
 * (again) in memory, and whoever writes it there finds out what is wrong with the disk.
 */
#define _GNU_SOURCE /* O_TMPFILE */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "engine/net.h"
#include "util/alloc.h"

#define BEGINNING (64 << 10) /* what is still looked at of a body in a file */

bool fb_spill_begin(struct transfer *t, const char *folder)
{
    size_t size = strlen(folder) + 1;

    if (t->folder && strcmp(t->folder, folder) == 0)
        return true;
    fb_free(t->folder);
    t->folder = fb_alloc(size);
    if (t->folder)
        memcpy(t->folder, folder, size);
    return t->folder != NULL;
}

void fb_spill_end(struct transfer *t)
{
    if (t->spill_fd > 0)
        (void)close(t->spill_fd);
    t->spill_fd = 0;
}

static bool write_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, bytes, size);

        if (n < 0 && errno != EINTR)
            return false;
        bytes += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* Never one of the first three, which somebody may have closed. */
static int open_unnamed(const char *folder)
{
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    int above;

    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    (void)close(fd);
    return above;
}

/* Back into memory, from where it is written later. */
static bool take_back(struct transfer *t)
{
    size_t size = (size_t)t->body_size;
    char *to;
    size_t at = 0;

    fb_buffer_clear(&t->body);
    to = fb_buffer_reserve(&t->body, size + 1);
    while (to && at < size) {
        ssize_t n = pread(t->spill_fd, to + at, size - at, (off_t)at);

        if (n == 0 || (n < 0 && errno != EINTR))
            break;
        at += n > 0 ? (size_t)n : 0;
    }
    t->body.size = at;
    t->body.failed |= at < size;
    fb_spill_end(t);
    return !t->body.failed;
}

static bool add_to_memory(struct transfer *t, const char *bytes, size_t size)
{
    fb_buffer_add(&t->body, bytes, size);
    return !t->body.failed;
}

static bool must_spill(const struct transfer *t, size_t more)
{
    const struct engine_options *o = &t->pool->net->options;

    return t->wants_file && t->spill_fd == 0 && t->body_size + (int64_t)more > o->spill_bytes;
}

static void spill(struct transfer *t)
{
    int fd = open_unnamed(t->folder);

    t->wants_file = false; /* it is tried once */
    if (fd < 0)
        return;
    if (!write_all(fd, t->body.bytes, t->body.size)) {
        (void)close(fd);
        return;
    }
    t->spill_fd = fd;
    if (t->body.size > BEGINNING)
        t->body.size = BEGINNING;
}

bool fb_spill_add(struct transfer *t, const char *bytes, size_t size)
{
    bool is_kept;

    if (must_spill(t, size))
        spill(t);
    if (t->spill_fd > 0)
        is_kept =
            write_all(t->spill_fd, bytes, size) || (take_back(t) && add_to_memory(t, bytes, size));
    else
        is_kept = add_to_memory(t, bytes, size);
    t->body_size += (int64_t)size;
    return is_kept;
}
