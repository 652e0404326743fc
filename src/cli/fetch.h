/* SPDX-License-Identifier: MIT */
/*
 * fetch.h - the command line of `flyball fetch`, as it was read, and what becomes of it.
 */
#ifndef FLYBALL_CLI_FETCH_H
#define FLYBALL_CLI_FETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/options.h"
#include "fetch/fetch.h"

struct fetch_line {
    struct option_words words;
    const char *config;
    struct option_words set;
    const char *list;
    const char *jsonl;
    const char *folder;
    const char *journal;
    const char *metrics_csv;
    const char *log, *log_form;
    const char *report;
    bool no_bodies;
    bool fresh;
    bool retry_failed;
    bool deferred;
    bool keep_going;
    bool quiet;
    bool plan;
    bool json;
    bool submit;
    const char *progress;
    const char *color;
    bool request_id;
    bool conditional;
    bool robots;
    bool paginate;
    const char *cursor;
    int64_t pages;
    struct option_words limits;
    const char *rate;
    int64_t concurrency;
    const char *provider;
    const char *ledger;
    int64_t connect_ns;
    int64_t read_ns;
    int64_t total_ns;
    int64_t retries; /* -1: as the recovery rules say */
    int64_t max_wait_ns;
    const char *mode;
    struct option_words recovery;
    struct option_words headers;
    const char *user_agent;
    const char *proxy;
    const char *noproxy;
    const char *proxy_user;
    const char *cacert;
    const char *capath;
    const char *cert;
    const char *key;
    bool insecure;
    const char *interface;
    struct option_words resolve;
    bool http1;
    bool compressed;
    int64_t max_redirs;
    int64_t max_filesize;
};

struct config;

/* The configuration, and over it the command line. 0, or -EINVAL after a sentence on stderr. */
int fb_fetch_line_read(struct fetch_line *l, const struct config *c, int argc, char **argv)
    __attribute__((warn_unused_result));

/* What has no option of its own. The configuration must last as long as the batch. */
void fb_fetch_options_configure(struct fetch_options *o, const struct config *c);

/* Hand the batch to the daemon instead of running it. Returns the exit code. */
int fb_fetch_submit(const struct fetch_options *o);

/* The table of its options. */
extern const struct option_row fb_fetch_options[];

#endif
