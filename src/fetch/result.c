/* SPDX-License-Identifier: MIT */
/* result.c - packing a result, and writing it as a line and perhaps a file. */
#include "fetch/result.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/hash.h"
#include "util/json.h"

#define NS_PER_MS INT64_C(1000000)

static size_t text_size(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

static size_t size_of(const struct result_facts *f)
{
    size_t size = text_size(f->id) + text_size(f->url) + text_size(f->final_url) +
                  text_size(f->method) + text_size(f->failure) + text_size(f->sentence) +
                  text_size(f->place) + f->body_size + 1;

    for (size_t i = 0; i < f->header_count; i++)
        size += text_size(f->header[i].name) + text_size(f->header[i].value);
    return size;
}

static const char *copy(char **at, const void *from, size_t size)
{
    char *to = *at;

    if (!from)
        return NULL;
    memcpy(to, from, size);
    *at += size;
    return to;
}

static const char *copy_text(char **at, const char *text)
{
    return copy(at, text, text_size(text));
}

static void copy_headers(char **at, struct engine_header *to, const struct result_facts *f)
{
    for (size_t i = 0; i < f->header_count; i++) {
        to[i].name = copy_text(at, f->header[i].name);
        to[i].value = copy_text(at, f->header[i].value);
    }
}

static void copy_facts(char **at, struct result_facts *to, const struct result_facts *f)
{
    *to = *f;
    to->id = copy_text(at, f->id);
    to->url = copy_text(at, f->url);
    to->final_url = copy_text(at, f->final_url);
    to->method = copy_text(at, f->method);
    to->failure = copy_text(at, f->failure);
    to->sentence = copy_text(at, f->sentence);
    to->place = copy_text(at, f->place);
    to->body = copy(at, f->body, f->body_size);
}

static int format(struct journal_entry *e, struct buffer *out);

struct result *fb_result_new(const struct result_facts *facts, const struct result_form *form)
{
    size_t headers = facts->header_count * sizeof(struct engine_header);
    size_t size = sizeof(struct result) + headers + size_of(facts);
    struct result *r = fb_alloc(size);

    if (!r)
        return NULL;
    struct engine_header *header = (struct engine_header *)(void *)(r + 1);
    char *at = (char *)(header + facts->header_count);
    copy_facts(&at, &r->facts, facts);
    copy_headers(&at, header, facts);
    r->facts.header = header;
    r->form = form;
    r->size = size;
    r->entry.format = format;
    r->entry.id = r->facts.id;
    r->entry.place = r->facts.place;
    r->entry.reason = r->facts.sentence;
    r->entry.not_before_s = r->facts.not_before_s;
    r->entry.page = facts->page;
    r->entry.next = facts->more ? r->facts.place : NULL;
    return r;
}

void fb_result_free(struct result *r)
{
    if (!r)
        return;
    fb_free(r->file);
    fb_free(r);
}

/* ----------------------------------------------------------------------------------- the file */

static bool is_safe(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
}

void fb_result_file_name(const char *id, struct buffer *out)
{
    static const char HEX[] = "0123456789abcdef";
    size_t size = strlen(id);
    bool changed = size == 0 || id[0] == '.' || strcmp(id, "flyball.jsonl") == 0 || size > 100;
    uint64_t hash = fb_hash_end(fb_hash_add(FB_HASH_INIT, id, size));

    for (size_t i = 0; i < size && i < 100; i++) {
        bool safe = is_safe(id[i]) && !(i == 0 && id[i] == '.');
        changed |= !safe;
        fb_buffer_add_char(out, safe ? id[i] : '_');
    }
    if (!changed)
        return;
    fb_buffer_add_char(out, '-');
    for (int i = 0; i < 8; i++)
        fb_buffer_add_char(out, HEX[(hash >> (4 * i)) & 15]);
}

static int write_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, bytes, size);
        if (n < 0 && errno != EINTR)
            return -errno;
        bytes += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* Twice is as good as once: an attempt that failed is written over. */
static int write_file(struct result *r)
{
    struct buffer path = BUFFER_INIT;

    fb_buffer_add_text(&path, r->form->folder);
    fb_buffer_add_char(&path, '/');
    fb_result_file_name(r->facts.id, &path);
    if (!fb_buffer_text(&path))
        return -ENOMEM;
    fb_free(r->file);
    r->file = path.bytes;
    r->entry.failing = r->file;

    int fd = open(r->file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return -errno;
    int error = write_all(fd, r->facts.body, r->facts.body_size);
    if (close(fd) < 0 && error == 0)
        error = -errno;
    return error;
}

/* ----------------------------------------------------------------------------------- the line */

static void add_lower(struct buffer *out, const char *name)
{
    fb_buffer_add(out, "\"", 1);
    for (; *name; name++) /* a token: nothing in it needs an escape */
        fb_buffer_add_char(out, *name >= 'A' && *name <= 'Z' ? (char)(*name + 32) : *name);
    fb_buffer_add(out, "\":", 2);
}

static bool was_before(const struct result_facts *f, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (strcasecmp(f->header[i].name, f->header[at].name) == 0)
            return true;
    }
    return false;
}

/* Values of one name in the order in which they came; more than one of them is an array. */
static void add_values(struct buffer *out, const struct result_facts *f, size_t first)
{
    size_t begin = out->size;
    size_t count = 0;

    for (size_t i = first; i < f->header_count; i++) {
        if (i != first && strcasecmp(f->header[i].name, f->header[first].name) != 0)
            continue;
        if (count++ > 0)
            fb_buffer_add_char(out, ',');
        fb_json_add_string(out, f->header[i].value, strlen(f->header[i].value));
    }
    if (count < 2 || !fb_buffer_reserve(out, 2))
        return;
    memmove(out->bytes + begin + 1, out->bytes + begin, out->size - begin);
    out->bytes[begin] = '[';
    out->size++;
    fb_buffer_add_char(out, ']');
}

static void add_headers(struct buffer *out, const struct result_facts *f)
{
    fb_json_name(out, "headers");
    fb_buffer_add_char(out, '{');
    for (size_t i = 0, written = 0; i < f->header_count; i++) {
        if (was_before(f, i))
            continue;
        if (written++ > 0)
            fb_buffer_add_char(out, ',');
        add_lower(out, f->header[i].name);
        add_values(out, f, i);
    }
    fb_buffer_add_char(out, '}');
}

static void add_failure(struct buffer *out, const struct result_facts *f)
{
    fb_json_name(out, "error");
    fb_buffer_add_char(out, '{');
    fb_json_text(out, "class", f->failure);
    fb_json_text(out, "text", f->sentence ? f->sentence : "");
    fb_buffer_add_char(out, '}');
}

static void add_facts(struct buffer *out, const struct result_facts *f)
{
    fb_json_text(out, "id", f->id);
    fb_json_text(out, "url", f->url);
    fb_json_int(out, "status", f->status);
    fb_json_int(out, "attempts", f->attempts);
    fb_json_int(out, "waited_ms", f->waited_ns / NS_PER_MS);
    fb_json_int(out, "duration_ms", f->duration_ns / NS_PER_MS);
    fb_json_int(out, "body_bytes", (int64_t)f->body_size);
    if (f->page > 0)
        fb_json_int(out, "page", f->page);
    if (f->method && strcmp(f->method, "GET") != 0)
        fb_json_text(out, "method", f->method);
    if (f->final_url && f->url && strcmp(f->final_url, f->url) != 0)
        fb_json_text(out, "final_url", f->final_url);
    if (f->source > 0)
        fb_json_int(out, "alternative", f->source);
    if (f->requests > 1)
        fb_json_int(out, "requests", f->requests);
    if (f->throttled > 0)
        fb_json_int(out, "throttled", f->throttled);
    if (f->not_before_s > 0)
        fb_json_int(out, "not_before_s", f->not_before_s);
    if (f->cached)
        fb_json_bool(out, "cached", true);
    if (f->failure)
        add_failure(out, f);
}

static int format(struct journal_entry *e, struct buffer *out)
{
    struct result *r = (struct result *)(void *)e; /* its first member */
    const struct result_facts *f = &r->facts;

    add_facts(out, f);
    if (!f->has_answer)
        return 0;
    if (!r->form->no_headers)
        add_headers(out, f);
    if (r->form->folder) {
        int error = write_file(r);
        if (error < 0)
            return error;
        fb_json_text(out, "file", r->file + strlen(r->form->folder) + 1);
    } else if (!r->form->no_bodies) {
        fb_json_bytes(out, "body", f->body_size ? f->body : "", f->body_size);
    }
    return 0;
}
