/* SPDX-License-Identifier: MIT */
/* wide.h - 128-bit integers, for products that are divided again at once. */
#ifndef FLYBALL_CORE_WIDE_H
#define FLYBALL_CORE_WIDE_H

__extension__ typedef __int128 fb_wide;
__extension__ typedef unsigned __int128 fb_uwide;

#endif
