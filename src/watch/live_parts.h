/* SPDX-License-Identifier: MIT */
/*
 * live_parts.h - what the files of the live watcher share.
 *
 * live.c begins, changes and ends it and is its ports; live_plan.c makes a plan of a configuration;
 * live_ask.c sends requests, live_read.c takes what comes back; live_ids.c knows what sources call
 * items, live_tags.c what they said of answers.
 */
#ifndef FLYBALL_WATCH_LIVE_PARTS_H
#define FLYBALL_WATCH_LIVE_PARTS_H

#include "engine/engine.h"
#include "engine/table.h"
#include "watch/live.h"
#include "watch/records.h"
#include "watch/sources/read.h"

#define LIVE_HEADERS_MAX 24
#define LIVE_TAG_MAX     256 /* bytes of a validator; a longer one is not remembered */

/* What a source calls items: pairs of texts, by the first. */
struct ids_file {
    char *bytes;
    struct id_pair {
        const char *item, *id;
        bool is_told; /* that the list does not have the item */
    } * pair;
    size_t count;
    struct id_pair *twice; /* of items that have one already: they do not count */
    size_t twice_count;
};

/* Whoever is asked: a source, or the list. */
struct asked {
    const char *name;
    const struct config_ask *ask;
    const struct config_source *source; /* NULL: the list */
    struct source_rule rule, fixed;     /* of items, of what hardly changes */
    const char *provider;               /* of its requests; NULL: by host */
    const struct config_provider *configured;
    struct buffer credential; /* "Bearer ...", or nothing */
    const char *credential_header;
    struct ids_file ids;
    int64_t ready_ns; /* before that nothing of it could leave */
    int64_t under_way;
};

/* One look on its way. */
struct asking {
    struct asking *next, *previous;
    struct watch_live *live;
    struct watch_look *look; /* NULL: nobody wants it any more */
    struct job *job;         /* NULL: it has come back */
    struct buffer url;       /* without what may be secret in it */
    int64_t asked_ns, latency_ns;
    bool is_conditional;
    bool is_beginning;                    /* inside of look(), where nothing may be answered yet */
    int early;                            /* what came of it there: a negative errno */
    char tag[LIVE_TAG_MAX], modified[64]; /* of the answer */
};

struct watch_live {
    struct watch_live_options o;
    const struct config *config;
    struct watch *watch;
    struct watch_records *records; /* NULL: nothing lasts */
    struct engine_client *client;
    uv_timer_t timer;
    struct read_desk desk;
    struct asked list;
    struct asked source[CONFIG_SOURCES_MAX];
    const char *id_path[CONFIG_SOURCES_MAX];
    size_t source_count;
    struct asking *asking; /* under way */
    struct table tags;
    struct watch_live_figures figures;
    char said[256]; /* last, so that it is said once */
    bool is_closing, is_timer_closed;
    bool is_changing; /* between two configurations: nothing begins */
    void (*done)(void *arg);
    void *arg;
};

/* Say it, unless it was said last. */
void fb_watch_live_say(struct watch_live *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* One look is over, or all of it may be. */
void fb_watch_live_maybe_over(struct watch_live *l);

/* ---- live_plan.c ---- */

/* The plan of a configuration; `domain` has room for CONFIG_SOURCES_MAX. */
void fb_watch_live_plan(const struct config *c, struct watch_plan *ret_plan,
                        struct watch_domain_plan *domain);

/* Whoever is asked, as a configuration says; what was there before goes. */
void fb_watch_live_take_config(struct watch_live *l, const struct config *c);
void fb_watch_live_drop_config(struct watch_live *l);

/*
 * An answer of 304 costs nothing, as somebody has said: of the quota of a provider; or of the
 * source's own limit, to which its permit then goes back.
 */
bool fb_watch_live_is_same_free(const struct asked *a);
bool fb_watch_live_is_given_back(const struct asked *a);

/* Secrets go to the hosts of their provider and nowhere else. */
bool fb_watch_live_is_home(const struct config_provider *p, const char *url);

/* ---- live_ask.c ---- */
int fb_watch_live_look(void *self, struct watch_look *look);
struct asked *fb_watch_live_asked(struct watch_live *l, const struct watch_look *look);
void fb_watch_live_asking_free(struct asking *a);

/* ---- live_read.c ---- */
void fb_watch_live_on_result(void *user, const struct engine_result *r);
/* Read a page, or what a program makes of nothing. */
void fb_watch_live_read(struct asking *a, const struct read_page *page);

/* ---- live_ids.c ---- */

/* Read a file of ids; what is wrong with it is said. */
void fb_ids_load(struct watch_live *l, const char *name, const char *path,
                 struct ids_file *ret_ids);
void fb_ids_free(struct ids_file *ids);
const char *fb_ids_find(const struct ids_file *ids, const char *item);

/* The rows of a list as the watcher takes them. */
void fb_watch_live_listed(struct watch_live *l, struct watch_look *look,
                          const struct source_said *said);

/* ---- live_tags.c ---- */

/* What a source said last of its answer about an item: "" where it said nothing. */
struct tag {
    struct table_entry entry;
    const char *etag, *modified;
    char text[];
};

const struct tag *fb_tag_find(const struct watch_live *l, const struct watch_look *look);
void fb_tag_put(struct watch_live *l, const struct watch_look *look, const char *etag,
                const char *modified);
void fb_tags_clear(struct watch_live *l);
/* All of an item. */
void fb_tags_forget(struct watch_live *l, const char *id);

#endif
