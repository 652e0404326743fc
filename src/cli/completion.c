/* SPDX-License-Identifier: MIT */
/* completion.c - `flyball completion`: scripts that complete commands, options and values. */
#include "cli/completion.h"

#include <string.h>

#include "config/table.h"
#include "signal/preset.h"

struct completion_line {
    const char *shell;
};

#define OPTION_TARGET struct completion_line

static const struct option_row ROWS[] = {
    {"", OPTION_WORD(shell, "bash", "zsh", "fish"), .about = "the shell"},
    {0},
};

static const struct {
    const char *shell;
    void (*write)(struct buffer *b);
} WRITERS[] = {
    {"bash", fb_complete_bash},
    {"zsh", fb_complete_zsh},
    {"fish", fb_complete_fish},
};

enum completes fb_completes(const struct option_row *row)
{
    if (row->choices || row->has_providers || row->has_keys)
        return COMPLETES_WORDS;
    if (row->kind == KIND_FOLDER)
        return COMPLETES_FOLDERS;
    return row->kind == KIND_FILE || !row->name[0] ? COMPLETES_FILES : COMPLETES_NOTHING;
}

/* Keys that are there whatever a file says: no entries of maps. */
static void add_key(void *to, const struct config_row *key)
{
    struct buffer *b = to;

    if (strchr(key->path, '*') || key->key->type == CONFIG_SECTION || key->key->type == CONFIG_MAP)
        return;
    if (b->size > 0 && b->bytes[b->size - 1] != ' ')
        fb_buffer_add_char(b, ' ');
    fb_buffer_add_text(b, key->path);
    fb_buffer_add_char(b, '=');
}

static void add_keys(struct buffer *b)
{
    struct buffer keys = BUFFER_INIT;

    fb_config_each_key(add_key, &keys);
    fb_buffer_add(b, keys.bytes, keys.size);
    fb_buffer_fini(&keys);
}

void fb_complete_words(struct buffer *b, const struct option_row *row)
{
    if (row->has_keys)
        add_keys(b);
    for (size_t i = 0; row->choices && row->choices[i]; i++) {
        if (i > 0)
            fb_buffer_add_char(b, ' ');
        fb_buffer_add_text(b, row->choices[i]);
    }
    for (size_t i = 0; row->has_providers && i < fb_preset_count; i++) {
        if (i > 0 || row->choices)
            fb_buffer_add_char(b, ' ');
        fb_buffer_add_text(b, fb_presets[i].name);
    }
}

const struct option_row *fb_words_row(const struct command *c)
{
    for (const struct option_row *r = c->options; r && r->name; r++) {
        if (!r->name[0])
            return r;
    }
    return NULL;
}

void fb_complete_quoted(struct buffer *b, const char *text, const char *special)
{
    for (; *text; text++) {
        if (strchr(special, *text))
            fb_buffer_add_char(b, '\\');
        if (*text == '\'')
            fb_buffer_add_text(b, "'\\''");
        else
            fb_buffer_add_char(b, *text);
    }
}

static int completion_run(int argc, char **argv)
{
    struct completion_line line = {0};
    struct buffer b = BUFFER_INIT;

    if (fb_options_read(&fb_command_completion, argc, argv, &line) < 0)
        return EXIT_USAGE;
    if (!line.shell) {
        fputs("flyball completion: which shell? bash, zsh or fish\n", stderr);
        return EXIT_USAGE;
    }
    for (size_t i = 0; i < sizeof WRITERS / sizeof WRITERS[0]; i++) {
        if (strcmp(WRITERS[i].shell, line.shell) == 0)
            WRITERS[i].write(&b);
    }
    (void)fwrite(b.bytes, 1, b.size, stdout);
    fb_buffer_fini(&b);
    return fb_finish_output(stdout, "standard output");
}

const struct command fb_command_completion = {
    .name = "completion",
    .about = "the script that completes all this in bash, zsh or fish",
    .usage = "bash|zsh|fish",
    .intro = "Prints a script that completes commands, options, their values and the names of "
             "providers. `make install` puts it where the shells look for it.",
    .is_minor = true,
    .options = ROWS,
    .exits = "0 done, 1 cannot write, 2 usage",
    .examples = "source <(flyball completion bash)\n"
                "source <(flyball completion zsh)\n"
                "flyball completion fish | source\n",
    .run = completion_run,
};
