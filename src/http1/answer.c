/* SPDX-License-Identifier: MIT */
/*
 * answer.c - heads of answers, line by line.
 *
 * Invariant: while `fault` is HTTP_FINE, every line since the latest status line was right.
 */
#include "http1/answer.h"

#include <assert.h>
#include <string.h>

#include "util/eight.h"

void fb_http_answer_init(struct http_answer *a, const struct http_limits *limits)
{
    *a = (struct http_answer){.limits = *limits};
}

/* How many bytes at the beginning surely are: nearly always all. */
static size_t printable(struct slice s)
{
    size_t at = 0;

    while (at + 8 <= s.length && !fb_eight_odd(fb_eight_load(s.at + at)))
        at += 8;
    /* The last few once more, together with some before them. */
    if (at + 8 > s.length && s.length >= 8 && !fb_eight_odd(fb_eight_load(s.at + s.length - 8)))
        return s.length;
    return at;
}

/* Take the CR LF off; every other control character is one too many. */
static enum http_fault take_end(struct slice *line)
{
    size_t length = line->length;

    if (length == 0 || line->at[length - 1] != '\n')
        return HTTP_HEAD_CUT;
    if (length == 1 || line->at[length - 2] != '\r')
        return HTTP_BARE_LF;
    line->length = length - 2;
    for (size_t i = printable(*line); i < line->length; i++) {
        enum http_fault fault = fb_http_byte((unsigned char)line->at[i]);

        if (fault != HTTP_FINE)
            return line->at[i] == '\r' ? HTTP_BARE_CR : fault;
    }
    return HTTP_FINE;
}

static enum http_fault count(struct http_answer *a, size_t line_bytes)
{
    a->bytes += line_bytes;
    if (line_bytes > a->limits.line + 2)
        return HTTP_LINE_LONG;
    return a->bytes > a->limits.head ? HTTP_HEAD_LONG : HTTP_FINE;
}

/* "HTTP/1.1" and "HTTP/1.0"; "HTTP/2" and "HTTP/3", as libcurl writes them. 0: something else. */
static int read_major(struct slice version)
{
    static const struct {
        const char *name;
        int major;
    } rows[] = {{"HTTP/1.1", 1}, {"HTTP/1.0", 1}, {"HTTP/2", 2}, {"HTTP/3", 3}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (version.length == strlen(rows[i].name) &&
            memcmp(version.at, rows[i].name, version.length) == 0)
            return rows[i].major;
    return 0;
}

/* Three digits and then nothing, or a blank and the reason. 0: something else. */
static int read_status(struct slice s)
{
    int status = 0;

    if (s.length < 3 || (s.length > 3 && s.at[3] != ' '))
        return 0;
    for (size_t i = 0; i < 3; i++) {
        if (!fb_is_digit(s.at[i]))
            return 0;
        status = status * 10 + (s.at[i] - '0');
    }
    return status >= 100 ? status : 0;
}

static enum http_fault status_line(struct http_answer *a, struct slice line)
{
    size_t blank = fb_slice_find(line, ' ');

    a->framing = (struct http_framing){0};
    a->complete = false;
    a->in_field = false;
    a->fields = 0;
    a->major = read_major(fb_slice_head(line, blank));
    a->status = read_status(fb_slice_after(line, blank + 1));
    return a->major > 0 && a->status > 0 ? HTTP_FINE : HTTP_STATUS_LINE;
}

static enum http_fault head_done(struct http_answer *a)
{
    const struct http_framing *f = &a->framing;

    a->complete = true;
    a->in_field = false;
    a->bytes = 0;
    if (f->has_coding && !f->chunked)
        return HTTP_CODING_LAST;
    return f->coding_unknown ? HTTP_CODING_UNKNOWN : HTTP_FINE;
}

/* A line that goes on with the field before it, where there is one that may. */
static bool continues(const struct http_answer *a, struct slice line)
{
    return a->in_field && (line.at[0] == ' ' || line.at[0] == '\t');
}

static enum http_fault field_line(struct http_answer *a, struct slice line)
{
    struct http_field field;

    if (continues(a, line))
        return HTTP_FINE;
    enum http_fault fault = fb_http_field(line, &field);
    if (fault != HTTP_FINE)
        return fault;
    if (a->fields++ == a->limits.fields)
        return HTTP_FIELDS_MANY;
    bool is_head_only = fb_http_is_head_only(field.name);
    /* What decides about framing may not go on in another line. */
    a->in_field = !is_head_only;
    if (!is_head_only)
        return HTTP_FINE;
    return a->complete ? HTTP_TRAILER : fb_http_framing_add(&a->framing, &field);
}

static enum http_fault judge(struct http_answer *a, struct slice line)
{
    enum http_fault fault = count(a, line.length);

    if (fault == HTTP_FINE)
        fault = take_end(&line);
    if (fault != HTTP_FINE)
        return fault;
    if (a->status == 0 || (a->complete && fb_slice_begins(line, "HTTP/")))
        return status_line(a, line);
    if (line.length > 0)
        return field_line(a, line);
    return a->complete ? HTTP_FINE : head_done(a);
}

enum http_fault fb_http_answer_line(struct http_answer *a, struct slice line)
{
    if (a->fault == HTTP_FINE)
        a->fault = judge(a, line);
    return a->fault;
}

enum http_fault fb_http_answer_end(const struct http_answer *a)
{
    if (a->fault != HTTP_FINE)
        return a->fault;
    return a->complete && a->status >= 200 ? HTTP_FINE : HTTP_HEAD_CUT;
}

bool fb_http_answer_taints(const struct http_answer *a)
{
    return a->framing.has_length && a->framing.has_coding;
}
