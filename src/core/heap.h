/* SPDX-License-Identifier: MIT */
/*
 * heap.h - a queue by order, made of nodes that live in what they order.
 *
 * A pairing heap: it needs no memory of its own, adding is O(1), and taking out any node, the
 * least or another, is O(log n) on average over many calls. Nodes of the same order come out as
 * they were added.
 */
#ifndef FLYBALL_CORE_HEAP_H
#define FLYBALL_CORE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_node {
    struct heap_node *child; /* the first of those that come later than this one */
    struct heap_node *next;  /* sibling */
    struct heap_node *prev;  /* sibling, or the parent of a first child; itself: the root */
    int64_t order;
    uint64_t tie; /* given by the heap: first added, first out */
};

struct heap {
    struct heap_node *root;
    uint64_t added;
};

/* A zeroed heap is empty, and a zeroed node is in none. */
static inline bool fb_heap_has(const struct heap_node *n)
{
    return n->prev != NULL;
}

/* The least, or NULL. */
static inline struct heap_node *fb_heap_first(const struct heap *h)
{
    return h->root;
}

/* Put a node that is in no heap into this one. */
void fb_heap_add(struct heap *h, struct heap_node *n, int64_t order);

/* Take a node of this heap out of it. */
void fb_heap_remove(struct heap *h, struct heap_node *n);

/* What a node is part of. */
#define FB_HEAP_OWNER(node, type, member) ((type *)((char *)(node)-offsetof(type, member)))

#endif
