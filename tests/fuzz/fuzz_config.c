/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a configuration file, after a first line that is flags and variables: nothing but a
 * mistake comes of what is wrong, and what is accepted is shown as a file that loads back to the
 * same configuration.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "config/diff.h"
#include "config/show.h"
#include "util/buffer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* libfyaml itself loses a buffer of 2 KiB when a quoted text has something behind it. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libfyaml";
}

#define SAID_MAX 512

/* "#set KEY=VALUE" and "#env NAME=VALUE" as the first line. */
static size_t read_said(const char *bytes, size_t size, char *said, bool *is_flag)
{
    const char *end = memchr(bytes, '\n', size);

    if (!end || size < 5 || bytes[0] != '#' || end - bytes - 5 >= SAID_MAX || end - bytes < 5)
        return 0;
    *is_flag = bytes[1] == 's';
    memcpy(said, bytes + 5, (size_t)(end - bytes - 5));
    said[end - bytes - 5] = '\0';
    return (size_t)(end - bytes) + 1;
}

static int load(const struct config_sources *from, struct config **ret_config)
{
    static struct config_report report;
    int error = fb_config_load(from, &report, ret_config);

    assert(error == 0 || (fb_config_report_text(&report)[0] && report.mistakes > 0));
    assert(error == 0 || fb_config_report_first(&report)[0]);
    fb_config_report_fini(&report);
    return error;
}

static void expect_back(const struct config *c, bool with_origins)
{
    struct buffer shown = BUFFER_INIT;
    struct config *back = NULL;

    fb_config_show(c, with_origins, &shown);
    struct config_sources from = {.file = "f.yaml", .bytes = shown.bytes, .size = shown.size};
    if (load(&from, &back) < 0 || !fb_tree_is_same(c->tree, back->tree) ||
        fb_config_diff(c, back, NULL, NULL) != 0)
        abort();
    fb_config_free(back);
    fb_buffer_fini(&shown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char said[SAID_MAX] = "";
    const char *const all[] = {said, NULL};
    struct config_sources from = {.file = "f.yaml", .bytes = (const char *)data, .size = size};
    struct buffer json = BUFFER_INIT;
    struct config *c = NULL;
    bool is_flag = false;

    if (size == 0)
        return 0;
    if (read_said((const char *)data, size, said, &is_flag) > 0) {
        from.flags = is_flag ? all : NULL;
        from.environment = is_flag ? NULL : all;
    }
    if (load(&from, &c) < 0)
        return 0;
    expect_back(c, false);
    expect_back(c, true);
    fb_config_show_json(c, &json);
    fb_buffer_fini(&json);
    fb_config_free(c);
    return 0;
}
