/* SPDX-License-Identifier: MIT */
/*
 * sight.c - a ledger in a file, looked at by who only asks.
 *
 * The file is opened for reading, nothing is mapped, locked or made, and nobody waits for who asks.
 * What is read may be in the middle of a change. A slot that is read twice alike was so at one
 * instant, since no decision leaves the books as they were; and at any instant a slot can be made
 * good, because its owner may die at any (slot.c). That is done to the copy.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <flyball/state.h>

#include "core/instant.h"
#include "core/state.h"
#include "ledger/inner.h"
#include "ledger/ledger.h"
#include "util/alloc.h"

#define TRIES  100
#define TRY_NS (FB_NS_PER_MS / 20)
#define HOPS   4 /* of a key that has moved */

struct ledger_sight {
    int fd;
    uint64_t bytes;    /* of the file */
    struct head *head; /* a copy, with its index */
};

static bool read_whole(int fd, void *to, uint64_t size, uint64_t at)
{
    unsigned char *bytes = to;

    while (size > 0) {
        ssize_t got = pread(fd, bytes, size, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        bytes += got;
        size -= (uint64_t)got;
        at += (uint64_t)got;
    }
    return true;
}

static void pause_a_little(void)
{
    const struct timespec pause = {.tv_nsec = TRY_NS};

    (void)nanosleep(&pause, NULL);
}

/* ---- the head ---- */

/* As its head says: what says more than fits is none. */
static uint64_t head_bytes(const struct head *head)
{
    return sizeof(*head) + (uint64_t)head->entries * sizeof(struct entry);
}

static struct head *read_head(const struct ledger_sight *s)
{
    struct head first;

    if (s->bytes < sizeof(first) || !read_whole(s->fd, &first, sizeof(first), 0) ||
        head_bytes(&first) > s->bytes)
        return NULL;
    struct head *head = fb_alloc_lines(head_bytes(&first));
    if (head && read_whole(s->fd, head, head_bytes(&first), 0) && head->entries == first.entries)
        return head;
    fb_free(head);
    return NULL;
}

/* One that keys come and go in may look damaged while it is read. */
static int judge(struct ledger_sight *s, const char *path, struct fly_error *err)
{
    for (int i = 0; i < TRIES; i++) {
        enum head_judgement is = HEAD_DAMAGED;

        fb_free(s->head);
        s->head = read_head(s);
        if (s->head)
            is = fb_head_judge(s->head, s->bytes, fb_file_seems_alone(s->fd));
        if (is == HEAD_GOOD)
            return 0;
        if (is != HEAD_DAMAGED)
            return fb_ledger_fail(err, ENOENT, path, "is no ledger of this host, as it is now");
        pause_a_little();
    }
    return fb_ledger_fail(err, EUCLEAN, path, "is damaged");
}

int fb_sight_open(const char *path, struct ledger_sight **ret_sight, struct fly_error *err)
{
    char found[FB_LEDGER_PATH_BYTES];
    struct stat st;

    int rc = path ? 0 : fb_ledger_name(found, sizeof(found), err);
    if (rc < 0)
        return rc;
    path = path ? path : found;
    struct ledger_sight *s = fb_alloc(sizeof(*s));
    if (!s)
        return fb_ledger_fail(err, ENOMEM, path, "out of memory");
    s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    rc = s->fd < 0 ? fb_ledger_fail(err, errno, path, "cannot be read")
                   : fb_file_check(s->fd, path, &st, err);
    if (rc == 0) {
        s->bytes = (uint64_t)st.st_size;
        rc = judge(s, path, err);
    }
    if (rc == 0)
        *ret_sight = s;
    else
        fb_sight_close(s);
    return rc;
}

void fb_sight_close(struct ledger_sight *s)
{
    if (!s)
        return;
    if (s->fd >= 0)
        (void)close(s->fd);
    fb_free(s->head);
    fb_free(s);
}

void fb_sight_secret(const struct ledger_sight *s,
                     unsigned char ret_secret[FB_SIPHASH_SECRET_BYTES])
{
    memcpy(ret_secret, s->head->secret, FB_SIPHASH_SECRET_BYTES);
}

/* ---- a key ---- */

/* The slot of an entry as it was at one instant. 0, -EBUSY, -EIO or -ENOMEM. */
static int collect(const struct ledger_sight *s, const struct entry *e, struct slot **ret_slot)
{
    unsigned char *once = fb_alloc_lines(e->bytes);
    unsigned char *again = fb_alloc_lines(e->bytes);
    int rc = once && again ? -EBUSY : -ENOMEM;

    for (int i = 0; rc == -EBUSY && i < TRIES; i++) {
        if (i > 0)
            pause_a_little();
        if (!read_whole(s->fd, once, e->bytes, e->at) || !read_whole(s->fd, again, e->bytes, e->at))
            rc = -EIO;
        else if (memcmp(once, again, e->bytes) == 0)
            rc = 0;
    }
    fb_free(again);
    if (rc == 0)
        *ret_slot = (struct slot *)(void *)once;
    else
        fb_free(once);
    return rc;
}

/* The same of a key; one that moves is followed. */
static int find_slot(const struct ledger_sight *s, struct siphash_wide id,
                     const struct entry **ret_entry, struct slot **ret_slot)
{
    const struct entry *e = fb_index_find(s->head, id);

    for (int i = 0; e && i < HOPS; i++) {
        int rc = collect(s, e, ret_slot);
        if (rc < 0)
            return rc;
        *ret_entry = e;
        uint64_t moved = atomic_load(&(*ret_slot)->moved);
        if (moved == 0)
            return 0;
        fb_free(*ret_slot);
        e = fb_index_at(s->head, moved);
    }
    return -ENOENT;
}

/* A limiter under the same limit that goes on from where these books are. */
static int revive(const struct head *head, const struct slot *slot, int64_t now_ns,
                  struct fly_limiter **ret_limiter)
{
    unsigned char state[FLY_STATE_BYTES];
    size_t size = fb_state_bytes(&slot->body.books);

    fb_state_write(&slot->body.books, fb_books_now(head, slot), state);
    struct fly_limiter *l = fly_limiter_new(slot->spec, now_ns, 1, NULL);
    if (!l)
        return -ENOMEM;
    int rc = fly_limiter_load(l, now_ns, 0, state, size, NULL);
    if (rc == 0)
        *ret_limiter = l;
    else
        fly_limiter_free(l);
    return rc;
}

int fb_sight_key(const struct ledger_sight *s, const struct fly_key *key, int64_t now_ns,
                 struct fly_limiter **ret_limiter)
{
    const struct entry *e = NULL;
    struct slot *slot = NULL;
    struct siphash_wide id = fb_key_id(s->head, key);
    int rc = find_slot(s, id, &e, &slot);

    if (rc < 0)
        return rc;
    if (slot->id.word[0] != id.word[0] || slot->id.word[1] != id.word[1])
        rc = -ENOENT; /* the place is another key's by now */
    else if (!fb_slot_settled(s->head, e, slot))
        rc = -EIO;
    else
        rc = revive(s->head, slot, now_ns, ret_limiter);
    fb_free(slot);
    return rc;
}
