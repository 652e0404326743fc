/* SPDX-License-Identifier: MIT */
/*
 * job.c - a task inside the engine: one block of memory, from fb_engine_submit() to its result.
 *
 * Invariant: a job is in exactly one state (inside.h), and ends exactly once, in fb_job_end().
 */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "engine/inside.h"
#include "util/alloc.h"
#include "util/text.h"

/* ------------------------------------------------------------------------------------ one block */

static size_t text_size(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

static size_t task_size(const struct engine_task *t)
{
    size_t size = text_size(t->url) + text_size(t->method) + text_size(t->id) +
                  text_size(t->provider) + text_size(t->preset) + text_size(t->pool) +
                  text_size(t->credential) + text_size(t->operation) + text_size(t->folder) +
                  t->body_size;

    for (size_t i = 0; i < t->header_count; i++)
        size += text_size(t->header[i].name) + text_size(t->header[i].value);
    for (size_t i = 0; i < t->alternative_count; i++)
        size += text_size(t->alternative[i]);
    return size;
}

static const char *put(char **at, const char *text)
{
    size_t size = text_size(text);
    char *start = *at;

    if (!text)
        return NULL;
    memcpy(start, text, size);
    *at += size;
    return start;
}

/* Behind the job: the arrays, then the texts, then the body. */
static void fill(struct job *j, const struct engine_task *t)
{
    struct engine_header *header = (struct engine_header *)(j + 1);
    const char **alternative = (const char **)(header + t->header_count);
    char *at = (char *)(alternative + t->alternative_count);

    for (size_t i = 0; i < t->header_count; i++) {
        header[i].name = put(&at, t->header[i].name);
        header[i].value = put(&at, t->header[i].value);
    }
    for (size_t i = 0; i < t->alternative_count; i++)
        alternative[i] = put(&at, t->alternative[i]);
    j->header = header;
    j->header_count = (uint32_t)t->header_count;
    j->alternative = alternative;
    j->alternative_count = (int16_t)t->alternative_count;
    j->url = j->first_url = put(&at, t->url);
    j->method = t->method ? put(&at, t->method) : "GET";
    j->id = t->id ? put(&at, t->id) : "";
    j->provider = put(&at, t->provider);
    j->preset = put(&at, t->preset);
    j->pool = put(&at, t->pool);
    j->credential = put(&at, t->credential);
    j->operation = t->operation ? put(&at, t->operation) : FB_OPERATION_DEFAULT;
    j->folder = put(&at, t->folder);
    if (t->body_size)
        j->body = memcpy(at, t->body, t->body_size);
    j->body_size = t->body_size;
}

/* -------------------------------------------------------------------------------- what is legal */

static bool is_word(const char *text)
{
    static const char allowed[] = "!#$%&'*+-.^_`|~0123456789"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

    return text[0] && text[strspn(text, allowed)] == '\0';
}

/* Nothing that could begin another line (RFC 9110, 5.5). */
static bool is_value(const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if ((*c < ' ' && *c != '\t') || *c == 0x7f)
            return false;
    return true;
}

static int mistake(struct fly_error *err, const char *what, const char *found)
{
    struct text t;

    fb_text_init(&t, err->text, sizeof(err->text));
    fb_text_add(&t, what);
    fb_text_add(&t, ": \"");
    fb_text_add(&t, found);
    fb_text_add(&t, "\"");
    return -EINVAL;
}

/* How long the body is, is told by whoever sends it: anything else runs into the next request. */
static bool is_framing(const struct engine_task *t, const struct engine_header *h)
{
    char size[24];
    struct text text;

    fb_text_init(&text, size, sizeof(size));
    fb_text_add_int(&text, (int64_t)t->body_size);
    return strcasecmp(h->name, "Transfer-Encoding") == 0 ||
           (strcasecmp(h->name, "Content-Length") == 0 && strcmp(h->value, size) != 0);
}

static int check_header(const struct engine_task *t, const struct engine_header *h,
                        struct fly_error *err)
{
    if (!is_word(h->name))
        return mistake(err, "not the name of a header", h->name);
    if (!is_value(h->value))
        return mistake(err, "a line break or control character in header", h->name);
    return is_framing(t, h)
               ? mistake(err, "the length of the body is not as told by header", h->name)
               : 0;
}

static int check(const struct engine_task *t, struct fly_error *err)
{
    struct url_parts parts;

    if (!t->url || fb_url_read(t->url, &parts) < 0)
        return mistake(err, "expected a URL of http or https, without blanks, and found",
                       t->url ? t->url : "");
    if (t->method && !is_word(t->method))
        return mistake(err, "expected a method such as GET and found", t->method);
    for (size_t i = 0; i < t->header_count; i++) {
        int error = check_header(t, &t->header[i], err);
        if (error < 0)
            return error;
    }
    for (size_t i = 0; i < t->alternative_count; i++)
        if (fb_url_read(t->alternative[i], &parts) < 0)
            return mistake(err, "expected an alternative URL of http or https and found",
                           t->alternative[i]);
    if (t->operation && strlen(t->operation) >= FB_OPERATION_SIZE)
        return mistake(err, "the name of an operation is too long", t->operation);
    return t->alternative_count > INT16_MAX || t->header_count > INT16_MAX
               ? mistake(err, "too many headers or alternatives", t->url)
               : 0;
}

int fb_job_new(struct engine *e, const struct engine_task *t, struct job **ret_job,
               struct fly_error *err)
{
    struct key *key = NULL;
    int rc = check(t, err);

    if (rc < 0)
        return rc;

    size_t size = sizeof(struct job) + t->header_count * sizeof(*t->header) +
                  t->alternative_count * sizeof(*t->alternative) + task_size(t);
    struct job *j = fb_blocks_get(&e->jobs, size);

    if (!j)
        return -ENOMEM;
    *j = (struct job){.engine = e, .size = size};
    fill(j, t);
    j->client = t->client ? t->client : &e->own;
    j->user = t->user;
    j->cost = t->cost ? t->cost : 1;
    j->flags = t->flags;
    j->attempts = j->tries = t->attempts;
    j->submitted_ns = j->wanted_ns = e->now_ns;
    j->q.priority = t->priority ? t->priority : PRIORITY_NORMAL;
    j->q.queued_ns = e->now_ns;
    j->q.start_by_ns = t->patience_ns > 0 ? fb_after(e->now_ns, t->patience_ns) : FB_NEVER;
    rc = fb_key_get(e, j, &key, err);
    if (rc < 0) {
        fb_blocks_put(&e->jobs, j, size);
        return rc;
    }
    fb_job_set_key(j, key);
    *ret_job = j;
    return 0;
}

void fb_job_drop(struct job *j)
{
    fb_job_set_key(j, NULL);
    fb_blocks_put(&j->engine->jobs, j, j->size);
}

bool fb_job_is_idempotent(const struct job *j)
{
    static const char *const safe[] = {"GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"};

    for (size_t i = 0; i < sizeof(safe) / sizeof(safe[0]); i++)
        if (strcmp(j->method, safe[i]) == 0)
            return true;
    return false;
}

/* ----------------------------------------------------------------------------------- its states */

static void list_add(struct queue_list *l, struct job *j)
{
    j->q.prev = l->last;
    j->q.next = NULL;
    *(l->last ? &l->last->next : &l->first) = &j->q;
    l->last = &j->q;
}

static void list_remove(struct queue_list *l, struct job *j)
{
    *(j->q.prev ? &j->q.prev->next : &l->first) = j->q.next;
    *(j->q.next ? &j->q.next->prev : &l->last) = j->q.prev;
    j->q.next = j->q.prev = NULL;
}

/* It was answered: who waits for the slot that it might have taken looks again. */
static void leave_asked(struct job *j)
{
    struct engine *e = j->engine;
    struct provider *p = j->key->provider;
    struct queue_task *t;

    list_remove(&e->asked, j);
    e->stats.asked--;
    j->key->asked--;
    p->asked--;
    fb_queue_wake(&e->queue, &j->key->q);
    t = fb_queue_first(&e->queue, &p->lane, true);
    if (t)
        fb_queue_wake(&e->queue, t->key);
}

/* Out of whatever it is in; flying ones are landed by who calls. */
static void leave(struct job *j)
{
    struct engine *e = j->engine;

    switch ((enum job_state)j->state) {
    case JOB_QUEUED:
        if (j->q.key)
            fb_queue_remove(&e->queue, &j->q);
        break;
    case JOB_ASKED:
        leave_asked(j);
        break;
    case JOB_ENDING:
        list_remove(&e->ending, j);
        break;
    case JOB_FLYING:
        assert(!j->attempt);
        break;
    }
    j->state = JOB_QUEUED;
}

/* What is put back had room before: it may lift the queue above its maximum for a moment. */
static void make_room(struct queue *q)
{
    if (fb_queue_is_full(q))
        q->max = q->count + 1;
}

void fb_job_queue(struct job *j)
{
    struct queue *q = &j->engine->queue;
    const char *cause;

    leave(j);
    make_room(q);
    fb_queue_push(q, &j->key->q, &j->q);
    q->max = j->engine->options.queue_max;
    /* The key may have stepped aside for its breaker, which this one passes. */
    if (fb_job_has_own_trials(j) && !j->key->q.lane &&
        fb_key_broken_until(j->engine, j->key, &cause) > j->engine->now_ns)
        fb_queue_wake(q, &j->key->q);
}

void fb_job_delay(struct job *j, int64_t until_ns)
{
    struct queue *q = &j->engine->queue;

    leave(j);
    make_room(q);
    fb_queue_delay(q, &j->key->q, &j->q, until_ns);
    q->max = j->engine->options.queue_max;
    j->wanted_ns = until_ns;
}

void fb_job_refuse(struct job *j, enum failure f, int64_t ready_at_ns)
{
    leave(j);
    j->state = JOB_ENDING;
    j->failure = (uint8_t)f;
    j->ready_at_ns = ready_at_ns;
    list_add(&j->engine->ending, j);
}

void fb_job_promise(struct job *j, bool is_promised)
{
    int sign = (int)is_promised - (int)j->is_promised;

    j->key->promised += sign;
    j->key->promised_units += sign * (int64_t)j->cost;
    j->is_promised = is_promised;
}

void fb_job_ask(struct job *j)
{
    struct engine *e = j->engine;

    leave(j);
    j->state = JOB_ASKED;
    list_add(&e->asked, j);
    e->stats.asked++;
    j->key->asked++;
    j->key->provider->asked++;
    fb_job_promise(j, true);
    j->client->caller.on_start(j->client->caller.user, j, j->user, j->attempts + 1);
}

/* -------------------------------------------------------------------------------------- its end */

static void fill_result(const struct job *j, struct engine_result *r)
{
    r->id = j->id;
    r->user = j->user;
    r->url = j->url;
    r->method = j->method;
    r->was_sent = j->was_sent;
    r->attempts = j->attempts;
    r->requests = j->requests;
    r->throttled = j->throttled;
    r->redirects = j->redirects;
    r->source = j->source;
    r->submitted_ns = j->submitted_ns;
    r->sent_ns = j->sent_ns;
    r->first_byte_ns = j->first_byte_ns;
    r->ended_ns = j->engine->now_ns;
    r->waited_ns = j->waited_ns;
    r->ready_at_ns = j->ready_at_ns;
    r->cause = j->cause;
    r->provider = j->key->name;
    r->pool = j->key->pool;
}

static void count_end(struct engine *e, const struct job *j, enum engine_end end)
{
    e->stats.done++;
    e->stats.end[end]++;
    if (j->q.priority <= PRIORITY_IMMINENT)
        e->interactive_ns = e->now_ns;
}

static void tell_end(struct engine *e, const struct job *j, const struct engine_result *r)
{
    struct event more = {
        .until_ns = r->end == ENGINE_DEFERRED ? r->ready_at_ns : INT64_MIN,
        .duration_ns = r->ended_ns - r->submitted_ns,
        .waited_ns = r->waited_ns,
        .status = r->status,
    };
    struct text t;

    if (!e->observe)
        return;
    fb_text_init(&t, more.outcome, sizeof(more.outcome));
    fb_text_add(&t, fb_engine_end_name(r->end));
    fb_text_init(&t, more.error, sizeof(more.error));
    fb_text_add(&t, r->failure == FAIL_NONE ? "" : fb_failure_name(r->failure));
    if (r->end == ENGINE_DEFERRED)
        fb_engine_tell(e, FB_EVENT_DEFERRAL, j, j->key, &more);
    fb_engine_tell(e, FB_EVENT_OUTCOME, j, j->key, &more);
}

void fb_job_end(struct job *j, enum engine_end end, enum failure f, const char *sentence,
                const struct attempt_end *last)
{
    struct engine *e = j->engine;
    const struct engine_caller *to = &j->client->caller;
    struct engine_result r = {.end = end, .failure = f};

    leave(j);
    fill_result(j, &r);
    r.sentence = end == ENGINE_OK ? "" : sentence && sentence[0] ? sentence : fb_failure_says(f);
    r.escalated = end == ENGINE_FAILED || end == ENGINE_UNKNOWN;
    if (last) {
        r.status = last->status;
        r.header = last->header;
        r.header_count = last->header_count;
        r.body = last->body_fd > 0 ? NULL : last->body;
        r.body_size = last->body_size;
        r.body_fd = last->body_fd;
        e->stats.body_bytes += (int64_t)last->body_size;
    }
    count_end(e, j, end);
    tell_end(e, j, &r);
    j->client->tasks--;
    if (to->on_result)
        to->on_result(to->user, &r);
    fb_job_set_key(j, NULL);
    fb_free(j->moved);
    fb_blocks_put(&e->jobs, j, j->size);
}

void fb_job_defer(struct job *j, enum failure f, int64_t ready_at_ns, const char *sentence,
                  const struct attempt_end *last)
{
    j->ready_at_ns = ready_at_ns;
    if (j->engine->options.mode == MODE_STRICT)
        fb_job_end(j, ENGINE_FAILED, f, sentence, last);
    else
        fb_job_end(j, ENGINE_DEFERRED, f, sentence, last);
}
