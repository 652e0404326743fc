/* SPDX-License-Identifier: MIT */
/*
 * request.c - the states of a request and the bytes that lead from one to the next.
 *
 * A state is one function that takes bytes off the input. Head and trailers are gathered into the
 * caller's store line by line and judged at each line's end; bytes that can never be right are
 * refused at once. Invariant: used <= spent <= limits.head, so the store always suffices.
 */
#include "http1/request.h"

#include <assert.h>
#include <string.h>

#include "http1/request_line.h"

#define CHUNK_DIGITS_MAX 15 /* what surely fits an int64_t, and a sum of two */

enum state {
    STATE_IDLE,
    STATE_FIRST,
    STATE_FIELDS,
    STATE_LENGTH,
    STATE_CHUNK_SIZE,
    STATE_CHUNK_EXTENSION,
    STATE_CHUNK_LINE_END,
    STATE_CHUNK_DATA,
    STATE_CHUNK_CR,
    STATE_CHUNK_LF,
    STATE_TRAILERS,
    STATE_END,
    STATE_BAD,
};

void fb_http_reader_init(struct http_reader *r, const struct http_limits *limits, char *store,
                         struct http_field *fields)
{
    assert(limits->head > 0 && limits->fields > 0);
    *r = (struct http_reader){
        .limits = *limits,
        .state = STATE_IDLE,
        .store = store,
        .field = fields,
    };
}

bool fb_http_reader_is_idle(const struct http_reader *r)
{
    return r->state == STATE_IDLE;
}

static enum http_event bad(struct http_reader *r, enum http_fault fault)
{
    assert(fault != HTTP_FINE);
    r->fault = fault;
    r->state = STATE_BAD;
    return HTTP_BAD;
}

static char take(struct slice *in)
{
    char c = *in->at;

    *in = fb_slice_after(*in, 1);
    return c;
}

static enum http_event step_idle(struct http_reader *r, struct slice *in, struct slice *body)
{
    (void)in;
    (void)body;
    fb_http_reader_init(r, &r->limits, r->store, r->field);
    r->state = STATE_FIRST;
    return HTTP_MORE;
}

/* ---- lines ---- */

static enum http_fault first_line(struct http_reader *r, struct slice line)
{
    if (line.length == 0 && r->blank)
        return HTTP_BLANK_LINES;
    r->blank = true;
    if (line.length == 0)
        return HTTP_FINE;
    r->state = STATE_FIELDS;
    return fb_http_request_line(line, &r->request);
}

static enum http_fault add_host(struct http_reader *r, struct slice value)
{
    if (r->host)
        return HTTP_HOST_TWICE;
    r->host = true;
    return fb_http_is_host(value) ? HTTP_FINE : HTTP_HOST;
}

/* A client of HTTP/1.0 cannot mean it. */
static enum http_fault add_expect(struct http_reader *r, struct slice value)
{
    if (r->request.minor == 0)
        return HTTP_FINE;
    r->request.wants_continue = true;
    return fb_slice_is(value, "100-continue") ? HTTP_FINE : HTTP_EXPECT;
}

static enum http_fault keep_field(struct http_reader *r, struct slice line,
                                  struct http_field **ret_field)
{
    size_t count = r->request.field_count;

    if (count == r->limits.fields)
        return HTTP_FIELDS_MANY;
    enum http_fault fault = fb_http_field(line, &r->field[count]);
    if (fault == HTTP_FINE) {
        r->request.field_count++;
        *ret_field = &r->field[count];
    }
    return fault;
}

/* How the body ends, or why that cannot be told. */
static enum http_fault judge_framing(const struct http_reader *r)
{
    const struct http_framing *f = &r->framing;

    if (f->has_length && f->has_coding)
        return HTTP_LENGTH_AND_CODING;
    if (f->has_coding && r->request.minor == 0)
        return HTTP_CODING_OLD;
    if (f->has_coding && !f->chunked)
        return HTTP_CODING_LAST;
    if (f->coding_unknown)
        return HTTP_CODING_UNKNOWN;
    if (f->length > r->limits.body)
        return HTTP_BODY_LONG;
    return HTTP_FINE;
}

static enum http_fault head_done(struct http_reader *r)
{
    struct http_request *q = &r->request;
    const struct http_framing *f = &r->framing;

    if (!r->host && q->minor == 1)
        return HTTP_HOST_MISSING;
    enum http_fault fault = judge_framing(r);
    if (fault != HTTP_FINE)
        return fault;
    q->keep_alive = !f->close && (q->minor == 1 || f->keep_alive);
    q->chunked = f->chunked;
    q->length = f->length;
    q->field = r->field;
    q->head_count = q->field_count;
    r->left = f->length;
    r->state = f->chunked ? STATE_CHUNK_SIZE : f->length > 0 ? STATE_LENGTH : STATE_END;
    return HTTP_FINE;
}

static enum http_fault field_line(struct http_reader *r, struct slice line)
{
    struct http_field *field;

    if (line.length == 0)
        return head_done(r);
    enum http_fault fault = keep_field(r, line, &field);
    if (fault != HTTP_FINE)
        return fault;
    if (fb_slice_is(field->name, "host"))
        return add_host(r, field->value);
    if (fb_slice_is(field->name, "expect"))
        return add_expect(r, field->value);
    return fb_http_framing_add(&r->framing, field);
}

static enum http_fault trailer_line(struct http_reader *r, struct slice line)
{
    struct http_field *field;

    if (line.length == 0) {
        r->state = STATE_END;
        return HTTP_FINE;
    }
    enum http_fault fault = keep_field(r, line, &field);
    if (fault != HTTP_FINE)
        return fault;
    return fb_http_is_head_only(field->name) ? HTTP_TRAILER : HTTP_FINE;
}

/* One byte of a line, its end included. */
static enum http_fault line_byte(struct http_reader *r, char c)
{
    if (r->spent == r->limits.head)
        return HTTP_HEAD_LONG;
    r->spent++;
    if (r->cr)
        return c == '\n' ? HTTP_FINE : HTTP_BARE_CR;
    if (c == '\n')
        return HTTP_BARE_LF;
    r->cr = c == '\r';
    if (r->cr)
        return HTTP_FINE;
    enum http_fault fault = fb_http_byte((unsigned char)c);
    if (fault != HTTP_FINE)
        return fault;
    if (r->used - r->line == r->limits.line)
        return r->state == STATE_FIRST ? HTTP_TARGET_LONG : HTTP_LINE_LONG;
    r->store[r->used++] = c;
    return HTTP_FINE;
}

static enum http_fault line_done(struct http_reader *r)
{
    struct slice line = {r->store + r->line, r->used - r->line};

    assert(r->used <= r->spent && r->spent <= r->limits.head);
    r->cr = false;
    r->line = r->used;
    if (r->state == STATE_FIRST)
        return first_line(r, line);
    return r->state == STATE_FIELDS ? field_line(r, line) : trailer_line(r, line);
}

static enum http_event step_line(struct http_reader *r, struct slice *in, struct slice *body)
{
    enum http_fault fault = HTTP_FINE;
    bool in_head = r->state == STATE_FIELDS;
    char c = '\0';

    (void)body;
    while (fault == HTTP_FINE && in->length > 0 && c != '\n') {
        c = take(in);
        fault = line_byte(r, c);
    }
    if (fault == HTTP_FINE && c == '\n')
        fault = line_done(r);
    if (fault != HTTP_FINE)
        return bad(r, fault);
    return in_head && r->state != STATE_FIELDS ? HTTP_HEAD : HTTP_MORE;
}

/* ---- the body ---- */

static enum http_event pass_body(struct http_reader *r, struct slice *in, struct slice *body,
                                 int after)
{
    size_t size = (int64_t)in->length < r->left ? in->length : (size_t)r->left;

    assert(size > 0);
    *body = fb_slice_head(*in, size);
    *in = fb_slice_after(*in, size);
    r->left -= (int64_t)size;
    if (r->left == 0)
        r->state = after;
    return HTTP_BODY;
}

static enum http_event step_length(struct http_reader *r, struct slice *in, struct slice *body)
{
    return pass_body(r, in, body, STATE_END);
}

static int hex_value(char c)
{
    char low = fb_lower(c);

    if (fb_is_digit(c))
        return c - '0';
    return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

static enum http_event step_chunk_size(struct http_reader *r, struct slice *in, struct slice *body)
{
    char c = take(in);
    int value = hex_value(c);

    (void)body;
    if (value >= 0 && r->digits < CHUNK_DIGITS_MAX) {
        r->left = r->left * 16 + value;
        r->digits++;
    } else if (r->digits == 0) {
        return bad(r, HTTP_CHUNK_SIZE);
    } else if (c == ';') {
        r->state = STATE_CHUNK_EXTENSION;
    } else if (c == '\r') {
        r->state = STATE_CHUNK_LINE_END;
    } else {
        return bad(r, HTTP_CHUNK_SIZE);
    }
    return HTTP_MORE;
}

/* Nobody uses extensions: they are checked, counted as part of the head, and dropped. */
static enum http_event step_chunk_extension(struct http_reader *r, struct slice *in,
                                            struct slice *body)
{
    char c = take(in);

    (void)body;
    if (r->spent == r->limits.head)
        return bad(r, HTTP_HEAD_LONG);
    r->spent++;
    if (c == '\r')
        r->state = STATE_CHUNK_LINE_END;
    else if (fb_http_byte((unsigned char)c) != HTTP_FINE)
        return bad(r, HTTP_CHUNK_EXTENSION);
    return HTTP_MORE;
}

static enum http_event step_chunk_line_end(struct http_reader *r, struct slice *in,
                                           struct slice *body)
{
    (void)body;
    if (take(in) != '\n')
        return bad(r, HTTP_CHUNK_SIZE);
    if (r->left > r->limits.body - r->body)
        return bad(r, HTTP_BODY_LONG);
    r->body += r->left;
    r->digits = 0;
    r->state = r->left > 0 ? STATE_CHUNK_DATA : STATE_TRAILERS;
    return HTTP_MORE;
}

static enum http_event step_chunk_data(struct http_reader *r, struct slice *in, struct slice *body)
{
    return pass_body(r, in, body, STATE_CHUNK_CR);
}

static enum http_event step_chunk_end(struct http_reader *r, struct slice *in, struct slice *body)
{
    bool cr = r->state == STATE_CHUNK_CR;

    (void)body;
    if (take(in) != (cr ? '\r' : '\n'))
        return bad(r, HTTP_CHUNK_END);
    r->state = cr ? STATE_CHUNK_LF : STATE_CHUNK_SIZE;
    return HTTP_MORE;
}

typedef enum http_event step_fn(struct http_reader *r, struct slice *in, struct slice *body);

static step_fn *const steps[] = {
    [STATE_IDLE] = step_idle,
    [STATE_FIRST] = step_line,
    [STATE_FIELDS] = step_line,
    [STATE_LENGTH] = step_length,
    [STATE_CHUNK_SIZE] = step_chunk_size,
    [STATE_CHUNK_EXTENSION] = step_chunk_extension,
    [STATE_CHUNK_LINE_END] = step_chunk_line_end,
    [STATE_CHUNK_DATA] = step_chunk_data,
    [STATE_CHUNK_CR] = step_chunk_end,
    [STATE_CHUNK_LF] = step_chunk_end,
    [STATE_TRAILERS] = step_line,
};

enum http_event fb_http_read(struct http_reader *r, struct slice *bytes, struct slice *ret_body)
{
    enum http_event event = r->state == STATE_BAD ? HTTP_BAD : HTTP_MORE;

    while (event == HTTP_MORE && bytes->length > 0 && r->state != STATE_END)
        event = steps[r->state](r, bytes, ret_body);
    if (event != HTTP_MORE || r->state != STATE_END)
        return event;
    /* The end needs no byte: a request without a body ends with its head. */
    r->state = STATE_IDLE;
    return HTTP_END;
}
