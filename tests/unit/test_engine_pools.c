/* SPDX-License-Identifier: MIT */
/* Engine on virtual time: answers that tell of several budgets, or of a limit in words. */
#include "engine_rig.h"

#include <flyball/flyball.h>
#include <flyball/ledger.h>

#include "core/quota.h"
#include "engine/control.h"
#include "ledger/body.h"

#define TIMES 64

/* When requests were sent, and what the answers say. */
struct told {
    int64_t sent_ns[TIMES];
    const char *requests_left, *tokens_left;
    int64_t told; /* so many answers tell anything */
};

static struct plan tells_two(struct rig *r, const struct attempt_request *q)
{
    struct told *t = r->more;
    struct plan p = {.answer_ns = 100 * MS};
    const struct engine_header header[] = {
        {"x-ratelimit-limit-requests", "60"},
        {"x-ratelimit-remaining-requests", t->requests_left},
        {"x-ratelimit-reset-requests", "20s"},
        {"x-ratelimit-limit-tokens", "1000"},
        {"x-ratelimit-remaining-tokens", t->tokens_left},
        {"x-ratelimit-reset-tokens", "30s"},
    };

    (void)q;
    t->sent_ns[r->sends - 1] = r->now_ns;
    if (r->sends <= t->told)
        memcpy(p.header, header, sizeof(header));
    return p;
}

/* Two tasks one after the other; how much later the second left. */
static int64_t gap(const char *pool, const char *requests_left, const char *tokens_left)
{
    struct engine_options o = rig_options();
    struct told t = {.requests_left = requests_left, .tokens_left = tokens_left, .told = 1};
    struct engine_task task = {.url = "http://a.example/", .pool = pool};
    struct rig r;

    rig_open(&r, &o);
    r.more = &t;
    r.plan = tells_two;
    rig_submit(&r, &task);
    rig_run_until(&r, r.now_ns + S);
    rig_submit(&r, &task);
    rig_run(&r);
    assert_int_equal(r.ends[ENGINE_OK], 2);
    rig_fini(&r);
    return t.sent_ns[1] - t.sent_ns[0];
}

static void each_told_budget_holds(void **state)
{
    (void)state;
    assert_in_range(gap("requests", "50", "900"), S, 2 * S);
    /* Whichever is the key's own: the one that is used up decides. */
    assert_in_range(gap("requests", "50", "0"), 30 * S, 32 * S);
    assert_in_range(gap("requests", "0", "900"), 20 * S, 22 * S);
    assert_in_range(gap("tokens", "0", "900"), 20 * S, 22 * S);
    assert_in_range(gap("tokens", "50", "0"), 30 * S, 32 * S);
    assert_in_range(gap("other", "50", "0"), 30 * S, 32 * S);
    assert_in_range(gap("other", "0", "0"), 30 * S, 32 * S);
}

static void see_wait(void *arg, const struct engine_key_state *s)
{
    rig_copy(arg, 32, s->cause);
}

static void the_wait_has_its_cause(void **state)
{
    struct engine_options o = rig_options();
    struct told t = {.requests_left = "50", .tokens_left = "0", .told = 1};
    struct engine_task task = {.url = "http://a.example/", .pool = "requests"};
    char cause[32] = "";
    struct rig r;

    (void)state;
    rig_open(&r, &o);
    r.more = &t;
    r.plan = tells_two;
    rig_submit(&r, &task);
    rig_run_until(&r, r.now_ns + S);
    rig_submit(&r, &task);
    task.patience_ns = 5 * S;
    rig_submit(&r, &task);
    rig_run_until(&r, r.now_ns + S);
    fb_engine_keys(r.engine, see_wait, cause);
    assert_string_equal(cause, "quota");
    /* Refused at once, with the time at which the tokens are there again. */
    assert_int_equal(r.ends[ENGINE_DEFERRED], 1);
    assert_in_range(r.last.ready_at_ns - t.sent_ns[0], 30 * S, 33 * S);
    rig_run(&r);
    rig_fini(&r);
}

/* A refusal is for the key's own limiter; the others hear only what is left. */
static struct plan refuses_once(struct rig *r, const struct attempt_request *q)
{
    struct plan p = tells_two(r, q);

    if (r->sends == 1) {
        p.status = 429;
        p.header[6] = (struct engine_header){"Retry-After", "3"};
    }
    return p;
}

static void a_refusal_is_told_once(void **state)
{
    struct engine_options o = rig_options();
    struct told t = {.requests_left = "50", .tokens_left = "900", .told = TIMES};
    struct engine_task task = {.url = "http://a.example/", .pool = "requests"};
    struct rig r;

    (void)state;
    rig_open(&r, &o);
    r.more = &t;
    r.plan = refuses_once;
    rig_submit(&r, &task);
    rig_run(&r);
    assert_int_equal(r.ends[ENGINE_OK], 1);
    assert_in_range(t.sent_ns[1] - t.sent_ns[0], 3 * S, 10 * S);
    rig_fini(&r);
}

static struct plan resends(struct rig *r, const struct attempt_request *q)
{
    struct plan p = tells_two(r, q);

    p.resends = r->sends == 2;
    return p;
}

static void a_resend_pays_everywhere(void **state)
{
    struct engine_options o = rig_options();
    struct told t = {.requests_left = "50", .tokens_left = "1", .told = 1};
    struct engine_task task = {.url = "http://a.example/", .pool = "requests"};
    struct rig r;

    (void)state;
    rig_open(&r, &o);
    r.more = &t;
    r.plan = resends;
    rig_submit(&r, &task);
    rig_run_until(&r, r.now_ns + S);
    rig_submit(&r, &task);
    rig_run(&r);
    /* One token was left, and the request took it: there is none for sending it again. */
    assert_int_equal(rig_stats(&r).resends_refused, 1);
    assert_int_equal(r.ends[ENGINE_OK], 2);
    rig_fini(&r);
}

/* -------------------------------------------------------------------------------- told in words */

static struct plan says_it(struct rig *r, const struct attempt_request *q)
{
    struct told *t = r->more;
    struct plan p = {.answer_ns = 10 * MS};

    (void)q;
    if (r->sends <= TIMES)
        t->sent_ns[r->sends - 1] = r->now_ns;
    if (r->sends == 1) {
        p.status = 429;
        p.body = "Rate limit exceeded. Maximum 5 requests within 1 minute.";
        p.header[0] = (struct engine_header){"Retry-After", "1"};
        p.header[1] = (struct engine_header){"Content-Type", "text/plain"};
    }
    return p;
}

static void a_limit_in_words_is_kept(void **state)
{
    struct engine_options o = rig_options();
    struct told t = {0};
    struct rig r;

    (void)state;
    o.concurrency = 1;
    rig_open(&r, &o);
    r.more = &t;
    r.plan = says_it;
    for (int i = 0; i < 21; i++)
        rig_get(&r, "http://a.example/");
    rig_run(&r);
    assert_int_equal(r.ends[ENGINE_OK], 21);
    assert_int_equal(r.sends, 22);
    for (int i = 1; i + 5 < 22; i++)
        assert_true(t.sent_ns[i + 5] - t.sent_ns[i] >= 60 * S);
    rig_fini(&r);
}

static void what_is_told_is_forgotten_on_demand(void **state)
{
    struct engine_options o = rig_options();
    struct told t = {.requests_left = "50", .tokens_left = "0", .told = 1};
    struct engine_task task = {.url = "http://a.example/", .pool = "requests"};
    struct fly_error err = {""};
    struct rig r;

    (void)state;
    rig_open(&r, &o);
    r.more = &t;
    r.plan = tells_two;
    rig_submit(&r, &task);
    rig_run_until(&r, r.now_ns + S);
    assert_int_equal(fb_engine_relearn(r.engine, "a.example", NULL, "adapt=off", &err), 1);
    rig_submit(&r, &task);
    rig_run(&r);
    assert_true(t.sent_ns[1] - t.sent_ns[0] < 2 * S);
    rig_fini(&r);
}

static struct fly_limiter *shared;

static struct fly_limiter *give_shared(void *user, const struct engine_key *k, int64_t now_ns,
                                       struct fly_error *err)
{
    (void)user, (void)k, (void)now_ns, (void)err;
    return shared;
}

static struct fly_limiter *handle_of(struct fly_ledger *ledger)
{
    const struct fly_key key = {"a.example", "default", ""};
    struct fly_limiter *l = NULL;

    assert_int_equal(fly_ledger_limiter(ledger, &key, "adapt=off", &l, NULL), 0);
    return l;
}

/* Who shares a limiter and does not know what is to come says so, against those who know. */
static void not_to_know_is_said_to_who_shares(void **state)
{
    struct engine_options o = rig_options();
    struct engine_task task = {.url = "http://a.example/"};
    struct fly_ledger *ledger = NULL;
    struct rig r;

    (void)state;
    assert_int_equal(fly_ledger_open("memory:", NULL, &ledger, NULL), 0);
    struct fly_limiter *other = handle_of(ledger);
    const int64_t *quota = &fb_body_of(other)->books.slot[FB_SLOT_quota];
    shared = handle_of(ledger);
    o.limiter_of = give_shared;
    rig_open(&r, &o);
    int64_t now_ns = r.now_ns = fly_now();
    fly_limiter_backlog(other, now_ns, 50);
    assert_int_equal(fb_quota_backlog(quota), 50);
    rig_submit(&r, &task);
    rig_run(&r);
    assert_int_equal(r.ends[ENGINE_OK], 1);
    assert_int_equal(fb_quota_backlog(quota), -1);
    fly_limiter_backlog(other, now_ns + S, 50);
    assert_int_equal(fb_quota_backlog(quota), -1);
    rig_fini(&r);
    fly_limiter_free(other);
    fly_ledger_close(ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_told_budget_holds),
        cmocka_unit_test(the_wait_has_its_cause),
        cmocka_unit_test(a_refusal_is_told_once),
        cmocka_unit_test(a_resend_pays_everywhere),
        cmocka_unit_test(a_limit_in_words_is_kept),
        cmocka_unit_test(what_is_told_is_forgotten_on_demand),
        cmocka_unit_test(not_to_know_is_said_to_who_shares),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
