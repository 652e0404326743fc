/* SPDX-License-Identifier: MIT */
/*
 * preset_file.h - a preset as it is written, presets/<name>.yaml:
 *
 *     title: GitHub                       for people
 *     documentation: https://...          where the provider writes about its limits
 *     hosts: [api.github.com]             "*.example.com" is every host below example.com
 *     quota: /rate_limit                  answers with the quota and costs nothing of it
 *     unmodified: free                    a 304 costs nothing of the quota, with a credential
 *     reset: epoch-seconds                what a bare number in a reset header is; or seconds,
 *                                         milliseconds, epoch-milliseconds
 *     retry: seconds                      the same of a bare Retry-After
 *     contact: asked                      requests should say how their sender can be reached
 *     limit: window=900/1m                limit text of what no pool states
 *     pools:                              the first that fits a request is its pool
 *       - name: search
 *         method: GET                     any, when it is not there
 *         path: /search                   this and below it; "*" is one whole segment
 *         limit: window=30/1m
 *
 * Title, documentation and hosts are needed, everything else is not. Without a host (hosts: [])
 * it is never found by one, and has to be named.
 */
#ifndef FLYBALL_CONFIG_PRESET_FILE_H
#define FLYBALL_CONFIG_PRESET_FILE_H

#include <stdbool.h>

#include "config/mistakes.h"
#include "config/yaml.h"
#include "signal/preset.h"

/* The preset and what its texts lie in. */
struct preset_file {
    struct preset preset;
    struct yaml_node *root;
    const char **hosts;
    struct preset_pool *pools;
    bool is_out_of_memory; /* while it is read */
};

/*
 * Read what `root` says about the provider `name`. 0, or -EINVAL when mistakes were told, or
 * -ENOMEM. The root belongs to *ret_file from then on, and to the caller when this fails.
 */
int fb_preset_file_read(struct yaml_node *root, const char *name, struct mistakes *m,
                        struct preset_file *ret_file) __attribute__((warn_unused_result));

/* What is zeroed is allowed. */
void fb_preset_file_fini(struct preset_file *f);

#endif
