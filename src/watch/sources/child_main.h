/* SPDX-License-Identifier: MIT */
/*
 * child_main.h - what a child does: bound itself, then read HTML or become another program.
 *
 * Its words, behind FB_CHILD_WORD: memory in bytes, seconds of processor time, then
 *
 *     exec PROGRAM WORD...
 *     html item XPATH...                 of the id ("" for none), then of each field
 *     html list XPATH XPATH...           of the rows; in a row: of the id, the state, each source
 *
 * HTML becomes a JSON list of the texts that were found, null where there was nothing: of a list,
 * one such list for each row.
 */
#ifndef FLYBALL_WATCH_SOURCES_CHILD_MAIN_H
#define FLYBALL_WATCH_SOURCES_CHILD_MAIN_H

/* The words behind FB_CHILD_WORD, ended by NULL. Returns the exit code. */
int fb_child_main(int count, char **words);

/* Read HTML from standard input by XPaths, and print what is there; see html_child.c. */
int fb_html_main(int count, char **words);

#endif
