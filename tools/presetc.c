/* SPDX-License-Identifier: MIT */
/*
 * presetc - compile presets/<name>.yaml into the constant table of signal/preset.h.
 *
 *     presetc FILE.yaml... >presets.c
 *
 * Used by the build only: the library reads no YAML. Every mistake of every file is told on stderr
 * as file:line:column: what was found, what was expected; then the exit code is 2.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/preset_file.h"
#include "util/alloc.h"

#define NAME_MAX_BYTES 64

struct entry {
    const char *path;
    char name[NAME_MAX_BYTES];
    struct preset_file file;
};

static void tell(void *user, const char *sentence)
{
    (void)user;
    fprintf(stderr, "%s\n", sentence);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

/* ------------------------------------------------------------------------------------- reading */

/* "github" of "presets/github.yaml". */
static bool take_name(struct entry *e, struct mistakes *m)
{
    const char *slash = strrchr(e->path, '/');
    const char *base = slash ? slash + 1 : e->path;
    const char *dot = strrchr(base, '.');

    if (!dot || strcmp(dot, ".yaml") != 0 || dot == base || dot - base >= NAME_MAX_BYTES) {
        fb_mistake(m, (struct place){0, 0}, "expected a file named <provider>.yaml");
        return false;
    }
    memcpy(e->name, base, (size_t)(dot - base));
    return true;
}

/* 0 or a negative errno; mistakes have been told. */
static int read_entry(struct entry *e)
{
    struct mistakes m = {.file = e->path, .tell = tell};
    struct yaml_node *root;

    if (!take_name(e, &m))
        return -EINVAL;
    int error = fb_yaml_load(&m, &root);
    if (error)
        return error;
    error = fb_preset_file_read(root, e->name, &m, &e->file);
    if (error)
        fb_yaml_free(root);
    return error;
}

static const struct entry *holder_of(const struct entry *entries, const struct entry *end,
                                     const char *host)
{
    for (const struct entry *e = entries; e < end; e++) {
        for (const char *const *h = e->file.preset.hosts; *h; h++) {
            if (strcmp(*h, host) == 0)
                return e;
        }
    }
    return NULL;
}

/* Where a host stands in its file: texts of a preset lie in the tree it was read from. */
static struct place host_place(const struct entry *e, const char *host)
{
    for (const struct yaml_node *n = e->file.root->child; n; n = n->next) {
        for (const struct yaml_node *h = n->child; h; h = h->next) {
            if (h->text == host)
                return h->at;
        }
    }
    return (struct place){0, 0};
}

/* A host belongs to one provider. */
static int check_hosts(const struct entry *entries, size_t count)
{
    int error = 0;

    for (const struct entry *e = entries; e < entries + count; e++) {
        struct mistakes m = {.file = e->path, .tell = tell};
        for (const char *const *h = e->file.preset.hosts; *h; h++) {
            const struct entry *other = holder_of(entries, e, *h);
            if (other)
                fb_mistake(&m, host_place(e, *h), "'%s' is also in %s", *h, other->path);
        }
        error = m.count > 0 ? -EINVAL : error;
    }
    return error;
}

/* All files are read, so that all mistakes are told. */
static int read_all(struct entry *entries, size_t count)
{
    int result = 0;

    for (size_t i = 0; i < count; i++) {
        int error = read_entry(&entries[i]);
        if (error == -ENOMEM)
            return error;
        result = error ? error : result;
    }
    if (result)
        return result;
    qsort(entries, count, sizeof *entries, by_name);
    return check_hosts(entries, count);
}

/* ------------------------------------------------------------------------------------- writing */

/* A literal of C, or NULL. */
static void put_text(const char *text, const char *after)
{
    if (!text) {
        printf("NULL%s", after);
        return;
    }
    putchar('"');
    for (; *text; text++) {
        if (*text < ' ' || *text > '~' || strchr("\"\\?", *text))
            printf("\\%03o", (unsigned)(unsigned char)*text);
        else
            putchar(*text);
    }
    printf("\"%s", after);
}

static void put_hosts(const struct preset *p, size_t number)
{
    printf("static const char *const hosts_%zu[] = {", number);
    for (const char *const *h = p->hosts; *h; h++)
        put_text(*h, ", ");
    printf("NULL};\n");
}

static void put_pools(const struct preset *p, size_t number)
{
    if (p->pool_count == 0)
        return;
    printf("static const struct preset_pool pools_%zu[] = {\n", number);
    for (size_t i = 0; i < p->pool_count; i++) {
        printf("    {");
        put_text(p->pool[i].name, ", ");
        put_text(p->pool[i].method, ", ");
        put_text(p->pool[i].path, ", ");
        put_text(p->pool[i].limit, "},\n");
    }
    printf("};\n");
}

static void put_preset(const struct preset *p, size_t number)
{
    static const char *const units[] = {
        [RESET_BY_SIZE] = "RESET_BY_SIZE",   [RESET_DELTA_S] = "RESET_DELTA_S",
        [RESET_DELTA_MS] = "RESET_DELTA_MS", [RESET_EPOCH_S] = "RESET_EPOCH_S",
        [RESET_EPOCH_MS] = "RESET_EPOCH_MS",
    };

    printf("    {\n        .name = ");
    put_text(p->name, ",\n        .title = ");
    put_text(p->title, ",\n        .documentation = ");
    put_text(p->documentation, ",\n");
    printf("        .hosts = hosts_%zu,\n", number);
    if (p->pool_count > 0)
        printf("        .pool = pools_%zu,\n        .pool_count = %zu,\n", number, p->pool_count);
    printf("        .limit = ");
    put_text(p->limit, ",\n        .quota_path = ");
    put_text(p->quota_path, ",\n");
    printf("        .unmodified_free = %s,\n", p->unmodified_free ? "true" : "false");
    printf("        .reset = %s,\n        .retry = %s,\n", units[p->reset], units[p->retry]);
    printf("        .asks_contact = %s,\n    },\n", p->asks_contact ? "true" : "false");
}

static int write_table(const struct entry *entries, size_t count)
{
    printf("/* Made by presetc from presets/; changes here are lost. */\n"
           "#include \"signal/preset.h\"\n\n");
    for (size_t i = 0; i < count; i++) {
        put_hosts(&entries[i].file.preset, i);
        put_pools(&entries[i].file.preset, i);
    }
    printf("\nconst struct preset fb_presets[] = {\n");
    for (size_t i = 0; i < count; i++)
        put_preset(&entries[i].file.preset, i);
    printf("};\n\nconst size_t fb_preset_count = %zu;\n", count);
    return ferror(stdout) || fflush(stdout) ? -EIO : 0;
}

int main(int argc, char **argv)
{
    size_t count = argc > 1 ? (size_t)argc - 1 : 0;
    struct entry *entries = count > 0 ? fb_alloc(count * sizeof *entries) : NULL;

    if (count == 0) {
        fprintf(stderr, "usage: presetc FILE.yaml... >presets.c\n");
        return 2;
    }
    if (!entries)
        return 1;
    for (size_t i = 0; i < count; i++)
        entries[i].path = argv[i + 1];
    int error = read_all(entries, count);
    if (!error)
        error = write_table(entries, count);
    for (size_t i = 0; i < count; i++)
        fb_preset_file_fini(&entries[i].file);
    fb_free(entries);
    if (error && error != -EINVAL)
        fprintf(stderr, "presetc: %s\n", strerror(-error));
    return error == -EINVAL ? 2 : error ? 1 : 0;
}
