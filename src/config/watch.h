/* SPDX-License-Identifier: MIT */
/*
 * watch.h - the `watch` section: items that are kept fresh, where the list of them is, and the
 * sources that know something about each.
 *
 *     watch:
 *       items:                              the list that decides what there is
 *         url: https://backend.example.com/matches
 *         list: /matches
 *         id: /id
 *         state: /state
 *         ids: {alpha: /alpha_id}           what a source calls an item
 *       sources:
 *         alpha:
 *           url: https://alpha.example.com/live/{id}
 *           limit: window=60/1m
 *           fields: {home: /home/name, score: {path: /score/home, type: integer}}
 */
#ifndef FLYBALL_CONFIG_WATCH_H
#define FLYBALL_CONFIG_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONFIG_ITEMS_NAME  "items" /* of the list, among the names of sources */
#define CONFIG_SOURCES_MAX 16      /* as many as one item can be made of (watch/watch.h) */
#define CONFIG_FIELDS_MAX  64      /* of one source */

struct config_header;

/* In the order of FB_SOURCES (watch/sources/source.h), which reads the answers. */
enum config_source_kind { CONFIG_SOURCE_JSON, CONFIG_SOURCE_HTML, CONFIG_SOURCE_EXEC };

/* What a value is written as, so that equal values are equal texts. */
enum config_field_type {
    CONFIG_FIELD_ANY, /* a text, a number, true or false, as it comes */
    CONFIG_FIELD_TEXT,
    CONFIG_FIELD_INTEGER,
    CONFIG_FIELD_NUMBER,
    CONFIG_FIELD_BOOLEAN,
    CONFIG_FIELD_JSON, /* anything, lists and objects too: compact, keys in order */
};

/* A value of an answer. */
struct config_field {
    const char *name; /* that it has here, whatever the source calls it */
    const char *path; /* where it is: a JSON pointer or an XPath, as the kind of source has it */
    int64_t type;     /* enum config_field_type */
};

/* How somebody is asked, and what may be spent on the answer. */
struct config_ask {
    int64_t kind;    /* enum config_source_kind */
    const char *url; /* a template (config/template.h); NULL only of exec, which may need none */
    const char *const *command; /* of exec: a word each, ended by NULL */
    const char *provider;       /* whose limits hold; NULL: by host, or its own limit */
    const char *limit;          /* its own; NULL: that of the provider */
    struct config_header *header;
    size_t header_count;
    int64_t timeout_ns;     /* of the program that reads an answer */
    int64_t memory_bytes;   /* it may have */
    int64_t body_bytes_max; /* of an answer; a larger one is none */
};

/* The words that somebody's list has for a state; each ended by NULL. */
struct config_states {
    const char *const *live, *const *imminent, *const *completed;
};

/* The authoritative list. */
struct config_items {
    struct config_ask ask;
    int64_t every_ns;
    const char *list;  /* where the rows are; NULL: the answer is the list */
    const char *id;    /* of a row; it is the canonical one */
    const char *state; /* of a row; NULL: every item is live */
    struct config_states states;
    struct config_field *ids; /* by the name of a source: where the row has its id */
    size_t ids_count;
};

/* What of a source hardly changes, and is asked for apart. */
struct config_static {
    const char *url; /* a template; NULL: there is nothing such */
    struct config_field *field;
    size_t field_count;
};

struct config_source {
    const char *name;
    bool enabled;
    struct config_ask ask;
    struct config_field *field;
    size_t field_count;
    const char *id;       /* where an answer says what item it is about, or NULL */
    const char *ids_file; /* lines of canonical id and own id, or NULL */
    const char *id_rule;  /* a template of its own ids, or NULL: those of items.ids, or the same */
    struct config_static fixed;
    int64_t weight;       /* of its word against others */
    int64_t concurrency;  /* requests under way */
    bool unmodified_free; /* a 304 costs nothing of its own limit */
};

struct config_aims {
    int64_t live_ns, imminent_ns, completed_ns;
};

/* As struct health_limits. */
struct config_health {
    int64_t degraded_ns, failing_ns, stall_ns, recovery_ns, patience_ns, well_ns;
};

struct config_cache {
    int64_t live_ns, imminent_ns, completed_ns; /* an answer from memory that is older is stale */
    int64_t static_ns, missing_ns, final_ns;
    int64_t snapshots; /* the last so many of each item */
};

struct config_item_pause {
    int64_t failures, time_ns;
};

/* As struct reliability_limits. */
struct config_reliability {
    int64_t window_ns, latency_ns, demote_ppm, restore_ppm;
};

struct config_watch {
    bool enabled;
    int64_t interval_ns; /* of looking at all of it */
    int64_t idle_ns;     /* the same while nothing is live */
    int64_t concurrency; /* looks under way */
    int64_t queue_max;   /* that wait */
    int64_t items_max;
    int64_t attempts; /* at one update, of one item, from one source */
    struct config_aims aims;
    struct config_health health;
    struct config_cache cache;
    struct config_item_pause pause;
    struct config_reliability reliability;
    struct config_items items;
    struct config_source *source;
    size_t source_count; /* 0: nothing is watched */
};

/* Whether there is anything to watch, and it is not switched off. */
static inline bool fb_config_watches(const struct config_watch *w)
{
    return w->enabled && w->source_count > 0;
}

/* By its name, or NULL. */
const struct config_source *fb_config_source(const struct config_watch *w, const char *name);

/* The limit that a source, or the list of items, has of its own, by its name; or NULL. */
const char *fb_config_source_limit(const struct config_watch *w, const char *name);

/* The path at which the list has the ids of a source, or NULL: it has none. */
const char *fb_config_ids_path(const struct config_watch *w, const char *source);

#endif
