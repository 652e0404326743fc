/* SPDX-License-Identifier: MIT */
/* fetch_line.c - the options of `flyball fetch`: one table, from which the help is made, too. */
#include <stddef.h>
#include <string.h>

#include "cli/fetch.h"

#define NAME      "fetch"
#define ROWS_MAX  64
#define HELP_WIDE 94

/* Group, name, kind, field, range, what its value is called, what is expected. */
#define FETCH_OPTIONS(X)                                                                         \
    X("", "", MANY, words, 0, 0, "", "at most 256 words")                                        \
    X("list", "-i,--input", TEXT, list, 0, 0, "LIST", "the name of a file, or -")                \
    X("list", "--paginate", FLAG, paginate, 0, 0, "", "")                                        \
    X("list", "--cursor", TEXT, cursor, 0, 0, "POINTER[=NAME]", "a JSON pointer such as /next")  \
    X("list", "--pages", INT, pages, 1, 1e9, "N", "a whole number from 1 on")                    \
    X("list", "--keep-going", FLAG, keep_going, 0, 0, "", "")                                    \
    X("output", "--jsonl", TEXT, jsonl, 0, 0, "FILE", "the name of a file")                      \
    X("output", "-o,--output", TEXT, folder, 0, 0, "DIR", "the name of a folder")                \
    X("output", "--no-bodies", FLAG, no_bodies, 0, 0, "", "")                                    \
    X("output", "-q,--quiet", FLAG, quiet, 0, 0, "", "")                                         \
    X("output", "--progress", TEXT, progress, 0, 0, "auto|bar|plain|json|none",                  \
      "auto, bar, plain, json or none")                                                          \
    X("output", "--color", TEXT, color, 0, 0, "auto|always|never", "auto, always or never")      \
    X("again", "--journal", TEXT, journal, 0, 0, "FILE", "the name of a file")                   \
    X("again", "--fresh", FLAG, fresh, 0, 0, "", "")                                             \
    X("again", "--retry-failed", FLAG, retry_failed, 0, 0, "", "")                               \
    X("again", "--deferred", FLAG, deferred, 0, 0, "", "")                                       \
    X("again", "--conditional", FLAG, conditional, 0, 0, "", "")                                 \
    X("pace", "--plan", FLAG, plan, 0, 0, "", "")                                                \
    X("pace", "--robots", FLAG, robots, 0, 0, "", "")                                            \
    X("pace", "--limit", MANY, limits, 0, 0, "[HOST=]SPEC", "a limit text such as 'rate=10/s'")  \
    X("pace", "--rate", TEXT, rate, 0, 0, "R", "a rate such as 10/s")                            \
    X("pace", "--concurrency", INT, concurrency, 1, 10000, "N", "a number from 1 to 10000")      \
    X("pace", "--provider", TEXT, provider, 0, 0, "NAME", "the name of a provider")              \
    X("time", "--connect-timeout", SPAN, connect_ns, 0, 0, "T", "a time such as 10s")            \
    X("time", "--read-timeout", SPAN, read_ns, 0, 0, "T", "a time such as 30s")                  \
    X("time", "--total-timeout", SPAN, total_ns, 0, 0, "T", "a time such as 2m")                 \
    X("time", "--max-wait", SPAN, max_wait_ns, 0, 0, "T", "a time such as 10m")                  \
    X("fail", "--retries", INT, retries, 0, 1000, "N", "a number from 0 to 1000")                \
    X("fail", "--recovery", MANY, recovery, 0, 0, "RULE", "a rule such as 'download/5xx=defer'") \
    X("fail", "--mode", TEXT, mode, 0, 0, "strict|graceful|offline",                             \
      "strict, graceful or offline")                                                             \
    X("HTTP", "-H,--header", MANY, headers, 0, 0, "'N: V'", "a header such as 'Accept: */*'")    \
    X("HTTP", "--request-id", FLAG, request_id, 0, 0, "", "")                                    \
    X("HTTP", "-A,--user-agent", TEXT, user_agent, 0, 0, "TEXT", "a text")                       \
    X("HTTP", "--compressed", FLAG, compressed, 0, 0, "", "")                                    \
    X("HTTP", "--http1.1", FLAG, http1, 0, 0, "", "")                                            \
    X("HTTP", "--max-redirs", INT, max_redirs, 0, 1000, "N", "a number from 0 to 1000")          \
    X("HTTP", "--max-filesize", INT, max_filesize, 1, 1e15, "BYTES", "a number of bytes")        \
    X("net", "-x,--proxy", TEXT, proxy, 0, 0, "URL", "the address of a proxy")                   \
    X("net", "--noproxy", TEXT, noproxy, 0, 0, "HOSTS", "names of hosts")                        \
    X("net", "--proxy-user", TEXT, proxy_user, 0, 0, "U:P", "user:password")                     \
    X("net", "--interface", TEXT, interface, 0, 0, "NAME", "the name of an interface")           \
    X("net", "--resolve", MANY, resolve, 0, 0, "HOST:PORT:ADDR", "host:port:address")            \
    X("TLS", "--cacert", TEXT, cacert, 0, 0, "FILE", "the name of a file")                       \
    X("TLS", "--capath", TEXT, capath, 0, 0, "DIR", "the name of a folder")                      \
    X("TLS", "-E,--cert", TEXT, cert, 0, 0, "FILE", "the name of a file")                        \
    X("TLS", "--key", TEXT, key, 0, 0, "FILE", "the name of a file")                             \
    X("TLS", "-k,--insecure", FLAG, insecure, 0, 0, "", "")

#define X(group, name, kind, field, low, high, value, expects) \
    {name, OPTION_##kind, offsetof(struct fetch_line, field), low, high, expects},
static const struct option_row ROWS[] = {FETCH_OPTIONS(X){0}};
#undef X

static const struct {
    const char *group;
    const char *name;
    const char *value;
} HELP[] = {
#define X(group, name, kind, field, low, high, value, expects) {group, name, value},
    FETCH_OPTIONS(X)
#undef X
};

void fb_fetch_line_init(struct fetch_line *l)
{
    memset(l, 0, sizeof *l);
    l->retries = -1;
    l->max_redirs = -1;
    l->max_wait_ns = -1;
}

int fb_fetch_line_read(struct fetch_line *l, int argc, char **argv)
{
    return fb_options_read(ROWS, NAME, argc, argv, l);
}

/* "-o, --output DIR" */
static size_t describe(char *to, size_t size, size_t row)
{
    const char *comma = strchr(HELP[row].name, ',');
    int length = snprintf(to, size, "%.*s%s%s%s%s", comma ? (int)(comma - HELP[row].name) : 0,
                          HELP[row].name, comma ? ", " : "", comma ? comma + 1 : HELP[row].name,
                          HELP[row].value[0] ? " " : "", HELP[row].value);

    return length > 0 ? (size_t)length : 0;
}

/* All options, a group to a line or two. */
static void print_options(FILE *out)
{
    const char *group = "";
    size_t column = 0;

    for (size_t i = 0; i < sizeof HELP / sizeof HELP[0]; i++) {
        char text[96];
        size_t size = describe(text, sizeof text, i);

        if (!HELP[i].name[0])
            continue;
        if (strcmp(group, HELP[i].group) != 0) {
            column = 8;
            fprintf(out, "%s  %-6s", *group ? "\n" : "", HELP[i].group);
        } else if (column + 2 + size > HELP_WIDE) {
            column = 8;
            fputs("\n        ", out);
        }
        group = HELP[i].group;
        fprintf(out, "  %s", text);
        column += 2 + size;
    }
    fputc('\n', out);
}

void fb_fetch_help(FILE *out)
{
    fputs("flyball fetch - make every request of a list once, as fast as the API allows\n"
          "\n"
          "  flyball fetch [OPTION...] LIST | URL...\n"
          "\n"
          "LIST: a URL a line ({1..200}: each number), or JSON lines; -: standard input. Results "
          "are\n"
          "JSON lines on standard output. Interrupted, the same command goes on where it was.\n",
          out);
    print_options(out);
    fputs("Exit: 0 all done, 1 cannot write, 2 usage, 3 failed, 4 deferred, 5 refused, 130 "
          "interrupted\n"
          "\n"
          "Examples:\n"
          "  flyball fetch urls.txt --jsonl out.jsonl\n"
          "  flyball fetch 'https://api.example.com/items/{1..200}' -o items --rate 2/s\n"
          "  flyball fetch tasks.jsonl --jsonl out.jsonl --retry-failed\n",
          out);
}
