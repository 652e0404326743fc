/* SPDX-License-Identifier: MIT */
/*
 * mistakes.h - what is wrong in a file, each with its place: "github.yaml:7:5: unknown key 'rat'".
 *
 * All mistakes of a file are told, not the first alone.
 */
#ifndef FLYBALL_CONFIG_MISTAKES_H
#define FLYBALL_CONFIG_MISTAKES_H

/* Counted from 1; a line of 0 means the file as a whole. */
struct place {
    int line;
    int column;
};

struct mistakes {
    const char *file;                               /* as the user named it */
    void (*tell)(void *user, const char *sentence); /* once for each; without a newline */
    void *user;
    unsigned count;
    struct place last; /* of the sentence that is told */
};

/* Tell one more. Bytes that a terminal would obey are shown as '?', long sentences are cut. */
void fb_mistake(struct mistakes *m, struct place at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
