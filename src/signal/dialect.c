/* SPDX-License-Identifier: MIT */
/*
 * dialect.c - the table of dialects that need code.
 */
#include "signal/dialect.h"

#define X(name) &fb_dialect_##name,
const struct dialect *const fb_dialects[] = {FB_DIALECTS(X)};
#undef X

const size_t fb_dialect_count = sizeof(fb_dialects) / sizeof(fb_dialects[0]);
