/* SPDX-License-Identifier: MIT */
/*
 * check.h - is this text what a key of the table wants? One small question each.
 *
 * None of them looks at the machine: whether a file exists is found out when it is used.
 */
#ifndef FLYBALL_CONFIG_CHECK_H
#define FLYBALL_CONFIG_CHECK_H

#include <stdbool.h>

bool fb_check_path(const char *text);         /* of a file: no line break or other control */
bool fb_check_method(const char *text);       /* "GET" */
bool fb_check_url_path(const char *text);     /* "/a/b", without a query */
bool fb_check_url(const char *text);          /* http or https, no user and password in it */
bool fb_check_host(const char *text);         /* "api.example.com", "*.example.com", "localhost" */
bool fb_check_name(const char *text);         /* letters, digits, and "-_." between them */
bool fb_check_variable(const char *text);     /* of the environment */
bool fb_check_header_name(const char *text);  /* a token of RFC 9110 */
bool fb_check_header_value(const char *text); /* visible bytes, blanks and tabs between them */
bool fb_check_token(const char *text);        /* "Bearer" */
bool fb_check_contact(const char *text);      /* "me@example.com" */
bool fb_check_preset(const char *text);       /* one that there is */
bool fb_check_window(const char *text);       /* "5000/1h" */
bool fb_check_rule(const char *text);         /* of recovery */
bool fb_check_listen(const char *text);       /* "127.0.0.1:8080", "[::1]:0", "off" */
bool fb_check_resolve(const char *text);      /* "host:port:address" */

/*
 * Headers that carry secrets: Authorization, Cookie, X-Api-Key, Private-Token and the like. They
 * are not shown, and do not follow a redirect to another origin.
 */
bool fb_check_is_secret_header(const char *name);

/* The name of such a header. */
bool fb_check_credential_header(const char *text);

#endif
