// SPDX-License-Identifier: BSD-3-Clause
/*
 * Agreement among processes of which any may die at any time. This module holds the state of one
 * member and has no network: its caller passes messages and deaths in, and sends messages for it.
 *
 * A binomial tree over all members carries contributions up and the decision down. A dead member is
 * replaced by its children: the parent of a member is its nearest ancestor that it has not marked
 * as dead, or else the lowest such member, which is the root. The root decides when each member is
 * included in a contribution or marked as dead.
 *
 * Two members decide alike because
 *  - a member that marks its parent as dead sends its next parent the decision, if it has one, and
 *    else its contribution again. So a new root, which waits for all members whose ancestors are
 *    dead, receives any decision that a living member has;
 *  - a member drops messages of members that it has marked as dead. So a member that has sent its
 *    contribution to a new root gets no decision of the old one.
 * Only true deaths may be reported, and each to all living members at some time.
 *
 * Agreements of the same members are numbered, and a member contributes to the next one when it has
 * the decision of the one before. So a contribution to number n means that all living members have
 * decided n - 2, and two slots suffice: a decision is kept until the one after the next begins.
 *
 * A value is the set of members that are dead, followed by words of the caller's.
 */
#ifndef WEFT_AGREEMENT_H
#define WEFT_AGREEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum weft_agreement_message { WEFT_AGREEMENT_CONTRIBUTION, WEFT_AGREEMENT_DECISION };

struct weft_agreement_ops {
    /* Sends a message; the value is valid during the call. May not call the agreement. */
    void (*send)(void *arg, int to, enum weft_agreement_message kind, uint32_t number,
                 const uint64_t *value);
    /* Combines the caller's words of two values. The order, and a value that is combined twice,
     * make no difference. */
    void (*combine)(void *arg, uint64_t *words, const uint64_t *others);
};

struct weft_agreement_slot {
    uint32_t number;
    bool contributed, decided;
    bool any;        /* `value` has a contribution */
    int parent;      /* to which the contribution or the decision was sent; -1: none */
    uint64_t *got;   /* members whose contributions have arrived */
    uint64_t *value; /* the contributions so far, or the decision */
};

struct weft_agreement {
    int size, self;
    size_t set_words, words; /* 64-bit words of a set of members, and of the caller's */
    const struct weft_agreement_ops *ops;
    void *arg;
    uint64_t *dead;  /* members that are marked as dead */
    uint32_t number; /* of the last agreement that this member contributed to */
    struct weft_agreement_slot slots[2];
    uint64_t memory[];
};

/* An agreement of `size` members, of which this one has the index self. NULL without memory. Freed
 * by free(). */
struct weft_agreement *weft_agreement_make(int size, int self, size_t words,
                                           const struct weft_agreement_ops *ops, void *arg);

/* Begins the next agreement, after the decision of the one before, with the caller's words. */
void weft_agreement_contribute(struct weft_agreement *a, const uint64_t *words);

/* The value of the last agreement that began: the dead, then the caller's words. NULL while there
 * is no decision. */
const uint64_t *weft_agreement_decision(const struct weft_agreement *a);

/* A message has arrived. One that no member sends is dropped: false. */
bool weft_agreement_arrive(struct weft_agreement *a, int from, enum weft_agreement_message kind,
                           uint32_t number, const uint64_t *value);

/* A member is dead. */
void weft_agreement_note_death(struct weft_agreement *a, int member);

/* ---- Sets of members */

static inline void weft_agreement_put(uint64_t *set, int member)
{
    set[member / 64] |= (uint64_t)1 << member % 64;
}

static inline bool weft_agreement_in(const uint64_t *set, int member)
{
    return set[member / 64] >> member % 64 & 1;
}

#endif
