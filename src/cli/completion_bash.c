/* SPDX-License-Identifier: MIT */
/*
 * completion_bash.c - the script for bash: a case for the option before the cursor, then a case
 * for the command.
 */
#include "cli/completion.h"

static const char HEAD[] =
    "# bash completion of flyball, made by `flyball completion bash`\n"
    "\n"
    "_flyball_words() {\n"
    "    mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\")\n"
    "}\n"
    "\n"
    "_flyball_paths() {\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    mapfile -t COMPREPLY < <(compgen \"$1\" -- \"$cur\")\n"
    "}\n"
    "\n"
    "_flyball() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    # --name=value is three words here.\n"
    "    if [[ $cur == = ]]; then\n"
    "        cur=\n"
    "    elif [[ $prev == = ]]; then\n"
    "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    fi\n"
    "    COMPREPLY=()\n";

/* "'fetch -o' | 'fetch --output'" */
static void add_pattern(struct buffer *b, const struct command *c, const struct option_row *row)
{
    fb_buffer_add_text(b, "    ");
    if (fb_option_letter(row)) {
        fb_buffer_add_char(b, '\'');
        fb_buffer_add_text(b, c->name);
        fb_buffer_add_char(b, ' ');
        fb_buffer_add(b, row->name, 2);
        fb_buffer_add_text(b, "' | ");
    }
    fb_buffer_add_char(b, '\'');
    fb_buffer_add_text(b, c->name);
    fb_buffer_add_char(b, ' ');
    fb_buffer_add_text(b, fb_option_name(row));
    fb_buffer_add_text(b, "') ");
}

static void add_action(struct buffer *b, const struct option_row *row)
{
    switch (fb_completes(row)) {
    case COMPLETES_NOTHING:
        fb_buffer_add_char(b, ':');
        break;
    case COMPLETES_FILES:
        fb_buffer_add_text(b, "_flyball_paths -f");
        break;
    case COMPLETES_FOLDERS:
        fb_buffer_add_text(b, "_flyball_paths -d");
        break;
    case COMPLETES_WORDS:
        fb_buffer_add_text(b, "_flyball_words '");
        fb_complete_words(b, row);
        fb_buffer_add_char(b, '\'');
        break;
    }
}

/* The value of the option before the cursor. */
static void add_values(struct buffer *b)
{
    fb_buffer_add_text(b, "    case \"${COMP_WORDS[1]} $prev\" in\n");
    for (const struct command *const *c = fb_commands; *c; c++) {
        for (const struct option_row *r = (*c)->options; r && r->name; r++) {
            if (!r->name[0] || r->kind == KIND_FLAG)
                continue;
            add_pattern(b, *c, r);
            add_action(b, r);
            fb_buffer_add_text(b, "; return ;;\n");
        }
    }
    fb_buffer_add_text(b, "    esac\n");
}

static void add_command_names(struct buffer *b)
{
    for (const struct command *const *c = fb_commands; *c; c++) {
        fb_buffer_add_text(b, (*c)->name);
        fb_buffer_add_char(b, ' ');
    }
    fb_buffer_add_text(b, "help");
}

/* The options of a command where a dash is there, else its words. */
static void add_words_of(struct buffer *b, const struct command *c)
{
    const struct option_row *words = fb_words_row(c);

    fb_buffer_add_text(b, "    ");
    fb_buffer_add_text(b, c->name);
    fb_buffer_add_text(b, ")\n        if [[ $cur == -* ]]; then\n            _flyball_words '");
    for (const struct option_row *r = c->options; r && r->name; r++) {
        if (!r->name[0])
            continue;
        fb_buffer_add_text(b, fb_option_name(r));
        fb_buffer_add_char(b, ' ');
    }
    fb_buffer_add_text(b, "--help'\n");
    if (words && words->choices) {
        fb_buffer_add_text(b, "        elif ((COMP_CWORD == 2)); then\n            ");
        add_action(b, words);
        fb_buffer_add_char(b, '\n');
    }
    if (words) {
        fb_buffer_add_text(b, "        else\n            _flyball_paths -f\n");
    }
    fb_buffer_add_text(b, "        fi\n        ;;\n");
}

void fb_complete_bash(struct buffer *b)
{
    fb_buffer_add_text(b, HEAD);
    fb_buffer_add_text(b, "    if ((COMP_CWORD == 1)); then\n        _flyball_words '");
    add_command_names(b);
    fb_buffer_add_text(b, " --help --version'\n        return\n    fi\n");
    add_values(b);
    fb_buffer_add_text(b, "    case \"${COMP_WORDS[1]}\" in\n    help) _flyball_words '");
    add_command_names(b);
    fb_buffer_add_text(b, "' ;;\n    --version) _flyball_words --json ;;\n");
    for (const struct command *const *c = fb_commands; *c; c++)
        add_words_of(b, *c);
    fb_buffer_add_text(b, "    esac\n}\n\ncomplete -F _flyball flyball\n");
}
