/* SPDX-License-Identifier: MIT */
/* mistakes.c - one sentence for each thing that is wrong. */
#include "config/mistakes.h"

#include <stdarg.h>
#include <stdio.h>

#define SENTENCE_MAX 512

void fb_mistake(struct mistakes *m, struct place at, const char *format, ...)
{
    char what[SENTENCE_MAX], sentence[2 * SENTENCE_MAX];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (at.line > 0)
        snprintf(sentence, sizeof sentence, "%s:%d:%d: %s", m->file, at.line, at.column, what);
    else
        snprintf(sentence, sizeof sentence, "%s: %s", m->file, what);
    for (char *c = sentence; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == '\177')
            *c = '?';
    }
    m->count++;
    m->last = at;
    m->tell(m->user, sentence);
}
