/* SPDX-License-Identifier: MIT */
/* result.c - a result as a line, and perhaps a file. */
#include "fetch/result.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/hash.h"
#include "util/json.h"

#define NS_PER_MS INT64_C(1000000)

/* ----------------------------------------------------------------------------------- the line */

static void add_lower(struct buffer *out, const char *name)
{
    size_t size = strlen(name);
    char *to = fb_buffer_reserve(out, size + 3);

    if (!to)
        return;
    *to++ = '"';
    for (size_t i = 0; i < size; i++) /* a token: nothing in it needs an escape */
        *to++ = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] + 32) : name[i];
    *to++ = '"';
    *to = ':';
    out->size += size + 3;
}

/* The first letters settle most: those of one name differ in one bit at most. */
static bool is_same(const char *a, const char *b)
{
    return ((a[0] ^ b[0]) & ~0x20) == 0 && strcasecmp(a, b) == 0;
}

static bool was_before(const struct result_facts *f, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (is_same(f->header[i].name, f->header[at].name))
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
        if (i != first && !is_same(f->header[i].name, f->header[first].name))
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

/* Hardly any head names a field twice. */
static bool repeats(const struct result_facts *f)
{
    for (size_t i = 1; i < f->header_count; i++) {
        if (was_before(f, i))
            return true;
    }
    return false;
}

static void add_headers(struct buffer *out, const struct result_facts *f)
{
    bool has_repeats = repeats(f);

    fb_json_name(out, "headers");
    fb_buffer_add_char(out, '{');
    for (size_t i = 0, written = 0; i < f->header_count; i++) {
        if (has_repeats && was_before(f, i))
            continue;
        if (written++ > 0)
            fb_buffer_add_char(out, ',');
        add_lower(out, f->header[i].name);
        if (has_repeats)
            add_values(out, f, i);
        else
            fb_json_add_string(out, f->header[i].value, strlen(f->header[i].value));
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

/* The members of the line, behind one byte that is not part of it. */
static void add_line(struct result_maker *m, const struct result_facts *f)
{
    const struct result_form *form = &m->form;

    fb_buffer_clear(&m->line);
    fb_buffer_add_char(&m->line, '"'); /* what comes next begins with a comma */
    add_facts(&m->line, f);
    if (f->has_answer && !form->no_headers)
        add_headers(&m->line, f);
    if (f->has_answer && form->folder) {
        fb_json_name(&m->line, "file");
        fb_buffer_add_char(&m->line, '"');
        fb_result_file_name(f->id, &m->line);
        fb_buffer_add_char(&m->line, '"');
    } else if (f->has_answer && !form->no_bodies) {
        fb_json_bytes(&m->line, "body", f->body_size ? f->body : "", f->body_size);
    }
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
    r->entry.failing = r->file;
    int fd = open(r->file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return -errno;
    int error = write_all(fd, r->body, r->body_size);
    if (close(fd) < 0 && error == 0)
        error = -errno;
    return error;
}

/* "folder/.name.part": no file of a body begins with a dot. */
static int add_temporary(const struct result *r, struct buffer *out)
{
    const char *name = strrchr(r->file, '/') + 1;

    fb_buffer_add(out, r->file, (size_t)(name - r->file));
    fb_buffer_add_char(out, '.');
    fb_buffer_add_text(out, name);
    fb_buffer_add_text(out, ".part");
    return fb_buffer_text(out) ? 0 : -ENOMEM;
}

/* It is written already: it gets a name, in the place of what had that name before. */
static int name_file(struct result *r)
{
    struct buffer temporary = BUFFER_INIT;
    char from[32];
    int error = add_temporary(r, &temporary);

    r->entry.failing = r->file;
    (void)snprintf(from, sizeof from, "/proc/self/fd/%d", r->fd);
    if (error == 0)
        (void)unlink(temporary.bytes);
    if (error == 0 && (linkat(AT_FDCWD, from, AT_FDCWD, temporary.bytes, AT_SYMLINK_FOLLOW) < 0 ||
                       rename(temporary.bytes, r->file) < 0))
        error = -errno;
    fb_buffer_fini(&temporary);
    return error;
}

/* On the worker's thread. */
static int format(struct journal_entry *e, struct buffer *out)
{
    struct result *r = (struct result *)(void *)e; /* its first member */

    fb_buffer_add(out, r->line, r->line_size);
    return !r->file ? 0 : r->fd > 0 ? name_file(r) : write_file(r);
}

/* ----------------------------------------------------------------------------- all in one piece */

static size_t text_size(const char *text)
{
    return text ? strlen(text) + 1 : 0;
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

static void fill_entry(struct journal_entry *e, const struct result_facts *f, char **at)
{
    e->format = format;
    e->id = copy_text(at, f->id);
    e->place = copy_text(at, f->place);
    e->reason = copy_text(at, f->sentence);
    e->not_before_s = f->not_before_s;
    e->page = f->page;
    e->next = f->more ? e->place : NULL;
}

/* The path of the file, behind the line. */
static void add_path(struct result_maker *m, const struct result_facts *f)
{
    fb_buffer_add_text(&m->line, m->form.folder);
    fb_buffer_add_char(&m->line, '/');
    fb_result_file_name(f->id, &m->line);
    fb_buffer_add_char(&m->line, '\0');
}

struct result *fb_result_new(struct result_maker *m, const struct result_facts *f)
{
    bool has_file = f->has_answer && m->form.folder;

    add_line(m, f);
    size_t line = m->line.size;
    if (has_file)
        add_path(m, f);
    size_t body = has_file && f->body_fd == 0 ? f->body_size : 0;
    size_t size = sizeof(struct result) + m->line.size + body + text_size(f->id) +
                  text_size(f->place) + text_size(f->sentence);
    struct result *r = m->line.failed ? NULL : fb_blocks_get(&m->blocks, size);
    if (!r)
        return NULL;
    char *at = (char *)(r + 1);
    *r = (struct result){.size = size, .line_size = line - 1, .body_size = body};
    r->line = copy(&at, m->line.bytes, m->line.size) + 1;
    r->file = has_file ? r->line + r->line_size : NULL;
    r->body = body > 0 ? copy(&at, f->body, body) : NULL;
    fill_entry(&r->entry, f, &at);
    if (has_file && f->body_fd > 0)
        r->fd = fcntl(f->body_fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (r->fd < 0) {
        fb_blocks_put(&m->blocks, r, r->size);
        return NULL;
    }
    return r;
}

void fb_result_free(struct result_maker *m, struct result *r)
{
    if (!r)
        return;
    if (r->fd > 0)
        (void)close(r->fd);
    fb_blocks_put(&m->blocks, r, r->size);
}

void fb_result_maker_fini(struct result_maker *m)
{
    fb_blocks_fini(&m->blocks);
    fb_buffer_fini(&m->line);
}
