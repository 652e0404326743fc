/* SPDX-License-Identifier: MIT */
/*
 * parts.h - the daemon inside: what its files share.
 *
 * daemon.c begins and ends it, second.c is what happens once a second; listen.c opens its doors,
 * routes.c is the table of what may be asked, status.c and answers.c say it, admin.c acts;
 * batches.c runs lists, reload.c brings a new configuration into force, alarm.c raises alerts,
 * csv.c writes figures down. watch.c runs the watcher, items.c answers about watched items, told.c
 * passes on what happens to them.
 */
#ifndef FLYBALL_DAEMON_PARTS_H
#define FLYBALL_DAEMON_PARTS_H

#include <uv.h>

#include "config/config.h"
#include "daemon/alerts.h"
#include "daemon/audit.h"
#include "daemon/csv.h"
#include "daemon/daemon.h"
#include "daemon/gauges.h"
#include "daemon/grade.h"
#include "daemon/log.h"
#include "daemon/metrics.h"
#include "daemon/moves.h"
#include "daemon/sse.h"
#include "fetch/fetch.h"
#include "fetch/host.h"
#include "view/status.h"
#include "watch/watch.h"

#define DRAIN_MS    5000 /* what is under way may take after the first SIGTERM */
#define BATCHES_MAX 64   /* that are known; the oldest that has ended is forgotten first */

struct daemon;

/* One of the three doors. */
struct door {
    struct server *server; /* NULL: closed */
    struct router router;
    struct buffer token;
    char where[128]; /* for people */
};

enum { DOOR_PUBLIC, DOOR_INTERNAL, DOOR_CONTROL, DOORS };

enum batch_state { BATCH_RUNS, BATCH_ENDED };

/* A list that is worked through, and one that was. */
struct work {
    struct work *next;
    struct daemon *daemon;
    enum batch_state state;
    char name[VIEW_NAME];
    struct buffer list, output, folder, journal, provider; /* as the options point to */
    struct buffer text;                                    /* URLs that were submitted as words */
    struct engine_header trace;                            /* "traceparent" for all its requests */
    char trace_value[64];
    const char **urls;
    struct fetch_options options;
    struct fetch *fetch;        /* while it runs */
    int code;                   /* how it ended */
    int64_t began_ns, ended_ns; /* since 1970 */
    struct progress progress;   /* as it was last */
    struct work_figures {
        int64_t requests, retries, skipped, unknown, eta_ns, p50_ns, p95_ns, p99_ns;
    } figures;                        /* likewise */
    char said[256];                   /* the last line that it had to say */
    bool is_configured;               /* from `batches:`, not submitted */
    const struct daemon_guest *guest; /* whose it is; NULL: nobody's in particular */
};

struct daemon {
    const struct daemon_options *o;
    uv_loop_t loop;
    struct config *config; /* in force */
    struct buffer file;    /* of the configuration; empty: there is none */
    struct buffer store;   /* the folder of journals and what was learned; empty: the usual one */
    struct host *home;
    struct engine *engine;
    struct watch *watcher;   /* of items; NULL: nothing is watched */
    struct watch_live *live; /* what it lives in; NULL: there is none */
    bool is_watch_ending;

    struct log log;
    struct meters meters;
    struct news news;
    struct sse sse;
    struct history history;
    struct gauges gauges;
    struct move moves[METER_SETS]; /* of limits that are learned */
    struct csv csv;
    struct audit audit;
    struct grader grader;
    struct alerts alerts;
    struct errand_out *errands; /* commands that run for alerts, */
    int alarms_out;             /* and how many */
    int posts_out;              /* alerts on their way to the webhook */
    int64_t success_s;          /* when something last succeeded */
    int64_t recoveries;         /* of the watcher, a second ago */
    int64_t began_ns;           /* since 1970 */

    struct door door[DOORS];
    struct buffer socket;
    int lock;

    uv_async_t wake; /* there is news */
    uv_timer_t second, watchdog, settle;
    uv_signal_t signals[4];
    uv_fs_event_t watch;

    struct reading *deferred; /* of what was put off; NULL: nobody has asked */

    struct work *batches;
    int64_t batch_number;
    int64_t reloads, reloads_failed;
    int64_t loaded_ns; /* since 1970: the configuration in force */
    char refused[256]; /* why the one read last is not; "": it is */
    char changed[160]; /* what was different in it, by the names of the keys */
    bool is_paused;
    int terms; /* signals to end */
    int doors_open;
    bool doors_told; /* to close */
    bool is_closing;
    int code;
};

/* Nanoseconds since 1970: the engine's clock. */
int64_t fb_daemon_now(const struct daemon *d);

/* Open the log and the rows of figures anew, after they were moved away; it is in the audit. */
int fb_daemon_reopen(struct daemon *d, const char *cause, struct fly_error *err);
/* An entry of the audit, which is news and a line of the log as well. */
void fb_daemon_audit(struct daemon *d, enum log_level level, const struct view_audit_event *e);

/* Begin to end: what is under way has so long. Again: at most so long. */
void fb_daemon_end(struct daemon *d, int64_t within_ms);

/* A batch or a door is gone: perhaps that was the last one. */
void fb_daemon_maybe_over(struct daemon *d);

/* A line such as "READY=1" for the service manager. */
void fb_daemon_notify(struct daemon *d, const char *line);

/* ---- home.c: the engine and what it needs ---- */
int fb_home_open(struct daemon *d, struct fly_error *err) __attribute__((warn_unused_result));
void fb_home_options(const struct daemon *d, const struct config *c, struct engine_options *o);

/* ---- listen.c ---- */
int fb_doors_open(struct daemon *d, struct fly_error *err) __attribute__((warn_unused_result));
void fb_doors_close(struct daemon *d, int64_t within_ms);

/* ---- routes.c ---- */
extern const struct route *const fb_routes_public[];
extern const struct route *const fb_routes_internal[];

static inline struct daemon *fb_daemon_of(const struct call *c)
{
    return c->router->context;
}

/* ---- status.c ---- */
void fb_status_answer(struct call *c);

/* What a status may go without: much to send, and seldom read. */
#define STATUS_SETS  1u /* how every provider and pool fared: waits, latencies */
#define STATUS_USAGE 2u /* of every limit */
#define STATUS_ITEMS 4u /* that are watched; they have events of their own */
#define STATUS_WHOLE (STATUS_SETS | STATUS_USAGE | STATUS_ITEMS)

/* As /status has it at the public door, or at the others; of what may be left out these parts. */
void fb_status_write(struct daemon *d, bool is_public, unsigned parts, struct buffer *out);
void fb_status_view_answer(struct call *c);
void fb_top_view_answer(struct call *c);
void fb_status_tick(struct daemon *d, struct buffer *out);
/* The keys of the engine, at most `most`: those with something to do first. Returns how many. */
size_t fb_status_keys(struct daemon *d, struct view_key *keys, size_t most);
/* A provider that is switched off and has no key: what there is to say of it. */
void fb_status_off(const struct daemon *d, const char *provider, struct view_key *ret_key);
/* One for each that has none among the `count` of them. Returns how many there are then. */
size_t fb_status_all_off(struct daemon *d, struct view_key *keys, size_t count, size_t most);
void fb_work_view(const struct work *b, bool is_public, struct view_batch *ret_view);

/* ---- status_sets.c ---- */
/* The member "failures": how every provider and pool fared since the start. */
void fb_status_sets(struct meters *m, struct buffer *out);

/* ---- answers.c ---- */

/* How a text is to be laid out, as the query says. True: as JSON. */
bool fb_call_style(const struct call *c, struct view_style *ret_style);
/* A whole answer of text; the buffer is freed. */
void fb_call_send_text(struct call *c, struct buffer *text);

void fb_limits_answer(struct call *c);
void fb_learned_answer(struct call *c);
void fb_why_answer(struct call *c);
void fb_audit_answer(struct call *c);
void fb_config_answer(struct call *c);

/* ---- admin.c ---- */
extern const struct route fb_admin_routes[];
/* {"schema":"flyball.admin/1","ok":true,"text":"..."} */
void fb_admin_done(struct call *c, const char *text);

/* ---- told.c ---- */
/* What the watcher tells: its port `tell` calls this. */
void fb_daemon_told(struct daemon *d, const struct watch_event *e);

/* ---- items.c ---- */
void fb_items_answer(struct call *c);
void fb_item_answer(struct call *c);
void fb_watch_view_answer(struct call *c);
void fb_items_view_answer(struct call *c);
void fb_item_view_answer(struct call *c);
void fb_item_pause(struct call *c);
void fb_item_resume(struct call *c);

/* ---- deferred.c ---- */

/* What batches have put off, as it was when it was last read; to ask has it read again. */
void fb_deferred_answer(struct call *c);
void fb_deferred_fini(struct daemon *d);

/* ---- page.c ---- */

/* The answers to "/", and to the files that the page needs. */
void fb_page_answer(struct call *c);
void fb_asset_answer(struct call *c);

/* ---- second.c ---- */
void fb_second(struct daemon *d);

/* ---- batches.c ---- */
void fb_batches_begin(struct daemon *d); /* those of the configuration that do not run yet */
void fb_batches_configure(struct daemon *d, const struct config *c); /* from now on */
void fb_batches_stop(struct daemon *d, int wait_ms);
/* That of whoever runs the daemon. */
int fb_batches_guest(struct daemon *d, const struct daemon_guest *g, struct fly_error *err)
    __attribute__((warn_unused_result));
/* `trace` is the traceparent of whoever submits it, or empty: its requests carry it on. */
int fb_work_submit(struct daemon *d, struct slice json, struct slice trace, struct work **ret_batch,
                   struct fly_error *err) __attribute__((warn_unused_result));
struct work *fb_work_find(const struct daemon *d, const char *name);
int64_t fb_batches_running(const struct daemon *d);
void fb_batches_free(struct daemon *d);

/* ---- watch.c ---- */
void fb_watching_begin(struct daemon *d); /* where the configuration watches anything */
/* The configuration in force is this one, and the one before is about to go. */
void fb_watching_configure(struct daemon *d, const struct config *c);
void fb_watching_end(struct daemon *d); /* fb_daemon_maybe_over() follows */
void fb_source_enable(struct call *c);
void fb_source_disable(struct call *c);

/* ---- reload.c ---- */

/* Read it anew. 0; or a negative errno with a sentence, and nothing has changed. */
int fb_reload(struct daemon *d, const char *cause, struct fly_error *err);
/* What of a configuration is kept elsewhere than in the engine. */
void fb_reload_apply(struct daemon *d, const struct config *c);

/* The file, for changes. */
void fb_reload_watch(struct daemon *d);

/* ---- alarm.c ---- */
void fb_alarm_posted(void *user, const struct engine_result *r); /* as a host's on_result */
void fb_alarm_look(struct daemon *d);
void fb_alarm_grade(struct daemon *d, enum grade before);

/* ---- alerts_view.c ---- */
void fb_alerts_answer(struct call *c);
/* Wait for no command any more. */
void fb_alarms_end(struct daemon *d);

#endif
