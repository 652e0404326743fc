/* SPDX-License-Identifier: MIT */
/* check.c - texts of a configuration, looked at byte by byte. */
#include "config/check.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include <flyball/flyball.h>

#include "core/recovery.h"
#include "core/spec.h"
#include "signal/preset.h"

#define SMALL   "abcdefghijklmnopqrstuvwxyz"
#define CAPITAL "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS  "0123456789"
#define LETTERS SMALL CAPITAL
#define TOKEN   LETTERS DIGITS "!#$%&'*+-.^_`|~"

#define HOST_BYTES_MAX 253
#define NAME_BYTES_MAX 63

static bool consists_of(const char *text, const char *bytes)
{
    return text[0] && text[strspn(text, bytes)] == '\0';
}

/* Bytes above ASCII are letters of some language. */
static bool is_visible(const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < ' ' || c == 0x7f)
            return false;
    }
    return true;
}

bool fb_check_path(const char *text)
{
    return is_visible(text);
}

bool fb_check_method(const char *text)
{
    return consists_of(text, CAPITAL);
}

bool fb_check_url_path(const char *text)
{
    return text[0] == '/' && is_visible(text) && !strpbrk(text, "?# ");
}

bool fb_check_url(const char *text)
{
    const char *rest = strncmp(text, "http://", 7) == 0    ? text + 7
                       : strncmp(text, "https://", 8) == 0 ? text + 8
                                                           : "";

    return rest[0] && rest[0] != '/' && is_visible(text) && !strpbrk(text, " @\"<>\\");
}

/* Labels of letters, digits and hyphens with single dots between them. */
static bool is_dotted(const char *text)
{
    return consists_of(text, SMALL DIGITS "-.") && !strstr(text, "..") && text[0] != '.' &&
           text[0] != '-' && text[strlen(text) - 1] != '.' && strlen(text) <= HOST_BYTES_MAX;
}

bool fb_check_host(const char *text)
{
    if (strncmp(text, "*.", 2) == 0)
        return is_dotted(text + 2) && strchr(text + 2, '.');
    return is_dotted(text);
}

bool fb_check_name(const char *text)
{
    return consists_of(text, LETTERS DIGITS "-_.") && strlen(text) <= NAME_BYTES_MAX &&
           text[0] != '.' && text[0] != '-';
}

/* Small letters would be allowed there, and a token pasted here would pass for a name. */
bool fb_check_variable(const char *text)
{
    return consists_of(text, CAPITAL DIGITS "_") && !strchr(DIGITS, text[0]);
}

bool fb_check_header_name(const char *text)
{
    return consists_of(text, TOKEN);
}

bool fb_check_header_value(const char *text)
{
    for (const char *c = text; *c; c++) {
        if (((unsigned char)*c < ' ' && *c != '\t') || *c == 0x7f)
            return false;
    }
    return text[0] && text[0] != ' ' && text[strlen(text) - 1] != ' ';
}

bool fb_check_token(const char *text)
{
    return consists_of(text, TOKEN);
}

bool fb_check_contact(const char *text)
{
    const char *at = strchr(text, '@');

    return at && at > text && at[1] && !strchr(at + 1, '@') &&
           consists_of(text, LETTERS DIGITS "!#$%&'*+-/=?^_`{|}~.@");
}

bool fb_check_preset(const char *text)
{
    return fb_preset_find(fb_slice_of(text)) != NULL;
}

bool fb_check_window(const char *text)
{
    struct fly_error err;
    struct spec spec;
    char word[64] = "window=";

    if (strlen(text) + strlen(word) >= sizeof word || strpbrk(text, " \t\r\n"))
        return false;
    memcpy(word + strlen(word), text, strlen(text));
    return fb_spec_read(word, &spec, &err) == 0;
}

bool fb_check_rule(const char *text)
{
    struct recovery r;
    struct fly_error err;

    fb_recovery_init(&r);
    return fb_recovery_add(&r, text, &err) == 0;
}

static bool is_port(const char *text)
{
    int port = 0;

    if (!consists_of(text, DIGITS) || strlen(text) > 5)
        return false;
    for (; *text; text++)
        port = port * 10 + (*text - '0');
    return port <= 65535;
}

static bool is_address(int family, const char *bytes, size_t size)
{
    char text[INET6_ADDRSTRLEN] = "";
    struct in6_addr any;

    if (size >= sizeof text)
        return false;
    memcpy(text, bytes, size);
    return inet_pton(family, text, &any) == 1;
}

/* The form alone: whether it is an address of this machine is the daemon's question. */
bool fb_check_listen(const char *text)
{
    const char *colon = strrchr(text, ':');

    if (strcmp(text, "off") == 0)
        return true;
    if (!colon || !is_port(colon + 1))
        return false;
    size_t size = (size_t)(colon - text);
    if (size > 2 && text[0] == '[' && text[size - 1] == ']')
        return is_address(AF_INET6, text + 1, size - 2);
    return is_address(AF_INET, text, size) || (size == 9 && memcmp(text, "localhost", 9) == 0);
}

bool fb_check_resolve(const char *text)
{
    const char *port = strchr(text, ':');
    const char *address = port ? strchr(port + 1, ':') : NULL;

    return port && port > text && address && address > port + 1 && address[1] &&
           strspn(port + 1, DIGITS) == (size_t)(address - port - 1) && is_visible(text) &&
           !strpbrk(text, " /@");
}

static bool has_part(const char *text, const char *part)
{
    size_t size = strlen(part);

    for (; *text; text++) {
        if (strncasecmp(text, part, size) == 0)
            return true;
    }
    return false;
}

/* By the words that such names are made of: there are too many of them for a list. */
bool fb_check_is_secret_header(const char *name)
{
    static const char *const parts[] = {"auth", "cookie", "token", "secret", "passw", "session"};
    size_t length = strlen(name);

    if (strcasecmp(name, "Idempotency-Key") == 0)
        return false;
    if (length >= 3 && strcasecmp(name + length - 3, "key") == 0)
        return true;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (has_part(name, parts[i]))
            return true;
    }
    return false;
}

bool fb_check_credential_header(const char *text)
{
    return fb_check_header_name(text) && fb_check_is_secret_header(text);
}
