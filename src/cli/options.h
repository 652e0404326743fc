/* SPDX-License-Identifier: MIT */
/*
 * options.h - options of a subcommand as a table: read, checked and explained from one place.
 *
 * "--name value", "--name=value", flags, and "-n value" where a row has a short name as well. "--"
 * ends the options. Nothing is guessed: an unknown option is an error
 * that suggests the one meant, and a bad value names the option and what was expected.
 */
#ifndef FLYBALL_CLI_OPTIONS_H
#define FLYBALL_CLI_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

enum option_kind {
    OPTION_FLAG, /* bool */
    OPTION_TEXT, /* const char * */
    OPTION_INT,  /* int64_t within [low, high] */
    OPTION_REAL, /* double within [low, high] */
    OPTION_SPAN, /* int64_t of nanoseconds: "500ms", "10s", "2m", or a bare number of seconds */
    OPTION_MANY  /* struct option_words: may be given again and again */
};

#define OPTION_WORDS_MAX 256

struct option_words {
    const char *word[OPTION_WORDS_MAX];
    size_t count;
};

struct option_row {
    const char *name; /* "--seeds", or "-q,--quiet"; "": words that are no options */
    enum option_kind kind;
    size_t offset; /* of the field in the target */
    double low;
    double high;
    const char *expects; /* "a whole number from 1 to 10000" */
};

/*
 * Read argv[1..] into `target` by the rows (name NULL behind the last). 0; or -EINVAL after a
 * sentence on stderr that begins with "flyball <command>:".
 */
int fb_options_read(const struct option_row *rows, const char *command, int argc, char **argv,
                    void *target) __attribute__((warn_unused_result));

#endif
