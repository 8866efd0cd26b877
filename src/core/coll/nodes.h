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

/* The nodes of the current group, or NULL if it is not an intra-communicator, with all its ranks,
 * on several nodes. */
const struct weft_nodes *weft_nodes_among(const struct weft_schedule *s);

/* True if a reduce-scatter goes through nodes: they have equal numbers of ranks, and the order of
 * ranks is worse than node after node. The operation is commutative. */
bool weft_nodes_scatter_sums(const struct weft_nodes *nodes);

/* True if an alltoall goes through nodes: they have equal numbers of ranks. */
bool weft_nodes_are_equal(const struct weft_nodes *nodes);

void weft_nodes_barrier(struct weft_schedule *s);
void weft_nodes_bcast(struct weft_schedule *s, struct weft_elements data, int root);
void weft_nodes_reduce(struct weft_schedule *s, struct weft_elements in, void *out, int root);
void weft_nodes_allreduce(struct weft_schedule *s, struct weft_elements in, void *out);
void weft_nodes_reduce_scatter(struct weft_schedule *s, struct weft_elements in,
                               struct weft_elements out, const size_t *begin);
/* Bytes of the operands of all ranks, at most, if the ranks of each node are not consecutive. */
enum { WEFT_SCAN_GATHERED = 256 << 10 };
void weft_nodes_scan(struct weft_schedule *s, struct weft_elements in, void *out, bool exclusive);
void weft_nodes_allgather(struct weft_schedule *s, struct weft_elements in,
                          const struct weft_blocks *out);
void weft_nodes_gather(struct weft_schedule *s, struct weft_elements in,
                       const struct weft_blocks *out, int root);
void weft_nodes_scatter(struct weft_schedule *s, const struct weft_blocks *in,
                        struct weft_elements out, int root);
void weft_nodes_alltoall(struct weft_schedule *s, const struct weft_blocks *in,
                         const struct weft_blocks *out);

#endif
