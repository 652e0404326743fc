/* SPDX-License-Identifier: MIT */
/* fetch.c - `flyball fetch`: from the command line to a batch. */
#include "cli/fetch.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <flyball/flyball.h>

#include "cli/command.h"
#include "cli/configured.h"
#include "cli/help.h"
#include "util/alloc.h"
#include "util/buffer.h"
#include "view/report.h"

#define NAME "fetch"

/* What the options of a batch point to. */
struct fetch_parts {
    struct fetch_options options;
    struct engine_header header[OPTION_WORDS_MAX];
    struct fetch_limit limit[OPTION_WORDS_MAX];
    const char *recovery[OPTION_WORDS_MAX + 1];
    const char *resolve[OPTION_WORDS_MAX + 1];
    char *texts[3 * OPTION_WORDS_MAX];
    size_t text_count;
    struct buffer rate;
    struct buffer command;
};

static int complain(const char *what, const char *word)
{
    fprintf(stderr, "flyball " NAME ": %s: %s\n", word, what);
    return -EINVAL;
}

/* A copy of some bytes, kept until the end. */
static char *keep(struct fetch_parts *p, const char *bytes, size_t size)
{
    char *copy = fb_alloc(size + 1);

    if (copy) {
        memcpy(copy, bytes, size);
        p->texts[p->text_count++] = copy;
    }
    return copy;
}

static int read_header(struct fetch_parts *p, const char *word)
{
    size_t name = strcspn(word, ":");
    const char *value = word + name + 1;

    if (name == 0 || word[name] != ':')
        return complain("a header is written 'Name: value'", "--header");
    value += strspn(value, " \t");
    char *copy = keep(p, word, name);
    if (!copy)
        return -ENOMEM;
    p->header[p->options.header_count++] = (struct engine_header){.name = copy, .value = value};
    return 0;
}

/* "api.example.com=rate=10/s": a host has a dot or a colon in it, or is this machine. */
static bool names_host(const char *word)
{
    size_t size = strcspn(word, "= ");

    return word[size] == '=' && (memchr(word, '.', size) || memchr(word, ':', size) ||
                                 strncmp(word, "localhost=", 10) == 0);
}

static int check_spec(const char *spec, const char *option)
{
    struct fly_error err = {""};
    struct fly_limiter *l = fly_limiter_new(spec, 0, 1, &err);

    if (!l)
        return complain(err.text, option);
    fly_limiter_free(l);
    return 0;
}

static int read_limit(struct fetch_parts *p, const char *word)
{
    if (!names_host(word)) {
        p->options.limit = word;
        return check_spec(word, "--limit");
    }
    size_t size = strcspn(word, "=");
    char *host = keep(p, word, size);
    if (!host)
        return -ENOMEM;
    p->limit[p->options.limit_count++] =
        (struct fetch_limit){.host = host, .spec = word + size + 1};
    return check_spec(word + size + 1, "--limit");
}

static int read_limits(struct fetch_parts *p, const struct fetch_line *l)
{
    for (size_t i = 0; i < l->limits.count; i++) {
        int error = read_limit(p, l->limits.word[i]);
        if (error < 0)
            return error;
    }
    if (!l->rate)
        return 0;
    if (p->options.limit)
        return complain("--limit says the rate already", "--rate");
    fb_buffer_add_text(&p->rate, "rate=");
    fb_buffer_add_text(&p->rate, l->rate);
    p->options.limit = fb_buffer_text(&p->rate);
    return p->options.limit ? check_spec(p->options.limit, "--rate") : -ENOMEM;
}

/* "/meta/next=after": where the cursor is, and the parameter that takes it. */
static int read_cursor(struct fetch_parts *p, const char *word)
{
    size_t size = strcspn(word, "=");

    if (word[0] != '/')
        return complain("a JSON pointer begins with '/'", "--cursor");
    p->options.cursor = keep(p, word, size);
    p->options.cursor_name = word[size] == '=' && word[size + 1] ? word + size + 1 : NULL;
    return p->options.cursor ? 0 : -ENOMEM;
}

static bool is_url(const char *word)
{
    return strncmp(word, "http://", 7) == 0 || strncmp(word, "https://", 8) == 0;
}

/* One list, or URLs. */
static int read_words(struct fetch_parts *p, const struct fetch_line *l)
{
    struct fetch_options *o = &p->options;

    o->list = l->list;
    if (!l->list && l->words.count > 0 && is_url(l->words.word[0])) {
        o->urls = l->words.word;
        o->url_count = l->words.count;
        return 0;
    }
    if (l->words.count > (l->list ? 0 : 1))
        return complain("there is one list already", l->words.word[l->list ? 0 : 1]);
    if (!l->list && l->words.count == 1)
        o->list = l->words.word[0];
    if (!o->list && !isatty(STDIN_FILENO)) {
        o->list = "-";
        o->list_unsaid = true;
    }
    if (!o->list) {
        fb_help_command(stderr, &fb_command_fetch);
        return -EINVAL;
    }
    return 0;
}

static void read_connect(struct fetch_parts *p, const struct fetch_line *l)
{
    struct engine_connect *c = &p->options.engine.connect;

    c->user_agent = l->user_agent;
    c->proxy = l->proxy;
    c->no_proxy = l->noproxy;
    c->proxy_user = l->proxy_user;
    c->ca_file = l->cacert;
    c->ca_path = l->capath;
    c->client_cert = l->cert;
    c->client_key = l->key;
    c->interface = l->interface;
    c->insecure = l->insecure;
    c->http1_only = l->http1;
    c->decompress = l->compressed;
    memcpy(p->resolve, l->resolve.word, l->resolve.count * sizeof p->resolve[0]);
    c->resolve = l->resolve.count > 0 ? p->resolve : NULL;
}

static void read_engine(struct fetch_parts *p, const struct fetch_line *l)
{
    struct engine_options *e = &p->options.engine;

    e->mode = (enum recovery_mode)fb_recovery_mode_find(l->mode);
    e->concurrency = (int32_t)l->concurrency;
    e->connect_ns = l->connect_ns;
    e->first_byte_ns = l->read_ns > 0 ? l->read_ns : e->first_byte_ns;
    e->idle_ns = l->read_ns > 0 ? l->read_ns : e->idle_ns;
    e->total_ns = l->total_ns;
    if (l->retries >= 0) {
        e->attempts_max = (int32_t)l->retries + 1;
        e->attempts_bound_all = true;
    }
    e->hold_max_ns = l->max_wait_ns >= 0 ? (l->max_wait_ns > 0 ? l->max_wait_ns : 1) : 0;
    e->redirects_max = (int32_t)l->max_redirs;
    e->body_bytes_max = l->max_filesize;
    memcpy(p->recovery, l->recovery.word, l->recovery.count * sizeof p->recovery[0]);
    e->recovery = l->recovery.count > 0 ? p->recovery : NULL;
    read_connect(p, l);
}

static int read_all(struct fetch_parts *p, const struct fetch_line *l, int argc, char **argv)
{
    struct fetch_options *o = &p->options;
    int error = read_words(p, l);

    for (size_t i = 0; error == 0 && i < l->headers.count; i++)
        error = read_header(p, l->headers.word[i]);
    if (error == 0)
        error = read_limits(p, l);
    read_engine(p, l);
    o->progress = (enum screen_mode)fb_screen_mode_find(l->progress);
    o->color = (enum screen_color)fb_screen_color_find(l->color);
    o->header = p->header;
    o->limits = p->limit;
    o->output = l->jsonl && strcmp(l->jsonl, "-") != 0 ? l->jsonl : NULL;
    o->folder = l->folder;
    o->journal = l->journal;
    o->provider = l->provider;
    o->ledger = l->ledger;
    o->fresh = l->fresh;
    o->retry_failed = l->retry_failed;
    o->deferred = l->deferred;
    o->keep_going = l->keep_going;
    o->quiet = l->quiet;
    o->metrics_csv = l->metrics_csv;
    o->report = l->report;
    o->log = l->log;
    o->logs_logfmt = strcmp(l->log_form, "logfmt") == 0;
    if (error == 0 && l->report && !fb_view_report_is_svg(l->report) &&
        !fb_view_report_is_html(l->report))
        error = complain("a report is a file named .html or .svg", "--report");
    o->plan = l->plan;
    o->json = l->json;
    if (error == 0 && l->json && !l->plan)
        error = complain("only with --plan; results are JSON lines, and --progress=json tells how "
                         "far it is",
                         "--json");
    if (error == 0 && l->plan && (l->retry_failed || l->deferred))
        error = complain("what is to be done once more cannot be planned", "--plan");
    o->request_id = l->request_id;
    o->no_bodies = l->no_bodies;
    o->conditional = l->conditional;
    o->robots = l->robots;
    o->paginate = l->paginate;
    if (error == 0 && l->cursor)
        error = read_cursor(p, l->cursor);
    o->pages_max = l->pages;
    fb_options_show(&fb_command_fetch, argc, argv, &p->command);
    o->command = fb_buffer_text(&p->command);
    return error;
}

/* The command line is read twice: for the name of the configuration, and over what that says. */
static int run_line(struct fetch_parts *p, struct fetch_line *l, int argc, char **argv)
{
    int exit_code = EXIT_USAGE;

    if (fb_options_read(&fb_command_fetch, argc, argv, l) < 0)
        return exit_code;
    struct config *c = fb_configured(NAME, l->config, &l->set, l->quiet, &exit_code);
    if (!c)
        return exit_code;
    exit_code = EXIT_USAGE;
    fb_fetch_options_configure(&p->options, c);
    if (fb_fetch_line_read(l, c, argc, argv) == 0 && read_all(p, l, argc, argv) == 0)
        exit_code = l->submit ? fb_fetch_submit(&p->options) : fb_fetch_run(&p->options);
    fb_config_free(c);
    return exit_code;
}

static int fetch_run(int argc, char **argv)
{
    struct fetch_parts *p = fb_alloc(sizeof *p);
    struct fetch_line *l = fb_alloc(sizeof *l);
    int exit_code = EXIT_FAILED;

    if (p && l) {
        fb_fetch_options_init(&p->options);
        exit_code = run_line(p, l, argc, argv);
        for (size_t i = 0; i < p->text_count; i++)
            fb_free(p->texts[i]);
        fb_buffer_fini(&p->rate);
        fb_buffer_fini(&p->command);
    }
    fb_free(l);
    fb_free(p);
    return exit_code;
}

const struct command fb_command_fetch = {
    .name = NAME,
    .about = "make every request of a list once, as fast as the API allows",
    .usage = "[OPTION...] LIST | URL...",
    .intro = "LIST: a URL a line ({1..200}: each number), or JSON lines; -: standard input. "
             "Results are JSON lines. Interrupted, the same command goes on where it was.",
    .options = fb_fetch_options,
    .exits = "0 done, 1 cannot write, 2 usage, 3 failed, 4 deferred, 5 refused, 130 stopped",
    .examples = "flyball fetch urls.txt --jsonl out.jsonl\n"
                "flyball fetch 'https://api.example.com/items/{1..200}' -o items --rate 2/s\n"
                "flyball fetch tasks.jsonl --jsonl out.jsonl --retry-failed\n",
    .run = fetch_run,
};
