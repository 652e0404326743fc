/* SPDX-License-Identifier: MIT */
/* options.h - the check of an engine's options; their defaults are engine.h's. */
#ifndef FLYBALL_ENGINE_OPTIONS_H
#define FLYBALL_ENGINE_OPTIONS_H

struct engine_options;
struct fly_error;

/* 0, or -EINVAL with a sentence that names the option. */
int fb_engine_options_check(const struct engine_options *o, struct fly_error *err)
    __attribute__((warn_unused_result));

#endif
