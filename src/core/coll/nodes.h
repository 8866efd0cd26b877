// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collectives through one leader of each node. For communicators for which weft_nodes_of
 * (core/comm/nodes.h) is not NULL.
 *
 * Invariant: each function adds steps for all ranks of the communicator, which is the schedule's
 * group before and after.
 */
#ifndef WEFT_COLL_NODES_H
#define WEFT_COLL_NODES_H

#include "core/coll/schedule.h"
#include "core/comm/nodes.h"

void weft_nodes_barrier(struct weft_schedule *s);
void weft_nodes_bcast(struct weft_schedule *s, struct weft_elements data, int root);
void weft_nodes_reduce(struct weft_schedule *s, struct weft_elements in, void *out, int root);
void weft_nodes_allreduce(struct weft_schedule *s, struct weft_elements in, void *out);
void weft_nodes_allgather(struct weft_schedule *s, struct weft_elements in,
                          const struct weft_blocks *out);

#endif
