/* SPDX-License-Identifier: MIT */
/* submit.c - `flyball fetch --submit`: the batch is handed to the daemon. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cli/ask.h"
#include "cli/command.h"
#include "cli/fetch.h"
#include "core/trace.h"
#include "fetch/paths.h"
#include "util/json.h"

static void add_path(struct buffer *b, const char *name, const char *path)
{
    struct buffer full = BUFFER_INIT;

    if (path && fb_path_from_root(&full, path) == 0)
        fb_json_text(b, name, fb_buffer_text(&full));
    b->failed |= full.failed;
    fb_buffer_fini(&full);
}

static void add_flag(struct buffer *b, const char *name, bool value)
{
    if (value)
        fb_json_bool(b, name, true);
}

static void add_urls(struct buffer *b, const struct fetch_options *o)
{
    fb_json_name(b, "urls");
    fb_buffer_add_char(b, '[');
    for (size_t i = 0; i < o->url_count; i++) {
        fb_buffer_add_text(b, i > 0 ? "," : "");
        fb_json_add_string(b, o->urls[i], strlen(o->urls[i]));
    }
    fb_buffer_add_char(b, ']');
}

static void write_batch(struct buffer *b, const struct fetch_options *o)
{
    fb_buffer_add_char(b, '{');
    if (o->list)
        add_path(b, "list", o->list);
    else
        add_urls(b, o);
    add_path(b, "output", o->output);
    add_path(b, "folder", o->folder);
    add_path(b, "journal", o->journal);
    if (o->provider)
        fb_json_text(b, "provider", o->provider);
    add_flag(b, "request_id", o->request_id);
    add_flag(b, "no_bodies", o->no_bodies);
    add_flag(b, "conditional", o->conditional);
    add_flag(b, "robots", o->robots);
    add_flag(b, "paginate", o->paginate);
    add_flag(b, "fresh", o->fresh);
    add_flag(b, "retry_failed", o->retry_failed);
    add_flag(b, "deferred", o->deferred);
    add_flag(b, "keep_going", o->keep_going);
    fb_buffer_add_char(b, '}');
}

/* What belongs to the daemon cannot come with a batch. */
static const char *refuse(const struct fetch_options *o)
{
    if (o->list && strcmp(o->list, "-") == 0)
        return "a list from standard input cannot be handed over; write it to a file";
    if (o->header_count > 0)
        return "headers and credentials are the daemon's: put them into its configuration";
    if (o->limit || o->limit_count > 0)
        return "limits are the daemon's: put them into its configuration";
    if (o->plan)
        return "what is handed over is not planned; leave out --submit or --plan";
    return NULL;
}

static int say(const struct ask *a, bool quiet)
{
    json_error_t wrong;
    json_t *o = json_loadb(a->body.bytes ? a->body.bytes : "", a->body.size, 0, &wrong);
    const char *name = json_string_value(json_object_get(o, "batch"));
    const char *output = json_string_value(json_object_get(o, "output"));
    const char *error = json_string_value(json_object_get(o, "error"));
    int code = a->status < 300 ? EXIT_DONE : a->status == 422 ? EXIT_USAGE : EXIT_FAILED;

    if (code != EXIT_DONE)
        fprintf(stderr, "flyball fetch: %s\n", error ? error : "the daemon refuses");
    else if (!quiet)
        printf("%s, into %s; see 'flyball status'\n", name ? name : "?", output ? output : "?");
    json_decref(o);
    return code;
}

/* $TRACEPARENT, where it is one: the batch belongs to what its caller does. */
static const char *trace_of_caller(void)
{
    const char *said = getenv("TRACEPARENT");
    char id[FB_TRACE_BYTES];

    return fb_trace_id(said, id) && !strpbrk(said, "\r\n") ? said : NULL;
}

int fb_fetch_submit(const struct fetch_options *o)
{
    struct ask a = {.trace = trace_of_caller()};
    struct buffer b = BUFFER_INIT;
    const char *no = refuse(o);

    if (no) {
        fprintf(stderr, "flyball fetch: --submit: %s\n", no);
        return EXIT_USAGE;
    }
    write_batch(&b, o);
    int rc = b.failed ? -1 : fb_ask(&a, "POST", "/admin/batch", b.bytes, b.size);
    int code = rc < 0 ? fb_ask_say_absent(&a, "fetch", rc) : say(&a, o->quiet);
    fb_buffer_fini(&b);
    fb_ask_fini(&a);
    return code == EXIT_DONE ? fb_finish_output(stdout, "standard output") : code;
}
