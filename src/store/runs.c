/* SPDX-License-Identifier: MIT */
/* runs.c - writing a batch over and over, and reading those of a folder. */
#include "store/runs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/hash.h"

#define PATH_MOST   4096
#define RUN_MAGIC   UINT64_C(0x314e555242594c46) /* "FLYBRUN1" */
#define RUN_VERSION 1
#define FILES_MAX   4096 /* looked at in a folder */
#define TRIES       50   /* for a state that is whole */
#define TRY_NS      1000000

struct run_head {
    uint64_t magic;
    uint32_t version;
    uint32_t batch_size; /* of the structs, as this program has them */
    uint32_t key_size;
    uint32_t size; /* of what follows: a batch without the keys that are not there */
    uint64_t hash; /* of that */
};

struct run {
    int fd;
    char path[PATH_MOST];
    struct {
        struct run_head head;
        struct view_batch batch;
    } file; /* written with one call */
};

static int make_path(char *path, const char *folder, const char *name, const char *tail)
{
    int length = snprintf(path, PATH_MOST, "%s/%s%s", folder, name, tail);

    return length < 0 || length >= PATH_MOST ? -ENAMETOOLONG : 0;
}

static size_t size_of(const struct view_batch *b)
{
    return offsetof(struct view_batch, key) + fb_view_batch_keys(b) * sizeof b->key[0];
}

static uint64_t hash_of(const struct view_batch *b, size_t size)
{
    return fb_hash_end(fb_hash_add(FB_HASH_INIT, b, size));
}

/* ------------------------------------------------------------------------------------- old ones */

struct found {
    char name[256];
    int64_t at_ns; /* of its last change */
};

static bool is_run(const char *name)
{
    size_t size = strlen(name);
    size_t tail = strlen(RUN_TAIL);

    return size > tail && size < sizeof((struct found *)0)->name &&
           strcmp(name + size - tail, RUN_TAIL) == 0;
}

static int newest_first(const void *a, const void *b)
{
    int64_t x = ((const struct found *)a)->at_ns;
    int64_t y = ((const struct found *)b)->at_ns;

    return x < y ? 1 : x > y ? -1 : 0;
}

/* The names of all, the newest first. How many, or negative errno. */
static int list(const char *folder, struct found **ret_found)
{
    struct found *found = fb_alloc_raw(FILES_MAX * sizeof *found);
    DIR *dir = opendir(folder);
    size_t count = 0;

    if (!found || !dir) {
        int error = found ? -errno : -ENOMEM;
        fb_free(found);
        if (dir)
            (void)closedir(dir);
        return error;
    }
    for (const struct dirent *e; count < FILES_MAX && (e = readdir(dir));) {
        struct stat s;

        if (!is_run(e->d_name) || fstatat(dirfd(dir), e->d_name, &s, AT_SYMLINK_NOFOLLOW) < 0 ||
            !S_ISREG(s.st_mode))
            continue;
        memcpy(found[count].name, e->d_name, strlen(e->d_name) + 1);
        found[count++].at_ns = s.st_mtim.tv_sec * INT64_C(1000000000) + s.st_mtim.tv_nsec;
    }
    (void)closedir(dir);
    qsort(found, count, sizeof *found, newest_first);
    *ret_found = found;
    return (int)count;
}

/* Whether a process holds the lock: it runs. */
static bool is_held(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    return fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static void remove_one(const char *folder, const char *name)
{
    char path[PATH_MOST];

    if (make_path(path, folder, name, "") < 0)
        return;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    if (!is_held(fd))
        (void)unlink(path);
    (void)close(fd);
}

static void remove_old(const char *folder)
{
    struct found *found = NULL;
    int count = list(folder, &found);

    for (int i = RUNS_KEPT; i < count; i++)
        remove_one(folder, found[i].name);
    fb_free(found);
}

/* -------------------------------------------------------------------------------------- writing */

static int take(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    if (fcntl(fd, F_SETLK, &lock) < 0)
        return errno == EACCES || errno == EAGAIN ? -EALREADY : -errno;
    /* What was there is of an earlier run, and may be longer. */
    return ftruncate(fd, 0) < 0 ? -errno : 0;
}

int fb_run_open(const char *folder, const char *name, struct run **ret_run)
{
    struct run *r = fb_alloc(sizeof *r);
    int error = r ? make_path(r->path, folder, name, RUN_TAIL) : -ENOMEM;

    if (error < 0) {
        fb_free(r);
        return error;
    }
    r->fd = open(r->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    error = r->fd < 0 ? -errno : take(r->fd);
    if (error < 0) {
        if (r->fd >= 0)
            (void)close(r->fd);
        fb_free(r);
        return error;
    }
    remove_old(folder);
    *ret_run = r;
    return 0;
}

bool fb_run_write(struct run *r, const struct view_batch *b)
{
    size_t size = size_of(b);

    if (!r)
        return false;
    memcpy(&r->file.batch, b, size);
    r->file.head = (struct run_head){.magic = RUN_MAGIC,
                                     .version = RUN_VERSION,
                                     .batch_size = sizeof *b,
                                     .key_size = sizeof b->key[0],
                                     .size = (uint32_t)size,
                                     .hash = hash_of(&r->file.batch, size)};
    size_t all = offsetof(struct run, file.batch) - offsetof(struct run, file) + size;
    /* The next one may succeed, and half a state does not match its hash. */
    return pwrite(r->fd, &r->file, all, 0) == (ssize_t)all;
}

void fb_run_drop(struct run *r)
{
    if (r)
        (void)unlink(r->path);
}

void fb_run_close(struct run *r)
{
    if (!r)
        return;
    (void)close(r->fd);
    fb_free(r);
}

/* -------------------------------------------------------------------------------------- reading */

static bool is_whole(const struct run_head *h, const struct view_batch *b, ssize_t size)
{
    return size >= (ssize_t)sizeof *h && h->magic == RUN_MAGIC && h->version == RUN_VERSION &&
           h->batch_size == sizeof *b && h->key_size == sizeof b->key[0] &&
           h->size >= offsetof(struct view_batch, key) && h->size <= sizeof *b &&
           size >= (ssize_t)(sizeof *h + h->size) && h->hash == hash_of(b, h->size);
}

static void end_text(char *text, size_t size)
{
    text[size - 1] = '\0';
}

static void settle_key(struct view_key *k)
{
    end_text(k->provider, sizeof k->provider);
    end_text(k->pool, sizeof k->pool);
    end_text(k->credential, sizeof k->credential);
    end_text(k->spec, sizeof k->spec);
    end_text(k->said_by, sizeof k->said_by);
    end_text(k->cause, sizeof k->cause);
    end_text(k->why, sizeof k->why);
    end_text(k->refused_item, sizeof k->refused_item);
    end_text(k->told_by, sizeof k->told_by);
    end_text(k->failed, sizeof k->failed);
    k->rate = isfinite(k->rate) ? k->rate : 0.0;
    k->limit = isfinite(k->limit) ? k->limit : 0.0;
    k->pace = isfinite(k->pace) ? k->pace : 0.0;
    k->permits = isfinite(k->permits) ? k->permits : -1.0;
    k->confidence = isfinite(k->confidence) ? k->confidence : 0.0;
}

/* A hash guards against accidents; what it says is looked at all the same. */
static void settle(struct view_batch *b, size_t size)
{
    int64_t keys = (int64_t)((size - offsetof(struct view_batch, key)) / sizeof b->key[0]);

    end_text(b->name, sizeof b->name);
    end_text(b->list, sizeof b->list);
    end_text(b->output, sizeof b->output);
    end_text(b->journal, sizeof b->journal);
    end_text(b->command, sizeof b->command);
    end_text(b->bound, sizeof b->bound);
    end_text(b->held_by, sizeof b->held_by);
    b->rate = isfinite(b->rate) ? b->rate : 0.0;
    if (b->wait_count < 0 || b->wait_count > VIEW_BATCH_CAUSES)
        b->wait_count = 0;
    for (int64_t i = 0; i < b->wait_count; i++)
        end_text(b->wait[i].cause, sizeof b->wait[i].cause);
    if (b->key_count < 0 || (int64_t)fb_view_batch_keys(b) > keys)
        b->key_count = keys;
    settle_key(&b->held);
    for (size_t i = 0; i < fb_view_batch_keys(b); i++)
        settle_key(&b->key[i]);
}

/* Into `file`, whole; false: it is not one of ours, or damaged. */
static bool read_file(int fd, struct run *file)
{
    static const struct timespec PAUSE = {.tv_nsec = TRY_NS};

    for (int i = 0; i < TRIES; i++) {
        ssize_t size = pread(fd, &file->file, sizeof file->file, 0);

        if (is_whole(&file->file.head, &file->file.batch, size))
            return true;
        if (!is_held(fd))
            return false;
        (void)nanosleep(&PAUSE, NULL);
    }
    return false;
}

/* Nothing is queued or sent any more; of one that was killed nobody has said the mean. */
static void end(struct view_batch *b)
{
    int64_t span_ns = b->updated_ns - b->began_ns;
    int64_t ended = fb_view_batch_ended(b) - b->earlier;

    if (b->ended_ns == 0)
        b->rate = span_ns > 0 && ended > 0 ? (double)ended / (double)span_ns * 1e9 : 0.0;
    b->queued = b->in_flight = 0;
    for (size_t i = 0; i < fb_view_batch_keys(b); i++) {
        b->key[i].rate = 0.0; /* it was so in its last second */
        b->key[i].queued = b->key[i].in_flight = 0;
    }
}

static struct view_batch *read_one(const char *folder, const char *name, struct run *file)
{
    char path[PATH_MOST];
    struct view_batch *b = NULL;

    if (make_path(path, folder, name, "") < 0)
        return NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return NULL;
    bool running = is_held(fd);
    if (read_file(fd, file) && (b = fb_alloc(sizeof *b))) {
        memcpy(b, &file->file.batch, file->file.head.size);
        settle(b, file->file.head.size);
        b->running = running;
        if (!running)
            end(b);
    }
    (void)close(fd);
    return b;
}

static int running_first(const void *a, const void *b)
{
    const struct view_batch *x = *(const struct view_batch *const *)a;
    const struct view_batch *y = *(const struct view_batch *const *)b;

    if (x->running != y->running)
        return x->running ? -1 : 1;
    return x->began_ns < y->began_ns ? 1 : x->began_ns > y->began_ns ? -1 : 0;
}

int fb_runs_read(const char *folder, struct runs *ret_runs)
{
    struct found *found = NULL;
    struct runs all = {.count = 0};
    int count = list(folder, &found);

    if (count < 0)
        return count == -ENOENT ? 0 : count;
    struct run *file = fb_alloc(sizeof *file);
    all.batch = fb_alloc(((size_t)count + 1) * sizeof(struct view_batch *));
    for (int i = 0; file && all.batch && i < count; i++) {
        struct view_batch *b = read_one(folder, found[i].name, file);
        if (b)
            all.batch[all.count++] = b;
    }
    if (all.batch)
        qsort(all.batch, all.count, sizeof(struct view_batch *), running_first);
    fb_free(found);
    fb_free(file);
    if (!file || !all.batch) {
        fb_runs_free(&all);
        return -ENOMEM;
    }
    *ret_runs = all;
    return 0;
}

void fb_runs_free(struct runs *r)
{
    for (size_t i = 0; i < r->count; i++)
        fb_free(r->batch[i]);
    fb_free(r->batch);
    *r = (struct runs){.count = 0};
}
