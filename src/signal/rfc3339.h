/* SPDX-License-Identifier: MIT */
/*
 * rfc3339.h - instants as JSON and many headers write them.
 */
#ifndef FLYBALL_SIGNAL_RFC3339_H
#define FLYBALL_SIGNAL_RFC3339_H

#include <stdbool.h>
#include <stdint.h>

#include "signal/slice.h"

/*
 * "2025-06-23T10:26:53Z", "2016-08-12T15:30:00+02:00", "2024-07-01T14:32:28.645Z" and, as some
 * servers leave the seconds out, "2021-05-10T14:30Z", as nanoseconds since 1970. T and Z may be
 * small, T may be a blank; a fraction has 1 to 18 digits and is rounded up to a nanosecond. The
 * offset is honoured and has to be there: local times of unknown places are refused, and so is
 * what does not fit into the result (before 1677, after 2262).
 */
bool fb_rfc3339_read(struct slice s, int64_t *ret_epoch_ns);

#endif
