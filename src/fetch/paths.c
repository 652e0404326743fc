/* SPDX-License-Identifier: MIT */
/* paths.c - folders of the user. */
#include "fetch/paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_MOST 4096

int fb_state_folder(struct buffer *out, struct fly_error *err)
{
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");

    if (state && state[0] == '/') {
        fb_buffer_add_text(out, state);
    } else if (home && home[0] == '/') {
        fb_buffer_add_text(out, home);
        fb_buffer_add_text(out, "/.local/state");
    } else {
        (void)snprintf(err->text, sizeof err->text,
                       "neither XDG_STATE_HOME nor HOME is set; say --journal FILE");
        return -ENOENT;
    }
    fb_buffer_add_text(out, "/flyball");
    return 0;
}

int fb_state_folder_named(const char *named, struct buffer *out, struct fly_error *err)
{
    if (!named)
        return fb_state_folder(out, err);
    fb_buffer_add_text(out, named);
    return 0;
}

static int make_folder(const char *path)
{
    return mkdir(path, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

int fb_state_folder_make(const char *path, struct fly_error *err)
{
    char part[PATH_MOST];
    int error = strlen(path) < sizeof part ? 0 : -ENAMETOOLONG;

    for (size_t i = 1; error == 0 && path[i]; i++) {
        if (path[i] != '/')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        error = make_folder(part);
    }
    if (error == 0)
        error = make_folder(path);
    if (error < 0)
        (void)snprintf(err->text, sizeof err->text, "cannot make %.180s: %s", path,
                       strerror(-error));
    return error;
}

int fb_path_see_folder(const char *path, struct fly_error *err)
{
    const char *slash = strrchr(path, '/');
    int size = slash ? (int)(slash - path) : 0;
    char folder[PATH_MOST];

    if (size == 0 || size >= PATH_MOST)
        return 0;
    (void)snprintf(folder, sizeof folder, "%.*s", size, path);
    if (access(folder, F_OK) == 0 || errno != ENOENT)
        return 0; /* what else may be wrong is told when it is opened */
    (void)snprintf(err->text, sizeof err->text, "cannot write %.90s: there is no folder %.90s",
                   path, folder);
    return -ENOENT;
}

int fb_path_cannot_write(const char *path, int number, struct fly_error *err)
{
    if (fb_path_see_folder(path, err) == 0)
        (void)snprintf(err->text, sizeof err->text, "cannot write %.180s: %s", path,
                       strerror(number));
    return -number;
}

int fb_path_from_root(struct buffer *out, const char *path)
{
    char here[PATH_MOST];

    if (path[0] != '/') {
        if (!getcwd(here, sizeof here))
            return -errno;
        fb_buffer_add_text(out, here);
        fb_buffer_add_char(out, '/');
    }
    fb_buffer_add_text(out, path);
    return out->failed ? -ENOMEM : 0;
}
