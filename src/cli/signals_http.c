/* SPDX-License-Identifier: MIT */
/*
 * signals_http.c - a response as curl -i prints it: status line, headers, an empty line, body.
 *
 * Lenient, for it reads what people paste: lines may end in LF alone, and a missing body is none.
 */
#include "cli/signals.h"
#include "signal/number.h"
#include "signal/slice.h"

static struct slice take_line(struct slice *rest)
{
    size_t end = fb_slice_find(*rest, '\n');
    struct slice line = fb_slice_head(*rest, end);

    *rest = fb_slice_after(*rest, end + 1);
    if (line.length > 0 && line.at[line.length - 1] == '\r')
        line.length--;
    return line;
}

/* "HTTP/1.1 429 Too Many Requests", "HTTP/2 429". */
static bool read_status(struct slice line, int32_t *ret_status)
{
    struct slice code = fb_slice_trim(fb_slice_after(line, fb_slice_find(line, ' ')));
    int64_t status;

    if (!fb_slice_begins(line, "HTTP/") ||
        !fb_number_read(fb_slice_head(code, fb_slice_find(code, ' ')), &status) || status < 100 ||
        status > 999)
        return false;
    *ret_status = (int32_t)status;
    return true;
}

/* Past the head that begins `text`, to what comes after its empty line. */
static struct slice after_head(struct slice text)
{
    while (text.length > 0 && take_line(&text).length > 0)
        continue;
    return text;
}

/* Redirects, 100 Continue and a proxy's answer stand before the response that counts. */
static struct slice last_head(struct slice text)
{
    int32_t status;

    for (;;) {
        struct slice next = after_head(text);
        struct slice peek = next;
        if (!read_status(take_line(&peek), &status))
            return text;
        text = next;
    }
}

static void feed_headers(struct fly_signal_reader *r, struct slice *rest)
{
    while (rest->length > 0) {
        struct slice line = take_line(rest);
        if (line.length == 0)
            return;
        size_t colon = fb_slice_find(line, ':');
        struct slice value = fb_slice_trim(fb_slice_after(line, colon + 1));
        fly_signal_header(r, line.at, colon, value.at, value.length);
    }
}

bool fb_signals_http(struct fly_response *about, const char *text, size_t size,
                     struct fly_signal *ret_signal, const char **ret_why)
{
    struct slice rest = last_head((struct slice){text, size});
    struct fly_signal_reader r;

    *ret_why = "expected a response as curl -i prints it, with a first line such as "
               "'HTTP/1.1 200 OK'";
    if (!read_status(take_line(&rest), &about->status) || fly_signal_begin(&r, about) < 0)
        return false;
    feed_headers(&r, &rest);
    fly_signal_body(&r, rest.at, rest.length);
    return fly_signal_end(&r, ret_signal) == 0;
}
