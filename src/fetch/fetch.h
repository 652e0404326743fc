/* SPDX-License-Identifier: MIT */
/*
 * fetch.h - a batch: every request of a list is made once, its result written once.
 *
 * The list is read as there is room, each item that the journal does not know as finished becomes
 * a task of the engine, each result goes to the store's worker, which writes and commits it. At
 * most FETCH_ITEMS_MAX items are between being read and being answered, and FETCH_BYTES_MAX of
 * results between that and being committed, so a list of any length takes the same memory.
 */
#ifndef FLYBALL_FETCH_FETCH_H
#define FLYBALL_FETCH_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"
#include "fetch/progress.h"
#include "fetch/result.h"
#include "fetch/screen.h"
#include "store/journal.h"

#define FETCH_ITEMS_MIN  256         /* between the list and their answers, at first */
#define FETCH_ITEMS_MAX  131072      /* where several keys wait for different things */
#define FETCH_BYTES_MAX  (64u << 20) /* of results that wait for the disk */
#define FETCH_FILE_BYTES (1u << 20)  /* what an open file of a result counts for */
#define FETCH_DRAIN_MS   5000        /* what is under way may take after an interrupt */

/* Exit codes, the worst of those that apply. */
enum fetch_exit {
    FETCH_DONE = 0,
    FETCH_BROKEN = 1, /* could not be written, out of memory */
    FETCH_USAGE = 2,  /* a list that cannot be read */
    FETCH_FAILED = 3,
    FETCH_DEFERRED = 4,
    FETCH_REFUSED = 5, /* by policy */
    FETCH_INTERRUPTED = 130,
};

/* A limit for one host, or host and port. */
struct fetch_limit {
    const char *host;
    const char *spec;
};

struct fetch_options {
    const char *name;        /* by which people know it; NULL: after its journal */
    const char *list;        /* a path; "-": standard input; NULL: `urls` */
    bool list_unsaid;        /* nobody named it: an empty one is a mistake */
    const char *const *urls; /* lines on the command line */
    size_t url_count;
    const char *output;  /* results; NULL: standard output */
    const char *folder;  /* bodies, or NULL */
    const char *journal; /* NULL: chosen by list and output */
    const char *provider;
    const char *limit; /* for every key without another */
    const struct fetch_limit *limits;
    size_t limit_count;
    const struct engine_header *header; /* for every request */
    size_t header_count;
    bool fresh;
    bool retry_failed;
    bool deferred;
    bool keep_going;
    bool quiet;
    const char *metrics_csv; /* a row a second goes there; NULL: nowhere */
    const char *report;      /* a page or a picture at the end; NULL: none */
    const char *log;         /* a line for each event is appended there; NULL: nowhere */
    bool logs_logfmt;        /* ... as logfmt, else as JSON */
    bool plan;               /* only say how long it would take; nothing is sent or changed ... */
    bool json;               /* ... as one JSON object */
    enum screen_mode progress;
    enum screen_color color;
    /* Told how far it is, four times a second and at the end; NULL: it is shown as usual. */
    void (*on_progress)(void *to, const struct progress *p, bool is_over);
    void *to;
    bool request_id;
    bool no_bodies;
    bool refuses_disabled; /* what goes to a provider that is switched off fails; else it waits */
    bool conditional;
    bool robots;
    bool paginate;
    const char *cursor; /* JSON pointer to the next URL or cursor, or NULL */
    const char *cursor_name;
    int64_t pages_max;
    const char *command; /* that goes on where this one was stopped; NULL: there is none */
    bool is_submitted;   /* to a daemon, which after a restart knows nothing of it */
    const char *ledger;  /* a path; NULL: the usual one; "none": limits are this process's own */
    /* Told a line for people; NULL: it goes to stderr. */
    void (*say)(void *to, const char *sentence);
    /* Providers, limits, credentials; NULL: presets alone. Another may take its place meanwhile. */
    const struct config *config;
    const char *store;            /* the folder of journals and answers; NULL: the usual one */
    struct engine_options engine; /* connections, deadlines, mode */
};

/* Everything as without options. */
void fb_fetch_options_init(struct fetch_options *o);

/* Run the batch to its end. Says on stderr what people want to know; returns the exit code. */
int fb_fetch_run(const struct fetch_options *o);

/* ------------------------------------------------------------------------------ one of several */

struct fetch;
struct view_batch;
struct host;

/*
 * Begin a batch on a host that is there already, beside others. Connections, deadlines, recovery
 * and ledger are the host's; of o->engine only `mode`, as far as it is offline or strict, and
 * hold_max_ns count. `o` must last as long as the batch. FETCH_DONE: on_end is called once, from a
 * later turn of the loop, when all is written and closed; the batch is gone then. Else the exit
 * code, and o->say has told why. May wait for the disk.
 */
int fb_fetch_begin(struct host *h, const struct fetch_options *o,
                   void (*on_end)(void *user, int code), void *user, struct fetch **ret_fetch);

/* Begin nothing new; what is under way has so many milliseconds. */
void fb_fetch_stop(struct fetch *f, int wait_ms);

/* The same, because whoever runs it ends: what is left then is FETCH_INTERRUPTED. */
void fb_fetch_cut_off(struct fetch *f, int wait_ms);

/* How far it is, now. */
void fb_fetch_progress(struct fetch *f, struct progress *ret_progress);

/* Credentials are read anew when they are next needed; what is queued goes with those it has. */
void fb_fetch_renew(struct fetch *f);

/* How it stands, as answers show it, at the last pulse; NULL: nobody has looked yet. */
const struct view_batch *fb_fetch_view(const struct fetch *f);

#endif
