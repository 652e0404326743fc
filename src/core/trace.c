/* SPDX-License-Identifier: MIT */
/* trace.c - four numbers in hexadecimal, of which one is taken. */
#include "core/trace.h"

#include <assert.h>
#include <stddef.h>

enum { VERSION_DIGITS = 2, ID_DIGITS = 32, PARENT_DIGITS = 16, FLAGS_DIGITS = 2 };

/* So many digits at least, in small letters, not all of them 0 (then it means nothing). */
static bool is_number(const char *text, size_t digits, bool may_be_zero)
{
    bool is_zero = true;

    assert(digits >= 1 && digits <= ID_DIGITS);
    for (size_t i = 0; i < digits; i++) {
        bool is_digit = text[i] >= '0' && text[i] <= '9';

        if (!is_digit && !(text[i] >= 'a' && text[i] <= 'f'))
            return false;
        is_zero = is_zero && text[i] == '0';
    }
    return may_be_zero || !is_zero;
}

/* Later versions may say more. */
static bool ends(char next)
{
    return next == '\0' || next == '-';
}

static bool is_traceparent(const char *text)
{
    const char *id = text + VERSION_DIGITS + 1;
    const char *parent = id + ID_DIGITS + 1;
    const char *flags = parent + PARENT_DIGITS + 1;

    assert(text);
    if (text[0] == 'f' && text[1] == 'f')
        return false;
    /* Each part is looked at only where the one before it has not ended the text. */
    return is_number(text, VERSION_DIGITS, true) && id[-1] == '-' &&
           is_number(id, ID_DIGITS, false) && parent[-1] == '-' &&
           is_number(parent, PARENT_DIGITS, false) && flags[-1] == '-' &&
           is_number(flags, FLAGS_DIGITS, true) && ends(flags[FLAGS_DIGITS]);
}

bool fb_trace_id(const char *traceparent, char ret_id[FB_TRACE_BYTES])
{
    bool is_good = traceparent && is_traceparent(traceparent);

    for (size_t i = 0; is_good && i < ID_DIGITS; i++)
        ret_id[i] = traceparent[VERSION_DIGITS + 1 + i];
    assert(ret_id && ID_DIGITS < FB_TRACE_BYTES);
    ret_id[is_good ? ID_DIGITS : 0] = '\0';
    return is_good;
}
