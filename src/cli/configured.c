/* SPDX-License-Identifier: MIT */
/* configured.c - load the configuration, and say what is wrong with it. */
#include "cli/configured.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "util/alloc.h"
#include "util/buffer.h"

extern char **environ;

static int load(const char *file, const struct option_words *set, bool is_quiet,
                struct config **ret_config)
{
    const char *flags[OPTION_WORDS_MAX + 1] = {NULL};
    struct buffer path = BUFFER_INIT;
    struct config_report *report = fb_alloc(sizeof *report);
    struct config_sources from = {.environment = (const char *const *)environ, .flags = flags};
    int error = -ENOMEM;

    memcpy(flags, set->word, set->count * sizeof flags[0]);
    if (file && strcmp(file, "none") != 0)
        from.file = file;
    else if (!file && fb_config_find_file(&path, true))
        from.file = fb_buffer_text(&path);
    if (report) {
        error = fb_config_load(&from, report, ret_config);
        if (error == -EINVAL || !is_quiet)
            fputs(fb_config_report_text(report), stderr);
        fb_config_report_fini(report);
    }
    fb_free(report);
    fb_buffer_fini(&path);
    return error;
}

struct config *fb_configured(const char *command, const char *file, const struct option_words *set,
                             bool is_quiet, int *ret_exit)
{
    struct config *c = NULL;
    int error = load(file, set, is_quiet, &c);

    if (error == -ENOMEM)
        fprintf(stderr, "flyball %s: out of memory\n", command);
    *ret_exit = error == -EINVAL ? EXIT_USAGE : error < 0 ? EXIT_FAILED : EXIT_DONE;
    return c;
}
