/* SPDX-License-Identifier: MIT */
/* template.c - from hole to hole. */
#include "config/template.h"

#include <errno.h>
#include <string.h>

#include "config/check.h"

#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"

enum hole { HOLE_NONE, HOLE_ID, HOLE_ITEM };

/* What hole `at` begins with; its length in *ret_size. */
static enum hole hole_at(const char *at, size_t *ret_size)
{
    static const struct {
        const char *text;
        enum hole hole;
    } HOLES[] = {{"{id}", HOLE_ID}, {"{item}", HOLE_ITEM}};

    for (size_t i = 0; i < sizeof HOLES / sizeof HOLES[0]; i++) {
        size_t size = strlen(HOLES[i].text);

        if (strncmp(at, HOLES[i].text, size) == 0) {
            *ret_size = size;
            return HOLES[i].hole;
        }
    }
    return HOLE_NONE;
}

bool fb_template_is_right(const char *text)
{
    for (size_t size; (text += strcspn(text, "{}"))[0]; text += size) {
        if (hole_at(text, &size) == HOLE_NONE)
            return false;
    }
    return true;
}

bool fb_template_is_url(const char *text)
{
    const char *scheme = strstr(text, "://");
    const char *host = scheme ? scheme + 3 : text;
    size_t size = strcspn(host, "/?#");

    return fb_check_url(text) && strcspn(text, "{}") >= (size_t)(host - text) + size &&
           fb_template_is_right(text);
}

bool fb_template_is_whole(const char *text)
{
    return fb_check_url(text) && !strpbrk(text, "{}");
}

bool fb_template_is_id(const char *id)
{
    size_t size = strlen(id);

    for (const char *c = id; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return false;
    }
    return size > 0 && size <= FB_ID_MAX && strcmp(id, ".") != 0 && strcmp(id, "..") != 0;
}

static void add_encoded(struct buffer *out, const char *id)
{
    static const char DIGITS[] = "0123456789ABCDEF";

    for (; *id; id++) {
        unsigned char c = (unsigned char)*id;

        if (strchr(PLAIN, *id)) {
            fb_buffer_add_char(out, *id);
            continue;
        }
        fb_buffer_add_char(out, '%');
        fb_buffer_add_char(out, DIGITS[c >> 4]);
        fb_buffer_add_char(out, DIGITS[c & 15]);
    }
}

static int fill(const char *text, const struct template_words *w, struct buffer *out,
                void (*add)(struct buffer *, const char *))
{
    for (size_t size = 0; *text; text += size) {
        enum hole hole = hole_at(text, &size);
        const char *id = hole == HOLE_ITEM ? w->item : w->id;

        if (hole == HOLE_NONE) {
            size = strcspn(text + 1, "{") + 1;
            fb_buffer_add(out, text, size);
        } else if (id && fb_template_is_id(id)) {
            add(out, id);
        } else {
            return -EINVAL;
        }
    }
    return 0;
}

int fb_template_url(const char *text, const struct template_words *w, struct buffer *out)
{
    return fill(text, w, out, add_encoded);
}

int fb_template_id(const char *text, const struct template_words *w, struct buffer *out)
{
    return fill(text, w, out, fb_buffer_add_text);
}
