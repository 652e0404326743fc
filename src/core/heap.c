/* SPDX-License-Identifier: MIT */
/*
 * heap.c - a pairing heap of nodes that live in what they order.
 *
 * Invariant: no node comes before its parent. A root's prev is itself, so that a node knows that it
 * is in a heap at all.
 */
#include "core/heap.h"

#include <assert.h>

static bool comes_before(const struct heap_node *a, const struct heap_node *b)
{
    return a->order != b->order ? a->order < b->order : a->tie < b->tie;
}

/* Two trees become one; either may be empty. The later root becomes the other's first child. */
static struct heap_node *meld(struct heap_node *a, struct heap_node *b)
{
    if (!a || !b)
        return a ? a : b;

    assert(a != b && !a->next && !b->next); /* two roots */

    struct heap_node *top = comes_before(a, b) ? a : b;
    struct heap_node *under = top == a ? b : a;

    under->prev = top;
    under->next = top->child;
    if (top->child)
        top->child->prev = under;
    top->child = under;
    assert(top->child == under && !comes_before(under, top));
    top->next = NULL;
    return top;
}

/* The children of a node that goes away: in pairs from the left, then together from the right. */
static struct heap_node *gather(struct heap_node *child)
{
    struct heap_node *pairs = NULL;
    struct heap_node *all = NULL;

    while (child) {
        struct heap_node *a = child;
        struct heap_node *b = a->next;

        child = b ? b->next : NULL;
        a->next = NULL;
        if (b)
            b->next = NULL;
        a = meld(a, b);
        a->next = pairs;
        pairs = a;
    }
    while (pairs) {
        struct heap_node *a = pairs;

        pairs = a->next;
        a->next = NULL;
        all = meld(all, a);
    }
    return all;
}

static void set_root(struct heap *h, struct heap_node *n)
{
    h->root = n;
    if (n) {
        n->prev = n;
        n->next = NULL;
    }
}

void fb_heap_add(struct heap *h, struct heap_node *n, int64_t order)
{
    assert(!fb_heap_has(n));
    *n = (struct heap_node){.order = order, .tie = h->added++};
    set_root(h, meld(h->root, n));
    assert(fb_heap_has(n) && !comes_before(n, h->root));
}

/* Cut a node with all below it out of the tree. */
static void cut(struct heap_node *n)
{
    assert(n->prev != n);
    assert(!n->next || n->next->prev == n);
    if (n->prev->child == n)
        n->prev->child = n->next;
    else
        n->prev->next = n->next;
    if (n->next)
        n->next->prev = n->prev;
}

void fb_heap_remove(struct heap *h, struct heap_node *n)
{
    assert(fb_heap_has(n));
    assert(h->root);

    struct heap_node *below = gather(n->child);

    if (n == h->root) {
        set_root(h, below);
    } else {
        cut(n);
        set_root(h, meld(h->root, below));
    }
    assert(!h->root || h->root->prev == h->root);
    n->prev = NULL;
}
