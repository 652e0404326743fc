/* SPDX-License-Identifier: MIT */
/* completion_fish.c - the script for fish: a line for each command and each option. */
#include "cli/completion.h"

static void add_head(struct buffer *b, const struct command *c)
{
    fb_buffer_add_text(b, "complete -c flyball -n '__fish_seen_subcommand_from ");
    fb_buffer_add_text(b, c->name);
    fb_buffer_add_char(b, '\'');
}

static void add_action(struct buffer *b, const struct option_row *row)
{
    switch (fb_completes(row)) {
    case COMPLETES_NOTHING:
        fb_buffer_add_text(b, " -x");
        break;
    case COMPLETES_FILES:
        fb_buffer_add_text(b, " -r -F");
        break;
    case COMPLETES_FOLDERS:
        fb_buffer_add_text(b, " -x -a '(__fish_complete_directories)'");
        break;
    case COMPLETES_WORDS:
        fb_buffer_add_text(b, " -x -a '");
        fb_complete_words(b, row);
        fb_buffer_add_char(b, '\'');
        break;
    }
}

/* fish knows only a backslash before a quote within quotes. */
static void add_about(struct buffer *b, const char *about)
{
    fb_buffer_add_text(b, " -d '");
    for (; *about; about++) {
        if (*about == '\'' || *about == '\\')
            fb_buffer_add_char(b, '\\');
        fb_buffer_add_char(b, *about);
    }
    fb_buffer_add_text(b, "'\n");
}

static void add_option(struct buffer *b, const struct command *c, const struct option_row *row)
{
    add_head(b, c);
    fb_buffer_add_text(b, " -l ");
    fb_buffer_add_text(b, fb_option_name(row) + 2);
    if (fb_option_letter(row)) {
        fb_buffer_add_text(b, " -s ");
        fb_buffer_add_char(b, fb_option_letter(row));
    }
    if (row->kind != KIND_FLAG)
        add_action(b, row);
    add_about(b, row->about);
}

static void add_command(struct buffer *b, const struct command *c)
{
    const struct option_row *words = fb_words_row(c);

    fb_buffer_add_text(b, "complete -c flyball -n __fish_use_subcommand -a ");
    fb_buffer_add_text(b, c->name);
    add_about(b, c->about);
    fb_buffer_add_text(b, "complete -c flyball -n '__fish_seen_subcommand_from help' -a ");
    fb_buffer_add_text(b, c->name);
    fb_buffer_add_char(b, '\n');
    for (const struct option_row *r = c->options; r && r->name; r++) {
        if (r->name[0])
            add_option(b, c, r);
    }
    if (!words)
        return;
    add_head(b, c);
    if (words->choices) {
        fb_buffer_add_text(b, " -a '");
        fb_complete_words(b, words);
        fb_buffer_add_text(b, "'\n");
    } else {
        fb_buffer_add_text(b, " -F\n");
    }
}

void fb_complete_fish(struct buffer *b)
{
    fb_buffer_add_text(b, "# fish completion of flyball, made by `flyball completion fish`\n"
                          "\n"
                          "complete -c flyball -f\n"
                          "complete -c flyball -n __fish_use_subcommand -l version\n"
                          "complete -c flyball -l help -s h -d 'what it can do'\n"
                          "complete -c flyball -n __fish_use_subcommand -a help\n");
    for (const struct command *const *c = fb_commands; *c; c++)
        add_command(b, *c);
}
