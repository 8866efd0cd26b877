// SPDX-License-Identifier: BSD-3-Clause
/*
 * Rendezvous of data that are not dense at the sender: they pass through a ring of slots that the
 * sender packs and the receiver reads.
 *
 * The sender packs as many chunks as there are slots before it sends the RTS. Whenever the receiver
 * has read a chunk, it asks for the one that comes into the same slot next (NEXT); the sender packs
 * it and says so (READY). So packing, the wire and unpacking work on different chunks at the same
 * time, and a chunk is still in the cache when the provider sends it.
 *
 * Invariants:
 *  - The receiver asks for chunks that it wants only, and is not complete before each has come: no
 *    READY arrives for a receive that has ended.
 *  - Slot s holds chunk s + round[s] * slots; its bit in `ready` is set while it can be read and no
 *    read of it has begun.
 */
#include "core/error.h"
#include "core/weft.h"
#include "ofi/net.h"
#include "ofi/ofi.h"

#include <string.h>

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- The sender ---- */

static void pack(struct weft_request *request, uint64_t chunk)
{
    struct weft_net_request *part = weft_net_part(request);
    size_t offset = chunk * WEFT_NET_CHUNK;
    char *slot = (char *)part->packed + chunk % part->header.slots * WEFT_NET_CHUNK;
    weft_datatype_pack(request->type, request->buffer, offset, slot,
                       smaller(WEFT_NET_CHUNK, request->bytes - offset));
}

int weft_net_staged_expose(struct weft_request *request)
{
    struct weft_net_request *part = weft_net_part(request);
    size_t chunks = (request->bytes + WEFT_NET_CHUNK - 1) / WEFT_NET_CHUNK;
    size_t slots = smaller(chunks, WEFT_NET_SLOTS);
    part->packed = weft_net_stage_get(smaller(request->bytes, slots * WEFT_NET_CHUNK));
    if (!part->packed)
        return weft_error_say(MPI_ERR_NO_MEM, "no memory to pack a message of %zu bytes",
                              request->bytes);
    int code = weft_net_expose(request, part->packed);
    part->header.slots = (uint8_t)slots;
    for (size_t chunk = 0; code == MPI_SUCCESS && chunk < slots; chunk++)
        pack(request, chunk);
    return code;
}

void weft_net_staged_next(struct weft_request *request, uint64_t receiver, uint64_t chunk)
{
    pack(request, chunk);
    weft_net_control(
        request->peer,
        (struct weft_net_control){.kind = WEFT_NET_READY, .cookie = receiver, .other = chunk});
}

/* ---- The receiver ---- */

void weft_net_staged_begin(struct weft_request *request)
{
    struct weft_net_staged *staged = &weft_net_part(request)->staged;
    memset(staged->round, 0, sizeof staged->round);
    staged->ready = (uint8_t)((1U << staged->header.slots) - 1);
    staged->asked = 0;
}

static uint64_t chunk_in(const struct weft_net_staged *staged, unsigned slot)
{
    return slot + (uint64_t)staged->round[slot] * staged->header.slots;
}

int weft_net_staged_read(struct weft_request *request, int *issued)
{
    struct weft_net_staged *staged = &weft_net_part(request)->staged;
    for (unsigned slot = 0; slot < staged->header.slots; slot++) {
        size_t offset = chunk_in(staged, slot) * WEFT_NET_CHUNK;
        if (!(staged->ready & 1U << slot))
            continue;
        if (offset < request->bytes) {
            int rc =
                weft_net_read(request, offset, smaller(WEFT_NET_CHUNK, request->bytes - offset),
                              (size_t)slot * WEFT_NET_CHUNK);
            if (rc)
                return rc;
            ++*issued;
        }
        staged->ready &= (uint8_t) ~(1U << slot);
    }
    return 0;
}

void weft_net_staged_arrived(struct weft_request *request, size_t offset)
{
    struct weft_net_staged *staged = &weft_net_part(request)->staged;
    unsigned slot = (unsigned)(offset / WEFT_NET_CHUNK % staged->header.slots);
    staged->round[slot]++;
    uint64_t chunk = chunk_in(staged, slot);
    if (chunk * WEFT_NET_CHUNK >= request->bytes)
        return;
    staged->asked++;
    weft_net_control(request->peer, (struct weft_net_control){.kind = WEFT_NET_NEXT,
                                                              .cookie = staged->header.cookie,
                                                              .other = (uintptr_t)request,
                                                              .length = chunk});
}

void weft_net_staged_ready(struct weft_request *request, uint64_t chunk)
{
    struct weft_net_staged *staged = &weft_net_part(request)->staged;
    staged->asked--;
    staged->ready |= (uint8_t)(1U << chunk % staged->header.slots);
    weft_net_read_on(request);
}
