/* SPDX-License-Identifier: MIT */
/* config_rig.h - read YAML from a text in a test, and keep what is told about it. */
#ifndef FLYBALL_TESTS_CONFIG_RIG_H
#define FLYBALL_TESTS_CONFIG_RIG_H

#include "unit.h"

#include "config/yaml.h"
#include "util/text.h"

struct told {
    char lines[4096]; /* each with its newline */
    struct text end;
};

static inline void tell_line(void *user, const char *sentence)
{
    struct told *t = user;

    fb_text_add(&t->end, sentence);
    fb_text_add(&t->end, "\n");
}

static inline struct mistakes mistakes_into(struct told *t)
{
    fb_text_init(&t->end, t->lines, sizeof t->lines);
    return (struct mistakes){.file = "f.yaml", .tell = tell_line, .user = t};
}

#endif
