/* SPDX-License-Identifier: MIT */
/*
 * fuzz_list.c - any bytes as a list, a robots.txt, a Link header and a JSON cursor.
 *
 * Whatever comes: an item has a URL that begins as it must and no blank in it, an error has a
 * sentence, items are numbered without gaps, and reading ends. Of a page only what the list does
 * not have is kept, and it comes back the same.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fetch/list.h"
#include "fetch/pages.h"
#include "fetch/place.h"
#include "fetch/robots.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ITEMS_MOST 2000 /* of a range that has a million */

#define HOLD(fact) ((fact) ? (void)0 : broken(#fact, __LINE__))

static void broken(const char *fact, int line)
{
    fprintf(stderr, "fuzz_list.c:%d: does not hold: %s\n", line, fact);
    abort();
}

static void check_pages(const char *url)
{
    static const char BASE[] = "http://u:p@h/list?key=K&page=1";
    struct buffer kept = BUFFER_INIT;
    struct buffer again = BUFFER_INIT;
    struct buffer twice = BUFFER_INIT;

    fb_pages_strip(BASE, url, &kept);
    fb_pages_restore(BASE, fb_buffer_text(&kept), &again);
    fb_pages_strip(BASE, fb_buffer_text(&again), &twice);
    HOLD(strcmp(kept.bytes, fb_buffer_text(&twice)) == 0);
    fb_buffer_fini(&kept);
    fb_buffer_fini(&again);
    fb_buffer_fini(&twice);
}

static void check_item(const struct item *i, uint64_t number)
{
    struct buffer place = BUFFER_INIT;

    HOLD(i->number == number);
    HOLD(i->line > 0 && i->id && *i->id);
    HOLD(strncasecmp(i->url, "http", 4) == 0 && !strpbrk(i->url, " \t\r\n"));
    HOLD(i->header_count <= ITEM_HEADERS_MAX && i->alternative_count <= ITEM_ALTERNATIVES_MAX);
    fb_place_add(&place, i->url);
    HOLD(!strpbrk(fb_buffer_text(&place), "?#"));
    fb_buffer_fini(&place);
    (void)fb_item_hash(i);
    check_pages(i->url);
}

static void read_list(const char *path)
{
    struct fly_error err = {""};
    struct list *l = NULL;
    struct item item;
    uint64_t number = 0;
    int found = -EINVAL;

    if (fb_list_open(path, &l, &err) < 0)
        return;
    while ((found == 1 || found == -EINVAL) && number < ITEMS_MOST) {
        err.text[0] = '\0';
        found = fb_list_next(l, &item, &err);
        if (found == 1)
            check_item(&item, ++number);
        else
            HOLD(found == 0 || (found == -EINVAL && strchr(err.text, ':')));
    }
    fb_list_close(l);
    HOLD(fb_list_count(path) >= 0);
}

static void read_texts(const char *text, size_t size)
{
    struct buffer out = BUFFER_INIT;
    const char *target = text;
    size_t length = fb_pages_link(text, &target);

    HOLD(target >= text && length <= strlen(text));
    (void)fb_robots_allow(text, size, "flyball", "/a/b.gif?c=d");
    if (fb_pages_cursor(text, size, "/a/0/next", &out) > 0)
        HOLD(out.size > 0);
    fb_buffer_fini(&out);
}

/* Lists are read from files. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[] = "/tmp/fuzz-list-XXXXXX";
    int fd = mkstemp(path);
    char *text = calloc(1, size + 1);

    HOLD(fd >= 0 && text);
    if (size > 0)
        memcpy(text, data, size);
    HOLD(write(fd, text, size) == (ssize_t)size);
    read_list(path);
    read_texts(text, size);
    (void)close(fd);
    (void)unlink(path);
    free(text);
    return 0;
}
