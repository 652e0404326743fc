/* SPDX-License-Identifier: MIT */
/* place.c - the folder, the lock, the pid. */
#include "daemon/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define SYSTEM_FOLDER "/run/flyball"
#define LOCK_TAIL     ".lock"

static int say(struct fly_error *err, int error, const char *what, const char *path)
{
    (void)snprintf(err->text, sizeof err->text, "cannot %s %.150s: %s", what, path,
                   strerror(-error));
    return error;
}

static bool has_socket(const char *folder)
{
    char path[512];

    (void)snprintf(path, sizeof path, "%s/" CONTROL_NAME, folder);
    return access(path, F_OK) == 0;
}

/* As the ledger's: the folder of this user for what lasts as long as the machine is up. */
static void own_folder(char *to, size_t size)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    const char *temporary = getenv("TMPDIR");

    if (runtime && *runtime)
        (void)snprintf(to, size, "%s/flyball", runtime);
    else
        (void)snprintf(to, size, "%s/flyball-%ld", temporary && *temporary ? temporary : "/tmp",
                       (long)geteuid());
}

void fb_control_place(struct buffer *out, bool listens)
{
    bool is_system = access(SYSTEM_FOLDER, listens ? W_OK : F_OK) == 0;
    char own[400];

    own_folder(own, sizeof own);
    if (!listens && is_system)
        is_system = has_socket(SYSTEM_FOLDER) || !has_socket(own);
    fb_buffer_add_text(out, is_system ? SYSTEM_FOLDER : own);
    fb_buffer_add_text(out, "/" CONTROL_NAME);
}

/* Nobody else can put anything into it: else a socket there could be somebody else's. */
static int make_folder(const char *socket, struct fly_error *err)
{
    char folder[512];
    const char *slash = strrchr(socket, '/');
    struct stat st;

    if (!slash || slash == socket || (size_t)(slash - socket) >= sizeof folder)
        return 0;
    memcpy(folder, socket, (size_t)(slash - socket));
    folder[slash - socket] = '\0';
    if (mkdir(folder, 0700) < 0 && errno != EEXIST)
        return say(err, -errno, "make", folder);
    if (stat(folder, &st) < 0)
        return say(err, -errno, "look at", folder);
    if ((st.st_uid == geteuid() || st.st_uid == 0) && !(st.st_mode & S_IWOTH))
        return 0;
    return say(err, -EPERM, "listen in a folder that others can write to:", folder);
}

static void lock_path(const char *socket, char *to, size_t size)
{
    (void)snprintf(to, size, "%s" LOCK_TAIL, socket);
}

static int already(const char *path, int lock, struct fly_error *err)
{
    char pid[24] = "";
    ssize_t size = pread(lock, pid, sizeof pid - 1, 0);

    pid[size > 0 ? strcspn(pid, "\n") : 0] = '\0';
    (void)snprintf(err->text, sizeof err->text, "a daemon runs already (process %s holds %.150s)",
                   pid[0] ? pid : "?", path);
    (void)close(lock);
    return -EALREADY;
}

/* Whether the file under this name is still the one that was locked. */
static bool is_same(const char *path, int lock)
{
    struct stat here;
    struct stat there;

    return fstat(lock, &here) == 0 && stat(path, &there) == 0 && here.st_ino == there.st_ino &&
           here.st_dev == there.st_dev;
}

static int take_lock(const char *path, struct fly_error *err)
{
    for (;;) {
        int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

        if (lock < 0)
            return say(err, -errno, "open", path);
        if (flock(lock, LOCK_EX | LOCK_NB) < 0)
            return already(path, lock, err);
        if (is_same(path, lock))
            return lock;
        (void)close(lock); /* its owner has just taken it away */
    }
}

int fb_control_lock(const char *socket, struct fly_error *err)
{
    char path[512];
    char pid[24];

    int rc = make_folder(socket, err);
    if (rc < 0)
        return rc;
    lock_path(socket, path, sizeof path);
    int lock = take_lock(path, err);
    if (lock < 0)
        return lock;
    int size = snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
    if (ftruncate(lock, 0) < 0 || pwrite(lock, pid, (size_t)size, 0) != size)
        rc = say(err, -EIO, "write", path);
    if (rc == 0 && unlink(socket) < 0 && errno != ENOENT)
        rc = say(err, -errno, "take away", socket);
    if (rc < 0)
        (void)close(lock);
    return rc < 0 ? rc : lock;
}

void fb_control_unlock(const char *socket, int lock)
{
    char path[512];

    if (lock < 0)
        return;
    lock_path(socket, path, sizeof path);
    (void)unlink(path);
    (void)close(lock);
}
