/* SPDX-License-Identifier: MIT */
/*
 * contest.c - threads take (cell, seed) pairs off a counter; sums are made in order afterwards.
 */
#include "sim/contest.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "sim/run.h"

#define THREADS_MAX 64

struct work_list {
    const struct contest *contest;
    struct score *score; /* [pair * governor_count + governor] */
    atomic_int next_pair;
    atomic_int error;
};

/* The tallies of one thread: too big for its stack to hold comfortably. */
struct bench {
    struct setup setup;
    struct tally oracle;
    struct tally tally;
};

static int run_one(const struct contest *c, const struct bench *b,
                   const struct governor_kind *governor, struct tally *ret_tally)
{
    struct run_options options = {.governor = governor, .spec = c->spec};

    return fb_run(&b->setup, &options, ret_tally);
}

/* The oracle first: every other run is judged by it. */
static int run_pair(const struct contest *c, struct bench *b, int32_t pair, struct score *score)
{
    const struct contest_cell *cell = &c->cell[pair / c->seeds];
    uint64_t seed = c->seed + (uint64_t)(pair % c->seeds);

    fb_scenario_draw(cell->scenario, seed, cell->workers, c->hours, &b->setup);

    int error = run_one(c, b, &fb_governor_oracle, &b->oracle);
    for (int32_t i = 0; i < c->governor_count && error == 0; i++) {
        const struct tally *t = &b->tally;

        if (c->governor[i] == &fb_governor_oracle)
            t = &b->oracle;
        else
            error = run_one(c, b, c->governor[i], &b->tally);
        if (error == 0)
            score[i] = fb_score_run(&b->setup, t, &b->oracle);
    }
    return error;
}

static void *run_pairs(void *list)
{
    struct work_list *l = list;
    const struct contest *c = l->contest;
    struct bench *b = malloc(sizeof *b);
    int error = b ? 0 : -ENOMEM;

    while (error == 0 && atomic_load(&l->error) == 0) {
        int32_t pair = atomic_fetch_add(&l->next_pair, 1);
        if (pair >= c->cell_count * c->seeds)
            break;
        error = run_pair(c, b, pair, l->score + (size_t)pair * (size_t)c->governor_count);
    }
    if (error < 0)
        atomic_store(&l->error, error);
    free(b);
    return NULL;
}

static void run_in_threads(struct work_list *l, int32_t jobs)
{
    pthread_t thread[THREADS_MAX];
    int32_t started = 0;

    for (; started < jobs - 1 && started < THREADS_MAX; started++) {
        if (pthread_create(&thread[started], NULL, run_pairs, l) != 0)
            break; /* with fewer threads it takes longer, no more */
    }
    run_pairs(l);
    for (int32_t i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
}

/* In the order of cells, seeds and governors, whoever ran them when. */
static void sum_up(struct contest *c, const struct score *score)
{
    for (int32_t cell = 0; cell < c->cell_count; cell++) {
        for (int32_t g = 0; g < c->governor_count; g++) {
            struct cell_score *sum = &c->result[cell * c->governor_count + g];

            for (int32_t i = 0; i < c->seeds; i++) {
                int32_t pair = cell * c->seeds + i;

                fb_cell_add(sum, &score[pair * c->governor_count + g], c->seed + (uint64_t)i);
            }
            fb_cell_finish(sum);
        }
    }
}

int fb_contest_run(struct contest *c)
{
    size_t rows = (size_t)c->cell_count * (size_t)c->governor_count;
    struct work_list l = {
        .contest = c,
        .score = calloc(rows * (size_t)c->seeds + 1, sizeof *l.score),
    };

    c->result = calloc(rows + 1, sizeof *c->result);
    if (!l.score || !c->result) {
        free(l.score);
        return -ENOMEM;
    }
    run_in_threads(&l, c->jobs);

    int error = atomic_load(&l.error);
    if (error == 0)
        sum_up(c, l.score);
    free(l.score);
    return error;
}

void fb_contest_fini(struct contest *c)
{
    free(c->result);
    c->result = NULL;
}

const struct cell_score *fb_contest_get(const struct contest *c, int32_t cell, int32_t governor)
{
    return &c->result[cell * c->governor_count + governor];
}

double fb_contest_mean(const struct contest *c, int32_t governor,
                       const struct scenario_family *family)
{
    double sum = 0.0;
    int32_t count = 0;

    for (int32_t i = 0; i < c->cell_count; i++) {
        if (family && c->cell[i].family != family)
            continue;
        sum += fb_contest_get(c, i, governor)->score;
        count++;
    }
    return count > 0 ? sum / count : -1.0;
}
