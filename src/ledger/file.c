/* SPDX-License-Identifier: MIT */
/*
 * file.c - from a path to a mapped ledger whose head can be believed.
 *
 * Making and judging a file is done under flock, which the kernel gives up with its owner; the
 * magic number is stored last, so a file that was never finished is seen to be one. The whole
 * file is allocated before it is mapped: a full disk is an error here and never a signal later.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ledger/clock.h"
#include "ledger/ledger.h"
#include "util/text.h"

#define BYTES_MIN     UINT64_C(65536)
#define BYTES_MAX     (UINT64_C(1) << 30)
#define BYTES_DEFAULT (UINT64_C(8) << 20)
#define BYTES_A_KEY   8192 /* of which the index has an entry for each */
#define FLOCK_TRIES   200  /* of 10 ms */
#define OPEN_TRIES    8    /* where others replace the file at the same time */
#define PATH_MAX_     4096

int fb_ledger_fail(struct fly_error *err, int code, const char *what, const char *why)
{
    struct text t;

    if (err) {
        fb_text_init(&t, err->text, sizeof(err->text));
        fb_text_add(&t, what);
        fb_text_add(&t, ": ");
        fb_text_add(&t, why);
    }
    return -code;
}

static int fail_errno(struct fly_error *err, const char *path, int code)
{
    char why[100];

    /* The XSI form leaves an unknown number to the caller, the GNU one has a text for each. */
    if (code == ELOOP)
        return fb_ledger_fail(err, code, path, "is a symbolic link; name the file itself");
    if (code == EISDIR)
        return fb_ledger_fail(err, code, path, "is a directory; name a file");
    if (code == ENOSPC || code == EDQUOT || code == EFBIG)
        return fb_ledger_fail(err, code, path, "no room for the ledger on this disk");
    if (code == EACCES || code == EROFS || code == EPERM)
        return fb_ledger_fail(err, code, path, "the ledger must be readable and writable");
    const char *text = strerror_r(code, why, sizeof(why)) == 0 ? why : "cannot be used";
    return fb_ledger_fail(err, code, path, text);
}

/* ---- what a file belongs to ---- */

/* A small text from the kernel; empty where there is none. */
static void read_boot(char boot[FB_LEDGER_BOOT_BYTES])
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : read(fd, boot, FB_LEDGER_BOOT_BYTES - 1);

    memset(boot + (size > 0 ? size : 0), 0, (size_t)(FB_LEDGER_BOOT_BYTES - (size > 0 ? size : 0)));
    if (fd >= 0)
        (void)close(fd);
}

static uint64_t space(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? (uint64_t)st.st_ino : 0;
}

/* ---- a new file ---- */

static uint32_t entries_for(uint64_t bytes)
{
    return (uint32_t)(bytes / BYTES_A_KEY);
}

static int draw_secret(unsigned char *secret, size_t size)
{
    return getrandom(secret, size, 0) == (ssize_t)size ? 0 : -EIO;
}

static int make_head(struct head *head, uint64_t bytes, bool wary)
{
    memset(head, 0, sizeof(*head));
    head->version = FB_LEDGER_VERSION;
    head->entries = entries_for(bytes);
    head->bytes = bytes;
    head->anchor_ns = fb_clock_anchor_ns();
    head->pid_space = space("/proc/self/ns/pid");
    head->time_space = space("/proc/self/ns/time");
    head->wary = wary;
    read_boot(head->boot);
    for (uint32_t i = 0; i < head->entries; i++)
        head->entry[i] = (struct entry){.state = ENTRY_FREE};
    int rc = draw_secret(head->secret, sizeof(head->secret));
    if (rc == 0)
        atomic_store(&head->magic, FB_LEDGER_MAGIC);
    return rc;
}

/* ---- judging a file ---- */

enum judgement { GOOD, UNFINISHED, FOREIGN, NEWER, DAMAGED, ELSEWHERE, OTHER_BOOT };

static bool has_form(const struct head *head, uint64_t bytes)
{
    return head->version == FB_LEDGER_VERSION && head->bytes == bytes &&
           head->entries == entries_for(bytes) && head->wary <= 1 && head->reserved == 0 &&
           memchr(head->boot, '\0', sizeof(head->boot)) != NULL && head->anchor_ns > 0 &&
           head->anchor_ns < FB_TIME_MAX;
}

static enum judgement judge(const struct head *head, uint64_t bytes)
{
    char boot[FB_LEDGER_BOOT_BYTES];
    uint64_t magic = atomic_load(&head->magic);

    if (magic == 0 && bytes >= BYTES_MIN && bytes <= BYTES_MAX && bytes % BYTES_MIN == 0)
        return UNFINISHED;
    if (magic != FB_LEDGER_MAGIC)
        return FOREIGN;
    if (head->version > FB_LEDGER_VERSION)
        return NEWER;
    if (!has_form(head, bytes) || !fb_index_is_sound(head))
        return DAMAGED;
    read_boot(boot);
    if (strcmp(boot, head->boot) != 0)
        return OTHER_BOOT;
    if (head->pid_space != space("/proc/self/ns/pid") ||
        head->time_space != space("/proc/self/ns/time"))
        return ELSEWHERE;
    return GOOD;
}

/* ---- opening ---- */

static int check_owner(int fd, const char *path, struct stat *ret_stat, struct fly_error *err)
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

void fb_ledger_unmap(struct fly_ledger *ledger)
{
    if (ledger->head)
        (void)munmap(ledger->head, ledger->bytes);
    ledger->head = NULL;
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
    rc = make_head(ledger->head, ledger->bytes, wary);
    return rc < 0 ? fb_ledger_fail(err, -rc, path, "the system has no random numbers") : 0;
}

/* Out of the way, under another name; the caller opens the path anew. */
static int set_aside(const char *path, struct fly_error *err)
{
    char other[PATH_MAX_];
    struct text t;

    fb_text_init(&t, other, sizeof(other));
    fb_text_add(&t, path);
    fb_text_add(&t, ".damaged");
    if (t.left == 0)
        return fb_ledger_fail(err, ENAMETOOLONG, path, "the name is too long");
    return rename(path, other) < 0 ? fail_errno(err, path, errno) : -EAGAIN;
}

/* The boot is written last: whoever dies before begins again. */
static void renew(struct head *head)
{
    fb_ledger_renew(head);
    head->pid_space = space("/proc/self/ns/pid");
    head->time_space = space("/proc/self/ns/time");
    atomic_signal_fence(memory_order_seq_cst);
    read_boot(head->boot);
}

static int use(struct fly_ledger *ledger, int fd, const char *path, const struct stat *st,
               struct fly_error *err)
{
    switch (judge(ledger->head, ledger->bytes)) {
    case GOOD:
        return 0;
    case UNFINISHED:
        return make(ledger, fd, path, st, true, err);
    case OTHER_BOOT:
        renew(ledger->head);
        return 0;
    case DAMAGED:
        return set_aside(path, err);
    case FOREIGN:
        return fb_ledger_fail(err, EINVAL, path, "is not a ledger; name another file");
    case NEWER:
        return fb_ledger_fail(err, ENOTSUP, path, "was made by a newer version of this library");
    case ELSEWHERE:
        break;
    }
    return fb_ledger_fail(err, ENOTSUP, path,
                          "is used in another container, whose processes cannot be seen here");
}

/* -EAGAIN: the path names another file by now. */
static int open_locked(struct fly_ledger *ledger, int fd, const char *path, uint64_t bytes,
                       bool *wary, struct fly_error *err)
{
    struct stat st;
    int rc = check_owner(fd, path, &st, err);

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
    if ((uint64_t)st.st_size < sizeof(struct head) || (uint64_t)st.st_size > BYTES_MAX)
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
    if (rc < 0)
        fb_ledger_unmap(ledger);
    (void)flock(fd, LOCK_UN); /* the map keeps the file open */
    (void)close(fd);
    return rc;
}

int fb_ledger_map(struct fly_ledger *ledger, const char *path, uint64_t bytes,
                  struct fly_error *err)
{
    uint64_t wanted = bytes > 0 ? bytes : BYTES_DEFAULT;
    bool wary = false;

    if (wanted < BYTES_MIN || wanted > BYTES_MAX)
        return fb_ledger_fail(err, EINVAL, path, "a ledger has 64 KiB to 1 GiB");
    wanted = (wanted + BYTES_MIN - 1) / BYTES_MIN * BYTES_MIN;
    for (int i = 0; i < OPEN_TRIES; i++) {
        int rc = try_map(ledger, path, wanted, &wary, err);
        if (rc != -EAGAIN)
            return rc;
    }
    return fb_ledger_fail(err, EBUSY, path, "is replaced again and again");
}
