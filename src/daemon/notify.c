/* SPDX-License-Identifier: MIT */
/* notify.c - one datagram. */
#include "daemon/notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A path, or "@name" for one that is not in the file system. */
static int address_of(const char *name, struct sockaddr_un *ret_address, socklen_t *ret_size)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    size_t size = strlen(name);

    if ((name[0] != '/' && name[0] != '@') || size < 2 || size >= sizeof a.sun_path)
        return -EINVAL;
    memcpy(a.sun_path, name, size);
    if (name[0] == '@')
        a.sun_path[0] = '\0';
    *ret_address = a;
    *ret_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size);
    return 0;
}

int fb_notify(const char *lines)
{
    const char *name = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to;
    socklen_t size = 0;

    if (!name || !*name)
        return 1;
    int rc = address_of(name, &to, &size);
    if (rc < 0)
        return rc;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    if (sendto(fd, lines, strlen(lines), MSG_NOSIGNAL, (struct sockaddr *)&to, size) < 0)
        rc = -errno;
    (void)close(fd);
    return rc;
}

int64_t fb_notify_every_ms(void)
{
    const char *us = getenv("WATCHDOG_USEC");
    const char *pid = getenv("WATCHDOG_PID");

    if (!us || (pid && *pid && strtol(pid, NULL, 10) != (long)getpid()))
        return 0;
    long long every_us = strtoll(us, NULL, 10);
    return every_us > 0 ? (every_us / 2000 > 0 ? every_us / 2000 : 1) : 0;
}
