// SPDX-License-Identifier: BSD-3-Clause
/*
 * Agreement: see agreement.h.
 */
#include "core/comm/agreement.h"
#include "core/base/assert.h"

#include <stdlib.h>
#include <string.h>

static size_t value_words(const struct weft_agreement *a)
{
    return a->set_words + a->words;
}

struct weft_agreement *weft_agreement_make(int size, int self, size_t words,
                                           const struct weft_agreement_ops *ops, void *arg)
{
    size_t set = ((size_t)size + 63) / 64, slot = 2 * set + words;
    struct weft_agreement *a = calloc(1, sizeof *a + (set + 2 * slot) * sizeof *a->memory);
    if (!a)
        return NULL;
    *a = (struct weft_agreement){
        .size = size, .self = self, .set_words = set, .words = words, .ops = ops, .arg = arg};
    a->dead = a->memory;
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t *at = a->memory + set + i * slot;
        /* Number 0 is never used, and complete; number 1 is the first. */
        a->slots[i] = (struct weft_agreement_slot){.number = i,
                                                   .contributed = !i,
                                                   .decided = !i,
                                                   .parent = -1,
                                                   .got = at,
                                                   .value = at + set};
    }
    return a;
}

/* ---- The tree: the parent of a member is its index without the lowest bit that is set. */

/* The next parent; -1: this member is the root. */
static int parent_of(const struct weft_agreement *a)
{
    for (int member = a->self; member > 0;) {
        member &= member - 1;
        if (!weft_agreement_in(a->dead, member))
            return member;
    }
    for (int member = 0; member < a->self; member++)
        if (!weft_agreement_in(a->dead, member))
            return member;
    return -1;
}

static bool covers_children(const struct weft_agreement *a, const struct weft_agreement_slot *slot,
                            int member);

/* True if a contribution that includes a member and those below it has arrived, or they are dead.
 */
static bool covers(const struct weft_agreement *a, const struct weft_agreement_slot *slot,
                   int member)
{
    if (member != a->self && weft_agreement_in(slot->got, member))
        return true;
    return (member == a->self || weft_agreement_in(a->dead, member)) &&
           covers_children(a, slot, member);
}

static bool covers_children(const struct weft_agreement *a, const struct weft_agreement_slot *slot,
                            int member)
{
    int lowest = member ? member & -member : a->size;
    for (int bit = 1; bit < lowest && member + bit < a->size; bit *= 2)
        if (!covers(a, slot, member + bit))
            return false;
    return true;
}

/* ---- Values */

static void add(struct weft_agreement *a, struct weft_agreement_slot *slot, const uint64_t *set,
                const uint64_t *words)
{
    for (size_t i = 0; i < a->set_words; i++)
        slot->value[i] |= set[i];
    if (slot->any)
        a->ops->combine(a->arg, slot->value + a->set_words, words);
    else if (a->words)
        memcpy(slot->value + a->set_words, words, a->words * sizeof *words);
    slot->any = true;
}

static void send(struct weft_agreement *a, const struct weft_agreement_slot *slot, int to)
{
    enum weft_agreement_message kind =
        slot->decided ? WEFT_AGREEMENT_DECISION : WEFT_AGREEMENT_CONTRIBUTION;
    weft_assert(to >= 0 && to < a->size && to != a->self && slot->contributed);
    a->ops->send(a->arg, to, kind, slot->number, slot->value);
}

/* ---- Steps */

/* The slot has the decision: those that have sent this member a contribution get it. */
static void decide(struct weft_agreement *a, struct weft_agreement_slot *slot)
{
    weft_assert(slot->contributed && !slot->decided);
    slot->decided = true;
    for (int member = 0; member < a->size; member++)
        if (weft_agreement_in(slot->got, member) && !weft_agreement_in(a->dead, member))
            send(a, slot, member);
}

static void advance(struct weft_agreement *a, struct weft_agreement_slot *slot)
{
    if (!slot->contributed || !slot->number)
        return;
    int parent = parent_of(a);
    if (!slot->decided) {
        if (!covers(a, slot, parent < 0 ? 0 : a->self))
            return;
        for (size_t i = 0; i < a->set_words; i++)
            slot->value[i] |= a->dead[i];
        if (parent < 0)
            decide(a, slot);
    }
    if (parent < 0 || parent == slot->parent)
        return;
    slot->parent = parent;
    send(a, slot, parent);
}

/* The slot of a number, or NULL for one that this member does not expect. */
static struct weft_agreement_slot *slot_of(struct weft_agreement *a, uint32_t number)
{
    struct weft_agreement_slot *slot = &a->slots[number % 2];
    if (slot->number == number)
        return slot;
    if (number != a->number + 1 || slot->number + 2 != number || !slot->decided)
        return NULL;
    memset(slot->got, 0, a->set_words * sizeof *slot->got);
    memset(slot->value, 0, value_words(a) * sizeof *slot->value);
    slot->number = number;
    slot->contributed = slot->decided = slot->any = false;
    slot->parent = -1;
    return slot;
}

void weft_agreement_contribute(struct weft_agreement *a, const uint64_t *words)
{
    weft_assert(a->slots[a->number % 2].decided);
    struct weft_agreement_slot *slot = slot_of(a, a->number + 1);
    weft_assert(slot && !slot->contributed);
    a->number++;
    slot->contributed = true;
    add(a, slot, a->dead, words);
    advance(a, slot);
}

const uint64_t *weft_agreement_decision(const struct weft_agreement *a)
{
    const struct weft_agreement_slot *slot = &a->slots[a->number % 2];
    return slot->decided ? slot->value : NULL;
}

bool weft_agreement_arrive(struct weft_agreement *a, int from, enum weft_agreement_message kind,
                           uint32_t number, const uint64_t *value)
{
    if (from < 0 || from >= a->size || from == a->self)
        return false;
    if (weft_agreement_in(a->dead, from))
        return true;
    struct weft_agreement_slot *slot = number ? slot_of(a, number) : NULL;
    if (!slot)
        return number && number < a->number; /* its sender has got that decision by now */
    if (kind == WEFT_AGREEMENT_CONTRIBUTION) {
        if (slot->decided) {
            send(a, slot, from);
            return true;
        }
        weft_agreement_put(slot->got, from);
        add(a, slot, value, value + a->set_words);
        advance(a, slot);
        return true;
    }
    if (kind != WEFT_AGREEMENT_DECISION || !slot->contributed)
        return false;
    if (slot->decided)
        return true;
    memcpy(slot->value, value, value_words(a) * sizeof *value);
    decide(a, slot);
    advance(a, slot);
    return true;
}

void weft_agreement_note_death(struct weft_agreement *a, int member)
{
    weft_assert(member >= 0 && member < a->size && member != a->self);
    if (weft_agreement_in(a->dead, member))
        return;
    weft_agreement_put(a->dead, member);
    for (int i = 1; i >= 0; i--)
        advance(a, &a->slots[(a->number + (uint32_t)i) % 2]);
}
