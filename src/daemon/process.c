/* SPDX-License-Identifier: MIT */
/* process.c - getrusage, getrlimit and three files. */
#include "daemon/process.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static int64_t count_fds(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int64_t count = 0;

    if (!folder)
        return 0;
    for (const struct dirent *e = readdir(folder); e; e = readdir(folder))
        count += e->d_name[0] != '.';
    (void)closedir(folder);
    return count - 1; /* the one that was open to look */
}

static int64_t resident(void)
{
    FILE *f = fopen("/proc/self/statm", "re");
    long long size = 0;
    long long pages = 0;

    if (!f)
        return 0;
    if (fscanf(f, "%lld %lld", &size, &pages) != 2)
        pages = 0;
    (void)fclose(f);
    return pages * sysconf(_SC_PAGESIZE);
}

/* Ticks since the machine was started: the 22nd field, behind a name that may hold anything. */
static double began(void)
{
    char line[1024] = "";
    FILE *f = fopen("/proc/self/stat", "re");
    struct timespec up = {0};
    long long ticks = 0;

    if (!f)
        return 0.0;
    if (!fgets(line, sizeof line, f))
        line[0] = '\0';
    (void)fclose(f);
    const char *at = strrchr(line, ')');
    if (!at || sscanf(at + 2,
                      "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d"
                      " %*d %*d %lld",
                      &ticks) != 1)
        return 0.0;
    (void)clock_gettime(CLOCK_BOOTTIME, &up);
    return (double)time(NULL) - (double)up.tv_sec + (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

void fb_process_read(struct process_facts *ret_facts)
{
    struct rusage used;
    struct rlimit fds = {0};

    *ret_facts = (struct process_facts){
        .resident_bytes = resident(), .fds = count_fds(), .began_s = began()};
    if (getrusage(RUSAGE_SELF, &used) == 0)
        ret_facts->cpu_s = seconds(used.ru_utime) + seconds(used.ru_stime);
    if (getrlimit(RLIMIT_NOFILE, &fds) == 0)
        ret_facts->fds_max = (int64_t)fds.rlim_cur;
}
