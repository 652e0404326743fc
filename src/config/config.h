/* SPDX-License-Identifier: MIT */
/*
 * config.h - the configuration of Flyball: one validated struct that never changes.
 *
 * It is made from one YAML file, the environment and the command line, by the one table of keys
 * (config/table.h), which says what each key means, what it may be and what it is when nobody says
 * it. What is nearer to the person who runs the command wins, value by value:
 *
 *     flag  >  environment  >  file  >  preset  >  default
 *
 * Every value knows where it came from. A configuration with a single mistake is none at all, so
 * what holds one never has to check it; all mistakes are told at once (config/report.h).
 *
 *     struct config_sources from = {.file = "flyball.yaml", .environment = environ};
 *     struct config_report report = {0};
 *     struct config *c;
 *     int error = fb_config_load(&from, &report, &c);
 *     fputs(fb_config_report_text(&report), stderr);     mistakes and warnings, lines and carets
 *     ...
 *     fb_config_free(c);
 *
 * A new section: its struct here, its table of keys in config/table.c, its row in the root's.
 */
#ifndef FLYBALL_CONFIG_CONFIG_H
#define FLYBALL_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/report.h"
#include "config/watch.h"
#include "core/recovery.h"
#include "signal/preset.h"

struct buffer;
struct config;
struct fly_error;
struct yaml_node;

/* ------------------------------------------------------------------------------------ providers */

/* Where a secret is; one of the two. The secret itself is never part of a configuration. */
struct config_secret {
    const char *env;  /* a variable of the environment, or NULL */
    const char *file; /* its first line, or NULL */
};

/* Of several, the first that is not used up is sent. */
struct config_credential {
    const char *name;            /* in what people see */
    struct config_secret secret; /* where it is */
    const char *header;          /* that carries it: "Authorization" */
    const char *scheme;          /* before it, with a blank between: "Bearer"; or NULL: nothing */
};

/* Sent with every request of a provider that does not have one of that name. */
struct config_header {
    const char *name;
    const char *value;
};

/* Requests that share one budget. The first that fits a request decides. */
struct config_pool {
    const char *name;
    const char *method; /* NULL: any */
    const char *path;   /* as in struct preset_pool; NULL: any */
    const char *limit;  /* limit text; NULL: that of the provider */
};

/* 0: as for all. */
struct config_deadlines {
    int64_t connect_ns, first_byte_ns, idle_ns, total_ns;
};

struct config_provider {
    const char *name;
    bool enabled;
    const char *preset_name;     /* as written, or NULL */
    const struct preset *preset; /* or NULL: nothing is known about it */
    const char *const *hosts;    /* "api.github.com", "*.example.com"; ended by NULL */
    const char *limit;           /* limit text; "": nothing is known */
    const char *quota_path;      /* answers with the quota and costs nothing of it, or NULL */
    bool unmodified_free;        /* a 304 costs nothing of the quota */
    struct config_deadlines timeouts;
    const char *const *recovery; /* rules before those of all, ended by NULL */
    struct config_pool *pool;
    size_t pool_count;
    struct config_credential *credential;
    size_t credential_count;
    struct config_header *header;
    size_t header_count;
};

/* ---------------------------------------------------------------------------------- how to send */

/* Names and meanings as in engine/engine.h, to which engine/configure.h takes them. */
struct config_concurrency {
    int64_t total, provider, key, reserved;
};

struct config_timeouts {
    int64_t connect_ns, first_byte_ns, idle_ns, total_ns;
    int64_t hold_ns, outage_ns, stuck_ns;
};

struct config_breaker {
    int64_t failures, time_ns;
    bool counts_429;
};

struct config_pause {
    int64_t failures, time_ns;
};

struct config_queue {
    int64_t max;
    int64_t when_full; /* enum engine_full */
    int64_t ageing;
};

struct config_recycle {
    int64_t time_ns, tasks;
};

struct config_answers {
    int64_t body_bytes_max, head_bytes_max, headers_max, inflate_max;
};

struct config_connect {
    const char *user_agent; /* with the contact in it, where there is one; NULL: the usual one */
    const char *contact;
    const char *proxy, *no_proxy;
    const char *ca_file, *ca_path, *client_cert, *client_key, *interface;
    const char *const *resolve; /* ended by NULL */
    bool insecure, http1_only, decompress, refuse_private, redirect_private;
};

/* ----------------------------------------------------------------------------------- the daemon */

struct config_listener {
    const char *listen;         /* "127.0.0.1:8080"; "off": not at all */
    bool allow_remote;          /* may be another address than this machine's own */
    const char *const *hosts;   /* further names that Host may have; ended by NULL */
    struct config_secret token; /* that admin requests carry; none: the socket alone */
};

struct config_admin {
    const char *socket; /* a path; NULL: /run/flyball/, else below $XDG_RUNTIME_DIR; "off" */
};

struct config_listeners {
    struct config_listener public, internal;
    struct config_admin admin;
};

struct config_alerts {
    int64_t warning_ppm, critical_ppm;   /* of a limit in use */
    int64_t wait_ns;                     /* a longer one */
    bool grade;                          /* a change of the health grade */
    int64_t every_ns;                    /* the same alert not more often */
    const char *webhook;                 /* POST to this URL, or NULL */
    struct config_secret webhook_secret; /* where the URL is, when it is itself a secret */
    const char *const *command;          /* run this with the alert on its input; ended by NULL */
};

enum config_log_form { CONFIG_LOG_JSON, CONFIG_LOG_LOGFMT };
enum config_log_level { CONFIG_LOG_ERROR, CONFIG_LOG_WARNING, CONFIG_LOG_INFO, CONFIG_LOG_DEBUG };

struct config_log {
    int64_t form;     /* enum config_log_form */
    int64_t level;    /* enum config_log_level */
    const char *file; /* NULL: standard error */
    int64_t audit;    /* entries of the audit in memory */
};

struct config_metrics {
    const char *csv; /* a row for every `every_ns`, or NULL */
    int64_t every_ns;
    int64_t series_max; /* label sets of one metric; the rest is "other" */
};

struct config_store {
    const char *folder; /* journals, what was learned, answers; NULL: $XDG_STATE_HOME/flyball */
};

struct config_ledger {
    bool shared;      /* with all processes of this user on this host */
    const char *path; /* NULL: as fly_ledger_open() says */
    int64_t bytes;    /* of a new file */
};

/* A list that the daemon works through, as `flyball fetch` would. */
struct config_batch {
    const char *name;
    bool enabled;
    const char *list;
    const char *output;   /* JSON lines; NULL: below the store's folder */
    const char *folder;   /* bodies, a file each, or NULL */
    const char *journal;  /* NULL: chosen by list and output */
    const char *provider; /* NULL: by host */
    bool request_id, bodies, conditional, robots, paginate;
};

/* --------------------------------------------------------------------------------- all together */

struct config {
    const char *limit; /* of what no provider has: limit text, "": nothing is known */
    struct config_provider *provider;
    size_t provider_count;

    int64_t mode;                /* enum recovery_mode */
    int64_t retries;             /* attempts after the first, where the table has no end */
    const char *const *recovery; /* rules as text, ended by NULL */
    int64_t redirects;
    struct config_concurrency concurrency;
    struct config_timeouts timeouts;
    struct config_breaker breaker;
    struct config_pause pause;
    struct config_queue queue;
    struct config_recycle recycle;
    struct config_answers answers;
    struct config_connect connect;

    struct config_store store;
    struct config_ledger ledger;
    struct config_listeners listeners;
    struct config_alerts alerts;
    struct config_log log;
    struct config_metrics metrics;
    struct config_batch *batch;
    size_t batch_count;
    struct config_watch watch;

    const char *file;             /* as it was named; NULL: none was read */
    struct yaml_node *tree;       /* every value with its origin (config/tree.h) */
    struct config_memory *memory; /* what all of it lies in */
};

/* -------------------------------------------------------------------------------------- loading */

struct config_sources {
    const char *file;               /* NULL: none */
    const char *bytes;              /* what is in `file`, instead of reading it; or NULL */
    size_t size;                    /* of `bytes` */
    const char *const *environment; /* "NAME=value", ended by NULL; NULL: none is looked at */
    const char *const *flags;       /* "providers.github.rate=5/s", ended by NULL; or NULL */
};

/*
 * 0 with the configuration in *ret_config; warnings may be in the report all the same. -EINVAL when
 * there are mistakes, -ENOMEM when memory is out; then *ret_config is untouched.
 */
int fb_config_load(const struct config_sources *from, struct config_report *report,
                   struct config **ret_config) __attribute__((warn_unused_result));

/* NULL is allowed. */
void fb_config_free(struct config *c);

/*
 * The file that is read when none is named: $FLYBALL_CONFIG; flyball.yaml here, where `is_command`;
 * $XDG_CONFIG_HOME/flyball/flyball.yaml, else that below ~/.config; /etc/flyball/flyball.yaml.
 * Appends the first that exists; false: there is none.
 */
bool fb_config_find_file(struct buffer *out, bool is_command);

/* --------------------------------------------------------------------------------------- asking */

/* By its name, any case; or NULL. */
const struct config_provider *fb_config_provider(const struct config *c, const char *name);

/* By the host of a URL, without its port, any case; the longest pattern decides; or NULL. */
const struct config_provider *fb_config_for_host(const struct config *c, struct slice host);

/* The pool of a request, or NULL: none is named for it. As fb_preset_pool(). */
const struct config_pool *fb_config_pool(const struct config_provider *p, struct slice method,
                                         struct slice path);

/* The limit text for requests of a pool (NULL: of none); never NULL. */
const char *fb_config_limit(const struct config_provider *p, const struct config_pool *pool);

/*
 * The limit text of a key, by the names of its provider and its pool (NULL: of none): of a provider
 * here; else of a source of that name that has one; else of a preset of that name; else the limit
 * of all others. Never NULL.
 */
const char *fb_config_limit_of(const struct config *c, const char *provider, const char *pool);

/* Whether a value was said by anybody, so that it is no default: "timeouts.hold". */
bool fb_config_is_said(const struct config *c, const char *path);

/* Is there a secret to be had at all? */
bool fb_config_has_secret(const struct config_secret *s);

/*
 * Append the secret, read now: its file may have changed. 0, or a negative errno with a sentence
 * that names the place and never the secret: -ENOENT where nothing is there.
 */
int fb_config_read_secret(const struct config_secret *s, struct buffer *out, struct fly_error *err)
    __attribute__((warn_unused_result));

#endif
