/* SPDX-License-Identifier: MIT */
/* completion_zsh.c - the script for zsh: an _arguments call for each command. */
#include "cli/completion.h"

#include <string.h>

static const char FOOT[] = "    esac\n"
                           "}\n"
                           "\n"
                           "# Found by its name, or read by `source`.\n"
                           "if [[ $funcstack[1] == _flyball ]]; then\n"
                           "    _flyball \"$@\"\n"
                           "else\n"
                           "    compdef _flyball flyball\n"
                           "fi\n";

/* ":FILE:_files", behind the explanation. */
static void add_action(struct buffer *b, const struct option_row *row)
{
    fb_buffer_add_char(b, ':');
    fb_complete_quoted(b, row->value ? row->value : "value", ":[]\\");
    fb_buffer_add_char(b, ':');
    switch (fb_completes(row)) {
    case COMPLETES_NOTHING:
        fb_buffer_add_char(b, ' ');
        break;
    case COMPLETES_FILES:
        fb_buffer_add_text(b, "_files");
        break;
    case COMPLETES_FOLDERS:
        fb_buffer_add_text(b, "_files -/");
        break;
    case COMPLETES_WORDS:
        fb_buffer_add_char(b, '(');
        fb_complete_words(b, row);
        fb_buffer_add_char(b, ')');
        break;
    }
}

/* "'(-o --output)'{-o,--output=}'[write ...]:DIR:_files -/'" */
static void add_option(struct buffer *b, const struct option_row *row)
{
    const char *name = fb_option_name(row);
    const char *tail = row->kind == KIND_FLAG ? "" : "=";

    fb_buffer_add_text(b, " \\\n            ");
    if (fb_option_letter(row)) {
        fb_buffer_add_text(b, row->kind == KIND_MANY ? "'*'{" : "'(");
        fb_buffer_add(b, row->name, 2);
        if (row->kind != KIND_MANY) {
            fb_buffer_add_char(b, ' ');
            fb_buffer_add_text(b, name);
            fb_buffer_add_text(b, ")'{");
            fb_buffer_add(b, row->name, 2);
        }
        fb_buffer_add_char(b, ',');
        fb_buffer_add_text(b, name);
        fb_buffer_add_text(b, tail);
        fb_buffer_add_text(b, "}'[");
    } else {
        fb_buffer_add_text(b, row->kind == KIND_MANY ? "'*" : "'");
        fb_buffer_add_text(b, name);
        fb_buffer_add_text(b, tail);
        fb_buffer_add_char(b, '[');
    }
    fb_complete_quoted(b, row->about, "[]:\\");
    fb_buffer_add_char(b, ']');
    if (row->kind != KIND_FLAG)
        add_action(b, row);
    fb_buffer_add_char(b, '\'');
}

static void add_command(struct buffer *b, const struct command *c)
{
    const struct option_row *words = fb_words_row(c);

    fb_buffer_add_text(b, "    ");
    fb_buffer_add_text(b, c->name);
    fb_buffer_add_text(b, ")\n        _arguments -s");
    for (const struct option_row *r = c->options; r && r->name; r++) {
        if (r->name[0])
            add_option(b, r);
    }
    fb_buffer_add_text(b, " \\\n            '--help[what it can do]'");
    if (words && words->choices) {
        fb_buffer_add_text(b, " \\\n            '1");
        add_action(b, words);
        fb_buffer_add_char(b, '\'');
    }
    if (words)
        fb_buffer_add_text(b, " \\\n            '*:file:_files'");
    fb_buffer_add_text(b, "\n        ;;\n");
}

void fb_complete_zsh(struct buffer *b)
{
    fb_buffer_add_text(b, "#compdef flyball\n"
                          "# zsh completion of flyball, made by `flyball completion zsh`\n"
                          "\n"
                          "_flyball() {\n"
                          "    local -a commands=(");
    for (const struct command *const *c = fb_commands; *c; c++) {
        fb_buffer_add_text(b, "\n        '");
        fb_buffer_add_text(b, (*c)->name);
        fb_buffer_add_char(b, ':');
        fb_complete_quoted(b, (*c)->about, "\\");
        fb_buffer_add_char(b, '\'');
    }
    fb_buffer_add_text(b, "\n        'help:what there is, or what one command can do'\n"
                          "    )\n"
                          "    if ((CURRENT == 2)) || [[ $words[2] == help ]]; then\n"
                          "        _describe -t commands command commands\n"
                          "        return\n"
                          "    fi\n"
                          "    local command=$words[2]\n"
                          "    shift words\n"
                          "    ((CURRENT--))\n"
                          "    case $command in\n");
    for (const struct command *const *c = fb_commands; *c; c++)
        add_command(b, *c);
    fb_buffer_add_text(b, FOOT);
}
