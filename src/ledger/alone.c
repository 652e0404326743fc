/* SPDX-License-Identifier: MIT */
/*
 * alone.c - whether anybody else has a file open.
 *
 * Whoever uses it keeps a shared lock of the open file, which the children of a fork inherit and
 * the kernel gives up with the last of them: who can have it alone is alone. It says nothing of
 * who the others are. Where nothing can be locked, nobody is ever alone.
 */
#define _GNU_SOURCE /* F_OFD_SETLK */
#include <fcntl.h>
#include <unistd.h>

#include "ledger/ledger.h"

static bool lock_whole(int fd, short type)
{
    struct flock whole = {.l_type = type, .l_whence = SEEK_SET};

    return fcntl(fd, F_OFD_SETLK, &whole) == 0;
}

bool fb_file_is_alone(int fd)
{
    return lock_whole(fd, F_WRLCK);
}

bool fb_file_seems_alone(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    return fcntl(fd, F_OFD_GETLK, &whole) == 0 && whole.l_type == F_UNLCK;
}

void fb_file_share(int fd)
{
    (void)lock_whole(fd, F_RDLCK);
}
