/* SPDX-License-Identifier: MIT */
/*
 * headers.c - a header goes to its row in the table, else to the rules for names.
 */
#include "signal/headers.h"

#include "signal/dialect.h"
#include "signal/httpdate.h"
#include "signal/name.h"
#include "signal/phrases.h"
#include "signal/tell.h"

/* The server's own time. */
static void read_date(struct reading *r, struct slice name, struct slice value)
{
    int64_t at_ns;

    (void)name;
    if (fb_httpdate_read(fb_slice_trim(value), r->now_ns, &at_ns) && at_ns >= 0 &&
        at_ns <= FB_EPOCH_MAX_NS)
        r->date_ns = at_ns;
}

/* A code such as ThrottlingException. */
static void read_error_code(struct reading *r, struct slice name, struct slice value)
{
    (void)name;
    fb_phrases_read(r, fb_slice_head(value, 128));
}

/*
 * Headers whose names say too little for the rules, or something else: the name in small letters;
 * what the value is, and of which pool ("" is the one without a name), or else a function of its
 * own. A dialect that is one header is one row here.
 */
#define FB_HEADERS(X)                                          \
    X("retry-after", ROLE_WAIT, "", NULL)                      \
    X("x-shopify-shop-api-call-limit", ROLE_LIMIT, "", NULL)   \
    X("sforce-limit-info", ROLE_PARAMS, "", NULL)              \
    X("date", ROLE_BARE, "", read_date)                        \
    X("x-mashery-error-code", ROLE_BARE, "", read_error_code)  \
    X("x-amzn-errortype", ROLE_BARE, "", read_error_code)      \
    X("x-sentry-rate-limits", ROLE_BARE, "", fb_sentry_header) \
    X("x-app-usage", ROLE_BARE, "", fb_meta_header)            \
    X("x-page-usage", ROLE_BARE, "", fb_meta_header)           \
    X("x-ad-account-usage", ROLE_BARE, "", fb_meta_header)     \
    X("x-business-use-case-usage", ROLE_BARE, "", fb_meta_header)

/* Names so common that it pays to know them by heart. The rules read them just so. */
#define FB_COMMON(X)                                      \
    X("x-ratelimit-limit", ROLE_LIMIT, "", NULL)          \
    X("x-ratelimit-remaining", ROLE_REMAINING, "", NULL)  \
    X("x-ratelimit-reset", ROLE_RESET, "", NULL)          \
    X("x-rate-limit-limit", ROLE_LIMIT, "", NULL)         \
    X("x-rate-limit-remaining", ROLE_REMAINING, "", NULL) \
    X("x-rate-limit-reset", ROLE_RESET, "", NULL)         \
    X("ratelimit-limit", ROLE_LIMIT, "", NULL)            \
    X("ratelimit-remaining", ROLE_REMAINING, "", NULL)    \
    X("ratelimit-reset", ROLE_RESET, "", NULL)

/* Headers of which all that begin so are one dialect's. */
#define FB_FAMILIES(X) X("x-mbx-", ROLE_BARE, "", fb_binance_header)

struct header_row {
    struct slice name;
    enum role role;
    const char *pool;
    void (*read)(struct reading *r, struct slice name, struct slice value);
};

#define X(name, role, pool, read) {FB_TEXT(name), role, pool, read},
static const struct header_row HEADERS[] = {FB_HEADERS(X) FB_COMMON(X)};
static const struct header_row FAMILIES[] = {FB_FAMILIES(X)};
#undef X

/* Bit n: some row's name has n bytes. Most headers are seen not to be in the table by that. */
#define X(name, role, pool, read) | UINT64_C(1) << (sizeof(name) - 1)
static const uint64_t LENGTHS = 0 FB_HEADERS(X) FB_COMMON(X);
#undef X

/* Small letters, and an underscore is a dash. */
static char fold(char c)
{
    return c == '_' ? '-' : fb_lower(c);
}

static bool begins(struct slice name, struct slice text)
{
    size_t i = 0;

    if (name.length < text.length)
        return false;
    while (i < text.length && fold(name.at[i]) == text.at[i])
        i++;
    return i == text.length;
}

/* "HTTP_X_...": the name of the same header inside of some servers, leaked. */
static struct slice without_http(struct slice name)
{
    return begins(name, FB_SLICE("http-x-")) ? fb_slice_after(name, 5) : name;
}

static const struct header_row *find_row(struct slice name)
{
    bool may = name.length < 64 && (LENGTHS >> name.length & 1) != 0;

    for (size_t i = 0; may && i < sizeof(HEADERS) / sizeof(HEADERS[0]); i++) {
        if (HEADERS[i].name.length == name.length && begins(name, HEADERS[i].name))
            return &HEADERS[i];
    }
    for (size_t i = 0; i < sizeof(FAMILIES) / sizeof(FAMILIES[0]); i++) {
        if (begins(name, FAMILIES[i].name))
            return &FAMILIES[i];
    }
    return NULL;
}

static void read_row(struct reading *r, const struct header_row *row, struct slice value)
{
    struct header_name n;

    n.role = row->role;
    n.ms = n.calendar = false;
    n.window_ns = FLY_ABSENT;
    n.per = (struct slice){NULL, 0};
    n.pool = fb_slice_of(row->pool);
    n.vendor = 0;
    fb_tell(r, &n, value);
}

void fb_header_read(struct reading *r, struct slice name, struct slice value)
{
    struct slice own = without_http(name);
    const struct header_row *row = find_row(own);
    struct header_name n;

    if (row && row->read)
        row->read(r, own, value);
    else if (row)
        read_row(r, row, value);
    else if (fb_name_read(own, &n))
        fb_tell(r, &n, value);
}
