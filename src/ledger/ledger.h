/* SPDX-License-Identifier: MIT */
/*
 * ledger.h - kinds of ledgers, and what those of a mapped memory share: head, index, slots.
 *
 * The head says what it is and which boot, clock and containers it belongs to; that of a file is
 * checked whole when the file is opened, under flock. The index is an array of entries, each a key
 * and the part of the file that is its slot's; entries come and go under the head's lock, and each
 * is valid or not by one store. A slot is checked whole before a process uses it.
 *
 * Everything read here may be any bytes: it is looked at before it is believed. What a process of
 * the same user writes into the file while it is in use is believed.
 *
 * Whoever opens a file that nobody else has open draws a new `era`, which no bytes can foresee. A
 * slot of another era was used by nobody who lives, whatever its seats say.
 */
#ifndef FLYBALL_LEDGER_LEDGER_H
#define FLYBALL_LEDGER_LEDGER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <sys/stat.h>

#include <flyball/ledger.h>

#include "ledger/robust.h"
#include "ledger/siphash.h"
#include "ledger/slot.h"

#define FB_LEDGER_MAGIC      UINT64_C(0x314c4c4142594c46) /* "FLYBALL1" */
#define FB_LEDGER_VERSION    5
#define FB_LEDGER_BOOT_BYTES 40
#define FB_LEDGER_ALIGN      64
#define FB_LEDGER_BYTES_MIN  UINT64_C(65536)
#define FB_LEDGER_BYTES_MAX  (UINT64_C(1) << 30)
#define FB_LEDGER_PATH_BYTES 4096

enum entry_state {
    ENTRY_FREE,
    ENTRY_USED,
    ENTRY_LEFT, /* its key has moved on; somebody may still be looking */
    ENTRY_NEXT, /* its key is about to move here */
};

struct entry {
    struct siphash_wide id;
    uint64_t at; /* in the file */
    uint64_t bytes;
    _Atomic uint32_t state;
    uint32_t reserved;
};

struct head {
    _Atomic uint64_t magic; /* stored last */
    uint32_t version;
    uint32_t entries;   /* in the index */
    uint64_t bytes;     /* of the file */
    int64_t anchor_ns;  /* of the clock: what the epoch is before this boot */
    uint64_t pid_space; /* the namespaces of those who may share it */
    uint64_t time_space;
    unsigned char secret[FB_SIPHASH_SECRET_BYTES];
    char boot[FB_LEDGER_BOOT_BYTES];
    uint32_t wary; /* 1: what there was before is lost, new keys start with nothing left */
    uint32_t reserved;
    uint64_t era;     /* drawn when somebody is alone with it */
    uint64_t room_at; /* where there may be room for another key */
    struct robust lock;
    struct entry entry[];
};

struct fly_ledger {
    const struct ledger_kind *kind;
    struct head *head;
    uint64_t bytes;
    uint64_t device;
    uint64_t inode;
    int64_t ahead_ns; /* fly_now() in this process, less the ledger's clock */
    int fd;           /* of a file: locked for as long as it is in use */
};

/* ---- kinds (kinds.c) ---- */

/* Every kind of ledger: a file src/ledger/<name>.c that defines fb_ledger_<name>. */
#define FB_LEDGERS(X) X(shared) X(memory)

struct ledger_kind {
    const char *name; /* an address is the name, a colon and what open() is given */

    /* Fill in the ledger, of so many bytes if it is a new one. */
    int (*open)(struct fly_ledger *ledger, const char *address, uint64_t bytes,
                struct fly_error *err);

    /* Leave nothing behind, also after an open() that failed. */
    void (*close)(struct fly_ledger *ledger);

    /* As fly_ledger_limiter(), of a spec that was read. */
    int (*limiter)(struct fly_ledger *ledger, const struct fly_key *key, const struct spec *s,
                   const char *text, struct fly_limiter **ret_limiter, struct fly_error *err);
};

#define X(name) extern const struct ledger_kind fb_ledger_##name;
FB_LEDGERS(X)
#undef X

/* Where the ledger is when nobody says: into `path`; the second makes the folder. (path.c) */
int fb_ledger_name(char *path, size_t size, struct fly_error *err);
int fb_ledger_path(char *path, size_t size, struct fly_error *err);

/* Whether it is a file that only this user can have written. (shared.c) */
int fb_file_check(int fd, const char *path, struct stat *ret_stat, struct fly_error *err);

/* -code, with "<what>: <why>" in err unless that is NULL. */
int fb_ledger_fail(struct fly_error *err, int code, const char *what, const char *why);

/* ---- who has the file (alone.c) ---- */

/* Whether nobody else shares it; then nobody can, until fb_file_share(). */
bool fb_file_is_alone(int fd);

/* The same as far as can be seen without locking anything. */
bool fb_file_seems_alone(int fd);

/* Share it until the file is closed, here and in children of a fork. */
void fb_file_share(int fd);

/* ---- the head (head.c) ---- */

enum head_judgement {
    HEAD_GOOD,
    HEAD_UNFINISHED,
    HEAD_FOREIGN,
    HEAD_NEWER,
    HEAD_DAMAGED,
    HEAD_ELSEWHERE, /* in another container */
    HEAD_OTHER_BOOT,
};

/* The head of a new ledger of so many bytes. -EIO: the system has no random numbers. */
int fb_head_make(struct head *head, uint64_t bytes, bool wary);

/* `is_alone`: nobody else has it, so that nobody vouches for its being of this boot. */
enum head_judgement fb_head_judge(const struct head *head, uint64_t bytes, bool is_alone);

/* Nobody else has it: who is said to use its slots does not. -EIO: no random numbers. */
int fb_head_new_era(struct head *head);

/* One of another boot belongs to this one. */
void fb_head_renew(struct head *head);

/* ---- the index (index.c) ---- */

/* Whether every entry lies in the file and none on another. */
bool fb_index_is_sound(const struct head *head);

/* Finish or undo a move that was left in the middle; the head is locked. */
void fb_index_settle(struct head *head);

/* The entry whose slot lies there, or NULL. */
struct entry *fb_index_at(struct head *head, uint64_t at);

/* The entry of a key, or NULL; the head is locked. */
struct entry *fb_index_find(struct head *head, struct siphash_wide id);

/* An entry that is not used yet with so many zeroed bytes, or NULL; the head is locked. */
struct entry *fb_index_room(struct head *head, uint64_t bytes);

static inline void *fb_ledger_at(struct head *head, uint64_t at)
{
    return (unsigned char *)head + at;
}

/* ---- limiters (ledger.c) ---- */

void fb_ledger_unmap(struct fly_ledger *ledger);

/* What a kind of ledger does that keeps its limiters in slots. */
int fb_slots_limiter(struct fly_ledger *ledger, const struct fly_key *key, const struct spec *s,
                     const char *text, struct fly_limiter **ret_limiter, struct fly_error *err);

/* The host was started anew: keep what is worth keeping, and take every limit to be used up. */
void fb_ledger_renew(struct head *head);

/* The key of this handle lives elsewhere in the file now. False: it does not. */
bool fb_ledger_follow(struct share *g, uint64_t at);

/* Another spec for a limiter that is in use. */
struct change {
    const struct spec *spec;
    const char *text;
    void (*carry)(struct accountant *to, const struct accountant *from); /* what is taken along */
};

/* Change the key of this handle. */
int fb_ledger_reconfigure(struct share *g, const struct change *c, int64_t now_ns,
                          struct fly_error *err);

/* This handle will not be used any more. */
void fb_ledger_part(struct share *g);

/* An order of all slots of all ledgers that every process sees alike. */
bool fb_ledger_is_before(const struct share *a, const struct share *b);

/* Which key it is, under the secret of this ledger. */
struct siphash_wide fb_key_id(const struct head *head, const struct fly_key *key);

/* Now, as the books of a slot keep time. */
int64_t fb_books_now(const struct head *head, const struct slot *slot);

/*
 * Undo or finish all that was left half done, in a slot that is locked, or in a copy of one, and
 * let the books catch up. False: it is damaged, or its key has moved.
 */
bool fb_slot_settled(const struct head *head, const struct entry *e, struct slot *slot);

/* Whether a slot of so many bytes is what this library would have written, whatever it says. */
bool fb_slot_is_sound(struct slot *slot, uint64_t bytes);

#endif
