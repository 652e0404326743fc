/* SPDX-License-Identifier: MIT */
/*
 * credential.c - what a provider knows us by: read once for each provider, when it is first needed,
 * and sent to its hosts alone.
 *
 * Of several the first that can be had is used. The secret is in memory as long as the batch, or
 * until it is to be read anew; where that fails, the old one is used on.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "config/config.h"
#include "fetch/fetch_parts.h"
#include "util/alloc.h"
#include "util/buffer.h"

struct credential {
    struct credential *next;
    bool is_old; /* to be read anew when it is next needed */
    char header[128];
    struct buffer value; /* "Bearer ..." */
    char provider[];     /* by name: the configuration may change */
};

static void free_one(struct credential *c)
{
    if (c->value.size > 0)
        explicit_bzero(c->value.bytes, c->value.size);
    fb_buffer_fini(&c->value);
    fb_free(c);
}

/* Append one, or say why it is not to be had. */
static int read_one(const struct config_credential *c, struct buffer *out, struct fly_error *err)
{
    if (c->scheme) {
        fb_buffer_add_text(out, c->scheme);
        fb_buffer_add_char(out, ' ');
    }
    int error = fb_config_read_secret(&c->secret, out, err);
    for (size_t i = 0; error == 0 && i < out->size; i++) {
        if ((unsigned char)out->bytes[i] < ' ' || out->bytes[i] == 0x7f) {
            (void)snprintf(err->text, sizeof err->text, "the secret of %.60s is no single line",
                           c->name);
            error = -EINVAL;
        }
    }
    return error;
}

static int read_first(const struct config_provider *p, struct credential *ret_credential,
                      struct fly_error *err)
{
    int error = -ENOENT;

    for (size_t i = 0; i < p->credential_count && error < 0; i++) {
        fb_buffer_clear(&ret_credential->value);
        error = read_one(&p->credential[i], &ret_credential->value, err);
        if (error == 0)
            (void)snprintf(ret_credential->header, sizeof ret_credential->header, "%s",
                           p->credential[i].header);
    }
    if (error == 0 && !fb_buffer_text(&ret_credential->value))
        error = -ENOMEM;
    return error;
}

static struct credential *find(const struct fetch *f, const char *provider)
{
    struct credential *c = f->credentials;

    while (c && strcmp(c->provider, provider) != 0)
        c = c->next;
    return c;
}

/* Whoever rotates a secret may be writing it just now: then it goes on with the one before. */
static void renew(struct fetch *f, const struct config_provider *p, struct credential *c)
{
    struct credential fresh = {0};
    struct fly_error err = {""};

    c->is_old = false;
    if (read_first(p, &fresh, &err) < 0) {
        fb_say(f, "flyball fetch: %s: the credential is used on as it was: %s", p->name, err.text);
        fb_buffer_fini(&fresh.value);
        return;
    }
    explicit_bzero(c->value.bytes, c->value.size);
    fb_buffer_fini(&c->value);
    c->value = fresh.value;
    memcpy(c->header, fresh.header, sizeof c->header);
}

void fb_fetch_renew(struct fetch *f)
{
    for (struct credential *c = f->credentials; c; c = c->next)
        c->is_old = true;
}

int fb_credential_get(struct fetch *f, const struct config_provider *p,
                      struct engine_header *ret_header, struct fly_error *err)
{
    struct credential *c = find(f, p->name);
    size_t size = strlen(p->name) + 1;

    if (!c) {
        c = fb_alloc(sizeof *c + size);
        if (!c)
            return -ENOMEM;
        memcpy(c->provider, p->name, size);
        int error = read_first(p, c, err);
        if (error < 0) {
            free_one(c);
            return error;
        }
        c->next = f->credentials;
        f->credentials = c;
    }
    if (c->is_old)
        renew(f, p, c);
    *ret_header = (struct engine_header){.name = c->header, .value = c->value.bytes};
    return 0;
}

void fb_credentials_free(struct fetch *f)
{
    for (struct credential *c = f->credentials, *next; c; c = next) {
        next = c->next;
        free_one(c);
    }
    f->credentials = NULL;
}
