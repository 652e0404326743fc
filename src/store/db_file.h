/* SPDX-License-Identifier: MIT */
/*
 * db_file.h - what db.c and db_open.c share: the file on the disk around a database.
 */
#ifndef FLYBALL_STORE_DB_FILE_H
#define FLYBALL_STORE_DB_FILE_H

#include <flyball/flyball.h>

#include "store/db.h"

/* From now on wait for other writers, in short random pauses. */
void fb_db_wait_for_others(struct db *db);

/* Keep some space back for the day the disk is full. Whether that worked is not important. */
void fb_db_keep_reserve(struct db *db);

/* At the end: the space is free again. */
void fb_db_drop_reserve(struct db *db);

/*
 * What is at `path`: 0, a file (or nothing yet); -EISDIR, -ELOOP, -EINVAL for a directory, a link
 * or something else; or another negative errno.
 */
int fb_db_look_at(const char *path, struct fly_error *err) __attribute__((warn_unused_result));

/*
 * Rename `path`, and what SQLite keeps beside it, to a free name; `ret_name` gets it. 0 or negative
 * errno.
 */
int fb_db_put_aside(const char *path, char *ret_name, size_t size)
    __attribute__((warn_unused_result));

#endif
