/* SPDX-License-Identifier: MIT */
/*
 * fetch_config.c - what the configuration says, as if it had been said on the command line of
 * `flyball fetch`, which is read over it.
 */
#include <string.h>

#include "cli/command.h"
#include "cli/fetch.h"
#include "config/config.h"
#include "config/tree.h"
#include "engine/configure.h"

static void fill_connect(struct fetch_line *l, const struct config_connect *c)
{
    l->user_agent = c->user_agent;
    l->proxy = c->proxy;
    l->noproxy = c->no_proxy;
    l->cacert = c->ca_file;
    l->capath = c->ca_path;
    l->cert = c->client_cert;
    l->key = c->client_key;
    l->insecure = c->insecure;
    l->interface = c->interface;
    l->http1 = c->http1_only;
    l->compressed = c->decompress;
    for (; c->resolve[l->resolve.count] && l->resolve.count < OPTION_WORDS_MAX; l->resolve.count++)
        l->resolve.word[l->resolve.count] = c->resolve[l->resolve.count];
}

static void fill(struct fetch_line *l, const struct config *c)
{
    l->mode = fb_tree_find(c->tree, "mode")->text;
    l->concurrency = c->concurrency.total;
    l->connect_ns = c->timeouts.connect_ns;
    l->read_ns = 0; /* two in the configuration, which stay unless it is said */
    l->total_ns = c->timeouts.total_ns;
    l->retries = fb_config_is_said(c, "retries") ? c->retries : -1; /* as the rules say */
    l->max_redirs = c->redirects;
    l->max_filesize = c->answers.body_bytes_max;
    l->ledger = c->ledger.shared ? c->ledger.path : "none";
    /* A batch waits for what a server asks for, unless somebody says how long. */
    l->max_wait_ns = -1;
    if (fb_config_is_said(c, "timeouts.hold") && c->timeouts.hold_ns > 0)
        l->max_wait_ns = c->timeouts.hold_ns;
    /* Later rules come first: those of the command line before these. */
    for (; c->recovery[l->recovery.count] && l->recovery.count < OPTION_WORDS_MAX;
         l->recovery.count++)
        l->recovery.word[l->recovery.count] = c->recovery[l->recovery.count];
    fill_connect(l, &c->connect);
}

int fb_fetch_line_read(struct fetch_line *l, const struct config *c, int argc, char **argv)
{
    memset(l, 0, sizeof *l);
    fb_options_standard(fb_fetch_options, l);
    fill(l, c);
    return fb_options_read_over(&fb_command_fetch, argc, argv, l);
}

void fb_fetch_options_configure(struct fetch_options *o, const struct config *c)
{
    fb_engine_configure(c, &o->engine);
    o->engine.limit = NULL; /* limits are asked for key by key */
    o->config = c;
    o->refuses_disabled = true;
    o->store = c->store.folder;
}
