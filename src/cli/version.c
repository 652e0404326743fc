/* SPDX-License-Identifier: MIT */
/* version.c - `flyball --version`: the build, the libraries it runs with, what they can do. */
#include "cli/version.h"

#include <curl/curl.h>
#include <jansson.h>
#include <libfyaml.h>
#include <sqlite3.h>
#include <uv.h>

#include <flyball/flyball.h>

#include "util/buffer.h"
#include "util/json.h"

#ifndef FB_COMMIT
#define FB_COMMIT "" /* not built from a checkout */
#endif

enum { LIBRARIES = 6 };

struct library {
    const char *name;
    const char *version; /* NULL: not part of this build */
};

static void list_libraries(const curl_version_info_data *curl, struct library *ret_list)
{
    const struct library list[LIBRARIES] = {
        {"libcurl", curl->version},         {"ssl", curl->ssl_version},
        {"libuv", uv_version_string()},     {"sqlite", sqlite3_libversion()},
        {"jansson", jansson_version_str()}, {"libfyaml", fy_library_version()},
    };

    for (int i = 0; i < LIBRARIES; i++)
        ret_list[i] = list[i];
}

/* What depends on how libcurl was built. */
static const struct {
    const char *name;
    int bit;
} FEATURES[] = {
    {"tls", CURL_VERSION_SSL},   {"http2", CURL_VERSION_HTTP2},   {"gzip", CURL_VERSION_LIBZ},
    {"ipv6", CURL_VERSION_IPV6}, {"brotli", CURL_VERSION_BROTLI}, {"zstd", CURL_VERSION_ZSTD},
};
enum { FEATURE_COUNT = sizeof FEATURES / sizeof FEATURES[0] };

static void add_json(struct buffer *b, const curl_version_info_data *curl,
                     const struct library *list)
{
    const char *comma = "";

    fb_buffer_add_char(b, '{');
    fb_json_text(b, "schema", "flyball.version/1");
    fb_json_text(b, "version", fly_version());
    fb_json_text(b, "commit", FB_COMMIT[0] ? FB_COMMIT : NULL);
    fb_json_name(b, "libraries");
    fb_buffer_add_char(b, '{');
    for (int i = 0; i < LIBRARIES; i++)
        fb_json_text(b, list[i].name, list[i].version);
    fb_json_text(b, "redis", NULL);
    fb_buffer_add_char(b, '}');
    fb_json_name(b, "features");
    fb_buffer_add_char(b, '[');
    for (int i = 0; i < FEATURE_COUNT; i++) {
        if (!(curl->features & FEATURES[i].bit))
            continue;
        fb_buffer_add_text(b, comma);
        fb_buffer_add_char(b, '"');
        fb_buffer_add_text(b, FEATURES[i].name);
        fb_buffer_add_char(b, '"');
        comma = ",";
    }
    fb_buffer_add_text(b, "]}\n");
}

static void add_text(struct buffer *b, const curl_version_info_data *curl,
                     const struct library *list)
{
    fb_buffer_add_text(b, "flyball ");
    fb_buffer_add_text(b, fly_version());
    fb_buffer_add_text(b, FB_COMMIT[0] ? " (commit " FB_COMMIT ")\nwith" : "\nwith");
    for (int i = 0; i < LIBRARIES; i++) {
        fb_buffer_add_text(b, i > 0 ? ", " : " ");
        fb_buffer_add_text(b, list[i].name);
        fb_buffer_add_char(b, ' ');
        fb_buffer_add_text(b, list[i].version ? list[i].version : "none");
    }
    fb_buffer_add_text(b, ", no redis\nfeatures:");
    for (int i = 0; i < FEATURE_COUNT; i++) {
        if (!(curl->features & FEATURES[i].bit))
            continue;
        fb_buffer_add_char(b, ' ');
        fb_buffer_add_text(b, FEATURES[i].name);
    }
    fb_buffer_add_char(b, '\n');
}

void fb_version_print(FILE *out, bool json)
{
    const curl_version_info_data *curl = curl_version_info(CURLVERSION_NOW);
    struct library list[LIBRARIES];
    struct buffer b = BUFFER_INIT;

    list_libraries(curl, list);
    if (json)
        add_json(&b, curl, list);
    else
        add_text(&b, curl, list);
    (void)fwrite(b.bytes, 1, b.size, out);
    fb_buffer_fini(&b);
}
