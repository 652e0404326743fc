/* SPDX-License-Identifier: MIT */
/* suggest.h - "did you mean": what a word that nobody knows was probably meant to be. */
#ifndef FLYBALL_CONFIG_SUGGEST_H
#define FLYBALL_CONFIG_SUGGEST_H

/*
 * The name among `names` (NULL behind the last) nearest to `word`, if near enough to be a slip of
 * the keyboard; or NULL.
 */
const char *fb_suggest(const char *word, const char *const *names);

#endif
