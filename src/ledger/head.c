/* SPDX-License-Identifier: MIT */
/*
 * head.c - the head of a ledger: made, judged, and made to fit a new boot.
 *
 * The magic number is stored last when a head is made, and the boot last when it is renewed:
 * whoever dies before that is seen not to have finished.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/instant.h"
#include "ledger/clock.h"
#include "ledger/ledger.h"

#define BYTES_A_KEY 8192 /* of which the index has an entry for each */

/* ---- what a ledger belongs to ---- */

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

/* ---- a new one ---- */

static uint32_t entries_for(uint64_t bytes)
{
    return (uint32_t)(bytes / BYTES_A_KEY);
}

static int draw(void *bytes, size_t size)
{
    return getrandom(bytes, size, 0) == (ssize_t)size ? 0 : -EIO;
}

int fb_head_new_era(struct head *head)
{
    return draw(&head->era, sizeof(head->era));
}

int fb_head_make(struct head *head, uint64_t bytes, bool wary)
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
    int rc = draw(head->secret, sizeof(head->secret));
    if (rc == 0)
        atomic_store(&head->magic, FB_LEDGER_MAGIC);
    return rc;
}

/* ---- judging ---- */

/* Of what fb_ledger_bytes() makes. */
static bool is_size(uint64_t bytes)
{
    return bytes >= FB_LEDGER_BYTES_MIN && bytes <= FB_LEDGER_BYTES_MAX &&
           bytes % FB_LEDGER_BYTES_MIN == 0;
}

static bool has_form(const struct head *head, uint64_t bytes)
{
    return head->version == FB_LEDGER_VERSION && head->bytes == bytes &&
           head->entries == entries_for(bytes) && head->wary <= 1 && head->reserved == 0 &&
           memchr(head->boot, '\0', sizeof(head->boot)) != NULL && head->anchor_ns > 0 &&
           head->anchor_ns < FB_TIME_MAX;
}

/*
 * Which boot it is may not be readable, in a sandbox: then it is like no other, and one that is
 * like no other is of this boot only where somebody has it now, for nobody outlives a boot.
 */
static bool is_other_boot(const struct head *head, bool is_alone)
{
    char boot[FB_LEDGER_BOOT_BYTES];

    read_boot(boot);
    if (boot[0] == '\0' || head->boot[0] == '\0')
        return is_alone;
    return strcmp(boot, head->boot) != 0;
}

enum head_judgement fb_head_judge(const struct head *head, uint64_t bytes, bool is_alone)
{
    uint64_t magic = atomic_load(&head->magic);

    if (magic == 0 && is_size(bytes))
        return HEAD_UNFINISHED;
    if (magic != FB_LEDGER_MAGIC)
        return HEAD_FOREIGN;
    if (head->version > FB_LEDGER_VERSION)
        return HEAD_NEWER;
    if (!has_form(head, bytes) || !fb_index_is_sound(head))
        return HEAD_DAMAGED;
    if (is_other_boot(head, is_alone))
        return HEAD_OTHER_BOOT;
    if (head->pid_space != space("/proc/self/ns/pid") ||
        head->time_space != space("/proc/self/ns/time"))
        return HEAD_ELSEWHERE;
    return HEAD_GOOD;
}

/* The boot is written last: whoever dies before begins again. */
void fb_head_renew(struct head *head)
{
    fb_ledger_renew(head);
    head->pid_space = space("/proc/self/ns/pid");
    head->time_space = space("/proc/self/ns/time");
    atomic_signal_fence(memory_order_seq_cst);
    read_boot(head->boot);
}
