/* SPDX-License-Identifier: MIT */
/*
 * fetch_parts.h - the batch inside: what its files share.
 *
 * run.c is the command, fetch.c sets a batch up and ends it, batch.c opens journal and output,
 * feed.c turns lines into tasks, errand.c sends them on their way, end.c turns results into rows,
 * report.c talks to people and pulse.c tells them how far it is, which look.c finds out, and
 * meter.c how fast; live.c keeps that for other processes, metrics.c as rows of a file; gate.c is
 * robots.txt, conditional.c the answers that were kept, turn_page.c the next page, provider.c
 * whose limits hold. The engine is that of a host (host.h).
 */
#ifndef FLYBALL_FETCH_FETCH_PARTS_H
#define FLYBALL_FETCH_FETCH_PARTS_H

#include <uv.h>

#include "fetch/fetch.h"
#include "fetch/list.h"
#include "fetch/meter.h"
#include "store/cache.h"
#include "store/runs.h"

#define FETCH_GATES 4096 /* slots for origins, with --robots */

struct config_provider;
struct credential;
struct gate;
struct live;

/* An item under way, with copies of all that it is made of. */
struct errand {
    struct errand *next; /* while it waits for robots.txt */
    struct fetch *fetch;
    size_t size; /* of all this */
    struct item item;
    uint16_t check;
    bool is_started;      /* the journal has it as started */
    bool is_allowed;      /* by robots.txt */
    bool is_robots;       /* it is robots.txt itself, for `gate` */
    bool is_conditional;  /* it was sent with validators */
    int64_t not_before_s; /* it was deferred until then; 0: it was not */
    uint32_t page;        /* 0: there are none */
    char *next_url;       /* of the page that is due, or NULL: the item's own */
    char *linked;         /* where a 304 led, or NULL */
    uint64_t key[2];      /* of the cache */
    struct gate *gate;
};

#define TOTAL_NOT_COUNTED (-2)

#define PULSE_MS 250
/* Keys that the batch has had to do with. */
#define FETCH_KEYS 256

struct fetch_uses {
    uint64_t key[FETCH_KEYS]; /* by hash; 0: free */
    size_t count;
    bool is_full;
};

struct fetch {
    const struct fetch_options *o;
    struct screen screen;
    struct meter meter;
    struct fetch_uses uses;
    struct list_count *counting; /* NULL: nobody counts */
    bool is_one_of_many;         /* the engine has other work, too */
    uv_loop_t *loop;
    uv_timer_t pulse;
    uv_async_t wake; /* the store has something for us */
    uv_idle_t feeder;
    uv_poll_t input; /* a list that comes through a pipe */
    int handles_open;
    bool input_waits;
    void (*on_end)(void *user, int code);
    void *user;

    struct store *store;
    struct journal *journal;
    struct store_file *cache; /* NULL: no answer is kept */
    struct known_host {
        char name[128];
        size_t size; /* 0: none yet */
        const struct preset *preset;
    } known_host;      /* the one asked about last, with its port */
    struct live *live; /* what others see of it; NULL: nothing */
    struct runs runs;  /* of earlier batches, while a plan is made; else none */
    struct gate *gates[FETCH_GATES];
    struct credential *credentials; /* that were read so far */
    struct engine *engine;          /* NULL: it is not begun */
    struct engine_client *client;
    struct list *list;
    struct result_maker maker;
    struct blocks errands;
    struct journal_found found;
    char *journal_path; /* NULL: in memory */

    bool list_ended;
    bool stopping;   /* nothing new is begun */
    bool is_over;    /* nothing is left to do */
    bool is_planned; /* as much as there is room for is queued, for o->plan */
    bool closing;
    int worst; /* exit code so far */
    bool is_pipe_gone;
    bool is_cut_off;             /* by the end of whoever runs it */
    bool is_void;                /* nothing was begun, and there is nothing to go on with */
    bool has_made_folder;        /* for the output */
    int64_t total;               /* items of the list; -1: not known, -2: not counted yet */
    int64_t seen;                /* items read */
    int64_t room;                /* items that may be under way */
    int64_t out;                 /* items under way: submitted, or being written */
    int64_t writing;             /* of those: being written */
    size_t bytes;                /* of results being written */
    int64_t count[ENTRY_STATES]; /* that ended in this run */
    int64_t earlier;             /* finished in an earlier run */
    int64_t bad_lines;
    int64_t told_failures;
    bool told_bound; /* that an item has more pages than are wanted */
    int64_t began_ns;
};

/* --------------------------------------------------------------------------------- batch.c */

/* Open journal and output. 0 or a negative errno with a sentence. */
int fb_batch_open(struct fetch *f, struct fly_error *err) __attribute__((warn_unused_result));

/* Let go of the journal, as if there had been none; `with_output`: of the output as well. */
void fb_batch_forget(struct fetch *f, bool with_output);

/* ---------------------------------------------------------------------------------- feed.c */

/* Read and submit while there is room. */
void fb_feed(struct fetch *f);

/* -------------------------------------------------------------------------------- errand.c */

/* An errand of an item; the caller counts it as under way. NULL: memory is out. */
struct errand *fb_errand_new(struct fetch *f, const struct item *i, uint16_t check);

/* Begin one, go on with one, end one. */
void fb_errand_begin(struct fetch *f, const struct item *i, uint16_t check);
void fb_errand_go(struct errand *e);
void fb_errand_end(struct errand *e);

/* The id of its result: "7", "7#2" for the second page. */
void fb_errand_id(const struct errand *e, struct buffer *to);

/* It ends without having been sent. */
void fb_errand_fail(struct errand *e, enum entry_state state, const char *failure,
                    const char *sentence);

/* ------------------------------------------------------------------------------ turn_page.c */

/* Whether there is a next page, which e->next_url then names. */
bool fb_errand_find_next(struct errand *e, const struct engine_result *r);

/* Where the Link headers of an answer from there lead; to be freed. NULL: nowhere. */
char *fb_page_linked(const char *from, const struct engine_header *header, size_t count);

/* Where the journal says that it goes on. */
void fb_errand_resume(struct errand *e);

/* ---------------------------------------------------------------------------- conditional.c */

void fb_conditional_open(struct fetch *f);
bool fb_conditional_applies(const struct errand *e);
void fb_conditional_look_up(struct errand *e,
                            void (*found)(void *context, const struct cached *known));
void fb_conditional_offline(struct errand *e, const struct cached *known);
void fb_conditional_keep(const struct errand *e, const struct result_facts *facts);
void fb_conditional_unchanged(struct errand *e);

/* ----------------------------------------------------------------------------------- gate.c */

#define GATE_FAILURE "robots" /* the class of what a robots.txt holds up */

/* True: it may go on. False: it waits here, or has ended. */
bool fb_gate_pass(struct errand *e);
void fb_gate_answer(struct gate *g, int32_t status, const void *body, size_t size);
void fb_gates_free(struct fetch *f);

/* ----------------------------------------------------------------------------- credential.c */

/* The header by which a provider knows us. 0, or a negative errno with a sentence. */
int fb_credential_get(struct fetch *f, const struct config_provider *p,
                      struct engine_header *ret_header, struct fly_error *err)
    __attribute__((warn_unused_result));
void fb_credentials_free(struct fetch *f);

/* ------------------------------------------------------------------------------- provider.c */

/* The provider of the configuration that a URL leads to, or NULL. */
const struct config_provider *fb_provider_at(const struct fetch *f, const char *url);

/* Set provider and pool of a task. */
void fb_provider_of(const struct errand *e, struct engine_task *t);
/* The limit of a key as it is stated, or NULL, and by whom. */
const char *fb_provider_spec(const struct fetch *f, const struct engine_key *k,
                             const char **ret_said_by);
/* For the host: the limit of a new key, or NULL. */
const char *fb_provider_limit(void *user, const struct engine_key *k);

/* ----------------------------------------------------------------------------------- end.c */

void fb_end_result(void *user, const struct engine_result *r);
void fb_end_start(void *user, struct job *j, void *task_user, int32_t attempt);

/* One page is written; the errand goes on to the next, which e->next_url names. */
void fb_end_page(struct errand *e, struct result_facts *facts);

/* An item, or a page of it, ends as these facts say. */
void fb_end_item(struct fetch *f, const struct errand *e, enum entry_state state,
                 const struct result_facts *facts);

/* The exit code is that of the whole batch: what failed in an earlier run has still failed. */
void fb_end_found(struct fetch *f);

/* A code that may be worse than what there was. */
void fb_end_worse(struct fetch *f, int code);

/* -------------------------------------------------------------------------------- fetch.c */

/*
 * Everything of a batch that can fail, before the engine is needed: FETCH_DONE, or the exit code,
 * and then fb_fetch_drop() is next.
 */
int fb_fetch_prepare(struct fetch *f);

/* Begin on this host's engine. FETCH_DONE or the exit code, likewise. */
int fb_fetch_start(struct fetch *f, struct host *h);

/* End what was not begun: on_end follows from a later turn. */
void fb_fetch_drop(struct fetch *f, int code);

/* A new batch with its callbacks; NULL: memory is out. */
struct fetch *fb_fetch_new(uv_loop_t *loop, const struct fetch_options *o,
                           void (*on_end)(void *user, int code), void *user);

/* ---- count.c ---- */
/* How many items the list has; -1: not known, or not yet. Read once, when somebody asks. */
int64_t fb_fetch_total(struct fetch *f);
/* Whoever counts has nobody to tell any more. */
void fb_count_forget(struct fetch *f);

/* ---- uses.c ---- */
void fb_uses_note(struct fetch_uses *u, const char *provider, const char *pool);
bool fb_uses(const struct fetch_uses *u, const char *provider, const char *pool);

/* Whether one more item may be read. */
bool fb_fetch_has_room(const struct fetch *f);

/* Go on: feed, or end when nothing is left. */
void fb_fetch_go_on(struct fetch *f);

/* ------------------------------------------------------------------------------- report.c */

/* A line for people; those that say "flyball fetch: " are shorter as JSON. */
void fb_say(struct fetch *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
void fb_report_begin(struct fetch *f);
void fb_report_failure(struct fetch *f, const struct result_facts *facts, enum entry_state state);
void fb_report_end(struct fetch *f);

/* What was finished before this run began: so many; and, unless NULL, how many of them failed. */
int64_t fb_report_earlier(const struct fetch *f, int64_t *ret_failed);

/* --------------------------------------------------------------------------------- plan.c */

/* On standard output: how many, bound by what, how long, until when. */
void fb_plan_print(struct fetch *f);

/* -------------------------------------------------------------------------------- pulse.c */

/* How many have ended in this run. */
int64_t fb_pulse_ended(const struct fetch *f);

/* How far it is, now. */
void fb_pulse_read(struct fetch *f, struct progress *ret_progress);

/* Four times a second: show it, as far as there is something new to show. */
void fb_pulse(struct fetch *f);

/* Somebody asks. */
void fb_pulse_now(struct fetch *f);

#endif
