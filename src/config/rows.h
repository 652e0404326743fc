/* SPDX-License-Identifier: MIT */
/*
 * rows.h - how the rows of a table of keys are written: struct and field, then what differs.
 *
 * For the files that hold tables, and nobody else.
 */
#ifndef FLYBALL_CONFIG_ROWS_H
#define FLYBALL_CONFIG_ROWS_H

#include "config/check.h"
#include "config/config.h"
#include "config/table.h"

#define DAYS (INT64_C(86400) * 1000000000)
#define YEAR (366 * DAYS)
#define HOUR (DAYS / 24)

#define KEY(name_, type_, struct_, field_, standard_, help_, ...)              \
    {                                                                          \
        .name = name_, .type = CONFIG_##type_, .standard = standard_,          \
        .offset = offsetof(struct struct_, field_), .help = help_, __VA_ARGS__ \
    }
#define RANGE(least_, most_)      .least = (least_), .most = (most_)
#define WORDS(words_)             .words = words_
#define TABLE(table_)             .table = &table_
#define COUNTED(struct_, field_)  .count_offset = offsetof(struct struct_, field_)
#define CHECKED(check_, expects_) .is_right = check_, .expects = expects_
#define NEEDED                    .is_needed = true
#define ORDERED                   .is_ordered = true
#define FIXED                     .is_fixed = true
#define PRIVATE                   .is_private = true
#define HIDDEN                    .is_private = true, .is_hidden = true
#define NOTHING                   .least = 0
#define KEYS(...)               \
    (const struct config_key[]) \
    {                           \
        __VA_ARGS__,            \
        {                       \
            .name = NULL        \
        }                       \
    }

#define A_FILE CHECKED(fb_check_path, "the name of a file")

/* The rate beside a limit, which becomes a word of it. */
#define RATE_BESIDE                                                     \
    {                                                                   \
        .name = "rate", .type = CONFIG_RATE, .offset = CONFIG_NO_FIELD, \
        .help = "The same as rate in its limit."                        \
    }

extern const struct config_table fb_config_limit_keys; /* of table.c */
extern const struct config_table fb_config_watch_keys; /* of table_watch.c */

#endif
