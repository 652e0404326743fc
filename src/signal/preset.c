/* SPDX-License-Identifier: MIT */
/*
 * preset.c - find the preset of a provider and the pool of a request.
 *
 * The table has some dozens of rows: it is walked from its beginning to its end.
 */
#include "signal/preset.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include <flyball/preset.h>

const struct preset *fb_preset_find(struct slice name)
{
    for (size_t i = 0; i < fb_preset_count; i++) {
        if (fb_slice_is(name, fb_presets[i].name))
            return &fb_presets[i];
    }
    return NULL;
}

/* "*.example.com" is every name below example.com, but not that itself; any other is itself. */
bool fb_preset_host_fits(const char *pattern, struct slice host)
{
    if (host.length > 0 && host.at[host.length - 1] == '.')
        host.length--; /* the root, which may be written */
    if (pattern[0] == '*')
        return host.length > strlen(pattern + 1) && fb_slice_ends(host, pattern + 1);
    return fb_slice_is(host, pattern);
}

const struct preset *fb_preset_for_host(struct slice host)
{
    const struct preset *best = NULL;
    size_t longest = 0;

    for (size_t i = 0; i < fb_preset_count; i++) {
        for (const char *const *pattern = fb_presets[i].hosts; *pattern; pattern++) {
            if (strlen(*pattern) > longest && fb_preset_host_fits(*pattern, host)) {
                best = &fb_presets[i];
                longest = strlen(*pattern);
            }
        }
    }
    return best;
}

/* Take "/segment" off *s. False when it does not begin with a slash. */
static bool segment_take(struct slice *s, struct slice *ret_segment)
{
    if (!fb_slice_take(s, '/'))
        return false;
    *ret_segment = fb_slice_head(*s, fb_slice_find(*s, '/'));
    *s = fb_slice_after(*s, ret_segment->length);
    return true;
}

static bool segment_fits(struct slice pattern, struct slice segment)
{
    if (pattern.length == 1 && pattern.at[0] == '*')
        return segment.length > 0;
    return pattern.length == segment.length && memcmp(pattern.at, segment.at, segment.length) == 0;
}

/* The pattern and everything below it; "/" at its end asks for something below it. */
static bool path_fits(struct slice pattern, struct slice path)
{
    struct slice wanted, found;

    while (pattern.length > 0) {
        if (!segment_take(&pattern, &wanted) || !segment_take(&path, &found))
            return false;
        if (wanted.length == 0)
            return true;
        if (!segment_fits(wanted, found))
            return false;
    }
    return true;
}

/* Without the query and what comes behind it. */
static struct slice bare_path(struct slice path)
{
    path = fb_slice_head(path, fb_slice_find(path, '?'));
    return fb_slice_head(path, fb_slice_find(path, '#'));
}

bool fb_preset_pool_fits(const struct preset_pool *row, struct slice method, struct slice path)
{
    return (!row->method || fb_slice_is(method, row->method)) &&
           (!row->path || path_fits(fb_slice_of(row->path), bare_path(path)));
}

const struct preset_pool *fb_preset_pool(const struct preset *p, struct slice method,
                                         struct slice path)
{
    for (size_t i = 0; i < p->pool_count; i++) {
        if (fb_preset_pool_fits(&p->pool[i], method, path))
            return &p->pool[i];
    }
    return NULL;
}

const char *fb_preset_limit(const struct preset *p, const struct preset_pool *pool)
{
    return pool && pool->limit ? pool->limit : p->limit;
}

/* ----------------------------------------------------------------------------- for embedders */

static int tell(const struct preset *p, const struct preset_pool *pool, struct fly_preset *preset)
{
    if (preset->size < sizeof *preset)
        return -EINVAL;
    if (!p)
        return -ENOENT;
    preset->name = p->name;
    preset->title = p->title;
    preset->documentation = p->documentation;
    preset->quota_path = p->quota_path;
    preset->pool = pool ? pool->name : NULL;
    preset->limit = fb_preset_limit(p, pool);
    return 0;
}

int fly_preset_find(const char *name, struct fly_preset *ret_preset)
{
    assert(name && ret_preset);

    return tell(fb_preset_find(fb_slice_of(name)), NULL, ret_preset);
}

int fly_preset_for(const char *host, const char *method, const char *path,
                   struct fly_preset *ret_preset)
{
    assert(host && method && path && ret_preset);

    const struct preset *p = fb_preset_for_host(fb_slice_of(host));
    return tell(p, p ? fb_preset_pool(p, fb_slice_of(method), fb_slice_of(path)) : NULL,
                ret_preset);
}
