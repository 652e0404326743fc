/* SPDX-License-Identifier: MIT */
/* simulate_choose.c - from the words of the command line to the cells of a contest. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <flyball/flyball.h>

#include "cli/command.h"
#include "cli/simulate.h"
#include "config/suggest.h"

#define SAYS "flyball simulate: "

/* Without a word: enough to see the point in a second. */
static const char FIRST_LOOK[] = "show_bucket,show_window,show_steps,show_box,show_headers";
static const char FIRST_LOOK_BY[] = "old,aimd,step,probe,oracle";
static const char PICTURE[] = "show_steps";
static const char PICTURE_BY[] = "old,aimd,aimd-told,probe";

enum { MANY_WORKERS = 40 };

/* What is to be run while the scenarios are read. */
struct choice {
    struct contest *contest;
    int32_t workers; /* 0: what the family says; -1: 1 and 40 */
};

/* Call `add` for every name of a comma-separated list; stops at the first that fails. */
static int for_each_name(const char *list, void *context, int (*add)(void *, const char *))
{
    for (;;) {
        char name[64];
        size_t size = strcspn(list, ",");
        size_t kept = size < sizeof name ? size : sizeof name - 1;

        memcpy(name, list, kept);
        name[kept] = '\0';

        int error = add(context, name);
        if (error < 0 || list[size] == '\0')
            return error;
        list += size + 1;
    }
}

/* What is wrong with a name, and the one that was meant. */
static int no_such(const char *what, const char *name, const char *const *names)
{
    const char *near = fb_suggest(name, names);

    fprintf(stderr, SAYS "there is no %s '%s'", what, name);
    if (near)
        fprintf(stderr, ", did you mean '%s'?\n", near);
    else
        fputs("; --list has them all\n", stderr);
    return -EINVAL;
}

static int add_governor(void *context, const char *name)
{
    struct contest *c = context;
    const struct governor_kind *kind = fb_governor_find(name);
    const char *names[FB_GOVERNORS_MAX + 1] = {0};

    if (!kind) {
        for (int i = 0; fb_governor_at(i) && i < FB_GOVERNORS_MAX; i++)
            names[i] = fb_governor_at(i)->name;
        return no_such("controller", name, names);
    }
    if (c->governor_count == FB_GOVERNORS_MAX) {
        fprintf(stderr, SAYS "--controllers: at most %d at once\n", FB_GOVERNORS_MAX);
        return -EINVAL;
    }
    c->governor[c->governor_count++] = kind;
    return 0;
}

static int add_cell(struct contest *c, const struct scenario_family *f, const struct scenario *s,
                    int32_t workers)
{
    if (c->cell_count == FB_CELLS_MAX) {
        fprintf(stderr, SAYS "--scenario: at most %d at once\n", FB_CELLS_MAX);
        return -EINVAL;
    }
    c->cell[c->cell_count++] = (struct contest_cell){f, s, workers};
    return 0;
}

static int add_scenario(struct choice *choice, const struct scenario_family *f,
                        const struct scenario *s)
{
    bool both = choice->workers < 0 || (choice->workers == 0 && f->one_worker_too);

    if (both && add_cell(choice->contest, f, s, 1) < 0)
        return -EINVAL;
    return add_cell(choice->contest, f, s, choice->workers > 0 ? choice->workers : MANY_WORKERS);
}

static int add_family(struct choice *choice, const struct scenario_family *f)
{
    for (int32_t i = 0; i < f->count; i++) {
        if (add_scenario(choice, f, &f->scenarios[i]) < 0)
            return -EINVAL;
    }
    return 0;
}

static int add_named_scenario(void *context, const char *name)
{
    const struct scenario_family *family;
    const struct scenario *s = fb_scenario_find(name, &family);
    const char *names[FB_CELLS_MAX + 1] = {0};
    int count = 0;

    if (s)
        return add_scenario(context, family, s);
    for (int f = 0; (family = fb_scenario_family_at(f)); f++) {
        for (int32_t i = 0; i < family->count && count < FB_CELLS_MAX; i++)
            names[count++] = family->scenarios[i].name;
    }
    return no_such("scenario", name, names);
}

static int read_workers(const char *text, int32_t *ret_workers)
{
    if (!text || strcmp(text, "both") == 0) {
        *ret_workers = text ? -1 : 0;
        return 0;
    }

    char *end;
    long n = strtol(text, &end, 10);
    if (end == text || *end || n < 1 || n > 1000) {
        fprintf(stderr, SAYS "--workers: '%s' is not a number from 1 to 1000, or both\n", text);
        return -EINVAL;
    }
    *ret_workers = (int32_t)n;
    return 0;
}

static int add_families(struct choice *choice, const char *word)
{
    static const struct scenario_family *const SCORED[] = {&fb_scenarios_first,
                                                           &fb_scenarios_second};
    bool all = strcmp(word, "all") == 0;

    for (int i = 0; i < 2; i++) {
        if (!all && strcmp(word, SCORED[i]->name) != 0)
            continue;
        if (add_family(choice, SCORED[i]) < 0)
            return -EINVAL;
    }
    return 0;
}

static int choose_cells(const struct simulate *o, struct contest *c)
{
    struct choice choice = {.contest = c};

    if (o->scenarios && o->family) {
        fputs(SAYS "--scenario and --family exclude each other\n", stderr);
        return -EINVAL;
    }
    if (read_workers(o->workers, &choice.workers) < 0)
        return -EINVAL;
    if (o->family)
        return add_families(&choice, o->family);

    const char *unsaid = o->plot ? PICTURE : FIRST_LOOK;
    return for_each_name(o->scenarios ? o->scenarios : unsaid, &choice, add_named_scenario);
}

/* A wrong limit text is the user's mistake and said before anything runs. */
static int check_spec(const char *spec)
{
    struct fly_error err = {{0}};
    struct fly_limiter *l = fly_limiter_new(spec, 0, 1, &err);

    fly_limiter_free(l);
    if (!l)
        fprintf(stderr, SAYS "--spec: %s\n", err.text);
    return l ? 0 : -EINVAL;
}

static int32_t processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n < 1 ? 1 : n > 64 ? 64 : (int32_t)n;
}

int fb_simulate_choose(const struct simulate *o, struct contest *c)
{
    const char *unsaid = o->trace ? "probe" : o->plot ? PICTURE_BY : FIRST_LOOK_BY;

    c->seed = (uint64_t)o->seed;
    c->seeds = (int32_t)o->seeds;
    c->jobs = o->jobs > 0 ? (int32_t)o->jobs : processors();
    c->hours = o->hours;
    c->spec = o->spec;
    if (choose_cells(o, c) < 0 || check_spec(o->spec) < 0)
        return -EINVAL;
    return for_each_name(o->controllers ? o->controllers : unsaid, c, add_governor);
}
