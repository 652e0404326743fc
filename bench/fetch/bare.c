/* SPDX-License-Identifier: MIT */
/*
 * bare.c - the floor under `flyball fetch`: libcurl's multi interface and nothing else.
 *
 *     bare LIST [CONCURRENCY]
 *
 * Fetches every URL of LIST with so many transfers at a time (40) on curl's own loop, throws the
 * bodies away, and prints how many answers were 200. No journal, no limit, no retries.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

static size_t discard(char *data, size_t size, size_t count, void *arg)
{
    (void)data;
    (void)arg;
    return size * count;
}

/* The next URL of the list on this handle; false at its end. */
static int next(CURLM *multi, CURL *easy, FILE *list)
{
    char line[4096];

    if (!fgets(line, sizeof line, list))
        return 0;
    line[strcspn(line, "\n")] = '\0';
    curl_easy_setopt(easy, CURLOPT_URL, line);
    return curl_multi_add_handle(multi, easy) == CURLM_OK;
}

static CURL *new_easy(void)
{
    CURL *easy = curl_easy_init();

    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, discard);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    return easy;
}

/* Take in what has ended and begin as many again. Returns how many are running less. */
static int turn(CURLM *multi, FILE *list, long *ok)
{
    CURLMsg *message;
    int left;
    int ended = 0;

    while ((message = curl_multi_info_read(multi, &left))) {
        CURL *easy = message->easy_handle;
        long status = 0;
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        *ok += message->data.result == CURLE_OK && status == 200;
        curl_multi_remove_handle(multi, easy);
        if (!next(multi, easy, list)) {
            curl_easy_cleanup(easy);
            ended++;
        }
    }
    return ended;
}

int main(int argc, char **argv)
{
    int concurrency = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 40;
    FILE *list = argc > 1 ? fopen(argv[1], "r") : NULL;
    long ok = 0;
    int open = 0;

    if (!list || concurrency < 1) {
        fputs("usage: bare LIST [CONCURRENCY]\n", stderr);
        return 2;
    }
    curl_global_init(CURL_GLOBAL_DEFAULT);
    CURLM *multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)concurrency);
    for (CURL *easy; open < concurrency && next(multi, easy = new_easy(), list);)
        open++;
    while (open > 0) {
        int running;
        curl_multi_perform(multi, &running);
        open -= turn(multi, list, &ok);
        if (open > 0)
            curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
    curl_multi_cleanup(multi);
    fclose(list);
    printf("%ld\n", ok);
    return 0;
}
