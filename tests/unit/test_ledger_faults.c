/* SPDX-License-Identifier: MIT */
/* Opening a ledger while the system fails: each call once, with a sentence and nothing lost. */
#include "faults.h"
#include "ledger_rig.h"

#include <stdatomic.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/syscall.h>

/* ---- the system ---- */

int __real_open(const char *path, int flags, ...);
ssize_t __real_read(int fd, void *bytes, size_t size);
int __real_stat(const char *path, struct stat *st);
int __real_lstat(const char *path, struct stat *st);
int __real_fstat(int fd, struct stat *st);
int __real_flock(int fd, int operation);
void *__real_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
int __real_posix_fallocate(int fd, off_t offset, off_t size);
int __real_ftruncate(int fd, off_t size);
int __real_rename(const char *from, const char *to);
ssize_t __real_getrandom(void *bytes, size_t size, unsigned int flags);

int __wrap_open(const char *path, int flags, ...);
ssize_t __wrap_read(int fd, void *bytes, size_t size);
int __wrap_stat(const char *path, struct stat *st);
int __wrap_lstat(const char *path, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
int __wrap_flock(int fd, int operation);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
int __wrap_posix_fallocate(int fd, off_t offset, off_t size);
int __wrap_ftruncate(int fd, off_t size);
int __wrap_rename(const char *from, const char *to);
ssize_t __wrap_getrandom(void *bytes, size_t size, unsigned int flags);

static bool is_boxed; /* which boot it is cannot be read */

/* The mode is always the same here. */
int __wrap_open(const char *path, int flags, ...)
{
    if (is_boxed && strstr(path, "boot_id")) {
        errno = ENOENT;
        return -1;
    }
    return fails("open") ? -1 : __real_open(path, flags, 0600);
}

ssize_t __wrap_read(int fd, void *bytes, size_t size)
{
    return fails("read") ? -1 : __real_read(fd, bytes, size);
}

int __wrap_stat(const char *path, struct stat *st)
{
    return fails("stat") ? -1 : __real_stat(path, st);
}

int __wrap_fstat(int fd, struct stat *st)
{
    return fails("fstat") ? -1 : __real_fstat(fd, st);
}

int __wrap_flock(int fd, int operation)
{
    return fails("flock") ? -1 : __real_flock(fd, operation);
}

void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    return fails("mmap") ? MAP_FAILED : __real_mmap(at, size, protection, flags, fd, offset);
}

int __wrap_posix_fallocate(int fd, off_t offset, off_t size)
{
    return fails("posix_fallocate") ? errno : __real_posix_fallocate(fd, offset, size);
}

static bool cannot_cut;

int __wrap_ftruncate(int fd, off_t size)
{
    if (!cannot_cut)
        return __real_ftruncate(fd, size);
    errno = EIO;
    return -1;
}

int __wrap_rename(const char *from, const char *to)
{
    return fails("rename") ? -1 : __real_rename(from, to);
}

ssize_t __wrap_getrandom(void *bytes, size_t size, unsigned int flags)
{
    return fails("getrandom") ? -1 : __real_getrandom(bytes, size, flags);
}

/* Besides failing it may find what another process has put there since: by device or by number. */
static int strange_device;
static int strange_number;
static uid_t strange_owner;

int __wrap_lstat(const char *path, struct stat *st)
{
    if (fails("lstat"))
        return -1;
    int rc = __real_lstat(path, st);
    st->st_dev += strange_device-- > 0;
    st->st_ino += strange_number-- > 0;
    st->st_uid += strange_owner;
    return rc;
}

/* ---- opening ---- */

static int try_open(const char *path, struct fly_error *err)
{
    struct fly_ledger *ledger = NULL;
    int rc = fly_ledger_open(path, NULL, &ledger, err);

    if (rc == 0)
        fly_ledger_close(ledger);
    return rc;
}

struct row {
    struct fault fault;
    int code; /* that is told; 0: it is opened all the same */
    const char *says;
};

/* Then all is as if it had not been tried. */
static void open_under(const struct row *r, const char *path)
{
    struct fly_error err = {""};

    fault = r->fault;
    int rc = try_open(path, &err);
    fault = (struct fault){0};
    if (rc != -r->code || !strstr(err.text, r->says))
        fail_msg("%s fails: %d, \"%s\"", r->fault.call, rc, err.text);
    assert_int_equal(try_open(path, &err), 0);
}

/* Where there is no file yet. */
static const struct row making[] = {
    {{"open", 0, 1, ENFILE}, ENFILE, "Too many open files"},
    {{"open", 0, 1, EROFS}, EROFS, "readable and writable"},
    {{"open", 0, 1, EDQUOT}, EDQUOT, "no room"},
    {{"fstat", 0, 1, EIO}, EIO, "/ledger: "},
    {{"fstat", 1, 1, EIO}, 0, ""}, /* gone meanwhile: once more */
    {{"fstat", 0, 1, 99999}, 99999, "/ledger: "},
    {{"flock", 0, 1, ENOLCK}, ENOLCK, "No locks"},
    {{"flock", 0, 1, EINTR}, 0, ""},
    {{"flock", 0, 1, EWOULDBLOCK}, 0, ""},
    {{"lstat", 0, 1, ENOENT}, 0, ""},
    {{"lstat", 0, 99, ENOENT}, EBUSY, "again and again"},
    {{"posix_fallocate", 0, 1, ENOSPC}, ENOSPC, "no room"},
    {{"mmap", 0, 1, ENOMEM}, ENOMEM, "Cannot allocate memory"},
    {{"getrandom", 0, 1, ENOSYS}, EIO, "no random numbers"},
    {{"read", 0, 1, EIO}, 0, ""}, /* without a boot id: the next one takes it for another boot */
};

static void a_ledger_is_made_whole_or_not_at_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(making); i++) {
        struct place place = place_new();
        open_under(&making[i], place.path);
        place_free(&place);
    }
}

/* Where there is one. */
static const struct row using[] = {
    {{"mmap", 0, 1, ENOMEM}, ENOMEM, "Cannot allocate memory"},
    {{"stat", 0, 1, ENOENT}, ENOTSUP, "another container"},
    {{"getrandom", 0, 1, ENOSYS}, EIO, "no random numbers"},
    {{"open", 1, 1, EMFILE}, 0, ""}, /* no boot id can be read: as after another boot */
};

static void a_ledger_that_is_there_is_used_or_left(void **state)
{
    struct place place = place_new();

    (void)state;
    fly_ledger_close(ledger_at(place.path));
    for (size_t i = 0; i < COUNT_OF(using); i++)
        open_under(&using[i], place.path);
    place_free(&place);
}

/*
 * A boot that cannot be named is like no other: limits are used up, unless somebody who has the
 * ledger vouches for it, in whose hands nothing changes.
 */
static void a_boot_that_cannot_be_named(void **state)
{
    static const struct {
        bool made_boxed, opened_boxed, is_shared;
        int grants; /* of five, one of them used */
    } cases[] = {
        {false, false, false, 4}, {true, true, false, 0}, {true, false, false, 0},
        {false, true, false, 0},  {true, true, true, 4},  {true, false, true, 4},
        {false, true, true, 4},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct place place = place_new();

        is_boxed = cases[i].made_boxed;
        struct fly_ledger *first = ledger_at(place.path);
        struct fly_limiter *l = limiter_of(first, "core", "rate=1/1h burst=5 adapt=off");
        assert_int_equal(grants_now(l, 1), 1);
        fly_limiter_free(l);
        if (!cases[i].is_shared)
            fly_ledger_close(first);
        is_boxed = cases[i].opened_boxed;
        struct fly_ledger *second = ledger_at(place.path);
        is_boxed = false;
        l = limiter_of(second, "core", "rate=1/1h burst=5 adapt=off");
        assert_int_equal(grants_now(l, 99), cases[i].grants);
        fly_limiter_free(l);
        fly_ledger_close(second);
        if (cases[i].is_shared)
            fly_ledger_close(first);
        place_free(&place);
    }
}

/* What there was no room for may not even be given back. */
static void a_disk_that_is_full_and_broken(void **state)
{
    struct place place = place_new();
    struct fly_error err = {""};

    (void)state;
    cannot_cut = true;
    fault = (struct fault){"posix_fallocate", 0, 1, ENOSPC};
    assert_int_equal(try_open(place.path, &err), -EIO);
    cannot_cut = false;
    assert_int_equal(truncate(place.path, 65536), 0); /* as a process that died would leave it */
    fault = (struct fault){"posix_fallocate", 0, 1, ENOSPC};
    assert_int_equal(try_open(place.path, &err), -ENOSPC);
    fault = (struct fault){0};
    assert_int_equal(try_open(place.path, &err), 0);
    place_free(&place);
}

static void damage_it(struct head *head)
{
    head->wary = 2;
}

static void a_damaged_ledger_that_cannot_be_set_aside(void **state)
{
    struct place place = place_new();
    struct row rename_fails = {{"rename", 0, 1, EACCES}, EACCES, "readable and writable"};

    (void)state;
    fly_ledger_close(ledger_at(place.path));
    change_head(place.path, damage_it);
    open_under(&rename_fails, place.path); /* then it is */
    place_free(&place);
}

/* Whoever replaces it between open and lock: by another file system, or another file. */
static void a_path_that_names_another_file_by_now(void **state)
{
    struct place place = place_new();
    struct fly_error err = {""};

    (void)state;
    strange_device = 1;
    assert_int_equal(try_open(place.path, &err), 0);
    strange_device = 0;
    strange_number = 1;
    assert_int_equal(try_open(place.path, &err), 0);
    strange_number = 0;
    place_free(&place);
}

/* ---- other kinds, other places ---- */

static void memory_without_memory_or_chance(void **state)
{
    struct fly_error err = {""};

    (void)state;
    fault = (struct fault){"mmap", 0, 1, ENOMEM};
    assert_int_equal(try_open("memory:", &err), -ENOMEM);
    assert_contains(err.text, "out of memory");
    fault = (struct fault){"getrandom", 0, 1, ENOSYS};
    assert_int_equal(try_open("memory:", &err), -EIO);
    assert_contains(err.text, "no random numbers");
    fault = (struct fault){0};
    assert_int_equal(try_open("memory:", &err), 0);
}

static void a_table_without_chance(void **state)
{
    struct fly_error err = {""};

    (void)state;
    fault = (struct fault){"getrandom", 0, 1, ENOSYS};
    assert_null(fly_table_new("rate=1/s", 0, NULL, &err));
    assert_contains(err.text, "no chance");
    fault = (struct fault){0};
}

/* The folder that is made where nobody says where the ledger is. */
static void a_folder_that_is_not_ones_own(void **state)
{
    struct place place = place_new();
    struct fly_error err = {""};
    char folder[128];

    (void)state;
    assert_int_equal(unsetenv("FLYBALL_LEDGER"), 0);
    assert_int_equal(setenv("XDG_RUNTIME_DIR", place.folder, 1), 0);
    fault = (struct fault){"lstat", 0, 1, EIO};
    assert_int_equal(try_open(NULL, &err), -EIO);
    assert_contains(err.text, "cannot be looked at");
    fault = (struct fault){0};
    strange_owner = 1;
    assert_int_equal(try_open(NULL, &err), -EPERM);
    assert_contains(err.text, "not a folder of this user's");
    strange_owner = 0;
    (void)snprintf(folder, sizeof(folder), "%s/flyball", place.folder);
    assert_int_equal(chmod(folder, 0770), 0);
    assert_int_equal(try_open(NULL, &err), -EPERM);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(unsetenv("XDG_RUNTIME_DIR"), 0);
    place_free(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ledger_is_made_whole_or_not_at_all),
        cmocka_unit_test(a_ledger_that_is_there_is_used_or_left),
        cmocka_unit_test(a_boot_that_cannot_be_named),
        cmocka_unit_test(a_disk_that_is_full_and_broken),
        cmocka_unit_test(a_damaged_ledger_that_cannot_be_set_aside),
        cmocka_unit_test(a_path_that_names_another_file_by_now),
        cmocka_unit_test(memory_without_memory_or_chance),
        cmocka_unit_test(a_table_without_chance),
        cmocka_unit_test(a_folder_that_is_not_ones_own),
    };

    return cmocka_run_group_tests_name("ledger, faults", tests, NULL, NULL);
}
