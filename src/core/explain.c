/* SPDX-License-Identifier: MIT */
/* explain.c - the accountant's answer as a sentence for people. */
#include <assert.h>
#include <stddef.h>

#include "core/accountant.h"
#include "core/bucket.h"
#include "core/instant.h"
#include "util/text.h"

const char *fb_accountant_cause(const struct verdict *v)
{
    assert(!v->cause || v->cause->name);

    if (!v->cause)
        return "go";
    return v->at_ns == FB_NEVER && v->cause->never ? v->cause->never : v->cause->name;
}

static void add_wait(struct text *t, const struct verdict *v, int64_t now_ns)
{
    assert(!v->cause || v->at_ns > now_ns);

    if (!v->cause) {
        fb_text_add(t, "May start now.");
        return;
    }
    const char *reason = v->cause->says;
    if (v->at_ns < FB_NEVER) {
        fb_text_add(t, "Next start in ");
        fb_text_add_span(t, v->at_ns - now_ns);
    } else if (v->cause->never_says) {
        fb_text_add(t, "Can never start");
        reason = v->cause->never_says;
    } else {
        fb_text_add(t, "Waits for an answer");
    }
    fb_text_add(t, ": ");
    fb_text_add(t, reason);
    fb_text_add(t, ".");
}

void fb_accountant_explain(const struct accountant *a, const struct verdict *v, int64_t now_ns,
                           struct text *ret_text)
{
    const struct controller *c = fb_accountant_controller(a);

    add_wait(ret_text, v, now_ns);
    fb_text_add(ret_text, " ");
    if (c) {
        c->explain(&a->learned, &a->pace, now_ns, ret_text);
        return;
    }
    double rate = fb_bucket_rate(&a->slot[FB_SLOT_bucket]);
    if (rate > 0.0) {
        fb_text_add_number(ret_text, rate);
        fb_text_add(ret_text, "/s as stated.");
    } else {
        fb_text_add(ret_text, "No rate is stated.");
    }
}
