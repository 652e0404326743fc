/* SPDX-License-Identifier: MIT */
/* Lives: which process this is, and whether another one is gone. */
#include "ledger_rig.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#include "ledger/life.h"

static void who_lives_and_who_does_not(void **state)
{
    uint64_t *told = shared_memory(sizeof(*told));
    uint64_t me = fb_life_me();

    (void)state;
    assert_true(me != 0 && !(me & FB_LIFE_SPARE));
    assert_false(fb_life_is_over(me));
    assert_true(fb_life_is_over(0));
    assert_true(fb_life_is_over(me + (UINT64_C(1) << (FB_LIFE_PID_BITS + 1)))); /* began later */
    assert_false(fb_life_is_over((uint64_t)getpid()));                          /* by number */
    pid_t child = fork();
    if (child == 0) {
        *told = fb_life_me();
        _exit(0);
    }
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    assert_true(*told != 0 && *told != me);
    assert_true(fb_life_is_over(*told)); /* not waited for yet */
    assert_int_equal(status_of(child), 0);
    assert_true(fb_life_is_over(*told));
    assert_true(fb_life_is_over((uint64_t)child));
}

static void *stay(void *argument)
{
    (void)argument;
    for (;;)
        (void)pause();
    return NULL;
}

static bool is_zombie(pid_t pid)
{
    char path[40];
    char text[200] = "";

    (void)snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(text, sizeof(text), f));
    assert_int_equal(fclose(f), 0);
    return strstr(text, ") Z ") != NULL;
}

/* To the kernel a process whose first thread has ended looks like one that is gone. */
static void who_goes_on_without_its_first_thread_lives(void **state)
{
    uint64_t *told = shared_memory(sizeof(*told));
    pid_t child = fork();

    (void)state;
    if (child == 0) {
        pthread_t thread;

        *told = fb_life_me();
        if (pthread_create(&thread, NULL, stay, NULL) != 0)
            _exit(1);
        pthread_exit(NULL);
    }
    while (!is_zombie(child))
        ;
    assert_true(*told != 0);
    assert_false(fb_life_is_over(*told));
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(status_of(child), -SIGKILL);
    assert_true(fb_life_is_over(*told));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_lives_and_who_does_not),
        cmocka_unit_test(who_goes_on_without_its_first_thread_lives),
    };

    return cmocka_run_group_tests_name("life", tests, NULL, NULL);
}
