// SPDX-License-Identifier: BSD-3-Clause
/*
 * Access to the windows of other ranks by fi_write and fi_read. It contains no types of libfabric.
 *
 * A rank registers the memory of its window and passes the address to all others, which write and
 * read at offsets from it.
 *
 * Invariants:
 *  - Only the owner's memory from the address on, as much as it has registered, is accessed: the
 *    caller checks offsets and lengths, the provider the key.
 *  - A transfer that has started completes its request through weft_request_event; if it failed,
 *    the request has the error, and its sentence is recorded.
 */
#ifndef WEFT_NET_RMA_H
#define WEFT_NET_RMA_H

#include "core/message/request.h"

/* The abilities of the provider. Without WEFT_NET_DELIVERS a put is in the target's memory when a
 * message arrives there that was sent after the put had started (FI_ORDER_SAW). */
enum weft_net_rma {
    WEFT_NET_GETS = 1,
    WEFT_NET_PUTS = 2,
    WEFT_NET_DELIVERS = 4 /* a put that is complete is in the target's memory */
};

/* A set of enum weft_net_rma; 0: windows are reached by messages. */
unsigned weft_net_rma(void);

/* The address of a rank's memory for the others. */
struct weft_net_memory {
    uint64_t address, key;
};

/* Registers memory for other ranks' transfers at the endpoint of a VCI. NULL if the provider
 * refuses. Close only when no transfer is in flight. */
struct weft_net_region;
struct weft_net_region *weft_net_region_open(unsigned vci, void *memory, size_t bytes,
                                             struct weft_net_memory *location);
void weft_net_region_close(struct weft_net_region *region);

/* Starts to move request->bytes bytes, or fewer (then bytes is changed), between request->buffer
 * and the memory of request->peer; channel, vci and peer of the request are set, pending is 1.
 * Returns MPI_SUCCESS, WEFT_NET_LATER if the provider takes no more now, or an error class. */
enum { WEFT_NET_LATER = -1 };
int weft_net_rma_start(struct weft_request *request, bool put, struct weft_net_memory at);

#endif
