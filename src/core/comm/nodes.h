// SPDX-License-Identifier: BSD-3-Clause
/*
 * The nodes of a group: ranks that share a node, for collectives with one leader a node.
 *
 * Invariant: the result follows from the launcher's node map and the settings alone, so all members
 * of a group compute the same result without a message.
 */
#ifndef WEFT_NODES_H
#define WEFT_NODES_H

#include "core/comm/group.h"

/* The ranks of a group by node. Nodes are numbered in the order of their lowest ranks. */
struct weft_nodes {
    int count;
    int mine;      /* the node of this process */
    bool in_order; /* order[i] is i: the ranks of each node are consecutive */
    int *node;     /* by rank */
    int *order;    /* the ranks, node after node, ascending within a node */
    int *begin;    /* the index in order of each node's first rank; count + 1 entries */
};

/* The nodes of a group that this process is in, computed at the first call and stored in the group.
 * NULL where nodes do not matter: all ranks share a node, no two do, or WEFT_SHM=0. */
const struct weft_nodes *weft_nodes_of(struct weft_group *group);

/* The same from labels that are not negative: ranks with the same label share a node; rank is this
 * process. The caller frees the result by weft_nodes_forget. NULL where nodes do not matter. */
struct weft_nodes *weft_nodes_arrange(const int32_t *label, int size, int rank);

void weft_nodes_forget(struct weft_nodes *nodes);

/* Writes the name of this process's host, and the number of its node there with
 * WEFT_TEST_NODE_SIZE, like snprintf. */
int weft_nodes_name(char *name, size_t len);

/* Frees the node map of the job. */
void weft_nodes_finalize(void);

/* The index of a rank among the ranks of its node. */
static inline int weft_nodes_index(const struct weft_nodes *nodes, int rank)
{
    int location = 0;
    while (nodes->order[nodes->begin[nodes->node[rank]] + location] != rank)
        location++;
    return location;
}

static inline int weft_nodes_size(const struct weft_nodes *nodes, int node)
{
    return nodes->begin[node + 1] - nodes->begin[node];
}

#endif
