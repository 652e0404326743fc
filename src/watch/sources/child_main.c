/* SPDX-License-Identifier: MIT */
/* child_main.c - limits first, then the work. */
#include "watch/sources/child_main.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define EXIT_CANNOT 126

/* Soft and hard alike: there is no way back. */
static int bound(int what, rlim_t most)
{
    struct rlimit limit = {.rlim_cur = most, .rlim_max = most};

    return setrlimit((__rlimit_resource_t)what, &limit);
}

/* The shadow of a sanitizer needs far more memory than any limit. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

static int bound_memory(rlim_t bytes, bool is_html)
{
    (void)bytes;
    (void)is_html;
    return 0;
}

#else

/* What this program takes with all its libraries before it does anything. */
static rlim_t size_now(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long long pages = 0;

    if (file && fscanf(file, "%llu", &pages) != 1)
        pages = 0;
    if (file)
        (void)fclose(file);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static int bound_memory(rlim_t bytes, bool is_html)
{
    return bound(RLIMIT_AS, bytes + (is_html ? size_now() : 0));
}

#endif

static int bound_all(const char *memory, const char *seconds, bool is_html)
{
    rlim_t bytes = (rlim_t)strtoull(memory, NULL, 10);
    rlim_t most = (rlim_t)strtoull(seconds, NULL, 10);

    if (bytes == 0 || most == 0)
        return -1;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return bound(RLIMIT_CORE, 0) < 0 || bound(RLIMIT_CPU, most) < 0 ||
                   bound_memory(bytes, is_html) < 0
               ? -1
               : 0;
}

int fb_child_main(int count, char **words)
{
    bool is_html = count > 2 && strcmp(words[2], "html") == 0;

    if (count < 4 || bound_all(words[0], words[1], is_html) < 0) {
        fputs("cannot bound itself\n", stderr);
        return EXIT_CANNOT;
    }
    if (is_html)
        return fb_html_main(count - 3, words + 3);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)execvp(words[3], words + 3);
    fprintf(stderr, "cannot run %s: %s\n", words[3], strerror(errno));
    return EXIT_CANNOT;
}
