// SPDX-License-Identifier: BSD-3-Clause
/*
 * Records that are counted: see repeats.h.
 */
#include "tools/check/repeats.h"
#include "tools/check/check.h"

#include <stdlib.h>

struct slot {
    struct check_record last; /* sent */
    uint64_t n;               /* messages */
    int repeats;              /* counted, and not sent */
    int rank;                 /* the receiver */
    bool is_listed;
    struct slot *next; /* in the list */
};

static struct {
    struct slot **slots; /* of each rank; NULL: no message was sent to it */
    struct slot *list;   /* slots with repeats, and some whose repeats have been sent since */
} state;

void check_repeats_begin(void)
{
    state.slots = weft_interpose_allocate((size_t)check.size, sizeof(struct slot *));
}

void check_repeats_finish(void)
{
    for (int i = 0; i < check.size; i++)
        free(state.slots[i]);
    free(state.slots);
}

static uint64_t number_of(const struct slot *slot, uint64_t n)
{
    return n * CHECK_SLOTS + (uint64_t)(slot - state.slots[slot->rank]);
}

static void flush(struct slot *slot)
{
    struct check_record record = slot->last;
    if (slot->repeats == 0)
        return;
    weft_assert(slot->repeats <= CHECK_REPEATS_MAX && slot->n > (uint64_t)slot->repeats);
    record.message.repeats = slot->repeats;
    record.message.number = number_of(slot, slot->n - (uint64_t)slot->repeats);
    slot->repeats = 0;
    check_channel_send(slot->rank, &record);
}

/* A slot whose count is sent leaves the list. */
void check_repeats_flush(int rank)
{
    struct slot **at = &state.list;
    while (*at) {
        struct slot *slot = *at;
        if (rank >= 0 && slot->rank != rank) {
            at = &slot->next;
            continue;
        }
        *at = slot->next;
        slot->is_listed = false;
        flush(slot);
    }
}

/* True if a record differs from the last one of its slot only in its number. */
static bool is_repeat(const struct check_record *a, const struct check_record *b)
{
    const struct check_message *x = &a->message, *y = &b->message;
    return a->call == b->call && a->site.offset == b->site.offset &&
           a->site.module == b->site.module && x->comm == y->comm && x->tag == y->tag &&
           x->bytes == y->bytes && x->signature.hash == y->signature.hash &&
           x->signature.length == y->signature.length;
}

void check_repeats_send(int rank, struct check_record *record)
{
    struct check_message *message = &record->message;
    if (!state.slots[rank])
        state.slots[rank] = weft_interpose_allocate(CHECK_SLOTS, sizeof(struct slot));
    struct slot *slot = &state.slots[rank][check_repeats_slot(message->comm, message->tag)];
    slot->rank = rank;
    message->repeats = 1;
    message->number = number_of(slot, slot->n);
    if (slot->n == 0 || rank == check.rank || !is_repeat(record, &slot->last)) {
        flush(slot); /* the messages before this one */
        slot->n++;
        slot->last = *record;
        check_channel_send(rank, record);
        return;
    }
    slot->n++;
    if (++slot->repeats == CHECK_REPEATS_MAX)
        flush(slot);
    if (slot->is_listed)
        return;
    slot->is_listed = true;
    slot->next = state.list;
    state.list = slot;
}
