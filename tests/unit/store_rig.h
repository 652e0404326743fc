/* SPDX-License-Identifier: MIT */
/*
 * store_rig.h - a folder of its own for each test, a store, and the lines of a file.
 */
#ifndef FLYBALL_TESTS_STORE_RIG_H
#define FLYBALL_TESTS_STORE_RIG_H

#include "unit.h"

#include <fts.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "store/journal.h"
#include "store/store.h"

#define LONG_MS 60000 /* longer than anything takes on a machine that is only busy */

static char rig_folder[64];

/* The same text for the same name, for as long as the test runs. */
static inline const char *rig_path(const char *name)
{
    static char paths[512][128];
    size_t i = 0;
    char path[128];

    (void)snprintf(path, sizeof path, "%s/%s", rig_folder, name);
    while (paths[i][0] && strcmp(paths[i], path) != 0)
        assert_true(++i < COUNT_OF(paths));
    memcpy(paths[i], path, sizeof path);
    return paths[i];
}

static inline int rig_setup(void **state)
{
    (void)state;
    (void)snprintf(rig_folder, sizeof rig_folder, "/tmp/flyball-test-XXXXXX");
    return mkdtemp(rig_folder) ? 0 : -1;
}

static inline int rig_teardown(void **state)
{
    char *roots[] = {rig_folder, NULL};
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);

    (void)state;
    for (FTSENT *e; tree && (e = fts_read(tree));) {
        if (e->fts_info != FTS_D && remove(e->fts_path) < 0)
            return -1;
    }
    return tree ? fts_close(tree) : -1;
}

static inline void rig_write(const char *path, const void *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

/* A whole file, terminated; to be freed. */
static inline char *rig_read(const char *path, size_t *ret_size)
{
    FILE *f = fopen(path, "rb");
    char *bytes;

    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    *ret_size = (size_t)ftell(f);
    rewind(f);
    bytes = calloc(1, *ret_size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *ret_size, f), *ret_size);
    assert_int_equal(fclose(f), 0);
    return bytes;
}

static inline struct store *rig_store(void)
{
    struct store_options o = {0};
    struct store *s;

    assert_int_equal(fb_store_open(&o, &s), 0);
    return s;
}

#endif
