/* SPDX-License-Identifier: MIT */
/*
 * list.c - lines in blocks, items from lines.
 *
 * Reading a file on a disk is taken to be instant. Anything else (a pipe, a terminal) is asked
 * first whether it has something, so that the loop never stands still.
 */
#include "fetch/list.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fetch/list_parts.h"
#include "fetch/range.h"
#include "util/alloc.h"
#include "util/buffer.h"
#include "util/eight.h"
#include "util/hash.h"
#include "util/text.h"
#include "util/utf8.h"

#define BLOCK (64 * 1024)

struct list {
    char *name; /* for sentences */
    int fd;     /* -1: the lines are given */
    bool can_block;
    const char *const *lines;
    size_t lines_left;

    struct buffer text; /* read and not yet used up */
    size_t used;        /* of `text` */
    bool ended;
    bool skipping; /* the rest of a line that is too long */
    uint64_t line;
    uint64_t item;

    /* A line that stands for several: where it is in them. */
    struct ranges ranges;
    struct buffer pattern;
    bool has_pattern;
    uint64_t part; /* the how manieth text of it */

    /* What the item of the last call points to. */
    struct buffer url;
    char id[ITEM_ID_SIZE];
    json_t *object;
    char *scratch;
    struct engine_header header[ITEM_HEADERS_MAX];
    const char *alternative[ITEM_ALTERNATIVES_MAX];
};

static char *copy_bytes(const char *bytes, size_t size)
{
    char *copy = fb_alloc(size + 1);

    if (copy)
        memcpy(copy, bytes, size);
    return copy;
}

static struct list *new_list(const char *name)
{
    struct list *l = fb_alloc(sizeof *l);

    if (!l)
        return NULL;
    json_set_alloc_funcs(fb_alloc, fb_free);
    l->fd = -1;
    l->name = copy_bytes(name, strlen(name));
    if (!l->name) {
        fb_free(l);
        return NULL;
    }
    return l;
}

/* "api.example.com/items", which is no file here: its scheme was forgotten, or is another. */
static const char *advice_on(const char *path)
{
    const char *slash = strchr(path, '/');
    const char *dot = strpbrk(path, ".:");

    if (strstr(path, "://"))
        return "; of URLs only http:// and https:// are fetched";
    if (strncmp(path, "localhost/", 10) == 0 || (slash && dot && dot > path && dot < slash))
        return "; a URL begins with http:// or https://";
    return "";
}

int fb_list_open(const char *path, struct list **ret_list, struct fly_error *err)
{
    bool standard = strcmp(path, "-") == 0;
    struct list *l = new_list(standard ? "standard input" : path);
    struct stat there;

    if (!l)
        return -ENOMEM;
    l->fd = standard ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    int error = l->fd < 0 || fstat(l->fd, &there) < 0 ? -errno
                : S_ISDIR(there.st_mode)              ? -EISDIR
                                                      : 0;
    if (error < 0) {
        (void)snprintf(err->text, sizeof err->text, "cannot read %.180s: %s%s", l->name,
                       strerror(-error), error == -ENOENT ? advice_on(path) : "");
        fb_list_close(l);
        return error;
    }
    l->can_block = !S_ISREG(there.st_mode);
    *ret_list = l;
    return 0;
}

int fb_list_of(const char *const *lines, size_t count, struct list **ret_list)
{
    struct list *l = new_list("command line");

    if (!l)
        return -ENOMEM;
    l->lines = lines;
    l->lines_left = count;
    *ret_list = l;
    return 0;
}

static void forget_item(struct list *l)
{
    if (l->object)
        json_decref(l->object);
    fb_free(l->scratch);
    l->object = NULL;
    l->scratch = NULL;
    fb_buffer_clear(&l->url);
}

void fb_list_close(struct list *l)
{
    if (!l)
        return;
    forget_item(l);
    if (l->fd >= 0)
        (void)close(l->fd);
    fb_buffer_fini(&l->text);
    fb_buffer_fini(&l->url);
    fb_buffer_fini(&l->pattern);
    fb_free(l->name);
    fb_free(l);
}

int fb_list_fd(const struct list *l)
{
    return l->can_block ? l->fd : -1;
}

/* ---------------------------------------------------------------------------------------- lines */

static bool has_something(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    return poll(&p, 1, 0) > 0;
}

/* Read a block more. 1, 0 at the end, or negative errno. */
static int read_more(struct list *l)
{
    if (l->can_block && !has_something(l->fd))
        return -EAGAIN;
    if (l->used > 0) {
        l->text.size -= l->used;
        memmove(l->text.bytes, l->text.bytes + l->used, l->text.size);
        l->used = 0;
    }
    char *to = fb_buffer_reserve(&l->text, BLOCK);
    if (!to)
        return -ENOMEM;
    ssize_t n = read(l->fd, to, BLOCK);
    if (n < 0)
        return errno == EINTR ? -EAGAIN : -errno;
    l->text.size += (size_t)n;
    return n > 0;
}

static int complain(const struct list *l, const char *what, struct fly_error *err)
{
    struct text t;
    struct fly_error why;

    fb_text_init(&t, why.text, sizeof why.text);
    fb_text_add(&t, what);
    fb_text_init(&t, err->text, sizeof err->text);
    fb_text_add(&t, l->name);
    fb_text_add(&t, ":");
    fb_text_add_int(&t, (int64_t)l->line);
    fb_text_add(&t, ": ");
    fb_text_add(&t, why.text);
    return -EINVAL;
}

static int given_line(struct list *l, const char **ret_line, size_t *ret_size)
{
    if (l->lines_left == 0)
        return 0;
    *ret_line = *l->lines++;
    *ret_size = strlen(*ret_line);
    l->lines_left--;
    l->line++;
    return 1;
}

/* A line too long to be one: the rest of it is passed over, and it is told once. */
static int too_long(struct list *l, struct fly_error *err)
{
    bool told = l->skipping;

    l->used = l->text.size;
    l->skipping = true;
    if (told)
        return 1;
    l->line++;
    return complain(l, "longer than 4 MiB", err);
}

/* The next line without its end. 1, 0 at the end, or negative errno. */
static int next_line(struct list *l, const char **ret_line, size_t *ret_size, struct fly_error *err)
{
    size_t seen = 0; /* bytes behind `used` that hold no newline */

    if (l->fd < 0)
        return given_line(l, ret_line, ret_size);
    for (;;) {
        char *from = l->text.bytes ? l->text.bytes + l->used : NULL;
        size_t left = l->text.size - l->used;
        char *newline = left > seen ? memchr(from + seen, '\n', left - seen) : NULL;

        if (newline || (l->ended && left > 0)) {
            *ret_line = from;
            *ret_size = newline ? (size_t)(newline - from) : left;
            l->used += *ret_size + (newline ? 1 : 0);
            if (l->skipping) {
                l->skipping = false;
                seen = 0;
                continue;
            }
            l->line++;
            return 1;
        }
        if (l->ended)
            return 0;
        if (left > LIST_LINE_MAX) {
            int error = too_long(l, err);
            if (error < 0)
                return error;
            left = 0;
        }
        seen = left;
        int more = read_more(l);
        if (more < 0)
            return more;
        l->ended = more == 0;
    }
}

/* ---------------------------------------------------------------------------------------- items */

static int check_bytes(const char *line, size_t size, const char **ret_wrong)
{
    *ret_wrong = fb_utf8_prefix(line, size) < size ? "not UTF-8"
                 : memchr(line, '\0', size)        ? "has a NUL in it"
                                                   : NULL;
    return *ret_wrong ? -EINVAL : 0;
}

static bool has_scheme(const char *url, size_t size, const char *scheme)
{
    size_t length = strlen(scheme);

    if (size < length)
        return false;
    for (size_t i = 0; i < length; i++) {
        char c = url[i] >= 'A' && url[i] <= 'Z' ? (char)(url[i] + 32) : url[i];
        if (c != scheme[i])
            return false;
    }
    return true;
}

/* How many bytes at the beginning surely are: nearly always all but the last few. */
static size_t visible(const char *text, size_t size)
{
    size_t at = 0;

    for (; at + 8 <= size; at += 8) {
        uint64_t eight = fb_eight_load(text + at);

        if (fb_eight_odd(eight) | fb_eight_is(eight, ' '))
            break;
    }
    return at;
}

int fb_list_check_url(const char *url, size_t size, struct fly_error *err)
{
    const char *wrong = NULL;
    size_t host = has_scheme(url, size, "http://") ? 7 : has_scheme(url, size, "https://") ? 8 : 0;

    if (host == 0)
        wrong = "not a URL: it begins with neither https:// nor http://";
    else if (size == host || url[host] == '/' || url[host] == '?' || url[host] == '#')
        wrong = "a URL without a host";
    for (size_t i = visible(url, size); !wrong && i < size; i++) {
        if ((unsigned char)url[i] <= ' ' || url[i] == 0x7f)
            wrong = "a URL with a blank or a control character in it";
    }
    if (wrong)
        (void)snprintf(err->text, sizeof err->text, "%s", wrong);
    return wrong ? -EINVAL : 0;
}

/* Blanks at both ends, and the mark that some editors begin a file with. */
static void trim(const struct list *l, const char **line, size_t *size)
{
    if (l->line == 1 && *size >= 3 && memcmp(*line, "\xef\xbb\xbf", 3) == 0) {
        *line += 3;
        *size -= 3;
    }
    while (*size > 0 &&
           ((*line)[*size - 1] == ' ' || (*line)[*size - 1] == '\t' || (*line)[*size - 1] == '\r'))
        --*size;
    while (*size > 0 && (**line == ' ' || **line == '\t')) {
        ++*line;
        --*size;
    }
}

/* The present text of a pattern, or the plain URL. */
static int plain_item(struct list *l, struct item *ret_item)
{
    struct text id;

    fb_ranges_text(&l->ranges, l->pattern.bytes, l->pattern.size, &l->url);
    const char *url = fb_buffer_text(&l->url);
    if (!url)
        return -ENOMEM;
    fb_text_init(&id, l->id, sizeof l->id);
    fb_text_add_int(&id, (int64_t)l->line);
    if (l->ranges.count > 0) {
        fb_text_add(&id, ".");
        fb_text_add_int(&id, (int64_t)++l->part);
    }
    *ret_item = (struct item){.number = ++l->item, .line = l->line, .id = l->id, .url = url};
    l->has_pattern = fb_ranges_next(&l->ranges);
    return 1;
}

/* A line that is a URL, perhaps one that stands for several. */
static int begin_pattern(struct list *l, const char *line, size_t size, struct fly_error *err)
{
    struct fly_error why = {""};

    if (fb_list_check_url(line, size, &why) < 0)
        return complain(l, why.text, err);
    if (fb_ranges_init(&l->ranges, line, size) < 0)
        return complain(l, "a range with too many numbers in it", err);
    fb_buffer_clear(&l->pattern);
    fb_buffer_add(&l->pattern, line, size);
    l->has_pattern = !l->pattern.failed;
    l->part = 0;
    return l->has_pattern ? 0 : -ENOMEM;
}

static int json_item(struct list *l, const char *line, size_t size, struct item *ret_item,
                     struct fly_error *err)
{
    struct fly_error why = {""};
    struct item item = {.line = l->line, .header = l->header, .alternative = l->alternative};
    struct text id;
    int error = fb_list_read_json(line, size, &item, &l->object, &l->scratch, &why);

    if (error == -EINVAL)
        return complain(l, why.text, err);
    if (error < 0)
        return error;
    fb_text_init(&id, l->id, sizeof l->id);
    if (json_is_integer(json_object_get(l->object, "id")))
        fb_text_add_int(&id, json_integer_value(json_object_get(l->object, "id")));
    else
        fb_text_add_int(&id, (int64_t)l->line);
    item.id = item.id ? item.id : l->id;
    item.number = ++l->item;
    *ret_item = item;
    return 1;
}

int fb_list_next(struct list *l, struct item *ret_item, struct fly_error *err)
{
    forget_item(l);
    while (!l->has_pattern) {
        const char *line;
        const char *wrong;
        size_t size;
        int found = next_line(l, &line, &size, err);

        if (found <= 0)
            return found;
        trim(l, &line, &size);
        if (size == 0 || line[0] == '#')
            continue;
        if (check_bytes(line, size, &wrong) < 0)
            return complain(l, wrong, err);
        if (line[0] == '{')
            return json_item(l, line, size, ret_item, err);
        int error = begin_pattern(l, line, size, err);
        if (error < 0)
            return error;
    }
    return plain_item(l, ret_item);
}

/* All that are left, and the end of the list. */
static int64_t count_items(struct list *l)
{
    struct fly_error err = {""};
    int64_t count = 0;
    int found;

    do {
        const char *line;
        const char *wrong;
        size_t size;
        struct ranges ranges;

        found = l->can_block ? -EAGAIN : next_line(l, &line, &size, &err);
        if (found <= 0)
            continue;
        trim(l, &line, &size);
        if (size == 0 || line[0] == '#' || check_bytes(line, size, &wrong) < 0)
            continue;
        if (line[0] == '{')
            count++;
        else if (fb_list_check_url(line, size, &err) == 0 &&
                 fb_ranges_init(&ranges, line, size) == 0)
            count += (int64_t)ranges.total;
    } while (found > 0 || found == -EINVAL);
    fb_list_close(l);
    return found < 0 ? -1 : count;
}

int64_t fb_list_count(const char *path)
{
    struct fly_error err = {""};
    struct list *l = NULL;

    return strcmp(path, "-") == 0 || fb_list_open(path, &l, &err) < 0 ? -1 : count_items(l);
}

int64_t fb_list_count_of(const char *const *lines, size_t count)
{
    struct list *l = NULL;

    return fb_list_of(lines, count, &l) < 0 ? -1 : count_items(l);
}

static uint64_t add_text(uint64_t hash, const char *text)
{
    return text ? fb_hash_add(hash, text, strlen(text) + 1) : fb_hash_add(hash, "", 1);
}

uint64_t fb_item_hash(const struct item *i)
{
    uint64_t hash = add_text(FB_HASH_INIT, i->id);

    hash = add_text(add_text(hash, i->url), i->method);
    for (size_t h = 0; h < i->header_count; h++)
        hash = add_text(add_text(hash, i->header[h].name), i->header[h].value);
    return fb_hash_end(i->body ? fb_hash_add(hash, i->body, i->body_size) : hash);
}
