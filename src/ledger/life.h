/* SPDX-License-Identifier: MIT */
/*
 * life.h - which process this is, and whether another one still lives.
 *
 * A process is known by one word: its number and the instant at which it began, so that a number
 * that was given to another process is not taken for the one that had it before. After fork() the
 * child finds itself to be another process, without any handler.
 */
#ifndef FLYBALL_LEDGER_LIFE_H
#define FLYBALL_LEDGER_LIFE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define FB_LIFE_PID_BITS 22                  /* the kernel gives no larger number */
#define FB_LIFE_SPARE    (UINT64_C(1) << 22) /* this bit is 0 in every word, for others to use */

/* This process; never 0. A load and a comparison, but for the first call in a process. */
uint64_t fb_life_me(void);

/*
 * For memory that a fork copies in the middle of what other threads do with it, who are not there
 * in the child: `fresh` is called once in each process, by the first that comes here, and nobody
 * goes on before it has ended. *of names the process; 0 at first.
 */
void fb_life_once(_Atomic uint64_t *of, void (*fresh)(void *self), void *self);

/* Whether that process is gone. One that has ended and is not waited for yet is gone too. */
bool fb_life_is_over(uint64_t who);

#endif
