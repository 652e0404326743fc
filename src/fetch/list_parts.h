/* SPDX-License-Identifier: MIT */
/*
 * list_parts.h - what list.c and list_json.c share.
 */
#ifndef FLYBALL_FETCH_LIST_PARTS_H
#define FLYBALL_FETCH_LIST_PARTS_H

#include <jansson.h>

#include "fetch/list.h"

/*
 * Whether `url` can be asked for. 0, or -EINVAL and what is wrong with it, without repeating the
 * URL, which may hold a secret.
 */
int fb_list_check_url(const char *url, size_t size, struct fly_error *err)
    __attribute__((warn_unused_result));

/*
 * Read an object into `ret_item`, which borrows from *ret_object; that is the caller's, also after
 * an error. `scratch` holds a body that had to be made. 0 or -EINVAL.
 */
int fb_list_read_json(const char *line, size_t size, struct item *ret_item, json_t **ret_object,
                      char **ret_scratch, struct fly_error *err)
    __attribute__((warn_unused_result));

#endif
