/* SPDX-License-Identifier: MIT */
/* secret.c - secrets, read when they are needed; and where the file of the configuration is. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <flyball/flyball.h>

#include "config/config.h"
#include "util/buffer.h"

#define SECRET_BYTES_MAX 65536

bool fb_config_has_secret(const struct config_secret *s)
{
    return s->env || s->file;
}

/* Its first line, without the end of it. */
static int read_file(const char *path, struct buffer *out, struct fly_error *err)
{
    FILE *file = fopen(path, "rb");
    char *room = file ? fb_buffer_reserve(out, SECRET_BYTES_MAX) : NULL;
    size_t size = 0;
    int error = file ? 0 : -errno;

    if (room) {
        size = fread(room, 1, SECRET_BYTES_MAX, file);
        const char *end = memchr(room, '\n', size);
        size = end ? (size_t)(end - room) : size;
        size -= size > 0 && room[size - 1] == '\r';
        out->size += size;
    }
    if (error == 0 && size == 0)
        error = ferror(file) ? -EIO : -ENOENT;
    if (file)
        (void)fclose(file);
    if (error < 0)
        (void)snprintf(err->text, sizeof err->text, "no secret in %.180s: %s", path,
                       size == 0 && error == -ENOENT && file ? "it is empty" : strerror(-error));
    return error;
}

int fb_config_read_secret(const struct config_secret *s, struct buffer *out, struct fly_error *err)
{
    const char *value = s->env ? getenv(s->env) : NULL;

    if (!s->env && s->file)
        return read_file(s->file, out, err);
    if (value && value[0]) {
        fb_buffer_add_text(out, value);
        return out->failed ? -ENOMEM : 0;
    }
    (void)snprintf(err->text, sizeof err->text, "no secret: the variable %.180s is not set",
                   s->env ? s->env : "");
    return -ENOENT;
}

/* ----------------------------------------------------------------------------- the usual places */

static bool try_file(struct buffer *out, const char *folder, const char *rest)
{
    fb_buffer_clear(out);
    if (!folder)
        return false;
    fb_buffer_add_text(out, folder);
    fb_buffer_add_text(out, rest);
    const char *path = fb_buffer_text(out);
    return path && access(path, F_OK) == 0;
}

bool fb_config_find_file(struct buffer *out, bool is_command)
{
    const char *named = getenv("FLYBALL_CONFIG");

    if (named && named[0]) { /* it is this one, or it is missing */
        fb_buffer_add_text(out, named);
        return true;
    }
    if ((is_command && try_file(out, ".", "/flyball.yaml")) ||
        try_file(out, getenv("XDG_CONFIG_HOME"), "/flyball/flyball.yaml") ||
        try_file(out, getenv("HOME"), "/.config/flyball/flyball.yaml") ||
        try_file(out, "/etc", "/flyball/flyball.yaml"))
        return true;
    fb_buffer_clear(out);
    return false;
}
