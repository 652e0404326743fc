/* SPDX-License-Identifier: MIT */
/*
 * list.h - a list of requests, read line by line and never as a whole.
 *
 * A line is a URL, in which {1..200} stands for every number of the range, or a JSON object with
 * at least "url". Blank lines and those that begin with '#' are passed over. A line that is
 * neither is an error with its number, and reading goes on behind it.
 */
#ifndef FLYBALL_FETCH_LIST_H
#define FLYBALL_FETCH_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <flyball/flyball.h>

#include "fetch/item.h"

#define LIST_LINE_MAX (4u << 20) /* bytes; bodies are in the lines */

struct list;

/*
 * Read from a file; "-": standard input. 0, or a negative errno with a sentence that names the
 * path.
 */
int fb_list_open(const char *path, struct list **ret_list, struct fly_error *err)
    __attribute__((warn_unused_result));

/* The list is these lines (borrowed). */
int fb_list_of(const char *const *lines, size_t count, struct list **ret_list)
    __attribute__((warn_unused_result));

/* NULL is allowed. */
void fb_list_close(struct list *l);

/*
 * The next item; what it points to is valid until the next call. 1: there is one. 0: the end.
 * -EINVAL: a line that is none, `err` says "FILE:LINE: ..."; call again. -EAGAIN: nothing to read
 * now, wait for fb_list_fd(). Anything else: reading failed, and so `err` says.
 */
int fb_list_next(struct list *l, struct item *ret_item, struct fly_error *err)
    __attribute__((warn_unused_result));

/* The descriptor to wait for, or -1: it never blocks. */
int fb_list_fd(const struct list *l);

/* Read a list once to count its items, wrong lines not included. -1: it can be read only once. */
int64_t fb_list_count(const char *path);
int64_t fb_list_count_of(const char *const *lines, size_t count);

#endif
