/* SPDX-License-Identifier: MIT */
/*
 * ticket.h - which grants are still out, so that each is ended exactly once.
 *
 * A ticket carries what must be known when its answer comes: the cost, how many were in flight,
 * and the grant's id. A checksum over it, mixed with the limiter's seed, tells a real ticket from
 * a wrong number. One bit per grant, for the last FB_TICKET_RING of them or more, tells a first
 * report from a second; older ones are only counted (see fb_tickets_find).
 */
#ifndef FLYBALL_CORE_TICKET_H
#define FLYBALL_CORE_TICKET_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FB_TICKET_RING      512   /* grants that are remembered at least */
#define FB_TICKET_RING_MAX  32768 /* and at most: ids have 16 bits */
#define FB_TICKET_IN_FLIGHT 127   /* the field's maximum; more are told as this many */

struct ticket {
    uint32_t cost;
    uint16_t id;       /* low bits of the grant's id */
    uint8_t in_flight; /* in flight at the grant, itself included */
    bool counted;      /* with its cost; else as one unit */
};

/* What seals the tickets of a limiter with this seed. */
static inline uint8_t fb_ticket_key(uint64_t seed)
{
    return (uint8_t)(seed ^ seed >> 8 ^ 0x5a);
}

/* What the lowest byte of a ticket is, by all others. */
static inline uint8_t fb_ticket_check(uint64_t word, uint8_t key)
{
    uint32_t sum = (uint32_t)word ^ (uint32_t)(word >> 32);

    sum ^= sum >> 16;
    sum ^= sum >> 8;
    return (uint8_t)(sum ^ key);
}

/* The number handed out for a grant; `key` is the limiter's. */
static inline uint64_t fb_ticket_seal(struct ticket t, uint8_t key)
{
    uint64_t word = (uint64_t)t.cost << 32 | (uint64_t)t.id << 16 | (uint64_t)t.in_flight << 9 |
                    (uint64_t)t.counted << 8;

    return word | fb_ticket_check(word, key);
}

/* What an id is in a ticket, with its part in the checksum. */
static inline uint64_t fb_ticket_of_id(uint16_t id)
{
    return (uint64_t)id << 16 ^ (uint8_t)(id ^ id >> 8);
}

/* As fb_ticket_seal(), for a grant of 1 of which nothing else is known. */
static inline uint64_t fb_ticket_seal_one(uint16_t id, uint8_t key)
{
    return UINT64_C(1) << 32 ^ 1 ^ key ^ fb_ticket_of_id(id);
}

/* Undo fb_ticket_seal(). False: not a ticket of this limiter. */
static inline bool fb_ticket_open(uint64_t word, uint8_t key, struct ticket *ret_ticket)
{
    if (word >> 32 == 0 || (uint8_t)word != fb_ticket_check(word & ~UINT64_C(0xff), key))
        return false;
    *ret_ticket = (struct ticket){
        .cost = (uint32_t)(word >> 32),
        .id = (uint16_t)(word >> 16),
        .in_flight = (uint8_t)((word >> 9) & FB_TICKET_IN_FLIGHT),
        .counted = (word >> 8) & 1,
    };
    return true;
}

struct tickets {
    uint64_t ended[FB_TICKET_RING / 64]; /* the ring, unless it lies elsewhere */
    uint64_t newest;                     /* the ring covers (newest - its size, newest] */
    uint32_t old;                        /* at most so many that fell out of the ring are out */
    uint16_t words;                      /* of the ring, 64 grants each */
    uint16_t words_off;                  /* from here to the ring */
};

enum ticket_end {
    TICKET_UNKNOWN, /* has ended already, or never was */
    TICKET_OLD,     /* too old to know for certain, believed */
    TICKET_RECENT,  /* was out for certain */
};

/* Bytes of a ring for so many grants at once; 0 when it has room in a struct tickets. */
size_t fb_tickets_bytes(int64_t grants);

/*
 * No grant yet: every id counts as ended. The ring is `memory`, of fb_tickets_bytes(), 8-aligned,
 * not far behind `t` and moving with it; or NULL where that is 0.
 */
void fb_tickets_init(struct tickets *t, void *memory, size_t bytes);

/* So many more grants, with the next ids: they are out until they end. Returns the newest id. */
uint64_t fb_tickets_add(struct tickets *t, uint64_t grants);

/*
 * What ending the ticket whose id has these low bits would mean; changes nothing. Of grants older
 * than the ring only a bound on their number is known: as many may end as can be out.
 */
enum ticket_end fb_tickets_find(const struct tickets *t, uint16_t low);

/* Know what `from` knows; `t` is as fb_tickets_init() left it. */
void fb_tickets_carry(struct tickets *t, const struct tickets *from);

/* ---- a grant and its end, as most are: inline, for speed ---- */

/* The ring is a distance and not a pointer: both may be mapped anywhere. */
static inline uint64_t *fb_tickets_ring(const struct tickets *t)
{
    return (uint64_t *)(uintptr_t)t + t->words_off;
}

static inline uint64_t *fb_tickets_word(const struct tickets *t, uint64_t id)
{
    return &fb_tickets_ring(t)[id / 64 & (t->words - 1u)]; /* a power of two */
}

static inline uint64_t fb_tickets_mask(uint64_t id)
{
    return UINT64_C(1) << (id % 64);
}

/* How many grants ago, from the low bits alone: 0 is the newest. */
static inline uint64_t fb_tickets_age(const struct tickets *t, uint16_t id)
{
    assert(t->newest <= UINT64_MAX / 2);

    return (uint16_t)(t->newest - id);
}

/* So many that fall out of the ring are out. */
static inline void fb_tickets_forget(struct tickets *t, uint64_t count)
{
    t->old = count < UINT32_MAX - t->old ? t->old + (uint32_t)count : UINT32_MAX;
}

/* One more grant: it is out until it ends. Returns its id. */
static inline uint64_t fb_tickets_next(struct tickets *t)
{
    uint64_t id = t->newest + 1;
    uint64_t *word = fb_tickets_word(t, id);

    if (!(*word & fb_tickets_mask(id)))
        fb_tickets_forget(t, 1);
    *word &= ~fb_tickets_mask(id);
    t->newest = id;
    return id;
}

/* End it, and say what it was. */
static inline enum ticket_end fb_tickets_end(struct tickets *t, uint16_t low)
{
    uint64_t age = fb_tickets_age(t, low);
    uint64_t id = t->newest - age;

    if (age >= 64u * t->words) {
        if (t->old == 0)
            return TICKET_UNKNOWN;
        t->old--;
        return TICKET_OLD;
    }
    uint64_t *word = fb_tickets_word(t, id);
    if (*word & fb_tickets_mask(id))
        return TICKET_UNKNOWN;
    *word |= fb_tickets_mask(id);
    return TICKET_RECENT;
}

/* ---- in a few bytes ---- */

/*
 * The same in a few bytes: of the last 64 grants a bit says whether it has ended (bit 0 is the
 * newest); of those before only the number that may be out is kept.
 */
struct tickets_brief {
    uint64_t ended;
    uint16_t newest; /* low bits of the id */
    uint16_t old;    /* UINT16_MAX: so many or more */
};

#define FB_TICKETS_BRIEF_NONE ((struct tickets_brief){.ended = UINT64_MAX})

struct tickets_brief fb_tickets_fold(const struct tickets *t);

/* `t` is as fb_tickets_init() left it. */
void fb_tickets_unfold(struct tickets *t, struct tickets_brief brief);

/* As fb_tickets_add() by one, and fb_tickets_end(). */
uint16_t fb_tickets_brief_add(struct tickets_brief *b);
enum ticket_end fb_tickets_brief_end(struct tickets_brief *b, uint16_t id);

/* How many may be out. */
static inline int64_t fb_tickets_brief_out(const struct tickets_brief *b)
{
    return 64 - __builtin_popcountll(b->ended) + b->old;
}

#endif
