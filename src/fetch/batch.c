/* SPDX-License-Identifier: MIT */
/* batch.c - which journal and which output a batch has, and opening them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fetch/fetch_parts.h"
#include "fetch/paths.h"
#include "util/alloc.h"
#include "util/hash.h"

#define INDEX_NAME "flyball.jsonl" /* results, beside the bodies in a folder */

/* What names the list: its path; of URLs as words only a hash, since they may hold secrets. */
static int name_list(const struct fetch_options *o, struct buffer *out)
{
    char name[40];
    uint64_t hash = FB_HASH_INIT;

    if (o->list && strcmp(o->list, "-") != 0)
        return fb_path_from_root(out, o->list);
    for (size_t i = 0; !o->list && i < o->url_count; i++)
        hash = fb_hash_add(hash, o->urls[i], strlen(o->urls[i]) + 1);
    (void)snprintf(name, sizeof name, "command line %016llx",
                   (unsigned long long)fb_hash_end(hash));
    fb_buffer_add_text(out, o->list ? "standard input" : name);
    return 0;
}

/* The file of results, or nothing: standard output. */
static int name_output(const struct fetch_options *o, struct buffer *out)
{
    if (o->output)
        return fb_path_from_root(out, o->output);
    if (!o->folder)
        return 0;
    int error = fb_path_from_root(out, o->folder);
    fb_buffer_add_text(out, "/" INDEX_NAME);
    return error;
}

static int default_journal(const char *store, struct buffer *out, const char *list,
                           const char *output, struct fly_error *err)
{
    char name[48];
    int error = fb_state_folder_named(store, out, err);
    const char *folder = error < 0 ? NULL : fb_buffer_text(out);

    if (!folder)
        return error < 0 ? error : -ENOMEM;
    error = fb_state_folder_make(folder, err);
    uint64_t hash = fb_hash_add(FB_HASH_INIT, list, strlen(list) + 1);
    hash = fb_hash_end(fb_hash_add(hash, output, strlen(output) + 1));
    (void)snprintf(name, sizeof name, "/fetch-%016llx" JOURNAL_TAIL, (unsigned long long)hash);
    fb_buffer_add_text(out, name);
    return error;
}

/* From a pipe into a pipe there is nothing by which a batch could be known again. */
static bool is_nameless(const struct fetch_options *o)
{
    return o->list && strcmp(o->list, "-") == 0 && !o->output && !o->folder;
}

static int open_with(struct fetch *f, const char *list, const char *output, struct fly_error *err)
{
    struct buffer path = BUFFER_INIT;
    struct journal_options j = {
        .list = list,
        .output = *output ? output : NULL,
        .stream = *output ? -1 : STDOUT_FILENO,
        .fresh = f->o->fresh,
        .again = (f->o->retry_failed ? 1u << ENTRY_failed | 1u << ENTRY_skipped | 1u << ENTRY_barred
                                     : 0) |
                 (f->o->deferred ? 1u << ENTRY_deferred : 0),
        .named = f->o->journal != NULL,
    };
    int error = 0;

    if (f->o->journal)
        fb_buffer_add_text(&path, f->o->journal);
    else if (!is_nameless(f->o))
        error = default_journal(f->o->store, &path, list, output, err);
    if (error == 0 && path.size > 0) {
        j.path = fb_buffer_text(&path);
        f->journal_path = path.bytes;
    }
    if (f->o->plan && (f->o->fresh || !j.path || access(j.path, F_OK) < 0)) {
        /* Nothing is finished, and nothing is to be made. */
        j = (struct journal_options){.list = list, .stream = -1};
    }
    if (error == 0)
        error = fb_journal_open(f->store, &j, &f->journal, &f->found, err);
    if (!f->journal_path)
        fb_buffer_fini(&path);
    return error;
}

/* Writing over the list would lose both. */
static int check_output(const struct fetch_options *o, const char *output, struct fly_error *err)
{
    struct stat list;
    struct stat there;
    int error = o->output && !o->plan ? fb_path_see_folder(o->output, err) : 0;

    if (error < 0)
        return error;
    if (o->output && o->metrics_csv && strcmp(o->output, o->metrics_csv) == 0) {
        (void)snprintf(err->text, sizeof err->text,
                       "%.180s: is for the results and for the metrics; name two files", output);
        return -EINVAL;
    }
    if (!o->list || stat(o->list, &list) < 0 || stat(output, &there) < 0 ||
        list.st_ino != there.st_ino || list.st_dev != there.st_dev)
        return 0;
    (void)snprintf(err->text, sizeof err->text, "%.180s: is the list itself", output);
    return -EINVAL;
}

static int make_output_folder(struct fetch *f, struct fly_error *err)
{
    const struct fetch_options *o = f->o;

    if (!o->folder || o->plan)
        return 0;
    f->has_made_folder = mkdir(o->folder, 0777) == 0;
    if (f->has_made_folder || errno == EEXIST)
        return 0;
    int error = -errno;
    if (fb_path_see_folder(o->folder, err) == 0)
        (void)snprintf(err->text, sizeof err->text, "cannot make %.180s: %s", o->folder,
                       strerror(-error));
    return error;
}

void fb_batch_forget(struct fetch *f, bool with_output)
{
    if (with_output)
        fb_journal_drop_output(f->journal);
    fb_journal_close(f->journal, !f->o->journal); /* one with a name may know of other batches */
    f->journal = NULL;
    if (with_output && f->has_made_folder)
        (void)rmdir(f->o->folder);
}

int fb_batch_open(struct fetch *f, struct fly_error *err)
{
    struct buffer list = BUFFER_INIT;
    struct buffer output = BUFFER_INIT;
    int error = make_output_folder(f, err);

    if (error == 0)
        error = name_list(f->o, &list);
    if (error == 0)
        error = name_output(f->o, &output);
    const char *list_name = fb_buffer_text(&list);
    const char *output_name = fb_buffer_text(&output);
    if (error == 0 && (!list_name || !output_name))
        error = -ENOMEM;
    if (error == 0)
        error = check_output(f->o, output_name, err);
    if (error == 0)
        error = open_with(f, list_name, output_name, err);
    fb_buffer_fini(&list);
    fb_buffer_fini(&output);
    return error;
}
