/* SPDX-License-Identifier: MIT */
/*
 * result.h - what came of an item, kept until the worker has written it.
 *
 * Its line is put together at once, while the answer is at hand; the engine's memory ends with its
 * callback. A body that goes into a file of its own is kept as it is, and written by the worker.
 */
#ifndef FLYBALL_FETCH_RESULT_H
#define FLYBALL_FETCH_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"
#include "store/journal.h"
#include "util/blocks.h"
#include "util/buffer.h"

/* What is written of it. */
struct result_form {
    const char *folder; /* bodies go into files here; NULL: into the line */
    bool no_bodies;
    bool no_headers;
};

/* All that a line can say. Texts may be NULL. */
struct result_facts {
    const char *id;
    const char *url;       /* as the list has it */
    const char *final_url; /* that answered; left out when it is the same */
    const char *method;
    const char *failure; /* class: "dns", ... */
    const char *sentence;
    const char *place; /* for the deferred list; with `more`: where the next page is */
    const struct engine_header *header;
    size_t header_count;
    const void *body;
    size_t body_size;
    int body_fd; /* a file without a name that has the body; 0: `body` does */
    int32_t status;
    int32_t attempts;
    int32_t requests;
    int32_t throttled;
    int32_t source;
    uint32_t page; /* 0: there are no pages */
    int64_t waited_ns;
    int64_t duration_ns;
    int64_t not_before_s; /* of a deferred one */
    bool has_answer;
    bool more;   /* a page, and not the last */
    bool cached; /* the body is the stored one */
};

struct result {
    struct journal_entry entry; /* first: the journal hands this back */
    void *owner;
    size_t size; /* of all this */
    const char *line;
    size_t line_size;
    const char *file; /* where the body goes; NULL: nowhere */
    const char *body;
    size_t body_size;
    int fd; /* has the body, and gets its name; 0: `body` does */
};

/* What results are made with. */
struct result_maker {
    struct result_form form;
    struct blocks blocks;
    struct buffer line; /* of the one that is being made */
};

/* With the journal's entry filled in but for item, check, state and done. NULL: memory is out. */
struct result *fb_result_new(struct result_maker *m, const struct result_facts *facts);
void fb_result_free(struct result_maker *m, struct result *r);

/* All results must have been freed. */
void fb_result_maker_fini(struct result_maker *m);

/* The name of the file for an id: safe in a folder, and different for different ids. */
void fb_result_file_name(const char *id, struct buffer *out);

#endif
