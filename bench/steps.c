/* SPDX-License-Identifier: MIT */
/*
 * steps.c - count machine instructions by stepping through them.
 *
 * Slow, but exact, and it needs no counters of the processor, which virtual machines often hide.
 * A child stops itself before and after what is counted; its parent steps it from one stop to the
 * other. What stopping costs is counted without anything in between and taken off.
 */
#include "bench.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void be_counted(void (*run)(void *of), void *of)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(1);
    (void)raise(SIGSTOP);
    if (run)
        run(of);
    (void)raise(SIGSTOP);
    _exit(0);
}

/* The next stop of the child: its signal, or 0 when it has ended. */
static int wait_for(pid_t child)
{
    int status;

    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
        return 0;
    return WSTOPSIG(status);
}

static double step_through(pid_t child)
{
    double steps = 0;
    int signal = wait_for(child);

    if (signal != SIGSTOP)
        return -1;
    do {
        if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0)
            return -1;
        steps++;
        signal = wait_for(child);
    } while (signal == SIGTRAP);
    return signal == SIGSTOP ? steps : -1;
}

static double count(void (*run)(void *of), void *of)
{
    pid_t child = fork();

    if (child < 0)
        return -1;
    if (child == 0)
        be_counted(run, of);
    double steps = step_through(child);
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
    return steps;
}

double bench_instructions(void (*run)(void *of), void *of)
{
    double all = count(run, of);
    double around = count(NULL, NULL);

    return all < 0 || around < 0 ? -1 : all - around;
}
