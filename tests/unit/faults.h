/* SPDX-License-Identifier: MIT */
/*
 * faults.h - calls of the system that fail on demand.
 *
 * A test that defines __wrap_X is linked so that its X is called by all that it is linked with (see
 * `wraps` in the Makefile); __real_X is the system's. What is released knows nothing of it.
 */
#ifndef FLYBALL_TESTS_FAULTS_H
#define FLYBALL_TESTS_FAULTS_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Which call fails next, after how many that do not, how often, and how. */
struct fault {
    const char *call;
    int after;
    int times;
    int code;
};

static struct fault fault;

/* To be asked by __wrap_X: whether it is to fail now; errno is set. */
static inline bool fails(const char *call)
{
    if (!fault.call || strcmp(fault.call, call) != 0 || fault.times == 0 || fault.after-- > 0)
        return false;
    fault.times--;
    errno = fault.code;
    return true;
}

#endif
