/* SPDX-License-Identifier: MIT */
/* What a process that reads pages can still do: asked of the kernel, in a process of its own. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "watch/sources/jail.h"

#define FILE_HERE "/dev/null"

/* 0, or the number of what was not as it should be; no library call: few would be let through. */
static int try_all(void)
{
    struct rlimit limit;

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || fb_jail_filter() < 0)
        return 1;
    if (syscall(SYS_openat, AT_FDCWD, FILE_HERE, O_RDONLY | O_CLOEXEC) < 0)
        return 2;
    if (syscall(SYS_openat, AT_FDCWD, FILE_HERE, O_RDONLY | O_TRUNC) >= 0 || errno != EPERM)
        return 3;
    if (syscall(SYS_openat, AT_FDCWD, FILE_HERE, O_WRONLY) >= 0 || errno != EPERM)
        return 4;
    if (syscall(SYS_prlimit64, 0, RLIMIT_CORE, NULL, &limit) < 0)
        return 5;
    if (syscall(SYS_prlimit64, getpid(), RLIMIT_CORE, NULL, &limit) >= 0 || errno != EPERM)
        return 6;
    if (syscall(SYS_prlimit64, 1L << 32, RLIMIT_CORE, NULL, &limit) >= 0 || errno != EPERM)
        return 7;
    if (syscall(SYS_socket, 1, 1, 0) >= 0 || errno != EPERM)
        return 8;
    /* The kernel says no, and that is said. */
    return fb_jail_filter() == -EPERM ? 0 : 9;
}

static void only_reading_and_only_itself(void **state)
{
    int status = -1;
    pid_t child = fork();

    (void)state;
    if (child == 0)
        (void)syscall(SYS_exit_group, try_all()); /* for _exit() a sanitizer asks for more */
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_reading_and_only_itself),
    };

    return cmocka_run_group_tests_name("jail", tests, NULL, NULL);
}
