/* SPDX-License-Identifier: MIT */
/*
 * html_child.c - HTML read by libxml2, in a process that can do nothing else.
 *
 * Before the first byte is read the kernel is told to refuse whatever this process will not need:
 * it cannot open a socket, start a program or write to a file. libxml2 itself is kept from the
 * network and from entities as well.
 */
#include "watch/sources/child_main.h"

#include <stdio.h>

#ifndef HAVE_LIBXML2

int fb_html_main(int count, char **words)
{
    (void)count;
    (void)words;
    fputs("this build has no libxml2\n", stderr);
    return 1;
}

#else

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libxml/HTMLparser.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>

#include "signal/slice.h"
#include "util/buffer.h"
#include "util/json.h"
#include "watch/sources/jail.h"

#define TEXT_MAX 65536    /* bytes of one value that are printed */
#define ROWS_MAX 1000000  /* of a list */
#define STEPS    50000000 /* of an XPath */

static int complain(const char *what, const char *about)
{
    fprintf(stderr, "%s%.150s\n", what, about);
    return 1;
}

/*
 * Most of what libxml2 complains of is how pages are. Without memory it leaves things out and goes
 * on, and a page of which a half is missing is none.
 */
static void hear(void *context, xmlErrorPtr e)
{
    bool *is_out_of_memory = context;

    *is_out_of_memory |= e->code == XML_ERR_NO_MEMORY;
}

static bool read_input(struct buffer *to)
{
    for (;;) {
        char *room = fb_buffer_reserve(to, 65536);
        ssize_t size = room ? read(STDIN_FILENO, room, 65536) : -1;

        if (size <= 0)
            return size == 0;
        to->size += (size_t)size;
    }
}

/* The charset of a Content-Type, which counts for more than what the page says; NULL: none. */
static const char *charset(char *to, size_t size)
{
    struct slice type = fb_slice_of(getenv("FLYBALL_TYPE") ? getenv("FLYBALL_TYPE") : "");
    size_t found = fb_slice_search(type, "charset=");

    if (found >= type.length)
        return NULL;
    const char *at = type.at + found + strlen("charset=");
    at += *at == '"';
    (void)snprintf(to, size, "%.*s", (int)strcspn(at, "\"; \t"), at);
    return to[0] ? to : NULL;
}

/* One space for any number of blanks, none at the ends: how a browser shows it. */
static void add_text(struct buffer *out, const char *text)
{
    struct buffer plain = BUFFER_INIT;
    bool is_first = true;

    for (text += strspn(text, " \t\r\n"); *text && plain.size < TEXT_MAX;
         text += strspn(text, " \t\r\n")) {
        size_t size = strcspn(text, " \t\r\n");

        if (!is_first)
            fb_buffer_add_char(&plain, ' ');
        is_first = false;
        fb_buffer_add(&plain, text, size);
        text += size;
    }
    fb_json_add_string(out, plain.size > 0 ? plain.bytes : "", plain.size);
    fb_buffer_fini(&plain);
}

/* What an XPath finds first, as a text; null where that is nothing. False: it is no XPath. */
static bool add_found(struct buffer *out, xmlXPathContextPtr context, const char *path)
{
    if (!path[0]) {
        fb_buffer_add_text(out, "null");
        return true;
    }
    context->opCount = 0;
    xmlXPathObjectPtr found = xmlXPathEvalExpression((const xmlChar *)path, context);
    if (!found)
        return false;
    bool is_empty = found->type == XPATH_NODESET && xmlXPathNodeSetIsEmpty(found->nodesetval);
    xmlChar *text = is_empty ? NULL : xmlXPathCastToString(found);
    if (text)
        add_text(out, (const char *)text);
    else
        fb_buffer_add_text(out, "null");
    xmlFree(text);
    xmlXPathFreeObject(found);
    return true;
}

static int print_texts(struct buffer *out, xmlXPathContextPtr context, int count, char **paths)
{
    fb_buffer_add_char(out, '[');
    for (int i = 0; i < count; i++) {
        fb_buffer_add_text(out, i > 0 ? "," : "");
        if (!add_found(out, context, paths[i]))
            return complain("this XPath cannot be used: ", paths[i]);
    }
    fb_buffer_add_char(out, ']');
    return 0;
}

static int print_rows(struct buffer *out, xmlXPathContextPtr context, int count, char **paths)
{
    xmlXPathObjectPtr rows = xmlXPathEvalExpression((const xmlChar *)paths[0], context);
    int all =
        rows && rows->type == XPATH_NODESET && rows->nodesetval ? rows->nodesetval->nodeNr : 0;
    int rc = rows ? 0 : complain("this XPath cannot be used: ", paths[0]);

    fb_buffer_add_char(out, '[');
    for (int i = 0; i < all && i < ROWS_MAX && rc == 0; i++) {
        fb_buffer_add_text(out, i > 0 ? "," : "");
        context->node = rows->nodesetval->nodeTab[i];
        rc = print_texts(out, context, count - 1, paths + 1);
    }
    fb_buffer_add_char(out, ']');
    xmlXPathFreeObject(rows);
    return rc;
}

static int print_all(htmlDocPtr page, bool is_list, int count, char **paths,
                     const bool *is_out_of_memory)
{
    struct buffer out = BUFFER_INIT;
    xmlXPathContextPtr context = xmlXPathNewContext(page);

    if (!context)
        return complain("out of memory", "");
    context->opLimit = STEPS;
    int rc = (is_list ? print_rows : print_texts)(&out, context, count, paths);
    if (*is_out_of_memory)
        rc = complain("the page needs more memory than there is", "");
    if (rc == 0 &&
        (out.failed || fwrite(out.bytes, 1, out.size, stdout) != out.size || fflush(stdout) != 0))
        rc = complain("cannot print what was found", "");
    xmlXPathFreeContext(context);
    fb_buffer_fini(&out);
    return rc;
}

int fb_html_main(int count, char **words)
{
    struct buffer body = BUFFER_INIT;
    char name[64];
    bool is_list = strcmp(words[0], "list") == 0, is_out_of_memory = false;

    if (count < 2)
        return complain("nothing is wanted", "");
    if (fb_jail() < 0)
        return complain("cannot give up its rights", "");
    xmlInitParser();
    xmlSetStructuredErrorFunc(&is_out_of_memory, hear);
    if (!read_input(&body) || body.size > INT32_MAX)
        return complain("cannot read the page", "");
    htmlDocPtr page = htmlReadMemory(
        body.size > 0 ? body.bytes : " ", (int)body.size, NULL, charset(name, sizeof name),
        HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET);
    fb_buffer_fini(&body);
    if (!page)
        return complain(
            is_out_of_memory ? "the page needs more memory than there is" : "this is no HTML", "");
    int rc = print_all(page, is_list, count - 1, words + 1, &is_out_of_memory);
    xmlFreeDoc(page);
    xmlCleanupParser();
    return rc;
}

#endif
