/* SPDX-License-Identifier: MIT */
/* jail.c - a list of system calls that are left, and a filter of the kernel that knows it. */
#include "watch/sources/jail.h"

#include <errno.h>
#include <sys/resource.h>

/* A sanitizer asks the kernel for much that no page should make it ask for. */
#if (defined(__x86_64__) || defined(__aarch64__)) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define WANTS_FILTER 1
#else
#define WANTS_FILTER 0
#endif

static void bound(int what, rlim_t most)
{
    struct rlimit limit = {.rlim_cur = most, .rlim_max = most};

    (void)setrlimit((__rlimit_resource_t)what, &limit);
}

#if defined(__x86_64__) || defined(__aarch64__)

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#ifdef __x86_64__
#define MACHINE AUDIT_ARCH_X86_64
#else
#define MACHINE AUDIT_ARCH_AARCH64
#endif

static const int ALLOWED[] = {
    SYS_read,    SYS_write,      SYS_writev,  SYS_close,          SYS_fstat,     SYS_newfstatat,
    SYS_lseek,   SYS_pread64,    SYS_mmap,    SYS_munmap,         SYS_mremap,    SYS_mprotect,
    SYS_madvise, SYS_brk,        SYS_futex,   SYS_rt_sigaction,   SYS_getrandom, SYS_exit,
    SYS_getpid,  SYS_exit_group, SYS_sysinfo, SYS_rt_sigprocmask,
};

#define COUNT   (sizeof ALLOWED / sizeof ALLOWED[0])
#define OPENING 12 /* instructions before the list */
#define REFUSE  (SECCOMP_RET_ERRNO | EPERM)
#define WRITES  (O_ACCMODE | O_CREAT | O_TRUNC)

#define LOAD_AT(at) ((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(at)))
#define LOAD(field) LOAD_AT(offsetof(struct seccomp_data, field))
#define JUMP(how, what, yes, no) \
    ((struct sock_filter)BPF_JUMP(BPF_JMP | (how) | BPF_K, what, (uint8_t)(yes), (uint8_t)(no)))
#define RETURN(what) ((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, what))

/* How far it is from the n-th instruction to the two behind the list. */
#define NO(n)  (OPENING + COUNT - (n)-1)
#define YES(n) (NO(n) + 1)

/*
 * A call of the wrong machine is refused; openat() only to read; prlimit64() only of this process;
 * then the list.
 */
static void make(struct sock_filter *f)
{
    size_t n = OPENING;

    f[0] = LOAD(arch);
    f[1] = JUMP(BPF_JEQ, MACHINE, 1, 0);
    f[2] = RETURN(REFUSE);
    f[3] = LOAD(nr);
    f[4] = JUMP(BPF_JEQ, SYS_openat, 0, 2);
    f[5] = LOAD(args[2]);
    f[6] = JUMP(BPF_JSET, WRITES, NO(6), YES(6));
    f[7] = JUMP(BPF_JEQ, SYS_prlimit64, 0, 4);
    f[8] = LOAD(args[0]);
    f[9] = JUMP(BPF_JEQ, 0, 0, NO(9));
    f[10] = LOAD_AT(offsetof(struct seccomp_data, args[0]) + 4);
    f[11] = JUMP(BPF_JEQ, 0, YES(11), NO(11));
    for (size_t i = 0; i < COUNT; i++)
        f[n++] = JUMP(BPF_JEQ, (uint32_t)ALLOWED[i], COUNT - i, 0);
    f[n++] = RETURN(REFUSE);
    f[n++] = RETURN(SECCOMP_RET_ALLOW);
}

int fb_jail_filter(void)
{
    struct sock_filter code[OPENING + COUNT + 2];
    struct sock_fprog program = {.len = sizeof code / sizeof code[0], .filter = code};

    make(code);
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno : 0;
}

#else

int fb_jail_filter(void)
{
    return -ENOSYS;
}

#endif

int fb_jail(void)
{
    bound(RLIMIT_FSIZE, 0); /* pipes do not count */
    bound(RLIMIT_NOFILE, 16);
    return WANTS_FILTER ? fb_jail_filter() : 0;
}
