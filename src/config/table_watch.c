/* SPDX-License-Identifier: MIT */
/*
 * table_watch.c - the keys of the `watch` section.
 *
 * Defaults of what is decided in src/core are those of its own (tests/unit/test_config_watch.c
 * compares them).
 */
#include "config/rows.h"
#include "config/template.h"

#define MILLISECOND INT64_C(1000000)
#define MiB         (INT64_C(1) << 20)

static const char *const kinds[] = {"json", "html", "exec", NULL};
static const char *const types[] = {"any", "text", "integer", "number", "boolean", "json", NULL};

/* ------------------------------------------------------------------------ who is asked, and how */

#define A_TEMPLATE CHECKED(fb_template_is_url, "a URL such as https://example.com/live/{id}")
#define A_PATH     CHECKED(fb_check_path, "a place such as /score/home")

/* The list and the sources are asked alike. */
#define ASK_KEYS(struct_, body_)                                                                   \
    KEY("kind", WORD, struct_, ask.kind, "json",                                                   \
        "What reads the answers: json by pointers, html by XPath, exec by a program.",             \
        WORDS(kinds)),                                                                             \
        KEY("command", TEXTS, struct_, ask.command, NULL,                                          \
            "Of exec: the program, a word each, with the answer on its standard input.", NOTHING), \
        KEY("provider", TEXT, struct_, ask.provider, NULL, "Whose limits hold; else by host.",     \
            CHECKED(fb_check_name, "the name of a provider")),                                     \
        RATE_BESIDE,                                                                               \
        KEY("limit", LIMIT, struct_, ask.limit, NULL,                                              \
            "A limit of its own, in the place of a provider's.", TABLE(fb_config_limit_keys)),     \
        KEY("headers", PAIRS, struct_, ask.header, NULL,                                           \
            "Sent with every request; nothing secret.", COUNTED(struct_, ask.header_count),        \
            PRIVATE),                                                                              \
        KEY("timeout", SPAN, struct_, ask.timeout_ns, "10s",                                       \
            "A program that reads an answer may take so long.", RANGE(MILLISECOND, HOUR)),         \
        KEY("memory", SIZE, struct_, ask.memory_bytes, "256MiB", "And have so much memory.",       \
            RANGE(16 * MiB, INT64_C(1) << 40)),                                                    \
        KEY("body", SIZE, struct_, ask.body_bytes_max, body_, "A larger answer is none.",          \
            RANGE(1, INT64_C(1) << 30))

/* ------------------------------------------------------------------------------------- the list */

static const struct config_table states_table = {
    .title = "States of items",
    .help = "The words that the list has for the three states. What is none of them is imminent.",
    .keys = KEYS(
        KEY("live", TEXTS, config_states, live, "live", "It happens now.", NOTHING),
        KEY("imminent", TEXTS, config_states, imminent, "imminent", "It will happen.", NOTHING),
        KEY("completed", TEXTS, config_states, completed, "completed", "It is over.", NOTHING)),
};

static const struct config_table ids_table = {
    .title = "Ids in the list",
    .entry = "SOURCE",
    .brief = "path",
    .help = "What each source calls an item, where the list says so: the name of a source and the "
            "place in a row.",
    .size = sizeof(struct config_field),
    .keys =
        KEYS(KEY("path", TEXT, config_field, path, NULL, "Where the row has it.", A_PATH, NEEDED)),
};

static const struct config_table items_table = {
    .title = "The list of items",
    .help = "Where it is said what there is, under which id, and in what state.",
    .keys =
        KEYS(KEY("url", TEXT, config_items, ask.url, NULL, "Where the list is.",
                 CHECKED(fb_template_is_whole, "a URL such as https://example.com/items"), PRIVATE),
             KEY("every", SPAN, config_items, every_ns, "15s", "It is asked for so often.",
                 RANGE(100 * MILLISECOND, DAYS)),
             KEY("list", TEXT, config_items, list, NULL,
                 "Where the rows are; else the answer is them.", A_PATH),
             KEY("id", TEXT, config_items, id, "/id",
                 "Where a row has its id, under which it is known.", A_PATH),
             KEY("state", TEXT, config_items, state, NULL,
                 "Where a row has its state; else all of them are live.", A_PATH),
             KEY("states", SECTION, config_items, states, NULL, "Words for states.",
                 TABLE(states_table)),
             KEY("ids", MAP, config_items, ids, NULL, "What the sources call an item.",
                 COUNTED(config_items, ids_count), TABLE(ids_table)),
             ASK_KEYS(config_items, "16MiB")),
};

/* ---------------------------------------------------------------------------------- the sources */

static const struct config_table field_table = {
    .title = "A field",
    .entry = "FIELD",
    .brief = "path",
    .help = "A value of an item, under the name that it has here. 'score: /score' is short for "
            "'score: {path: /score}'.",
    .size = sizeof(struct config_field),
    .keys =
        KEYS(KEY("path", TEXT, config_field, path, NULL,
                 "Where an answer has it: a JSON pointer, or an XPath of html.", A_PATH, NEEDED),
             KEY("type", WORD, config_field, type, "any",
                 "What it is written as, so that sources agree: any is a text, a number, true "
                 "or false as it comes.",
                 WORDS(types))),
};

static const struct config_table static_table = {
    .title = "What hardly changes",
    .help = "A second place of a source, for what is asked for again only after cache.static.",
    .keys = KEYS(KEY("url", TEXT, config_static, url, NULL, "Where it is.", A_TEMPLATE, PRIVATE),
                 KEY("fields", MAP, config_static, field, NULL, "What is read from it.",
                     COUNTED(config_static, field_count), TABLE(field_table))),
};

static const struct config_table source_table = {
    .title = "A source",
    .entry = "SOURCE",
    .help = "A site that knows something about items. A new one needs nothing but an entry here.",
    .size = sizeof(struct config_source),
    .keys = KEYS(
        KEY("enabled", BOOL, config_source, enabled, "true", "Whether it is asked.", NOTHING),
        KEY("url", TEXT, config_source, ask.url, NULL,
            "Where an item is: {id} is what the source calls it, {item} its id in the list.",
            A_TEMPLATE, PRIVATE),
        KEY("fields", MAP, config_source, field, NULL, "What is read from an answer.",
            COUNTED(config_source, field_count), TABLE(field_table)),
        KEY("id", TEXT, config_source, id, NULL,
            "Where an answer says what it is about; an answer about another item is not believed.",
            A_PATH),
        KEY("ids_file", TEXT, config_source, ids_file, NULL,
            "A file of its ids: lines of the id in the list and its own.", A_FILE),
        KEY("id_rule", TEXT, config_source, id_rule, NULL,
            "How its ids are made of those in the list.",
            CHECKED(fb_template_is_right, "a text with {item} such as m-{item}")),
        KEY("static", SECTION, config_source, fixed, NULL, "What of it hardly changes.",
            TABLE(static_table)),
        KEY("weight", INT, config_source, weight, "10", "Of its word where sources disagree.",
            RANGE(1, 1000000)),
        KEY("concurrency", INT, config_source, concurrency, "8", "Requests under way.",
            RANGE(1, 10000)),
        KEY("unmodified_free", BOOL, config_source, unmodified_free, "false",
            "An answer that nothing has changed (304) costs nothing of its own limit. That of a "
            "provider counts it all the same.",
            NOTHING),
        ASK_KEYS(config_source, "1MiB")),
};

/* --------------------------------------------------------------------------------- the watching */

static const struct config_table aims_table = {
    .title = "Aims",
    .help = "How old what is known of an item may be before it is looked at again, by its state.",
    .keys = KEYS(
        KEY("live", SPAN, config_aims, live_ns, "10s", "Of live items.", RANGE(MILLISECOND, YEAR)),
        KEY("imminent", SPAN, config_aims, imminent_ns, "60s", "Of imminent ones.",
            RANGE(MILLISECOND, YEAR)),
        KEY("completed", SPAN, config_aims, completed_ns, "1h", "Of completed ones.",
            RANGE(MILLISECOND, YEAR))),
};

static const struct config_table health_table = {
    .title = "Grades",
    .help = "When things are degraded or failing, by the ages of live items.",
    .keys =
        KEYS(KEY("degraded", SPAN, config_health, degraded_ns, "60s",
                 "Half of the ages, or one in twenty, are so old.", RANGE(1, YEAR)),
             KEY("failing", SPAN, config_health, failing_ns, "120s", "Any of them is so old.",
                 RANGE(1, YEAR)),
             KEY("stall", SPAN, config_health, stall_ns, "90s",
                 "Nothing has succeeded for so long: then a recovery begins.", RANGE(1, YEAR)),
             KEY("recovery", SPAN, config_health, recovery_ns, "120s",
                 "A recovery may take so long, and the second one waits as long.", RANGE(1, YEAR)),
             KEY("patience", SPAN, config_health, patience_ns, "30m",
                 "Later ones wait twice as long each, at most this.", RANGE(1, YEAR)),
             KEY("well", SPAN, config_health, well_ns, "10m",
                 "After being healthy for so long they are counted anew.", RANGE(1, YEAR))),
};

static const struct config_table cache_table = {
    .title = "What is remembered of items",
    .help = "How long what is known is good for an answer.",
    .keys = KEYS(
        KEY("live", SPAN, config_cache, live_ns, "15s",
            "A snapshot of an item is fresh for so long, and stale from then on.", RANGE(1, YEAR)),
        KEY("imminent", SPAN, config_cache, imminent_ns, "90s", "The same of an imminent one.",
            RANGE(1, YEAR)),
        KEY("completed", SPAN, config_cache, completed_ns, "24h", "And of one that is over.",
            RANGE(1, YEAR)),
        KEY("static", SPAN, config_cache, static_ns, "18h",
            "What hardly changes is asked for again after so long.", RANGE(1, YEAR)),
        KEY("missing", SPAN, config_cache, missing_ns, "60s",
            "A source that has no such item is not asked about it for so long.", RANGE(1, YEAR)),
        KEY("final", SPAN, config_cache, final_ns, "24h",
            "The last snapshot of an item that is over is kept for so long.", RANGE(1, YEAR)),
        KEY("snapshots", INT, config_cache, snapshots, "5",
            "The last so many of a live item are kept.", RANGE(1, 16))),
};

static const struct config_table item_pause_table = {
    .title = "Pauses of items",
    .help = "An item that keeps failing is left alone for a time; others go on.",
    .keys =
        KEYS(KEY("failures", INT, config_item_pause, failures, "5", "In a row; 0: never.",
                 RANGE(0, 1000000)),
             KEY("time", SPAN, config_item_pause, time_ns, "300s", "How long.", RANGE(1, YEAR))),
};

static const struct config_table reliability_table = {
    .title = "Reliability of sources",
    .help = "By what came of its latest requests a source is believed more or less.",
    .keys = KEYS(KEY("window", SPAN, config_reliability, window_ns, "600s",
                     "Older requests do not count.", RANGE(1, YEAR)),
                 KEY("latency", SPAN, config_reliability, latency_ns, "2s",
                     "What is expected; a mean of twice as much halves the score.", RANGE(1, YEAR)),
                 KEY("demote", SHARE, config_reliability, demote_ppm, "50%",
                     "Below this score a source comes after all others.", NOTHING),
                 KEY("restore", SHARE, config_reliability, restore_ppm, "70%",
                     "Until it has this one again.", NOTHING)),
};

const struct config_table fb_config_watch_keys = {
    .title = "Watch",
    .help = "Items that are kept fresh from several sources.",
    .keys = KEYS(
        KEY("enabled", BOOL, config_watch, enabled, "true", "Whether anything is watched.",
            NOTHING),
        KEY("interval", SPAN, config_watch, interval_ns, "5s",
            "Ages and grades are looked at so often.", RANGE(100 * MILLISECOND, HOUR)),
        KEY("idle", SPAN, config_watch, idle_ns, "30s", "The same while nothing is live.",
            RANGE(100 * MILLISECOND, HOUR)),
        KEY("concurrency", INT, config_watch, concurrency, "40", "Requests under way in all.",
            RANGE(1, 10000)),
        KEY("queue", INT, config_watch, queue_max, "1000",
            "So many looks wait at most; others are put off, the least urgent first.",
            RANGE(1, 1000000)),
        KEY("items_max", INT, config_watch, items_max, "200000", "More items are left out.",
            RANGE(1, 10000000)),
        KEY("attempts", INT, config_watch, attempts, "3",
            "At one update of an item from one source; then it waits for its next one.",
            RANGE(1, 1000)),
        KEY("aims", SECTION, config_watch, aims, NULL, "How fresh things should be.",
            TABLE(aims_table)),
        KEY("health", SECTION, config_watch, health, NULL, "When they are not well.",
            TABLE(health_table)),
        KEY("cache", SECTION, config_watch, cache, NULL, "What is remembered.", TABLE(cache_table)),
        KEY("pause", SECTION, config_watch, pause, NULL, "When an item keeps failing.",
            TABLE(item_pause_table)),
        KEY("reliability", SECTION, config_watch, reliability, NULL, "Who is believed.",
            TABLE(reliability_table)),
        KEY("items", SECTION, config_watch, items, NULL, "What there is.", TABLE(items_table)),
        KEY("sources", MAP, config_watch, source, NULL, "Who knows something about it.",
            COUNTED(config_watch, source_count), TABLE(source_table), ORDERED)),
};
