/* SPDX-License-Identifier: MIT */
/*
 * state.h - what books know that must outlast the process, as a string of bytes.
 *
 * What was learned (by the table of the controller), what a server asked for (a hold, a quota) and
 * what was spent (so that a fresh bucket or window does not give it twice). Bounds and rates that
 * were stated are not in it: those of the spec hold, whatever they were when it was written.
 *
 * The bytes are a version, the name of what learned, words in a fixed order, and a checksum; any
 * string of bytes is either such a state or refused. Times are ages, so any clock will do.
 */
#ifndef FLYBALL_CORE_STATE_H
#define FLYBALL_CORE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <flyball/flyball.h>

struct accountant;

/* Whether something learned what these bytes hold; false: it was stated, or is no state. */
bool fb_state_is_learned(const void *bytes, size_t size);

/* Bytes of the state of these books; at most FLY_STATE_BYTES. */
size_t fb_state_bytes(const struct accountant *a);

/* Write it: fb_state_bytes() of them. */
void fb_state_write(const struct accountant *a, int64_t now_ns, unsigned char *ret_bytes);

/*
 * Read it into books, `passed_ns` >= 0 after it was written. 0, or -EINVAL with a sentence in
 * `err`, unless that is NULL, and the books unchanged.
 */
int fb_state_read(struct accountant *a, int64_t now_ns, int64_t passed_ns,
                  const unsigned char *bytes, size_t size, struct fly_error *err)
    __attribute__((warn_unused_result));

#endif
