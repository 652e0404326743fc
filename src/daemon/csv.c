/* SPDX-License-Identifier: MIT */
/* csv.c - rows, and the file that they go to. */
#include "daemon/csv.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fetch/metrics.h"
#include "util/text.h"
#include "view/words.h"

#define DIGITS 3

void fb_csv_head(struct buffer *to)
{
    fb_buffer_add_text(to, "time,provider,pool");
    for (int i = 0; i < FIGURES; i++) {
        fb_buffer_add_char(to, ',');
        fb_buffer_add_text(to, fb_figure_name((enum figure)i));
    }
    fb_buffer_add_char(to, '\n');
}

static bool tells(const struct figures *f)
{
    static const enum figure SIGNS[] = {FIGURE_sent,   FIGURE_done,    FIGURE_failed,
                                        FIGURE_queued, FIGURE_answers, FIGURE_in_flight};

    for (size_t i = 0; i < sizeof SIGNS / sizeof SIGNS[0]; i++)
        if (f->value[SIGNS[i]] > 0.0F)
            return true;
    return false;
}

static void add_figure(float value, struct buffer *to)
{
    char text[48];
    struct text t;

    fb_buffer_add_char(to, ',');
    if (isnan(value))
        return;
    fb_text_init(&t, text, sizeof text);
    fb_text_add_fixed(&t, (double)value, value == truncf(value) ? 0 : DIGITS);
    fb_buffer_add_text(to, text);
}

void fb_csv_row(int64_t second, const struct meter_set *s, const struct figures *f,
                struct buffer *to)
{
    if (!tells(f))
        return;
    fb_words_instant(second, to);
    fb_buffer_add_char(to, ',');
    fb_metrics_text(s->provider, to);
    fb_buffer_add_char(to, ',');
    fb_metrics_text(s->pool, to);
    for (int i = 0; i < FIGURES; i++)
        add_figure(f->value[i], to);
    fb_buffer_add_char(to, '\n');
}

/* ------------------------------------------------------------------------------------- the file */

static void forget_sums(struct csv *c)
{
    c->passed = 0;
    for (size_t i = 0; i < METER_SETS; i++)
        c->sum[i] = fb_figures_none();
}

void fb_csv_init(struct csv *c)
{
    *c = (struct csv){.fd = -1, .every = 1};
    forget_sums(c);
}

static bool write_all(int fd, const struct buffer *b)
{
    return !b->failed && (b->size == 0 || write(fd, b->bytes, b->size) == (ssize_t)b->size);
}

static int write_head(int fd)
{
    struct buffer head = BUFFER_INIT;
    struct stat there;

    if (fstat(fd, &there) < 0)
        return -errno;
    if (there.st_size > 0)
        return 0;
    fb_csv_head(&head);
    int error = write_all(fd, &head) ? 0 : -EIO;
    fb_buffer_fini(&head);
    return error;
}

int fb_csv_open(struct csv *c, const char *path, struct fly_error *err)
{
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640) : -1;
    int error = path && fd < 0 ? -errno : 0;

    if (fd >= 0)
        error = write_head(fd);
    if (error < 0) {
        (void)snprintf(err->text, sizeof err->text, "cannot write %.150s: %s", path,
                       strerror(-error));
        if (fd >= 0)
            (void)close(fd);
        return error;
    }
    fb_csv_close(c);
    c->fd = fd;
    return 0;
}

void fb_csv_close(struct csv *c)
{
    if (c->fd >= 0)
        (void)close(c->fd);
    c->fd = -1;
    c->has_failed = false;
    forget_sums(c);
}

bool fb_csv_add(struct csv *c, int64_t second, const struct figures *now, const struct meters *m,
                size_t sets)
{
    struct buffer rows = BUFFER_INIT;

    if (c->fd < 0)
        return true;
    for (size_t i = 0; i < sets; i++)
        fb_figures_merge(&c->sum[i], &now[i]);
    if (++c->passed < c->every)
        return true;
    for (size_t i = 0; i < sets; i++)
        fb_csv_row(second, &m->set[i], &c->sum[i], &rows);
    bool is_written = write_all(c->fd, &rows);
    bool is_news = !is_written && !c->has_failed;
    c->has_failed = !is_written;
    forget_sums(c);
    fb_buffer_fini(&rows);
    return !is_news;
}
