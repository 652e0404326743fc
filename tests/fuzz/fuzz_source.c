/* SPDX-License-Identifier: MIT */
/*
 * fuzz_source.c - any bytes as the answer of a source, as a list of items, as what the reader of
 * HTML prints, as a template, as a pointer and as an id.
 *
 * Whatever comes: what was said is in order, within its bounds and written as it would be written
 * again; an error has a sentence; a URL made from a template has its host and no byte that a
 * request line cannot have.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <flyball/flyball.h>

#include "config/template.h"
#include "watch/sources/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HOLD(fact) ((fact) ? (void)0 : broken(#fact, __LINE__))

static void broken(const char *fact, int line)
{
    fprintf(stderr, "fuzz_source.c:%d: does not hold: %s\n", line, fact);
    abort();
}

static const char *const LIVE[] = {"live", "on", NULL};
static const char *const LATER[] = {"imminent", NULL};
static const char *const OVER[] = {"completed", NULL};

static void check_said(const struct source_said *s)
{
    HOLD(fb_snapshot_is_ordered(&s->says));
    for (size_t i = 0; i < s->says.count; i++)
        HOLD(strlen(s->says.field[i].value) <= FB_SOURCE_VALUE_MAX);
    for (size_t i = 0; i < s->row_count; i++) {
        HOLD(fb_template_is_id(s->row[i].id) && s->row[i].state < ITEM_STATES);
        for (size_t n = 0; n < 2; n++)
            HOLD(!s->row[i].source_id[n] || fb_template_is_id(s->row[i].source_id[n]));
    }
}

static void read_as(const struct source_rule *r, struct slice body)
{
    struct source_said said = {.memory = NULL};
    struct fly_error err = {""};
    int rc = fb_source_kind(r->ask->kind)->read(r, body, &said, &err);

    HOLD(rc == 0 || (err.text[0] && !said.memory));
    check_said(&said);
    fb_source_said_fini(&said);
}

/* The first line is a pointer, the rest a body. */
static void read_item(int64_t kind, const char *pointer, struct slice body)
{
    const struct config_ask ask = {.kind = kind};
    struct config_field field[7];
    struct source_rule r = {.name = "a", .ask = &ask, .field = field, .id = "/id"};
    static const char *const NAMES[] = {"a", "b", "c", "d", "e", "f", "g"};

    for (int i = 0; i < 7; i++)
        field[i] = (struct config_field){NAMES[i], i < 6 ? pointer : "", i < 6 ? i : 5};
    for (r.field_count = 0; r.field_count <= 7; r.field_count += 7)
        read_as(&r, body);
}

static void read_list(int64_t kind, const char *pointer, struct slice body)
{
    const struct config_ask ask = {.kind = kind};
    const char *const id_path[] = {NULL, "/b"};
    struct config_items items = {.list = pointer,
                                 .id = "/id",
                                 .state = "/s",
                                 .states = {.live = LIVE, .imminent = LATER, .completed = OVER}};
    const struct source_rule r = {
        .name = "items", .ask = &ask, .items = &items, .id_path = id_path, .source_count = 2};

    read_as(&r, body);
    items.list = NULL;
    read_as(&r, body);
}

/* A template and an id. */
static void fill(const char *template, const char *id)
{
    struct buffer url = BUFFER_INIT;
    struct template_words w = {.id = id, .item = "item"};

    if (fb_template_is_url(template) && fb_template_url(template, &w, &url) == 0) {
        const char *made = fb_buffer_text(&url);
        size_t host = strcspn(strstr(template, "://") + 3, "/?#") + 3;
        size_t scheme = (size_t)(strstr(template, "://") - template);

        HOLD(made && strncmp(made, template, scheme + host) == 0);
        HOLD(!strpbrk(made, "{} \r\n"));
        HOLD(strlen(made) <= strlen(template) + strlen(template) / 4 * 3 * FB_ID_MAX);
    }
    fb_buffer_fini(&url);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = calloc(1, size + 1);

    HOLD(text);
    if (size > 0)
        memcpy(text, data, size);
    char *line = memchr(text, '\n', size);
    if (line) {
        struct slice body = {line + 1, size - (size_t)(line + 1 - text)};

        *line = '\0';
        for (int64_t kind = CONFIG_SOURCE_JSON; kind <= CONFIG_SOURCE_EXEC; kind++) {
            read_item(kind, text, body);
            read_list(kind, text, body);
        }
        fill(text, line + 1);
        fill("http://h/{id}?{item}", line + 1);
    }
    free(text);
    return 0;
}
