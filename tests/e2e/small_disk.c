/* SPDX-License-Identifier: MIT */
/*
 * small_disk.c - preloaded, it makes the folder SMALL_DISK a disk of SMALL_DISK_BYTES bytes.
 *
 * Whatever would make the files there larger than that in all fails with ENOSPC, as on a full disk;
 * everything else is as it was. For machines on which a test may mount nothing.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* Of all files of the folder, in bytes. */
static long long used(const char *folder)
{
    long long sum = 0;
    DIR *d = opendir(folder);
    struct stat there;

    for (struct dirent *e; d && (e = readdir(d));) {
        if (fstatat(dirfd(d), e->d_name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(there.st_mode))
            sum += there.st_size;
    }
    if (d)
        closedir(d);
    return sum;
}

/* Whether the file may grow to `end`. */
static int fits(int fd, long long end)
{
    const char *folder = getenv("SMALL_DISK");
    const char *bytes = getenv("SMALL_DISK_BYTES");
    char link[64];
    char path[PATH_MAX] = "";
    struct stat there;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (!folder || !bytes || readlink(link, path, sizeof path - 1) < 0 ||
        strncmp(path, folder, strlen(folder)) != 0 || fstat(fd, &there) < 0 || end <= there.st_size)
        return 1;
    return used(folder) + end - there.st_size <= atoll(bytes);
}

static void *real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

EXPORT ssize_t pwrite(int fd, const void *from, size_t size, off_t at)
{
    if (!fits(fd, (long long)at + (long long)size)) {
        errno = ENOSPC;
        return -1;
    }
    return ((ssize_t(*)(int, const void *, size_t, off_t))real("pwrite"))(fd, from, size, at);
}

EXPORT ssize_t pwrite64(int fd, const void *from, size_t size, off64_t at)
{
    return pwrite(fd, from, size, at);
}

EXPORT ssize_t write(int fd, const void *from, size_t size)
{
    off_t at = lseek(fd, 0, SEEK_CUR);

    if (at >= 0 && !fits(fd, (long long)at + (long long)size)) {
        errno = ENOSPC;
        return -1;
    }
    return ((ssize_t(*)(int, const void *, size_t))real("write"))(fd, from, size);
}

EXPORT int posix_fallocate(int fd, off_t at, off_t size)
{
    if (!fits(fd, (long long)at + (long long)size))
        return ENOSPC;
    return ((int (*)(int, off_t, off_t))real("posix_fallocate"))(fd, at, size);
}

EXPORT int posix_fallocate64(int fd, off64_t at, off64_t size)
{
    return posix_fallocate(fd, at, size);
}
