/* SPDX-License-Identifier: MIT */
/*
 * show.h - a configuration written down, with everything that nobody said in it.
 *
 * The YAML loads back to the same configuration. Secrets are not part of a configuration; of those
 * that can be had at the moment, four digits of a hash are told with the origins, by which a person
 * knows one from another and nobody finds out anything else.
 */
#ifndef FLYBALL_CONFIG_SHOW_H
#define FLYBALL_CONFIG_SHOW_H

#include <stdbool.h>

#include "config/config.h"
#include "config/tree.h"

/* As a YAML file; with a comment behind each value, that says where it came from. */
void fb_config_show(const struct config *c, bool with_origins, struct buffer *out);

/* `{"schema":"flyball.config/1","file":...,"config":{...},"origins":{"mode":"default",...}}` */
void fb_config_show_json(const struct config *c, struct buffer *out);

/* "flyball.yaml:12:9", "environment FLYBALL_MODE", "flag --set mode", "preset github", "default" */
void fb_config_origin(const struct config *c, const struct yaml_node *n, struct buffer *out);

/* "set, hash a91f", or why there is none. */
void fb_config_describe_secret(const struct config_secret *s, struct buffer *out);

#endif
