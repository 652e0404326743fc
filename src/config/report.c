/* SPDX-License-Identifier: MIT */
/* report.c - remarks in the order of the file, each above its line. */
#include "config/report.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "util/alloc.h"
#include "util/utf8.h"

#define LINE_MAX_SHOWN 120

void fb_config_report_fini(struct config_report *r)
{
    for (size_t i = 0; i < r->kept; i++)
        fb_free(r->remark[i].sentence);
    fb_buffer_fini(&r->text);
    fb_buffer_fini(&r->source);
    *r = (struct config_report){0};
}

static bool is_before(const struct remark *a, const struct remark *b)
{
    if (a->at.line != b->at.line)
        return a->at.line < b->at.line;
    return a->at.column < b->at.column;
}

void fb_config_report_add(struct config_report *r, const struct remark *remark)
{
    size_t size = strlen(remark->sentence) + 1;
    char *copy = r->kept < FB_REPORT_MAX ? fb_alloc(size) : NULL;
    size_t to = r->kept;

    r->warnings += remark->is_warning;
    r->mistakes += !remark->is_warning;
    if (!copy)
        return;
    memcpy(copy, remark->sentence, size);
    for (; to > 0 && is_before(remark, &r->remark[to - 1]); to--)
        r->remark[to] = r->remark[to - 1];
    r->remark[to] = *remark;
    r->remark[to].sentence = copy;
    r->kept++;
}

/* ------------------------------------------------------------------------------ the line itself */

struct line {
    const char *at;
    size_t size;
};

static struct line find_line(const struct buffer *source, int number)
{
    const char *at = source->bytes, *end = at ? at + source->size : NULL;

    for (int i = 1; at && i < number; i++) {
        at = memchr(at, '\n', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    if (!at || number < 1)
        return (struct line){NULL, 0};
    const char *newline = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    return (struct line){at, (size_t)((newline ? newline : end) - at)};
}

/* Whoever wrote a secret into the file does not want to see it in a log. */
static bool may_be_secret(const struct line *l)
{
    static const char *const words[] = {"secret",        "token",  "passw",  "credential",
                                        "authorization", "cookie", "apikey", "api_key",
                                        "api-key",       "bearer", "basic ", "@"};

    for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++) {
        size_t size = strlen(words[w]);

        for (size_t i = 0; i + size <= l->size; i++) {
            if (strncasecmp(l->at + i, words[w], size) == 0)
                return true;
        }
    }
    return false;
}

/* Bytes, of which those that a terminal would obey are blanks, and those of no character '?'. */
static void add_shown(struct buffer *out, const char *bytes, size_t size)
{
    bool is_text = fb_utf8_prefix(bytes, size) == size;

    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)bytes[i];
        fb_buffer_add_char(out, c < ' ' || c == 0x7f ? ' ' : c >= 0x80 && !is_text ? '?' : (char)c);
    }
}

/* How many bytes are before the column, which counts characters. */
static size_t bytes_before(const struct line *l, int column)
{
    size_t at = 0;

    for (int i = 1; i < column && at < l->size; i++) {
        at++;
        while (at < l->size && ((unsigned char)l->at[at] & 0xc0) == 0x80)
            at++;
    }
    return at;
}

bool fb_config_report_has(const struct config_report *r, struct place at, const char *text)
{
    struct line l = find_line(&r->source, at.line);
    size_t before = l.at ? bytes_before(&l, at.column) : 0, size = strlen(text);

    return l.at && l.size - before >= size && memcmp(l.at + before, text, size) == 0;
}

static void add_excerpt(struct config_report *r, struct place at)
{
    struct line l = find_line(&r->source, at.line);
    char margin[32];

    if (!l.at || may_be_secret(&l) || at.column > LINE_MAX_SHOWN)
        return;
    size_t shown = bytes_before(&l, LINE_MAX_SHOWN + 1);
    int wide = snprintf(margin, sizeof margin, "%5d", at.line);
    fb_buffer_add_text(&r->text, margin);
    fb_buffer_add_text(&r->text, " | ");
    add_shown(&r->text, l.at, shown);
    fb_buffer_add_text(&r->text, "\n");
    for (int i = 0; i < wide; i++)
        fb_buffer_add_char(&r->text, ' ');
    fb_buffer_add_text(&r->text, " | ");
    for (int i = 1; i < at.column; i++)
        fb_buffer_add_char(&r->text, ' ');
    fb_buffer_add_text(&r->text, "^\n");
}

/* ----------------------------------------------------------------------------------- all of it */

const char *fb_config_report_text(struct config_report *r)
{
    char more[64];
    size_t lost = (size_t)r->mistakes + r->warnings - r->kept;

    fb_buffer_clear(&r->text);
    for (size_t i = 0; i < r->kept; i++) {
        fb_buffer_add_text(&r->text, r->remark[i].sentence);
        fb_buffer_add_char(&r->text, '\n');
        if (!r->remark[i].is_private)
            add_excerpt(r, r->remark[i].at);
    }
    if (lost > 0) {
        (void)snprintf(more, sizeof more, "and %zu more\n", lost);
        fb_buffer_add_text(&r->text, more);
    }
    const char *text = fb_buffer_text(&r->text);
    return text ? text : "out of memory\n";
}

const char *fb_config_report_first(struct config_report *r)
{
    for (size_t i = 0; i < r->kept; i++) {
        if (!r->remark[i].is_warning)
            return r->remark[i].sentence;
    }
    return "";
}
