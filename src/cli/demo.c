/* SPDX-License-Identifier: MIT */
/* demo.c - `flyball demo`: an API with a secret limit, and a client that was told nothing. */
#include "cli/demo.h"

#include <errno.h>
#include <fts.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/options.h"
#include "daemon/daemon.h"
#include "fetch/fetch.h"
#include "fetch/paths.h"
#include "store/runs.h"

#define NAME      "demo"
#define FDS_LEFT  32   /* for the daemon, its batch and a few connections */
#define SEED_WIDE 9000 /* seeds that nobody chose are short, so that they can be repeated */

struct demo_line {
    const char *dialect;
    int64_t seed;     /* -1: any */
    int64_t requests; /* 0: a minute's worth */
    bool compare;
};

struct demo_place {
    const char *folder; /* goes in the end */
    const char *users;  /* where the record of the batch stays; "": nowhere */
};

#define OPTION_TARGET struct demo_line

static const struct option_row ROWS[] = {
    {"--seed", OPTION_INT(seed, "N", 0, 9e15),
     .about = "draw the limit from this number; not said: any, which is shown"},
    {"--requests", OPTION_INT(requests, "N", 1, 100000),
     .about = "so many requests; not said: about a minute's worth"},
    {"--compare", OPTION_FLAG(compare),
     .about = "beside it the same job with a limiter of the usual kind, and with none"},
    {"--dialect", OPTION_TEXT(dialect, "NAME"), .standard = "retry-after",
     .choices = fb_dialect_names, .about = "what the API tells of its limit"},
    {0},
};

/* --------------------------------------------------------------------------------- its folder */

/*
 * A folder for journal and results that goes in the end, in that of the user, whose name is kept
 * ("": there is none); everything of the user's stays away.
 */
static int make_folder(struct buffer *path, struct buffer *users, struct fly_error *err)
{
    int error = fb_state_folder(users, err);

    if (error == 0 && fb_buffer_text(users))
        error = fb_state_folder_make(users->bytes, err);
    if (error == -ENOENT) {
        fb_buffer_clear(users);
        error = 0;
    }
    fb_buffer_add_text(path, users->size > 0 ? fb_buffer_text(users) : "/tmp");
    fb_buffer_add_text(path, "/demo-XXXXXX");
    if (error == 0 && !(fb_buffer_text(path) && mkdtemp(path->bytes))) {
        error = -errno;
        (void)snprintf(err->text, sizeof err->text, "cannot make %.180s: %s",
                       path->bytes ? path->bytes : "a folder", strerror(errno));
    }
    return error;
}

static void remove_folder(char *path)
{
    FTS *tree = fts_open((char *const[]){path, NULL}, FTS_PHYSICAL | FTS_NOCHDIR, NULL);

    for (const FTSENT *f = tree ? fts_read(tree) : NULL; f; f = fts_read(tree)) {
        if (f->fts_info != FTS_D)
            (void)remove(f->fts_path);
    }
    if (tree)
        (void)fts_close(tree);
}

/* "1.720" is the 720th of the one line that there is: nobody has seen that line. */
static void name_item(char *id)
{
    const char *dot = strchr(id, '.');

    if (dot)
        memmove(id, dot + 1, strlen(dot + 1) + 1);
}

/* The record of the batch, for `flyball why last`: without the files and the API, which go. */
static bool keep_record(const char *users)
{
    struct buffer from = BUFFER_INIT;
    struct runs runs = {0};
    struct run *run = NULL;
    bool is_kept = false;
    struct fly_error err;

    if (users[0] && fb_state_folder(&from, &err) == 0 && fb_buffer_text(&from) &&
        fb_runs_read(from.bytes, &runs) == 0 && runs.count > 0 &&
        fb_run_open(users, NAME, &run) == 0) {
        struct view_batch *b = runs.batch[0];

        fb_view_put(b->name, sizeof b->name, NAME);
        fb_view_put(b->list, sizeof b->list, "flyball " NAME);
        fb_view_put(b->output, sizeof b->output, "none is kept");
        b->journal[0] = '\0';
        b->running = 0;
        name_item(b->held.refused_item);
        b->key_count = 0;
        memset(b->key, 0, sizeof b->key);
        is_kept = fb_run_write(run, b);
    }
    fb_run_close(run);
    fb_runs_free(&runs);
    fb_buffer_fini(&from);
    return is_kept;
}

/* ---------------------------------------------------------------------------------- the reveal */

/* With the seed it is the same limit again. */
static void tell_next(struct demo_show *s, const struct demo_line *line, bool is_kept)
{
    long long seed = line->seed;

    if (!line->compare)
        fb_demo_say(s, -1, "Next:  flyball demo --seed %lld --compare   beside a naive client",
                    seed);
    fb_demo_say(s, -1, "%s  flyball demo --seed %lld --dialect github|openai|ietf|none",
                line->compare ? "Next:" : "     ", seed);
    fb_demo_say(s, -1, "       %sflyball fetch your-urls.txt",
                is_kept ? "flyball why last   " : "");
}

/* One client of a comparison. */
static void tell_client(struct demo_show *s, const char *name, const struct demo_rival *r,
                        int64_t requests)
{
    fb_demo_say(s, -1, "%-11s %5lld done in %4.1f s,%6lld refused,%5lld lost,%5lld to do", name,
                (long long)r->done, (double)r->spent_ns / 1e9, (long long)r->stats.refused,
                (long long)r->lost, (long long)(requests - r->done - r->lost));
}

static void tell_rivals(struct demo_show *s, int64_t requests, const struct mock_stats *own,
                        const struct demo_rival *r)
{
    struct demo_rival flyball = {.done = s->last.done - s->last.failed - s->last.deferred,
                                 .lost = s->last.failed,
                                 .spent_ns = s->last.spent_ns,
                                 .stats = *own};

    fb_demo_say(s, -1, "Side by side, each against an API of its own with that limit:");
    tell_client(s, "flyball", &flyball, requests);
    for (int i = 0; i < DEMO_RIVALS; i++)
        tell_client(s, r[i].name, &r[i], requests);
    fb_demo_say(s, -1,
                "(The old limiter was told the limit. Without a governor three refusals are "
                "the end.)");
}

static void tell_secret(struct demo_show *s, const struct secret *secret, int64_t requests,
                        bool is_complete)
{
    double spent_s = (double)s->last.spent_ns / 1e9;
    double needed_s = fb_secret_needed_s(secret, requests);

    fb_demo_say(s, -1, "The secret was %.1f/s, burst %lld.", secret->rate,
                (long long)secret->burst);
    if (is_complete && needed_s > 0.0 && spent_s > 0.0)
        fb_demo_say(s, -1,
                    "A client that knew it needs %.1f s: flyball used %.0f %% of what was there.",
                    needed_s, 100.0 * (needed_s < spent_s ? needed_s / spent_s : 1.0));
}

/* By what the API counted, which nobody here could have embellished. */
static void reveal(struct demo_show *s, const struct secret *secret, int64_t requests,
                   const struct mock_stats *stats)
{
    int64_t done = s->last.done - s->last.failed - s->last.deferred;
    int64_t lost = requests - done;
    char losses[32] = "none lost";

    if (lost > 0)
        (void)snprintf(losses, sizeof losses, "%lld not done", (long long)lost);
    fb_demo_say(s, s->last.spent_ns, "%lld of %lld done in %.1f s, %s", (long long)done,
                (long long)requests, (double)s->last.spent_ns / 1e9, losses);
    fb_demo_say(
        s, -1, "The API counted %lld arrivals: %lld accepted, %lld refused (%.1f per 1000).",
        (long long)stats->arrivals, (long long)stats->accepted, (long long)stats->refused,
        stats->arrivals > 0 ? 1000.0 * (double)stats->refused / (double)stats->arrivals : 0.0);
    tell_secret(s, secret, requests, lost == 0);
}

/* ------------------------------------------------------------------------------------ the demo */

static int complain(const char *text)
{
    fprintf(stderr, "flyball " NAME ": %s\n", text);
    return EXIT_FAILED;
}

/* Everything that is going on. */
struct race {
    const struct demo_place *place;
    const struct demo_line *line;
    struct demo_show *show;
    struct secret secret;
    int64_t requests;
    struct demo_api api;
    struct demo_rival rivals[DEMO_RIVALS];
    struct demo_keys keys;
    bool is_over; /* whoever took part was stopped, */
    bool is_told; /* and what came of it was told */
};

static void introduce(void *to, uv_loop_t *loop, const char *where)
{
    struct race *r = to;
    struct demo_show *s = r->show;
    long long seed = r->line->seed;
    bool has_keys = fb_demo_keys_begin(&r->keys, s, loop, where);

    fb_demo_say(s, 0, "flyball demo: an API with a secret limit, a client that was told nothing");
    fb_demo_say(s, 0, "API        http://127.0.0.1:%d, limit drawn at random (see the end)",
                r->api.port);
    fb_demo_say(s, 0, "dashboard  http://%s (open it now%s)", where, has_keys ? "; press b" : "");
    fb_demo_say(s, 0, "job        %lld requests, 40 workers, no configuration",
                (long long)r->requests);
    fb_demo_say(s, 0, "seed       %lld (--seed %lld draws the same limit again)", seed, seed);
}

static bool stop_all(struct race *r, struct mock_stats *ret_stats)
{
    r->is_over = true;
    if (r->line->compare)
        fb_demo_rivals_stop(r->rivals);
    return fb_demo_api_stop(&r->api, ret_stats);
}

/* The batch is over. Where somebody looks the dashboard stays, with all of it. */
static bool conclude(void *to, int code)
{
    struct race *r = to;
    struct mock_stats stats = {0};

    r->is_told = stop_all(r, &stats);
    if (!r->is_told)
        return false;
    reveal(r->show, &r->secret, r->requests, &stats);
    if (r->line->compare)
        tell_rivals(r->show, r->requests, &stats, r->rivals);
    tell_next(r->show, r->line, keep_record(r->place->users));
    bool stays = r->show->is_live && code != FETCH_INTERRUPTED;
    if (stays)
        fb_demo_say(r->show, -1, "Dashboard stays up; Ctrl-C ends.");
    return stays;
}

/*
 * A daemon of which only the public door is open, and a batch in it: what runs is what
 * `flyball fetch --submit` would run, and the dashboard is that of `flyball serve`.
 */
static int run_daemon(const struct fetch_options *batch, struct race *r)
{
    static const char *const FLAGS[] = {
        "listeners.public.listen=127.0.0.1:0",
        "listeners.internal.listen=off",
        "listeners.admin.socket=off",
        "ledger.shared=false", /* nobody else knows this API */
        "log.level=error",
        NULL,
    };
    static const char *const NOTHING[] = {NULL};
    struct daemon_guest guest = {
        .name = NAME, .batch = batch, .on_ready = introduce, .on_end = conclude, .to = r};
    struct daemon_options o = {
        .environment = NOTHING, .flags = FLAGS, .quiet = true, .no_file = true, .guest = &guest};

    return fb_daemon_run(&o);
}

static int run_batch(struct race *r)
{
    char url[96];
    char output[4200];
    const char *urls[] = {url};
    struct fetch_options o;

    (void)snprintf(url, sizeof url, "http://127.0.0.1:%d/items/{1..%lld}", r->api.port,
                   (long long)r->requests);
    (void)snprintf(output, sizeof output, "%s/results.jsonl", r->place->folder);
    fb_fetch_options_init(&o);
    o.urls = urls;
    o.url_count = 1;
    o.output = output;
    o.no_bodies = true;
    o.on_progress = fb_demo_on_progress;
    o.to = r->show;
    return run_daemon(&o, r);
}

/* With fewer descriptors it would wait for an API that it cannot reach, as if that were down. */
static int see_descriptors(struct fly_error *err)
{
    struct rlimit most = {0};
    int fd[FDS_LEFT];
    int count = 0;

    while (count < FDS_LEFT && (fd[count] = dup(STDERR_FILENO)) >= 0)
        count++;
    int error = count < FDS_LEFT ? -errno : 0;
    for (int i = 0; i < count; i++)
        (void)close(fd[i]);
    if (error == -EMFILE && getrlimit(RLIMIT_NOFILE, &most) == 0)
        (void)snprintf(err->text, sizeof err->text,
                       "too few file descriptors: 'ulimit -n' allows %lld, and it needs %lld",
                       (long long)most.rlim_cur, (long long)most.rlim_cur + FDS_LEFT - count);
    else if (error < 0)
        (void)snprintf(err->text, sizeof err->text, "%s", strerror(-error));
    return error;
}

/* The race itself. 0 or more: the exit code; or a negative errno with a sentence. */
static int race(const struct demo_place *place, const struct demo_line *line,
                struct demo_show *show, struct fly_error *err)
{
    const struct dialect *dialect = fb_dialect_find(line->dialect);
    uint64_t seed = (uint64_t)line->seed;
    struct race r = {.place = place, .line = line, .show = show, .secret = fb_secret_draw(seed)};
    struct mock_stats nothing;

    r.requests = line->requests > 0 ? line->requests : r.secret.requests;
    int error = fb_demo_api_start(&r.api, r.secret.text, dialect, seed, err);
    if (error == 0 && line->compare)
        error = fb_demo_rivals_start(r.rivals, &r.secret, dialect, r.requests, seed, err);
    if (error == 0)
        error = see_descriptors(err);
    if (error < 0) {
        (void)stop_all(&r, &nothing);
        return error;
    }
    int code = run_batch(&r);
    fb_demo_keys_end(&r.keys);
    (void)signal(SIGINT, SIG_IGN); /* what follows is short, and leaves nothing behind */
    (void)signal(SIGTERM, SIG_IGN);
    if (!r.is_over) { /* the daemon did not start, and has said why */
        (void)stop_all(&r, &nothing);
        return code;
    }
    if (r.is_told)
        return code;
    (void)snprintf(err->text, sizeof err->text, "the API ended before its time");
    return -EIO;
}

static int run_in(const struct demo_place *place, const struct demo_line *line)
{
    struct fly_error err = {""};
    struct demo_show show;

    fb_demo_show_begin(&show);
    int code = race(place, line, &show, &err);
    return code < 0 ? complain(err.text) : code;
}

static int64_t any_seed(void)
{
    uint32_t chance = 0;

    if (getrandom(&chance, sizeof chance, 0) < 0)
        chance = (uint32_t)getpid();
    return 1000 + (int64_t)(chance % SEED_WIDE);
}

static int demo_run(int argc, char **argv)
{
    struct demo_line line = {.seed = -1};
    struct buffer folder = BUFFER_INIT, users = BUFFER_INIT;
    struct fly_error err = {""};

    if (fb_options_read(&fb_command_demo, argc, argv, &line) < 0)
        return EXIT_USAGE;
    if (line.seed < 0)
        line.seed = any_seed();
    (void)signal(SIGINT, SIG_IGN); /* until the batch listens to it */
    (void)signal(SIGTERM, SIG_IGN);
    int code = EXIT_FAILED;
    if (make_folder(&folder, &users, &err) < 0) {
        (void)complain(err.text);
    } else {
        /* Nothing that was learned before counts, and nothing learned here stays. */
        (void)setenv("XDG_STATE_HOME", folder.bytes, 1);
        code = run_in(&(struct demo_place){folder.bytes, users.size ? users.bytes : ""}, &line);
        remove_folder(folder.bytes);
    }
    fb_buffer_fini(&folder);
    fb_buffer_fini(&users);
    return code;
}

const struct command fb_command_demo = {
    .name = NAME,
    .about = "an API with a secret limit, and a client that was told nothing",
    .usage = "[OPTION...]",
    .intro = "Draws a limit at random, starts an API on this machine that enforces it, makes a "
             "batch of requests without knowing it, and tells at the end what it was. Takes a "
             "minute or so. A dashboard shows it meanwhile; on a terminal b opens it in a browser, "
             "and it stays up.",
    .options = ROWS,
    .exits = "as 'flyball fetch'; 0 all done, 130 interrupted",
    .examples = "flyball demo\n"
                "flyball demo --seed 4711\n"
                "flyball demo --compare\n",
    .run = demo_run,
};
