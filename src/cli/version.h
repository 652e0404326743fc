/* SPDX-License-Identifier: MIT */
/* version.h - what this program was built from and runs with. */
#ifndef FLYBALL_CLI_VERSION_H
#define FLYBALL_CLI_VERSION_H

#include <stdbool.h>
#include <stdio.h>

/* Sentences, or one JSON object with the schema "flyball.version/1". */
void fb_version_print(FILE *out, bool json);

#endif
