/* SPDX-License-Identifier: MIT */
/*
 * shared.c - a ledger in a file: from a path to a mapped ledger whose head can be believed.
 *
 * Making and judging a file is done under flock, which the kernel gives up with its owner; the
 * magic number is stored last, so a file that was never finished is seen to be one. The whole
 * file is allocated before it is mapped: a full disk is an error here and never a signal later.
 *
 * It stays open as long as it is in use, so that others see that (alone.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/instant.h"
#include "ledger/ledger.h"
#include "util/text.h"

#define FLOCK_TRIES 200 /* of 10 ms */
#define OPEN_TRIES  8   /* where others replace the file at the same time */

/* What a person can do about it; others are told as the system tells them. */
static const struct {
    int code;
    const char *why;
} reasons[] = {
    {ELOOP, "is a symbolic link; name the file itself"},
    {EISDIR, "is a directory; name a file"},
    {ENOSPC, "no room for the ledger on this disk"},
    {EDQUOT, "no room for the ledger on this disk"},
    {EFBIG, "no room for the ledger on this disk"},
    {EACCES, "the ledger must be readable and writable"},
    {EROFS, "the ledger must be readable and writable"},
    {EPERM, "the ledger must be readable and writable"},
};

static int fail_errno(struct fly_error *err, const char *path, int code)
{
    char why[100] = "cannot be used";

    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        if (reasons[i].code == code)
            return fb_ledger_fail(err, code, path, reasons[i].why);
    (void)!strerror_r(code, why, sizeof(why));
    return fb_ledger_fail(err, code, path, why);
}

/* ---- opening ---- */

int fb_file_check(int fd, const char *path, struct stat *ret_stat, struct fly_error *err)
{
    if (fstat(fd, ret_stat) < 0)
        return fail_errno(err, path, errno);
    if (!S_ISREG(ret_stat->st_mode))
        return fb_ledger_fail(err, EINVAL, path, "is not a regular file");
    if (ret_stat->st_uid != geteuid())
        return fb_ledger_fail(err, EPERM, path, "belongs to another user");
    if (ret_stat->st_mode & 022)
        return fb_ledger_fail(err, EPERM, path, "others may write to it; chmod 600 it");
    return 0;
}

/* Not for ever: whoever has it may have been stopped. */
static int lock_file(int fd, const char *path, struct fly_error *err)
{
    const struct timespec pause = {.tv_nsec = 10 * FB_NS_PER_MS};

    for (int i = 0; i < FLOCK_TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return 0;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return fail_errno(err, path, errno);
        (void)nanosleep(&pause, NULL);
    }
    return fb_ledger_fail(err, EBUSY, path, "another process keeps it and does not go on");
}

/* Whether the path still names the file that was opened and locked. */
static bool is_there(const char *path, const struct stat *st)
{
    struct stat now;

    return lstat(path, &now) == 0 && now.st_dev == st->st_dev && now.st_ino == st->st_ino;
}

static int map(struct fly_ledger *ledger, int fd, const char *path, const struct stat *st,
               struct fly_error *err)
{
    void *at = mmap(NULL, ledger->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (at == MAP_FAILED)
        return fail_errno(err, path, errno);
    ledger->head = at;
    ledger->device = (uint64_t)st->st_dev;
    ledger->inode = (uint64_t)st->st_ino;
    return 0;
}

/* A file that is empty or was never finished becomes a ledger. */
static int make(struct fly_ledger *ledger, int fd, const char *path, const struct stat *st,
                bool wary, struct fly_error *err)
{
    fb_ledger_unmap(ledger);
    int rc = posix_fallocate(fd, 0, (off_t)ledger->bytes);
    if (rc != 0) {
        int freed = ftruncate(fd, 0); /* what little there was room for */
        return fail_errno(err, path, freed == 0 ? rc : errno);
    }
    rc = map(ledger, fd, path, st, err);
    if (rc < 0)
        return rc;
    rc = fb_head_make(ledger->head, ledger->bytes, wary);
    return rc < 0 ? fb_ledger_fail(err, -rc, path, "the system has no random numbers") : 0;
}

/* Out of the way, under another name; the caller opens the path anew. */
static int set_aside(const char *path, struct fly_error *err)
{
    char other[FB_LEDGER_PATH_BYTES];
    struct text t;

    fb_text_init(&t, other, sizeof(other));
    fb_text_add(&t, path);
    fb_text_add(&t, ".damaged");
    if (t.left == 0)
        return fb_ledger_fail(err, ENAMETOOLONG, path, "the name is too long");
    return rename(path, other) < 0 ? fail_errno(err, path, errno) : -EAGAIN;
}

static int use(struct fly_ledger *ledger, int fd, const char *path, const struct stat *st,
               struct fly_error *err)
{
    switch (fb_head_judge(ledger->head, ledger->bytes, fb_file_is_alone(fd))) {
    case HEAD_GOOD:
        return 0;
    case HEAD_UNFINISHED:
        return make(ledger, fd, path, st, true, err);
    case HEAD_OTHER_BOOT:
        fb_head_renew(ledger->head);
        return 0;
    case HEAD_DAMAGED:
        return set_aside(path, err);
    case HEAD_FOREIGN:
        return fb_ledger_fail(err, EINVAL, path, "is not a ledger; name another file");
    case HEAD_NEWER:
        return fb_ledger_fail(err, ENOTSUP, path, "was made by a newer version of this library");
    case HEAD_ELSEWHERE:
        break;
    }
    return fb_ledger_fail(err, ENOTSUP, path,
                          "is used in another container, whose processes cannot be seen here");
}

/* From here on others see that it is in use. */
static int begin_use(struct fly_ledger *ledger, int fd, const char *path, struct fly_error *err)
{
    if (fb_file_is_alone(fd) && fb_head_new_era(ledger->head) < 0)
        return fb_ledger_fail(err, EIO, path, "the system has no random numbers");
    fb_file_share(fd);
    return 0;
}

/* -EAGAIN: the path names another file by now. */
static int open_locked(struct fly_ledger *ledger, int fd, const char *path, uint64_t bytes,
                       bool *wary, struct fly_error *err)
{
    struct stat st;
    int rc = fb_file_check(fd, path, &st, err);

    if (rc == 0)
        rc = lock_file(fd, path, err);
    if (rc < 0)
        return rc;
    if (!is_there(path, &st) || fstat(fd, &st) < 0)
        return -EAGAIN;
    if (st.st_size == 0) {
        ledger->bytes = bytes;
        return make(ledger, fd, path, &st, *wary, err);
    }
    if ((uint64_t)st.st_size < sizeof(struct head) || (uint64_t)st.st_size > FB_LEDGER_BYTES_MAX)
        return fb_ledger_fail(err, EINVAL, path, "is not a ledger; name another file");
    ledger->bytes = (uint64_t)st.st_size;
    rc = map(ledger, fd, path, &st, err);
    if (rc == 0)
        rc = use(ledger, fd, path, &st, err);
    *wary |= rc == -EAGAIN;
    return rc;
}

static int try_map(struct fly_ledger *ledger, const char *path, uint64_t bytes, bool *wary,
                   struct fly_error *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);

    if (fd < 0)
        return fail_errno(err, path, errno);
    int rc = open_locked(ledger, fd, path, bytes, wary, err);
    if (rc == 0)
        rc = begin_use(ledger, fd, path, err);
    (void)flock(fd, LOCK_UN);
    if (rc < 0) {
        fb_ledger_unmap(ledger);
        (void)close(fd);
        return rc;
    }
    ledger->fd = fd;
    return 0;
}

static int shared_open(struct fly_ledger *ledger, const char *path, uint64_t bytes,
                       struct fly_error *err)
{
    bool wary = false;

    ledger->fd = -1;
    for (int i = 0; i < OPEN_TRIES; i++) {
        int rc = try_map(ledger, path, bytes, &wary, err);
        if (rc != -EAGAIN)
            return rc;
    }
    return fb_ledger_fail(err, EBUSY, path, "is replaced again and again");
}

static void shared_close(struct fly_ledger *ledger)
{
    fb_ledger_unmap(ledger);
    if (ledger->fd >= 0)
        (void)close(ledger->fd);
}

const struct ledger_kind fb_ledger_shared = {
    .name = "shared",
    .open = shared_open,
    .close = shared_close,
    .limiter = fb_slots_limiter,
};
