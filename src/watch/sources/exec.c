/* SPDX-License-Identifier: MIT */
/*
 * exec.c - answers that a program of the user's reads: the body on its standard input, one JSON
 * object (of a list: a JSON text with the rows) on its standard output.
 */
#include <string.h>

#include "watch/sources/source.h"

static int words(const struct source_rule *r, struct buffer *ret_words, struct fly_error *err)
{
    (void)err;
    fb_buffer_add(ret_words, "exec", sizeof "exec");
    for (const char *const *w = r->ask->command; *w; w++)
        fb_buffer_add(ret_words, *w, strlen(*w) + 1);
    return 0;
}

extern const struct source_kind fb_source_exec;
const struct source_kind fb_source_exec = {
    .name = "exec", .read = fb_source_read_json, .words = words};
