/* SPDX-License-Identifier: MIT */
/* Lives: which process this is, and whether another one is gone. */
#include "ledger_rig.h"

#include <signal.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_lives_and_who_does_not),
    };

    return cmocka_run_group_tests_name("life", tests, NULL, NULL);
}
