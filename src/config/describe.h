/* SPDX-License-Identifier: MIT */
/*
 * describe.h - the table of keys itself, for people and for programs that check files.
 */
#ifndef FLYBALL_CONFIG_DESCRIBE_H
#define FLYBALL_CONFIG_DESCRIBE_H

struct buffer;

/* A line for each key: its path, its default or what is expected, a sentence. */
void fb_config_list_keys(struct buffer *out);

/* The same as `{"schema":"flyball.config-keys/1","keys":[...],"presets":[...]}`. */
void fb_config_list_keys_json(struct buffer *out);

/* A JSON Schema (2020-12) of the file, for editors. */
void fb_config_schema(struct buffer *out);

#endif
