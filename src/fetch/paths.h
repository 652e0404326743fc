/* SPDX-License-Identifier: MIT */
/*
 * paths.h - where things are kept when nobody says: $XDG_STATE_HOME/flyball, else
 * ~/.local/state/flyball.
 */
#ifndef FLYBALL_FETCH_PATHS_H
#define FLYBALL_FETCH_PATHS_H

#include <flyball/flyball.h>

#include "util/buffer.h"

#define JOURNAL_TAIL ".journal"

/* Append the folder. 0, or -ENOENT with a sentence: neither variable is set. */
int fb_state_folder(struct buffer *out, struct fly_error *err) __attribute__((warn_unused_result));

/* The same; `named`, unless NULL, is the folder. */
int fb_state_folder_named(const char *named, struct buffer *out, struct fly_error *err)
    __attribute__((warn_unused_result));

/* Make it, for its owner alone, with the folders above it. 0 or negative errno with a sentence. */
int fb_state_folder_make(const char *path, struct fly_error *err)
    __attribute__((warn_unused_result));

/* Whether the folder of a file that is to be written is there. 0, or -ENOENT with a sentence. */
int fb_path_see_folder(const char *path, struct fly_error *err) __attribute__((warn_unused_result));

/* Say why a file could not be opened for writing: its folder, or the error. Returns -number. */
int fb_path_cannot_write(const char *path, int number, struct fly_error *err);

/* Append `path` as it is from the root. 0 or negative errno. */
int fb_path_from_root(struct buffer *out, const char *path) __attribute__((warn_unused_result));

#endif
