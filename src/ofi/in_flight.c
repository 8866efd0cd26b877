// SPDX-License-Identifier: BSD-3-Clause
/*
 * The ops that are contexts of the provider: slots for those that are no field of a request or a
 * receive buffer, and the test whether an address is an op.
 *
 * Invariant: the memory of a slot is never freed before the endpoint is closed, so that in_flight
 * can be read in an op that the provider reports once more.
 */
#include "ofi/ofi_internal.h"

#include <stdlib.h>

enum { SLOTS = 32 };

struct weft_net_slab {
    struct weft_net_slab *next;
    struct weft_net_slot slots[SLOTS];
};

static bool make_slab(struct weft_net_vci *net)
{
    struct weft_net_slab *slab = calloc(1, sizeof *slab);
    if (!slab)
        return false;
    slab->next = net->slabs;
    net->slabs = slab;
    for (int i = SLOTS; i-- > 0;)
        weft_net_slot_put(net, &slab->slots[i]);
    return true;
}

struct weft_net_slot *weft_net_slot_get(struct weft_net_vci *net, enum weft_net_op_kind kind)
{
    if (!net->free_slots && !make_slab(net))
        return NULL;
    struct weft_net_slot *slot = net->free_slots;
    net->free_slots = slot->next;
    weft_assert(!slot->op.in_flight);
    slot->op.kind = (uint8_t)kind;
    slot->op.in_flight = true;
    return slot;
}

void weft_net_slot_put(struct weft_net_vci *net, struct weft_net_slot *slot)
{
    slot->op.in_flight = false;
    slot->next = net->free_slots;
    net->free_slots = slot;
}

void weft_net_slots_each(struct weft_net_vci *net,
                         void (*see)(struct weft_net_vci *net, struct weft_net_slot *slot))
{
    for (struct weft_net_slab *slab = net->slabs; slab; slab = slab->next)
        for (int i = 0; i < SLOTS; i++)
            if (slab->slots[i].op.in_flight)
                see(net, &slab->slots[i]);
}

void weft_net_slots_close(struct weft_net_vci *net)
{
    while (net->slabs) {
        struct weft_net_slab *slab = net->slabs;
        net->slabs = slab->next;
        free(slab);
    }
    net->free_slots = NULL;
}

/* True if an address is the first byte of one of the objects of an array. */
static bool is_in(const void *address, const void *array, size_t objects, size_t bytes)
{
    uintptr_t at = (uintptr_t)address - (uintptr_t)array;
    return at < objects * bytes && at % bytes == 0;
}

bool weft_net_is_op(const struct weft_net_vci *net, const void *address)
{
    if (!address || address == weft_net_claim_op(net))
        return address != NULL;
    if (is_in(address, net->buffers, net->buffers ? weft_net.nbuffers : 0, sizeof *net->buffers))
        return true;
    for (const struct weft_net_slab *slab = net->slabs; slab; slab = slab->next)
        if (is_in(address, slab->slots, SLOTS, sizeof slab->slots[0]))
            return true;
    const struct weft_request_pool *pool = &weft.vcis[net->number].requests;
    for (size_t i = 0; i < pool->nslabs; i++)
        if (is_in(address, pool->slabs[i][0].lane, WEFT_REQUEST_SLAB, sizeof *pool->slabs[i]))
            return true;
    return false;
}
