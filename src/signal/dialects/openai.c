/* SPDX-License-Identifier: MIT */
/*
 * openai.c - a refusal whose sentence tells a whole pool: "... on tokens per min (TPM): Limit
 * 10000, Used 8554, Requested 3082. Please try again in 9.816s."
 */
#include "signal/dialect.h"
#include "signal/number.h"
#include "signal/prose.h"

/* "tokens per min" before word `end`: what is counted, and the window. */
static bool find_subject(const struct tokens *t, size_t end, struct slice *ret_name,
                         int64_t *ret_window_ns)
{
    for (size_t i = end; i > 1; i--) {
        if (fb_token_is(t, i - 1, "per") && fb_token_unit(t, i, ret_window_ns)) {
            *ret_name = t->at[i - 2];
            return true;
        }
    }
    return false;
}

static bool number_after(const struct tokens *t, size_t i, const char *word, int64_t *ret_number)
{
    return fb_token_is(t, i, word) && i + 1 < t->count && fb_number_read(t->at[i + 1], ret_number);
}

static void openai_body(struct reading *r, struct slice body)
{
    int64_t limit, used, window_ns;
    struct slice name;
    struct tokens t;

    if (!(r->means & MEANS_LIMIT))
        return;
    fb_tokens_read(&t, body);
    for (size_t i = 0; i < t.count; i++) {
        if (!number_after(&t, i, "limit", &limit) || !number_after(&t, i + 2, "used", &used) ||
            !find_subject(&t, i, &name, &window_ns))
            continue;
        struct pool *p = fb_pool_get(r, name, 0);
        if (!p)
            return;
        fb_told_least(&p->limit, limit);
        fb_told_most(&p->used, used);
        fb_told_window(p, window_ns);
    }
}

const struct dialect fb_dialect_openai = {.name = "openai", .body = openai_body};
