/* SPDX-License-Identifier: MIT */
/*
 * schema.c - the table of keys as a JSON Schema.
 *
 * It says a little less than the loader checks (hosts, headers, what must be right together), and
 * never refuses what the loader takes.
 */
#include <string.h>

#include "config/describe.h"
#include "config/table.h"
#include "signal/preset.h"
#include "util/buffer.h"
#include "util/json.h"
#include "util/text.h"

#define UNIT   "(ns|us|ms|s|sec|m|min|h|hour|d|day)"
#define NUMBER "[0-9]+([.][0-9]+)?"
#define NAMES  "{\"pattern\":\"^[A-Za-z0-9_][A-Za-z0-9_.-]*$\"}"

static void add_table(struct buffer *out, const struct config_table *t);

/* A name for what follows. */
static void add_name(struct buffer *out, const char *name)
{
    fb_buffer_add_text(out, out->bytes[out->size - 1] == '{' ? "" : ",");
    fb_json_add_string(out, name, strlen(name));
    fb_buffer_add_char(out, ':');
}

static void add_pattern(struct buffer *out, const char *pattern)
{
    fb_json_text(out, "type", "string");
    fb_json_text(out, "pattern", pattern);
}

static void of_TEXT(struct buffer *out, const struct config_key *k)
{
    fb_json_text(out, "type", "string");
    fb_json_int(out, "minLength", 1);
    if (strcmp(k->name, "preset") != 0)
        return;
    add_name(out, "enum");
    fb_buffer_add_char(out, '[');
    for (size_t i = 0; i < fb_preset_count; i++) {
        fb_buffer_add_text(out, i > 0 ? "," : "");
        fb_json_add_string(out, fb_presets[i].name, strlen(fb_presets[i].name));
    }
    fb_buffer_add_char(out, ']');
}

static void of_BOOL(struct buffer *out, const struct config_key *k)
{
    (void)k;
    add_name(out, "enum");
    fb_buffer_add_text(out, "[true,false,\"yes\",\"no\",\"on\",\"off\"]");
}

static void of_INT(struct buffer *out, const struct config_key *k)
{
    fb_json_text(out, "type", "integer");
    fb_json_int(out, "minimum", k->least);
    fb_json_int(out, "maximum", k->most);
}

static void of_SPAN(struct buffer *out, const struct config_key *k)
{
    add_name(out, "anyOf");
    fb_buffer_add_text(out, "[{\"type\":\"string\",\"pattern\":\"^(" NUMBER ")?" UNIT "$\"}");
    fb_buffer_add_text(out, k->least == 0 ? ",{\"enum\":[0,\"0\"]}]" : "]");
}

static void of_SHARE(struct buffer *out, const struct config_key *k)
{
    (void)k;
    add_pattern(out, "^" NUMBER "%$");
}

static void of_SIZE(struct buffer *out, const struct config_key *k)
{
    (void)k;
    add_name(out, "anyOf");
    fb_buffer_add_text(out, "[{\"type\":\"integer\",\"minimum\":0},{\"type\":\"string\","
                            "\"pattern\":\"^[0-9]+ ?(B|KiB|MiB|GiB)?$\"}]");
}

static void of_RATE(struct buffer *out, const struct config_key *k)
{
    (void)k;
    add_pattern(out, "^" NUMBER "/(" NUMBER ")?" UNIT "$");
}

static void of_WORD(struct buffer *out, const struct config_key *k)
{
    add_name(out, "enum");
    fb_buffer_add_char(out, '[');
    for (size_t i = 0; k->words[i]; i++) {
        fb_buffer_add_text(out, i > 0 ? "," : "");
        fb_json_add_string(out, k->words[i], strlen(k->words[i]));
    }
    fb_buffer_add_char(out, ']');
}

static void of_TEXTS(struct buffer *out, const struct config_key *k)
{
    (void)k;
    add_name(out, "anyOf");
    fb_buffer_add_text(out, "[{\"type\":\"string\"},{\"type\":\"array\",\"items\":{\"type\":"
                            "[\"string\",\"number\",\"boolean\"]}}]");
}

static void of_PAIRS(struct buffer *out, const struct config_key *k)
{
    (void)k;
    fb_buffer_add_text(out, "\"type\":[\"object\",\"null\"],\"additionalProperties\":{\"type\":"
                            "[\"string\",\"number\",\"boolean\"]}");
}

static void of_LIMIT(struct buffer *out, const struct config_key *k)
{
    add_name(out, "anyOf");
    fb_buffer_add_text(out, "[{\"type\":\"string\"},{");
    add_table(out, k->table);
    fb_buffer_add_text(out, "}]");
}

static void of_SECTION(struct buffer *out, const struct config_key *k)
{
    add_table(out, k->table);
}

static void of_MAP(struct buffer *out, const struct config_key *k)
{
    fb_buffer_add_text(out, "\"type\":[\"object\",\"null\"],\"propertyNames\":" NAMES);
    add_name(out, "additionalProperties");
    fb_buffer_add_text(out, k->table->brief ? "{\"anyOf\":[{\"type\":\"string\"},{" : "{");
    add_table(out, k->table);
    fb_buffer_add_text(out, k->table->brief ? "}]}" : "}");
}

static void add_key(struct buffer *out, const struct config_key *k)
{
    static void (*const types[])(struct buffer *, const struct config_key *) = {
#define X(name, expects, json) [CONFIG_##name] = of_##name,
        FB_CONFIG_TYPES(X)
#undef X
    };

    add_name(out, k->name);
    fb_buffer_add_char(out, '{');
    types[k->type](out, k);
    fb_json_text(out, "description", k->help);
    if (k->standard) {
        bool is_bare = k->type == CONFIG_INT || k->type == CONFIG_BOOL;

        fb_json_name(out, "default");
        if (is_bare)
            fb_buffer_add_text(out, k->standard);
        else
            fb_json_add_string(out, k->standard, strlen(k->standard));
    }
    fb_buffer_add_char(out, '}');
}

/* Without the braces around it. A map of which everything is commented out is null. */
static void add_table(struct buffer *out, const struct config_table *t)
{
    fb_buffer_add_text(out, "\"type\":[\"object\",\"null\"],\"additionalProperties\":false");
    add_name(out, "properties");
    fb_buffer_add_char(out, '{');
    for (const struct config_key *k = t->keys; k->name; k++)
        add_key(out, k);
    fb_buffer_add_char(out, '}');
    for (const struct config_key *k = t->keys; k->name; k++) {
        if (!k->is_needed)
            continue;
        add_name(out, "required");
        fb_buffer_add_char(out, '[');
        fb_json_add_string(out, k->name, strlen(k->name));
        fb_buffer_add_char(out, ']');
        break; /* one is enough so far */
    }
}

void fb_config_schema(struct buffer *out)
{
    fb_buffer_add_text(out, "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
                            "\"title\":\"flyball.yaml\",");
    add_table(out, &fb_config_keys);
    fb_buffer_add_text(out, "}\n");
}
