/* SPDX-License-Identifier: MIT */
/* version.c - which library this is. */
#include <flyball/flyball.h>

#define TEXT(x)          #x
#define VERSION(a, b, c) TEXT(a) "." TEXT(b) "." TEXT(c)

const char *fly_version(void)
{
    return VERSION(FLY_VERSION_MAJOR, FLY_VERSION_MINOR, FLY_VERSION_PATCH);
}
