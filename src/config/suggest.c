/* SPDX-License-Identifier: MIT */
/* suggest.c - "did you mean": the nearest name by edit distance, swapped neighbours included. */
#include "config/suggest.h"

#include <stddef.h>
#include <string.h>

#define WORD_MAX 48

static int min3(int a, int b, int c)
{
    int least = a < b ? a : b;

    return least < c ? least : c;
}

/* Insertions, deletions, replacements and swaps of neighbours that turn a into b. */
static int distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
    int row[3][WORD_MAX + 1]; /* two rows back, the last, this one: by i % 3 */

    for (size_t i = 0; i <= a_size; i++) {
        int *now = row[i % 3];

        now[0] = (int)i;
        for (size_t k = 1; k <= b_size; k++) {
            const int *last = row[(i + 2) % 3];

            if (i == 0) {
                now[k] = (int)k;
                continue;
            }
            now[k] = min3(last[k] + 1, now[k - 1] + 1, last[k - 1] + (a[i - 1] != b[k - 1]));
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
                now[k] = min3(now[k], row[(i + 1) % 3][k - 2] + 1, now[k]);
        }
    }
    return row[a_size % 3][b_size];
}

/* How many slips a word of this length may contain and still be recognised. */
static int slips_max(size_t size)
{
    return size <= 3 ? 1 : size <= 7 ? 2 : 3;
}

const char *fb_suggest(const char *word, const char *const *names)
{
    const char *best = NULL;
    size_t size = strcspn(word, "=");
    int best_distance = slips_max(size) + 1;

    if (size > WORD_MAX)
        return NULL;
    for (; *names; names++) {
        size_t name_size = strlen(*names);
        if (name_size > WORD_MAX)
            continue;

        int d = distance(word, size, *names, name_size);
        if (d < best_distance) {
            best = *names;
            best_distance = d;
        }
    }
    return best;
}
