/* SPDX-License-Identifier: MIT */
/*
 * words.c - the vocabulary of header names, by length: most words differ from most others in it.
 *
 * To teach the reader a word, add it to the row of its length.
 */
#include "signal/words.h"

#include <assert.h>
#include <string.h>

#include "signal/reading.h"

#define MINUTE_NS (60 * FB_S)
#define WEEK_NS   (7 * FB_DAY_NS)

static const struct word UNKNOWN = {"", WORD_NAME, 0};

static const struct word OF_2[] = {
    {"in", WORD_AFTER, 0}, {"at", WORD_FILLER, 0}, {"ms", WORD_MS, 0},
    {"ip", WORD_SCOPE, 0}, {"id", WORD_MUTE, 0},
};

static const struct word OF_3[] = {
    {"per", WORD_PER, 0},          {"max", WORD_TOTAL, 0},        {"api", WORD_FILLER, 0},
    {"app", WORD_SCOPE, 0},        {"org", WORD_SCOPE, 0},        {"sec", WORD_SPAN, FB_S},
    {"min", WORD_SPAN, MINUTE_NS}, {"day", WORD_SPAN, FB_DAY_NS}, {"key", WORD_MUTE, 0},
    {"pct", WORD_MUTE, 0},         {"now", WORD_FILLER, 0},
};

static const struct word OF_4[] = {
    {"used", WORD_USED, 0},          {"left", WORD_REMAINING, 0},  {"next", WORD_NEXT, 0},
    {"rate", WORD_RATE, 0},          {"call", WORD_CALLS, 0},      {"user", WORD_SCOPE, 0},
    {"hour", WORD_SPAN, FB_HOUR_NS}, {"week", WORD_SPAN, WEEK_NS}, {"this", WORD_FILLER, 0},
    {"time", WORD_FILLER, 0},        {"cost", WORD_MUTE, 0},       {"name", WORD_TITLE, 0},
    {"read", WORD_SCOPE, 0},         {"fill", WORD_FILL, 0},       {"type", WORD_MUTE, 0},
    {"team", WORD_SCOPE, 0},         {"secs", WORD_FILLER, 0},     {"near", WORD_NEAR, 0},
};

static const struct word OF_5[] = {
    {"limit", WORD_LIMIT, 0}, {"reset", WORD_RESET, 0},        {"after", WORD_AFTER, 0},
    {"retry", WORD_RETRY, 0}, {"usage", WORD_USED, 0},         {"quota", WORD_ANCHOR, 0},
    {"calls", WORD_CALLS, 0}, {"daily", WORD_SPAN, FB_DAY_NS}, {"today", WORD_SPAN, FB_DAY_NS},
    {"month", WORD_SPAN, 0},  {"epoch", WORD_FILLER, 0},       {"scope", WORD_MUTE, 0},
    {"media", WORD_SCOPE, 0}, {"write", WORD_SCOPE, 0},        {"burst", WORD_SCOPE, 0},
    {"total", WORD_TOTAL, 0}, {"count", WORD_COUNT, 0},
};

static const struct word OF_6[] = {
    {"limits", WORD_LIMIT, 0},        {"second", WORD_SPAN, FB_S},
    {"minute", WORD_SPAN, MINUTE_NS}, {"hourly", WORD_SPAN, FB_HOUR_NS},
    {"weekly", WORD_SPAN, WEEK_NS},   {"window", WORD_PERIOD, 0},
    {"period", WORD_PERIOD, 0},       {"bucket", WORD_TITLE, 0},
    {"policy", WORD_POLICY, 0},       {"source", WORD_MUTE, 0},
    {"global", WORD_SCOPE, 0},        {"tenant", WORD_SCOPE, 0},
    {"client", WORD_SCOPE, 0},        {"active", WORD_MUTE, 0},
    {"millis", WORD_MS, 0},           {"resets", WORD_RESET, 0},
    {"refill", WORD_FILL, 0},         {"method", WORD_SCOPE, 0},
    {"search", WORD_SCOPE, 0},
};

static const struct word OF_7[] = {
    {"seconds", WORD_FILLER, 0}, {"request", WORD_REQUESTS, 0}, {"account", WORD_SCOPE, 0},
    {"monthly", WORD_SPAN, 0},   {"allowed", WORD_TOTAL, 0},    {"project", WORD_SCOPE, 0},
    {"maximum", WORD_TOTAL, 0},  {"renewal", WORD_FILLER, 0},   {"resetin", WORD_RESET, 0},
    {"resetat", WORD_RESET, 0},  {"percent", WORD_MUTE, 0},     {"current", WORD_COUNT, 0},
};

static const struct word OF_8[] = {
    {"requests", WORD_REQUESTS, 0},     {"interval", WORD_PERIOD, 0},
    {"throttle", WORD_ANCHOR, 0},       {"secondly", WORD_SPAN, FB_S},
    {"minutely", WORD_SPAN, MINUTE_NS}, {"consumed", WORD_USED, 0},
    {"observed", WORD_USED, 0},         {"fillrate", WORD_FILL, 0},
    {"resource", WORD_TITLE, 0},        {"endpoint", WORD_SCOPE, 0},
    {"duration", WORD_PERIOD, 0},       {"capacity", WORD_TOTAL, 0},
};

static const struct word OF_9[] = {
    {"remaining", WORD_REMAINING, 0}, {"ratelimit", WORD_ANCHOR, 0},
    {"available", WORD_REMAINING, 0}, {"nearlimit", WORD_NEAR, 0},
    {"resettime", WORD_RESET, 0},     {"timestamp", WORD_FILLER, 0},
    {"replenish", WORD_FILL, 0},
};

static const struct word OF_10[] = {
    {"ratelimits", WORD_ANCHOR, 0}, {"concurrent", WORD_CONCURRENT, 0},
    {"refillrate", WORD_FILL, 0},   {"percentage", WORD_MUTE, 0},
    {"resetafter", WORD_RESET, 0},
};

static const struct word OF_11[] = {{"concurrency", WORD_CONCURRENT, 0}};

static const struct word OF_12[] = {
    {"milliseconds", WORD_MS, 0},
    {"organization", WORD_SCOPE, 0},
};

/* Azure alone says it so, and counts its resets in milliseconds. */
static const struct word OF_13[] = {{"renewalperiod", WORD_PERIOD, 0}};

#define ROW(rows)                              \
    {                                          \
        rows, sizeof(rows) / sizeof((rows)[0]) \
    }
static const struct {
    const struct word *word;
    size_t count;
} BY_LENGTH[] = {
    {NULL, 0}, {NULL, 0}, ROW(OF_2), ROW(OF_3),  ROW(OF_4),  ROW(OF_5),  ROW(OF_6),
    ROW(OF_7), ROW(OF_8), ROW(OF_9), ROW(OF_10), ROW(OF_11), ROW(OF_12), ROW(OF_13),
};

const struct word *fb_word_get(struct slice word)
{
    if (word.length >= sizeof(BY_LENGTH) / sizeof(BY_LENGTH[0]))
        return &UNKNOWN;

    const struct word *row = BY_LENGTH[word.length].word;
    for (size_t i = 0; i < BY_LENGTH[word.length].count; i++) {
        if (row[i].text[0] == word.at[0] && !memcmp(row[i].text, word.at, word.length))
            return &row[i];
    }
    return &UNKNOWN;
}
