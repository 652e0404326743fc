/* SPDX-License-Identifier: MIT */
/* help_json.c - the tables of commands and options as JSON: tools/manual makes pages of it. */
#include <string.h>

#include "cli/help.h"
#include "cli/options.h"
#include "util/json.h"

static const char *const KINDS[] = {
    [KIND_FLAG] = "flag",     [KIND_TEXT] = "text",   [KIND_FILE] = "file",
    [KIND_FOLDER] = "folder", [KIND_INT] = "int",     [KIND_REAL] = "real",
    [KIND_SPAN] = "span",     [KIND_BYTES] = "bytes", [KIND_MANY] = "text",
};

static void add_choices(struct buffer *b, const char *const *choices)
{
    fb_json_name(b, "choices");
    fb_buffer_add_char(b, '[');
    for (size_t i = 0; choices[i]; i++) {
        if (i > 0)
            fb_buffer_add_char(b, ',');
        fb_json_add_string(b, choices[i], strlen(choices[i]));
    }
    fb_buffer_add_char(b, ']');
}

static void add_row(struct buffer *b, const struct option_row *row, const char *group)
{
    char letter[2] = {fb_option_letter(row), '\0'};

    fb_buffer_add_text(b, b->bytes[b->size - 1] == '[' ? "{" : ",{");
    fb_json_text(b, "name", fb_option_name(row));
    fb_json_text(b, "letter", letter[0] ? letter : NULL);
    fb_json_text(b, "group", group);
    fb_json_text(b, "kind", KINDS[row->kind]);
    fb_json_bool(b, "repeats", row->kind == KIND_MANY);
    fb_json_text(b, "value", row->value);
    fb_json_text(b, "default", row->standard);
    fb_json_text(b, "about", row->about);
    if (row->choices)
        add_choices(b, row->choices);
    fb_buffer_add_char(b, '}');
}

static void add_command(struct buffer *b, const struct command *c)
{
    const char *group = NULL;

    fb_buffer_add_text(b, b->bytes[b->size - 1] == '[' ? "{" : ",{");
    fb_json_text(b, "name", c->name);
    fb_json_text(b, "about", c->about);
    fb_json_text(b, "usage", c->usage);
    fb_json_name(b, "options");
    fb_buffer_add_char(b, '[');
    for (const struct option_row *r = c->options; r && r->name; r++) {
        group = r->group ? r->group : group;
        if (r->name[0])
            add_row(b, r, group);
    }
    fb_buffer_add_text(b, "]}");
}

void fb_help_json(FILE *out, const struct command *c)
{
    struct buffer b = BUFFER_INIT;

    fb_buffer_add_text(&b, "{\"schema\":\"flyball.help/1\",\"commands\":[");
    for (const struct command *const *all = fb_commands; *all; all++) {
        if (!c || c == *all)
            add_command(&b, *all);
    }
    fb_buffer_add_text(&b, "]}\n");
    (void)fwrite(b.bytes, 1, b.size, out);
    fb_buffer_fini(&b);
}
