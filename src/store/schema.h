/* SPDX-License-Identifier: MIT */
/*
 * schema.h - the tables of a store and how a file of an older version gets them.
 *
 * A version is a row of statements that turn the one before into it. Rows are never changed once
 * they were released: a file of any version is brought up to date by running those above it.
 */
#ifndef FLYBALL_STORE_SCHEMA_H
#define FLYBALL_STORE_SCHEMA_H

#include <flyball/flyball.h>

#include "store/db.h"

#define SCHEMA_APPLICATION 0x466c7942 /* "FlyB", in the header of the file */

/* The version that this program reads and writes. */
int fb_schema_version(void);

/*
 * Look at an open file and bring it up to date. 0; -EINVAL: another program's; -EPROTO: of a newer
 * version; or as SQLite says. A file that is only read stays as old as it is.
 */
int fb_schema_settle(struct db *db, struct fly_error *err) __attribute__((warn_unused_result));

#endif
