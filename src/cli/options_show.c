/* SPDX-License-Identifier: MIT */
/*
 * options_show.c - a command line that may be shown: what is secret is left out.
 *
 * Which words are values, and of what, is read from the same table as the command line itself, so
 * that no way to write an option shows what another one hides.
 */
#include <string.h>
#include <strings.h>

#include "cli/command.h"
#include "cli/options.h"
#include "fetch/place.h"

/* Headers in which nobody sends a secret. Of all others the value is left out. */
static const char *const HARMLESS[] = {"Accept",
                                       "Accept-Charset",
                                       "Accept-Encoding",
                                       "Accept-Language",
                                       "Cache-Control",
                                       "Content-Type",
                                       "From",
                                       "User-Agent",
                                       NULL};

/* A word as a shell would take it. */
static void add_word(struct buffer *to, const char *word)
{
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_./:=,@%+";

    fb_buffer_add_char(to, ' ');
    if (word[0] && strspn(word, PLAIN) == strlen(word)) {
        fb_buffer_add_text(to, word);
        return;
    }
    fb_buffer_add_char(to, '\'');
    for (; *word; word++)
        fb_buffer_add_text(to, *word == '\'' ? "'\\''" : (char[]){*word, '\0'});
    fb_buffer_add_char(to, '\'');
}

static bool is_harmless(const char *header, size_t size)
{
    for (size_t i = 0; HARMLESS[i]; i++) {
        if (strlen(HARMLESS[i]) == size && strncasecmp(HARMLESS[i], header, size) == 0)
            return true;
    }
    return false;
}

static void add_value(struct buffer *to, const struct option_row *row, const char *value)
{
    enum option_hides hides = row ? row->hides : HIDES_NOTHING;
    size_t name = strcspn(value, ":");

    if (hides == HIDES_PASSWORD || (hides == HIDES_HEADER && !is_harmless(value, name))) {
        fb_buffer_add(to, value, value[name] ? name : 0);
        fb_buffer_add_text(to, hides == HIDES_HEADER ? ": ..." : ":...");
    } else if (strncmp(value, "http://", 7) == 0 || strncmp(value, "https://", 8) == 0) {
        fb_place_add_shown(to, value);
    } else {
        fb_buffer_add_text(to, value);
    }
}

/* The first `size` bytes of a word as they are, then a value. */
static void add_both(struct buffer *to, const char *word, size_t size, const struct option_row *row,
                     const char *value)
{
    struct buffer shown = BUFFER_INIT;

    fb_buffer_add(&shown, word, size);
    if (value)
        add_value(&shown, row, value);
    add_word(to, fb_buffer_text(&shown) ? shown.bytes : "...");
    fb_buffer_fini(&shown);
}

/* An option of the command line. */
struct option_word {
    const struct option_row *row; /* of which a value is wanted; NULL: none is */
    size_t size;                  /* of what stands before the value */
    bool has_value;               /* in the same word */
};

static struct option_word take_apart(const struct option_row *rows, const char *word)
{
    struct option_word w = {.size = strlen(word)};

    if (word[1] == '-') {
        size_t name = strcspn(word, "=");
        w.row = fb_option_find(rows, word, name);
        w.has_value = word[name] == '=';
        w.size = name + w.has_value;
        return w;
    }
    for (size_t i = 1; word[i]; i++) {
        w.row = fb_option_find_letter(rows, word[i]);
        if (!w.row || w.row->kind == KIND_FLAG)
            continue;
        w.size = i + 1;
        w.has_value = word[i + 1] != '\0';
        break;
    }
    return w;
}

void fb_options_show(const struct command *command, int argc, char **argv, struct buffer *to)
{
    bool words_only = false;

    fb_buffer_add_text(to, "flyball ");
    fb_buffer_add_text(to, command->name);
    for (int i = 1; i < argc; i++) {
        bool is_option = argv[i][0] == '-' && argv[i][1] != '\0' && !words_only;
        struct option_word w = {0};

        if (is_option)
            w = take_apart(command->options, argv[i]);
        words_only = words_only || strcmp(argv[i], "--") == 0;
        if (w.row && w.row->is_once)
            continue;
        add_both(to, argv[i], is_option ? w.size : 0, w.row,
                 w.has_value || !is_option ? argv[i] + w.size : NULL);
        if (w.row && w.row->kind != KIND_FLAG && !w.has_value && i + 1 < argc)
            add_both(to, "", 0, w.row, argv[++i]);
    }
}
