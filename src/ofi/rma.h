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

#include "core/message/lane.h"

/* A set of enum weft_remote_flag; 0: windows are reached by messages. */
unsigned weft_net_rma(void);

/* Registers memory for other ranks' transfers at the endpoint of a VCI. NULL if the provider
 * refuses. */
struct weft_remote_region *weft_net_region_open(unsigned vci, void *memory, size_t bytes,
                                                struct weft_remote_memory *location);
void weft_net_region_close(struct weft_remote_region *region);

/* Start a transfer, as the functions of struct weft_lane_remote. */
int weft_net_rma_write(struct weft_request *request, struct weft_remote_memory at);
int weft_net_rma_read(struct weft_request *request, struct weft_remote_memory at);

#endif
