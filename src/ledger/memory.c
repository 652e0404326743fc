/* SPDX-License-Identifier: MIT */
/*
 * memory.c - a ledger without a file: one budget for this process and the children that it forks.
 *
 * It is what a file would hold, in memory that is shared with children, so that all that is known
 * of files (who dies, who is stopped, another spec) holds here too. It is gone with the last
 * process that has it.
 */
#include <errno.h>
#include <sys/mman.h>

#include "ledger/ledger.h"

static int memory_open(struct fly_ledger *ledger, const char *address, uint64_t bytes,
                       struct fly_error *err)
{
    if (*address)
        return fb_ledger_fail(err, EINVAL, "memory:", "has no name; for others use a file");
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED)
        return fb_ledger_fail(err, ENOMEM, "memory:", "out of memory");
    ledger->head = at;
    ledger->bytes = bytes;
    /* Children find it at the same place: all see the same order of ledgers. No file has this. */
    ledger->device = UINT64_MAX;
    ledger->inode = (uint64_t)(uintptr_t)at;
    int rc = fb_head_make(ledger->head, bytes, false);
    return rc < 0 ? fb_ledger_fail(err, -rc, "memory:", "the system has no random numbers") : 0;
}

const struct ledger_kind fb_ledger_memory = {
    .name = "memory",
    .open = memory_open,
    .close = fb_ledger_unmap,
    .limiter = fb_slots_limiter,
};
