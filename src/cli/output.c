/* SPDX-License-Identifier: MIT */
/* output.c - the end of a stream of results. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"

int fb_finish_output(FILE *out, const char *path)
{
    int failed = fflush(out) != 0 || ferror(out);

    if (!failed)
        return EXIT_DONE;
    /* A reader that has left has seen enough. */
    if (errno == EPIPE)
        return EXIT_DONE;
    fprintf(stderr, "flyball: cannot write %s: %s\n", path, strerror(errno));
    return EXIT_FAILED;
}
