/* SPDX-License-Identifier: MIT */
/* Where a daemon is found, that there is only one, and what the service manager is told. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/notify.h"
#include "daemon/place.h"

static char folder[64];

static int begin(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/flyball-place-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state)
{
    char command[128];

    (void)state;
    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static const char *in_folder(const char *name)
{
    static char path[2][128];
    static int turn;

    turn = !turn;
    (void)snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static void expect_place(bool listens, const char *path)
{
    struct buffer b = BUFFER_INIT;

    fb_control_place(&b, listens);
    assert_string_equal(fb_buffer_text(&b), path);
    fb_buffer_fini(&b);
}

static void touch(const char *path)
{
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    (void)close(fd);
}

static void where(void **state)
{
    char path[128];

    (void)state;
    if (access("/run/flyball", F_OK) == 0)
        return; /* a daemon of the system is installed: then that is the place */
    assert_int_equal(setenv("XDG_RUNTIME_DIR", folder, 1), 0);
    (void)snprintf(path, sizeof path, "%s/flyball/control.sock", folder);
    expect_place(true, path);
    expect_place(false, path);
    assert_int_equal(unsetenv("XDG_RUNTIME_DIR"), 0);
    assert_int_equal(setenv("TMPDIR", folder, 1), 0);
    (void)snprintf(path, sizeof path, "%s/flyball-%ld/control.sock", folder, (long)geteuid());
    expect_place(true, path);
    assert_int_equal(unsetenv("TMPDIR"), 0);
    (void)snprintf(path, sizeof path, "/tmp/flyball-%ld/control.sock", (long)geteuid());
    expect_place(true, path);
}

static void only_one(void **state)
{
    struct fly_error err = {""};
    char path[128];
    char expected[64];
    char pid[24] = "";

    (void)state;
    (void)snprintf(path, sizeof path, "%s", in_folder("new/control.sock"));
    int lock = fb_control_lock(path, &err);
    assert_true(lock >= 0);
    assert_true(pread(lock, pid, sizeof pid - 1, 0) > 0);
    assert_int_equal(strtol(pid, NULL, 10), getpid());

    assert_int_equal(fb_control_lock(path, &err), -EALREADY);
    (void)snprintf(expected, sizeof expected, "process %ld", (long)getpid());
    assert_contains(err.text, expected);
    fb_control_unlock(path, lock);
    assert_int_equal(access(in_folder("new/control.sock.lock"), F_OK), -1);
    lock = fb_control_lock(path, &err);
    assert_true(lock >= 0);
    fb_control_unlock(path, lock);
    fb_control_unlock(path, -1);
}

/* What a killed one has left: a lock file that nobody holds, and a socket that nobody hears. */
static void what_was_left(void **state)
{
    struct fly_error err = {""};
    char path[128];

    (void)state;
    (void)snprintf(path, sizeof path, "%s", in_folder("control.sock"));
    touch(path);
    touch(in_folder("control.sock.lock"));
    int lock = fb_control_lock(path, &err);
    assert_true(lock >= 0);
    assert_int_equal(access(path, F_OK), -1);
    fb_control_unlock(path, lock);
}

static void no_place(void **state)
{
    struct fly_error err = {""};
    char path[600];

    (void)state;
    assert_int_equal(fb_control_lock(in_folder("none/below/control.sock"), &err), -ENOENT);
    assert_contains(err.text, "cannot make");
    touch(in_folder("file"));
    assert_true(fb_control_lock(in_folder("file/control.sock"), &err) < 0);
    /* Others could put a socket of their own there. */
    assert_int_equal(mkdir(in_folder("open"), 0700), 0);
    assert_int_equal(chmod(in_folder("open"), 0777), 0);
    assert_int_equal(fb_control_lock(in_folder("open/control.sock"), &err), -EPERM);
    assert_contains(err.text, "others can write to");
    /* Something that is no file cannot be taken away. */
    (void)snprintf(path, sizeof path, "%s", in_folder("control.sock"));
    assert_int_equal(mkdir(path, 0700), 0);
    assert_true(fb_control_lock(path, &err) < 0);
    assert_contains(err.text, "cannot take away");
}

/* -------------------------------------------------------------------------- the service manager */

static int listen_at(const char *name)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    size_t size = strlen(name);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    memcpy(a.sun_path, name, size);
    if (name[0] == '@')
        a.sun_path[0] = '\0';
    assert_int_equal(
        bind(fd, (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size)),
        0);
    return fd;
}

static void expect_heard(const char *name)
{
    char text[64] = "";
    int fd = listen_at(name);

    assert_int_equal(setenv("NOTIFY_SOCKET", name, 1), 0);
    assert_int_equal(fb_notify("READY=1\nSTATUS=well"), 0);
    assert_int_equal(recv(fd, text, sizeof text - 1, MSG_DONTWAIT), 19);
    assert_string_equal(text, "READY=1\nSTATUS=well");
    (void)close(fd);
}

static void it_is_told(void **state)
{
    char name[64];

    (void)state;
    assert_int_equal(unsetenv("NOTIFY_SOCKET"), 0);
    assert_int_equal(fb_notify("READY=1"), 1);
    assert_int_equal(setenv("NOTIFY_SOCKET", "", 1), 0);
    assert_int_equal(fb_notify("READY=1"), 1);
    expect_heard(in_folder("notify"));
    (void)snprintf(name, sizeof name, "@flyball-test-%ld", (long)getpid());
    expect_heard(name);
}

static void nobody_there(void **state)
{
    char name[200];

    (void)state;
    assert_int_equal(setenv("NOTIFY_SOCKET", in_folder("none"), 1), 0);
    assert_int_equal(fb_notify("READY=1"), -ENOENT);
    assert_int_equal(setenv("NOTIFY_SOCKET", "relative", 1), 0);
    assert_int_equal(fb_notify("READY=1"), -EINVAL);
    assert_int_equal(setenv("NOTIFY_SOCKET", "/", 1), 0);
    assert_int_equal(fb_notify("READY=1"), -EINVAL);
    memset(name, 'x', sizeof name - 1);
    name[0] = '/';
    name[sizeof name - 1] = '\0';
    assert_int_equal(setenv("NOTIFY_SOCKET", name, 1), 0);
    assert_int_equal(fb_notify("READY=1"), -EINVAL);
    assert_int_equal(unsetenv("NOTIFY_SOCKET"), 0);
}

static int64_t every(const char *us, const char *pid)
{
    (void)(us ? setenv("WATCHDOG_USEC", us, 1) : unsetenv("WATCHDOG_USEC"));
    (void)(pid ? setenv("WATCHDOG_PID", pid, 1) : unsetenv("WATCHDOG_PID"));
    return fb_notify_every_ms();
}

static void how_often(void **state)
{
    char own[24];

    (void)state;
    (void)snprintf(own, sizeof own, "%ld", (long)getpid());
    assert_int_equal(every(NULL, NULL), 0);
    assert_int_equal(every("30000000", NULL), 15000);
    assert_int_equal(every("30000000", ""), 15000);
    assert_int_equal(every("30000000", own), 15000);
    assert_int_equal(every("30000000", "1"), 0); /* meant for another process */
    assert_int_equal(every("1", NULL), 1);
    assert_int_equal(every("0", NULL), 0);
    assert_int_equal(every("-5", NULL), 0);
    assert_int_equal(every("soon", NULL), 0);
    (void)every(NULL, NULL);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(where),      TEST(only_one),     TEST(what_was_left), TEST(no_place),
        TEST(it_is_told), TEST(nobody_there), TEST(how_often),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
