/* SPDX-License-Identifier: MIT */
/*
 * options.h - the options of a command as one table: read, checked, explained and completed from
 * it.
 *
 * The rows of a command are all there is to write: the reader, `--help`, the manual page (`make
 * manual`) and `flyball completion` are made from them. A row looks like this:
 *
 *     #define OPTION_TARGET struct mock_line
 *
 *     {"--status", OPTION_INT(status, "N", 400, 599), .standard = "429",
 *      .about = "the status of refusals"},
 *
 * "--name value", "--name=value", flags, and where a row has a letter as well "-n value", "-nvalue"
 * and several flags in one word. "--" ends the options. Nothing is guessed: an unknown option is an
 * error that suggests the one meant, and a bad value names the option and what was expected. So
 * does one that looks like an option, unless it stands in the same word: "--name=--value".
 */
#ifndef FLYBALL_CLI_OPTIONS_H
#define FLYBALL_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"

struct command;

enum option_kind {
    KIND_FLAG,   /* bool */
    KIND_TEXT,   /* const char * */
    KIND_FILE,   /* the same: the name of a file */
    KIND_FOLDER, /* the same: the name of a folder */
    KIND_INT,    /* int64_t within [low, high] */
    KIND_REAL,   /* double within [low, high] */
    KIND_SPAN,   /* int64_t of nanoseconds: "500ms", "2m", or a bare number of seconds >= low */
    KIND_BYTES,  /* int64_t: "65536", "64k", "64M", "2G" */
    KIND_MANY    /* struct option_words: may be given again and again */
};

#define OPTION_WORDS_MAX 256

struct option_words {
    const char *word[OPTION_WORDS_MAX];
    size_t count;
};

/* What of a value must not be shown again. */
enum option_hides {
    HIDES_NOTHING, /* but the user and secret parameters of a URL */
    HIDES_HEADER,  /* the value of a header, unless its name promises that it is harmless */
    HIDES_PASSWORD /* all behind the first colon */
};

struct option_row {
    const char *name;     /* "--seeds", or "-q,--quiet"; "": words that are no options */
    const char *group;    /* heads the help of this row and those below it */
    const char *value;    /* what its value is called: "FILE"; NULL: it has none, or `choices` */
    const char *about;    /* one sentence, without its capital and its full stop */
    const char *standard; /* what holds if it is not said, which the reader applies; or NULL */
    const char *expects;  /* "a rate such as 10/s"; NULL: what follows from the kind */
    /* The words that it takes, NULL behind the last; of words that are no options: the first. */
    const char *const *choices;
    bool is_open;       /* other words than `choices` are taken as well */
    bool has_providers; /* completed with the names of providers */
    bool has_keys;      /* completed with the keys of the configuration */
    bool is_once;       /* left out of the command that goes on */
    enum option_hides hides;
    enum option_kind kind;
    size_t offset; /* of the field in the target */
    double low;
    double high;
};

/* The kinds, for rows of OPTION_TARGET: the field, and what the value is called. */
#define OPTION_FIELD(of_kind, field, called) \
    .kind = (of_kind), .offset = offsetof(OPTION_TARGET, field), .value = (called)
#define OPTION_FLAG(field)           OPTION_FIELD(KIND_FLAG, field, NULL)
#define OPTION_TEXT(field, called)   OPTION_FIELD(KIND_TEXT, field, called)
#define OPTION_FILE(field, called)   OPTION_FIELD(KIND_FILE, field, called)
#define OPTION_FOLDER(field, called) OPTION_FIELD(KIND_FOLDER, field, called)
#define OPTION_SPAN(field, called)   OPTION_FIELD(KIND_SPAN, field, called)
#define OPTION_BYTES(field, called)  OPTION_FIELD(KIND_BYTES, field, called)
#define OPTION_MANY(field, called)   OPTION_FIELD(KIND_MANY, field, called)
#define OPTION_INT(field, called, from, to) \
    OPTION_FIELD(KIND_INT, field, called), .low = (from), .high = (to)
#define OPTION_REAL(field, called, from, to) \
    OPTION_FIELD(KIND_REAL, field, called), .low = (from), .high = (to)

/* One of some words, which are checked: OPTION_WORD(mode, "strict", "graceful"). */
#define OPTION_WORD(field, ...)                                            \
    OPTION_FIELD(KIND_TEXT, field, NULL), .choices = (const char *const[]) \
    {                                                                      \
        __VA_ARGS__, NULL                                                  \
    }

/* "--quiet" of "-q,--quiet". */
const char *fb_option_name(const struct option_row *row);

/* 'q' of "-q,--quiet", or 0. */
char fb_option_letter(const struct option_row *row);

/* By its name, which is the `size` bytes at `word`, or by its letter; or NULL. */
const struct option_row *fb_option_find(const struct option_row *rows, const char *word,
                                        size_t size);
const struct option_row *fb_option_find_letter(const struct option_row *rows, char letter);

/* Put a value into the row's field of `target`. False: it is not what the row expects. */
bool fb_option_store(const struct option_row *row, const char *text, void *target)
    __attribute__((warn_unused_result));

/* What the row expects of its value: "a whole number from 1 to 64". */
void fb_option_expects(const struct option_row *row, char *ret_text, size_t size);

/* What is not said: every `standard` of the rows. */
void fb_options_standard(const struct option_row *rows, void *target);

/* The same as below without what is not said: only what argv says changes `target`. */
int fb_options_read_over(const struct command *command, int argc, char **argv, void *target)
    __attribute__((warn_unused_result));

/*
 * What is not said, then argv[1..], into `target` by the command's rows. 0; or -EINVAL after a
 * sentence on stderr that begins with "flyball <command>:".
 */
int fb_options_read(const struct command *command, int argc, char **argv, void *target)
    __attribute__((warn_unused_result));

/*
 * The command line again, as a shell takes it: for the command that goes on, without what is secret
 * and without rows that are for once. "..." stands for what is left out.
 */
void fb_options_show(const struct command *command, int argc, char **argv, struct buffer *to);

#endif
