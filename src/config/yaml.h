/* SPDX-License-Identifier: MIT */
/*
 * yaml.h - a YAML file as a small tree in which everything knows its place.
 *
 * libfyaml does the reading, with guards around it: the size, NUL bytes and UTF-8 are checked
 * first, it never prints, and what a configuration has no use for is a mistake: aliases and
 * anchors, tags, keys that are no plain text, a key twice, a second document. Values are texts;
 * whoever wants a number reads one.
 */
#ifndef FLYBALL_CONFIG_YAML_H
#define FLYBALL_CONFIG_YAML_H

#include <stddef.h>

#include "config/mistakes.h"

#define FB_YAML_SIZE_MAX    (1024 * 1024) /* bytes of a file */
#define FB_YAML_DEPTH_MAX   32            /* maps and lists within each other */
#define FB_YAML_KEYS_MAX    1000          /* of one map */
#define FB_YAML_DOUBLES_MAX 20            /* keys that are there twice: then reading ends */

enum yaml_kind { YAML_TEXT, YAML_LIST, YAML_MAP };

struct yaml_node {
    enum yaml_kind kind;
    struct place at;         /* of the value; where there is none, of its key */
    char *key;               /* in a map; else NULL */
    struct place key_at;     /* of the key */
    char *text;              /* of a YAML_TEXT: never NULL, "" where nothing was written */
    struct yaml_node *child; /* of a list or a map: the first */
    struct yaml_node *next;  /* after this one in the same list or map */
    const char *from;        /* where else than in the file it was said, or NULL; never freed */

    /* Used while it is built. */
    struct yaml_node *parent, *last;
};

/*
 * Read `size` bytes. 0 with the tree in *ret_root, to be freed; -EINVAL when mistakes were told,
 * -ENOMEM when memory is out.
 */
int fb_yaml_read(const char *bytes, size_t size, struct mistakes *m, struct yaml_node **ret_root)
    __attribute__((warn_unused_result));

/*
 * The same, which goes on after mistakes that leave a tree: then *ret_root is set with -EINVAL as
 * well, and good for nothing but looking for more mistakes. It is NULL where there is none.
 */
int fb_yaml_read_on(const char *bytes, size_t size, struct mistakes *m, struct yaml_node **ret_root)
    __attribute__((warn_unused_result));

/* The same from the file that `m` names; that it cannot be read is a mistake too. */
int fb_yaml_load(struct mistakes *m, struct yaml_node **ret_root)
    __attribute__((warn_unused_result));

/* NULL is allowed. */
void fb_yaml_free(struct yaml_node *root);

#endif
