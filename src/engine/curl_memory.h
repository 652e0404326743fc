/* SPDX-License-Identifier: MIT */
/*
 * curl_memory.h - memory for libcurl, which asks for the same few dozen sizes with every request.
 *
 * What it gives back is kept for the next request, on the thread that has an engine, up to
 * CURL_MEMORY_KEPT bytes. Every block is one of malloc's: it may be freed on any thread, and by
 * free(). Under a sanitizer nothing is kept, so that it sees every use after the end.
 */
#ifndef FLYBALL_ENGINE_CURL_MEMORY_H
#define FLYBALL_ENGINE_CURL_MEMORY_H

#include <stddef.h>

#define CURL_MEMORY_KEPT (2 << 20)

/* Begin to keep on this thread, and end; they nest. Without memory for it nothing is kept. */
void fb_curl_memory_begin(void);
void fb_curl_memory_end(void);

/* As malloc, free, realloc, strdup and calloc. */
void *fb_curl_get(size_t size);
void fb_curl_put(void *memory);
void *fb_curl_resize(void *memory, size_t size);
char *fb_curl_text(const char *text);
void *fb_curl_zeroes(size_t count, size_t size);

#endif
