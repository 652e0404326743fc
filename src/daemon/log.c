/* SPDX-License-Identifier: MIT */
/* log.c - levels, lines, and the descriptor under which they are written. */
#include "daemon/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/instant.h"
#include "daemon/news.h"
#include "util/buffer.h"

#define TEXT_MAX 2048

static const char *level_name(enum log_level level)
{
#define X(name) #name,
    static const char *const NAMES[] = {FB_LOG_LEVELS(X)};
#undef X

    return NAMES[level];
}

static int open_file(const char *path, struct fly_error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);

    if (fd >= 0)
        return fd;
    int error = -errno;
    (void)snprintf(err->text, sizeof err->text, "cannot write the log %.150s: %s", path,
                   strerror(-error));
    return error;
}

int fb_log_open(struct log *l, const char *path, struct fly_error *err)
{
    l->fd = STDERR_FILENO;
    l->is_file = false;
    if (!path)
        return 0;
    int fd = open_file(path, err);
    if (fd < 0)
        return fd;
    l->fd = fd;
    l->is_file = true;
    return 0;
}

int fb_log_reopen(struct log *l, const char *path, struct fly_error *err)
{
    if (!path || !l->is_file)
        return path || l->is_file ? fb_log_open(l, path, err) : 0;
    int fd = open_file(path, err);
    if (fd < 0)
        return fd;
    int error = dup2(fd, l->fd) < 0 || fcntl(l->fd, F_SETFD, FD_CLOEXEC) < 0 ? -errno : 0;
    (void)close(fd);
    return error;
}

void fb_log_close(struct log *l)
{
    if (l->is_file)
        (void)close(l->fd);
    l->is_file = false;
    l->fd = STDERR_FILENO;
}

static void write_line(struct log *l, const struct buffer *b)
{
    if (b->failed || write(l->fd, b->bytes, b->size) != (ssize_t)b->size)
        l->lines_lost++;
}

void fb_log_with(struct log *l, enum log_level level, const char *event,
                 const struct log_field *field, size_t count, const char *text)
{
    struct buffer b = BUFFER_INIT;

    if (level > l->level)
        return;
    int64_t at_ns = l->now ? l->now(l->arg) : (int64_t)time(NULL) * FB_NS_PER_S;
    fb_log_begin(&b, l->form, at_ns, level_name(level), event);
    for (size_t i = 0; i < count; i++) {
        if (field[i].value && field[i].value[0])
            fb_log_field(&b, l->form, field[i].name, field[i].value);
    }
    fb_log_field(&b, l->form, "text", text);
    fb_log_end(&b, l->form);
    write_line(l, &b);
    fb_buffer_fini(&b);
}

void fb_log(struct log *l, enum log_level level, const char *event, const char *format, ...)
{
    char text[TEXT_MAX];
    va_list words;

    if (level > l->level)
        return;
    va_start(words, format);
    (void)vsnprintf(text, sizeof text, format, words);
    va_end(words);
    fb_log_with(l, level, event, NULL, 0, text);
}

static enum log_level level_of(const struct event *e)
{
    if (!fb_news_is_news(e) || e->kind == FB_EVENT_RATE)
        return LEVEL_debug;
    return e->kind == FB_EVENT_OUTCOME || e->kind == FB_EVENT_STUCK ? LEVEL_warning : LEVEL_info;
}

void fb_log_event(void *self, const struct event *e)
{
    struct log *l = self;
    enum log_level level = level_of(e);
    struct buffer b = BUFFER_INIT;

    if (level > l->level)
        return;
    fb_log_line(&b, l->form, 0, level_name(level), e);
    write_line(l, &b);
    fb_buffer_fini(&b);
}
