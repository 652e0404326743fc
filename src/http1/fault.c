/* SPDX-License-Identifier: MIT */
/* fault.c - the table of faults, as data. */
#include "http1/fault.h"

#include <assert.h>
#include <stddef.h>

static const struct {
    int status;
    const char *reason;
} rows[] = {
#define X(name, status, reason) {status, reason},
    FB_HTTP_FAULTS(X)
#undef X
};

int fb_http_fault_status(enum http_fault fault)
{
    assert((size_t)fault < sizeof(rows) / sizeof(rows[0]));
    return rows[fault].status;
}

const char *fb_http_fault_reason(enum http_fault fault)
{
    assert((size_t)fault < sizeof(rows) / sizeof(rows[0]));
    return rows[fault].reason;
}
