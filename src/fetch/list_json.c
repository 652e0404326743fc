/* SPDX-License-Identifier: MIT */
/* list_json.c - a line that is a JSON object: one reader per member, in a table. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fetch/list_parts.h"

static int read_url(json_t *v, struct item *i)
{
    i->url = json_string_value(v);
    return i->url ? 0 : -EINVAL;
}

static int read_method(json_t *v, struct item *i)
{
    i->method = json_string_value(v);
    return i->method && *i->method ? 0 : -EINVAL;
}

static int read_id(json_t *v, struct item *i)
{
    i->id = json_string_value(v); /* a number is written out by the caller */
    return (i->id && *i->id) || json_is_integer(v) ? 0 : -EINVAL;
}

static int read_operation(json_t *v, struct item *i)
{
    i->operation = json_string_value(v);
    return i->operation && *i->operation ? 0 : -EINVAL;
}

static int read_pool(json_t *v, struct item *i)
{
    i->pool = json_string_value(v);
    return i->pool && *i->pool ? 0 : -EINVAL;
}

static int read_headers(json_t *v, struct item *i)
{
    const char *name;
    json_t *value;

    if (!json_is_object(v) || json_object_size(v) > ITEM_HEADERS_MAX)
        return -EINVAL;
    for (void *at = json_object_iter(v); at; at = json_object_iter_next(v, at)) {
        name = json_object_iter_key(at);
        value = json_object_iter_value(at);
        if (!json_is_string(value) || !*name)
            return -EINVAL;
        i->header[i->header_count++] =
            (struct engine_header){.name = name, .value = json_string_value(value)};
    }
    return 0;
}

/* Text is sent as it is; anything else as the JSON that it is, which the caller makes. */
static int read_body(json_t *v, struct item *i)
{
    if (!json_is_string(v))
        return 0;
    i->body = json_string_value(v);
    i->body_size = json_string_length(v);
    return 0;
}

static int read_priority(json_t *v, struct item *i)
{
    static const struct {
        const char *name;
        enum priority priority;
    } NAMES[] = {
        {"high", PRIORITY_HIGH},
        {"live", PRIORITY_LIVE},
        {"imminent", PRIORITY_IMMINENT},
        {"normal", PRIORITY_NORMAL},
        {"background", PRIORITY_BACKGROUND},
    };

    for (size_t n = 0; json_is_string(v) && n < sizeof NAMES / sizeof NAMES[0]; n++) {
        if (strcmp(json_string_value(v), NAMES[n].name) == 0) {
            i->priority = NAMES[n].priority;
            return 0;
        }
    }
    return -EINVAL;
}

static int read_alternatives(json_t *v, struct item *i)
{
    if (!json_is_array(v) || json_array_size(v) > ITEM_ALTERNATIVES_MAX)
        return -EINVAL;
    for (size_t n = 0; n < json_array_size(v); n++) {
        const char *url = json_string_value(json_array_get(v, n));
        struct fly_error err;
        if (!url || fb_list_check_url(url, strlen(url), &err) < 0)
            return -EINVAL;
        i->alternative[i->alternative_count++] = url;
    }
    return 0;
}

static int read_cost(json_t *v, struct item *i)
{
    json_int_t cost = json_integer_value(v);

    if (!json_is_integer(v) || cost < 1 || cost > 1000000000)
        return -EINVAL;
    i->cost = (uint32_t)cost;
    return 0;
}

static int read_retryable(json_t *v, struct item *i)
{
    i->retryable = json_is_true(v);
    return json_is_boolean(v) ? 0 : -EINVAL;
}

static const struct {
    const char *name;
    int (*read)(json_t *v, struct item *i);
    const char *expects;
} MEMBERS[] = {
    {"url", read_url, "a text"},
    {"method", read_method, "a text such as \"POST\""},
    {"headers", read_headers, "an object of at most 64 texts"},
    {"body", read_body, "a text, or JSON to send"},
    {"id", read_id, "a text or a whole number"},
    {"priority", read_priority, "high, live, imminent, normal or background"},
    {"operation", read_operation, "a text such as \"download\""},
    {"pool", read_pool, "a text"},
    {"alternatives", read_alternatives, "an array of at most 16 URLs"},
    {"cost", read_cost, "a whole number from 1 on"},
    {"retryable", read_retryable, "true or false"},
};

static int read_member(const char *name, json_t *value, struct item *i, struct fly_error *err)
{
    for (size_t m = 0; m < sizeof MEMBERS / sizeof MEMBERS[0]; m++) {
        if (strcmp(MEMBERS[m].name, name) != 0)
            continue;
        if (MEMBERS[m].read(value, i) == 0)
            return 0;
        (void)snprintf(err->text, sizeof err->text, "\"%s\" is not %s", name, MEMBERS[m].expects);
        return -EINVAL;
    }
    (void)snprintf(err->text, sizeof err->text,
                   "there is no \"%.40s\"; known are url, method, headers, body, id, priority, "
                   "operation, pool, alternatives, cost and retryable",
                   name);
    return -EINVAL;
}

static bool has_header(const struct item *i, const char *name)
{
    for (size_t h = 0; h < i->header_count; h++) {
        if (strcasecmp(i->header[h].name, name) == 0)
            return true;
    }
    return false;
}

/* A body that is JSON itself. */
static int dump_body(const json_t *object, struct item *i, char **ret_scratch)
{
    const json_t *body = json_object_get(object, "body");

    if (!body || json_is_string(body))
        return 0;
    *ret_scratch = json_dumps(body, JSON_COMPACT | JSON_ENCODE_ANY);
    if (!*ret_scratch)
        return -ENOMEM;
    i->body = *ret_scratch;
    i->body_size = strlen(*ret_scratch);
    if (!has_header(i, "Content-Type") && i->header_count < ITEM_HEADERS_MAX)
        i->header[i->header_count++] =
            (struct engine_header){.name = "Content-Type", .value = "application/json"};
    return 0;
}

int fb_list_read_json(const char *line, size_t size, struct item *ret_item, json_t **ret_object,
                      char **ret_scratch, struct fly_error *err)
{
    json_error_t where;
    const char *name;
    json_t *value;

    *ret_object = json_loadb(line, size, JSON_REJECT_DUPLICATES, &where);
    if (!*ret_object) {
        (void)snprintf(err->text, sizeof err->text, "not JSON: %.160s (column %d)", where.text,
                       where.column);
        return -EINVAL;
    }
    json_object_foreach(*ret_object, name, value)
    {
        int error = read_member(name, value, ret_item, err);
        if (error < 0)
            return error;
    }
    if (!ret_item->url) {
        (void)snprintf(err->text, sizeof err->text, "an object without \"url\"");
        return -EINVAL;
    }
    int error = fb_list_check_url(ret_item->url, strlen(ret_item->url), err);
    if (error == 0)
        error = dump_body(*ret_object, ret_item, ret_scratch);
    if (error == 0 && ret_item->body && !ret_item->method)
        ret_item->method = "POST";
    return error;
}
