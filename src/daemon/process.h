/* SPDX-License-Identifier: MIT */
/* process.h - what this process takes of the machine, as /proc tells it. */
#ifndef FLYBALL_DAEMON_PROCESS_H
#define FLYBALL_DAEMON_PROCESS_H

#include <stdint.h>

struct process_facts {
    double cpu_s;
    int64_t resident_bytes;
    int64_t fds; /* descriptors that are open */
    int64_t fds_max;
    double began_s; /* since 1970 */
};

/* What cannot be read is 0. */
void fb_process_read(struct process_facts *ret_facts);

#endif
