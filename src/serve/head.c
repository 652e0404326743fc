/* SPDX-License-Identifier: MIT */
/* head.c - status line, checked fields, empty line. */
#include "serve/head.h"

#include <assert.h>
#include <time.h>

#include "http1/head.h"

static const struct {
    int status;
    const char *reason;
} reasons[] = {
    {100, "Continue"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {402, "Payment Required"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {508, "Loop Detected"},
};

const char *fb_status_reason(int status)
{
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "Unknown";
}

static void add(struct head *h, struct slice s)
{
    /* A text that is full stays full, and is noticed at the end. */
    h->broken |= s.length > h->text.left;
    fb_text_add_bytes(&h->text, s.at, s.length);
}

void fb_head_start(struct head *h, int status)
{
    assert(status >= 100 && status <= 999);
    h->broken = false;
    fb_text_init(&h->text, h->bytes, sizeof(h->bytes));
    fb_text_add(&h->text, "HTTP/1.1 ");
    fb_text_add_int(&h->text, status);
    fb_text_add(&h->text, " ");
    fb_text_add(&h->text, fb_status_reason(status));
    fb_text_add(&h->text, "\r\n");
}

static bool is_clean(struct slice value)
{
    for (size_t i = 0; i < value.length; i++)
        if (fb_http_byte((unsigned char)value.at[i]) != HTTP_FINE)
            return false;
    return true;
}

void fb_head_field(struct head *h, struct slice name, struct slice value)
{
    if (!fb_http_is_token(name) || !is_clean(value)) {
        h->broken = true;
        return;
    }
    add(h, name);
    add(h, FB_SLICE(": "));
    add(h, value);
    add(h, FB_SLICE("\r\n"));
}

void fb_head_number(struct head *h, const char *name, int64_t value)
{
    char digits[24];
    struct text t;

    fb_text_init(&t, digits, sizeof(digits));
    fb_text_add_int(&t, value);
    fb_head_field(h, fb_slice_of(name), fb_slice_of(digits));
}

void fb_head_date(struct head *h, int64_t epoch_s)
{
    char date[40] = "";
    time_t seconds = (time_t)epoch_s;
    struct tm tm;

    /* No locale is ever set, so that names of days are English. */
    if (gmtime_r(&seconds, &tm) && strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT", &tm))
        fb_head_field(h, FB_SLICE("Date"), fb_slice_of(date));
}

struct slice fb_head_end(struct head *h)
{
    add(h, FB_SLICE("\r\n"));
    if (h->broken)
        return (struct slice){NULL, 0};
    return (struct slice){h->bytes, (size_t)(h->text.at - h->bytes)};
}
