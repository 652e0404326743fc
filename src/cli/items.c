/* SPDX-License-Identifier: MIT */
/* items.c - `flyball items` and `flyball item`: what is known of watched items, and why. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/command.h"
#include "cli/options.h"

#define EXITS "0 done, 2 usage, 3 no daemon answers, or there is no such item"

/* ---- items ---- */

struct items_line {
    const char *state;
    int64_t most;
    bool stale;
    bool json;
};

#define OPTION_TARGET struct items_line

static const struct option_row ITEMS_ROWS[] = {
    {"--state", OPTION_WORD(state, "live", "imminent", "completed", "all"), .standard = "all",
     .about = "those in this state alone"},
    {"--stale", OPTION_FLAG(stale), .about = "those alone that are older than they may be"},
    {"--most", OPTION_INT(most, "N", 1, 20000), .standard = "1000", .about = "so many at most"},
    {"--json", OPTION_FLAG(json), .about = "one JSON object"},
    {0},
};

static int items_run(int argc, char **argv)
{
    struct items_line line = {0};
    char query[96];

    if (fb_options_read(&fb_command_items, argc, argv, &line) < 0)
        return EXIT_USAGE;
    (void)snprintf(query, sizeof query, "state=%s&stale=%d&most=%lld", line.state, line.stale,
                   (long long)line.most);
    return fb_ask_only("items", "items", query, line.json, false);
}

const struct command fb_command_items = {
    .name = "items",
    .about = "what is watched: how old it is, and what is known",
    .usage = "[OPTION...]",
    .intro = "The items that the daemon keeps fresh, live ones first: since when what is known of "
             "each is so, which version that is, and when it is looked at next.",
    .is_minor = true,
    .options = ITEMS_ROWS,
    .exits = EXITS,
    .examples = "flyball items\nflyball items --state live --stale\nflyball items --json\n",
    .run = items_run,
};

/* ---- one item ---- */

struct item_line {
    struct option_words words;
    int64_t pause_ns;
    bool json;
};

#undef OPTION_TARGET
#define OPTION_TARGET struct item_line

static const struct option_row ITEM_ROWS[] = {
    {"", OPTION_MANY(words, "ID"), .expects = "an id, or pause or resume and an id",
     .choices = (const char *const[]){"pause", "resume", NULL}, .is_open = true,
     .about = "the item; with pause or resume before it, what to do about it"},
    {"--for", OPTION_SPAN(pause_ns, "TIME"),
     .about = "of pause: how long; not said: as the configuration has it"},
    {"--json", OPTION_FLAG(json), .about = "one JSON object"},
    {0},
};

static int act(const struct item_line *line)
{
    struct buffer target = BUFFER_INIT;
    char seconds[48];

    fb_buffer_add_text(&target, "/admin/item/");
    fb_buffer_add_text(&target, line->words.word[0]);
    fb_buffer_add_text(&target, "?id=");
    fb_ask_escape(&target, line->words.word[1]);
    (void)snprintf(seconds, sizeof seconds, "&seconds=%lld",
                   (long long)((line->pause_ns + 999999999) / 1000000000));
    fb_buffer_add_text(&target, seconds);
    const char *text = fb_buffer_text(&target);
    int code = text ? fb_ask_act("item", NULL, text, line->json) : EXIT_FAILED;
    fb_buffer_fini(&target);
    return code;
}

static bool is_action(const char *word)
{
    return strcmp(word, "pause") == 0 || strcmp(word, "resume") == 0;
}

static int item_run(int argc, char **argv)
{
    struct item_line line = {0};
    struct buffer query = BUFFER_INIT;

    if (fb_options_read(&fb_command_item, argc, argv, &line) < 0)
        return EXIT_USAGE;
    if (line.words.count == 2 && is_action(line.words.word[0]))
        return act(&line);
    if (line.words.count != 1) {
        fputs("flyball item: expected an id, 'pause ID' or 'resume ID'\n", stderr);
        return EXIT_USAGE;
    }
    fb_buffer_add_text(&query, "id=");
    fb_ask_escape(&query, line.words.word[0]);
    const char *text = fb_buffer_text(&query);
    int code = text ? fb_ask_only("item", "item", text, line.json, false) : EXIT_FAILED;
    fb_buffer_fini(&query);
    return code;
}

const struct command fb_command_item = {
    .name = "item",
    .about = "one watched item: who says what, and what is next",
    .usage = "[OPTION...] [pause | resume] ID",
    .intro = "Field by field the value, the source that it is from, and what the others say; the "
             "last versions; the next look, where, and why not earlier. An item that is paused is "
             "left alone, and its age counts nowhere.",
    .is_minor = true,
    .options = ITEM_ROWS,
    .exits = EXITS,
    .examples = "flyball item m17-641\nflyball item pause m17-641 --for 10m\n"
                "flyball item resume m17-641\n",
    .run = item_run,
};
