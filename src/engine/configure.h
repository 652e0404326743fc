/* SPDX-License-Identifier: MIT */
/*
 * configure.h - from a configuration to the options of an engine.
 */
#ifndef FLYBALL_ENGINE_CONFIGURE_H
#define FLYBALL_ENGINE_CONFIGURE_H

#include "config/config.h"
#include "engine/engine.h"

/*
 * Set what a configuration says; all else stays as it is: callbacks, observers, clock. Texts are
 * the configuration's, which must last until the engine has them.
 */
void fb_engine_configure(const struct config *c, struct engine_options *o);

/*
 * Deadlines and recovery of the providers that have their own; after every fb_engine_tune(), too.
 * 0, or a negative errno with a sentence.
 */
int fb_engine_configure_providers(struct engine *e, const struct config *c, struct fly_error *err)
    __attribute__((warn_unused_result));

#endif
