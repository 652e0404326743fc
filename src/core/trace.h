/* SPDX-License-Identifier: MIT */
/*
 * trace.h - the id of a trace, from a header `traceparent` (W3C Trace Context). Pure.
 *
 * The header itself is passed on as it is, like any other of a request; the id is what logs and
 * exemplars name, so that a slow answer can be found in whatever keeps the traces.
 */
#ifndef FLYBALL_CORE_TRACE_H
#define FLYBALL_CORE_TRACE_H

#include <stdbool.h>

#define FB_TRACE_HEADER "traceparent"
#define FB_TRACE_BYTES  33 /* 32 digits and the end */

/*
 * "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01": the second part. False where it is
 * nothing of the kind, and *ret_id is "".
 */
bool fb_trace_id(const char *traceparent, char ret_id[FB_TRACE_BYTES]);

#endif
