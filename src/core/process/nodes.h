// SPDX-License-Identifier: BSD-3-Clause
/*
 * Which ranks of a group share a node, for collectives that go through one leader a node.
 *
 * Invariant: what is told here follows from the launcher's map of the job and the settings alone, so
 * all members of a group are told the same, without a message.
 */
#ifndef WEFT_NODES_H
#define WEFT_NODES_H

#include "core/comm/group.h"

/* The ranks of a group, by node. Nodes are numbered in the order of their lowest ranks. */
struct weft_nodes {
    int count;
    int mine;      /* this process's node */
    bool in_order; /* order[i] is i: the ranks of a node are neighbours */
    int *node;     /* of each rank */
    int *order;    /* the ranks, node after node, ascending within one */
    int *begin;    /* where a node's ranks begin in order; count + 1 places */
};

/* The nodes of a group that this process is in, made at the first question and kept with the group.
 * NULL where they do not matter: all ranks on one node, none with another, or shared memory is off
 * (WEFT_SHM=0). */
const struct weft_nodes *weft_nodes_of(struct weft_group *group);

/* The same from a number for each rank that is its node's, for ranks that call themselves `rank`. An
 * object from malloc, or NULL where nodes do not matter. */
struct weft_nodes *weft_nodes_arrange(const int32_t *label, int size, int rank);

/* For weft_group_release. */
void weft_nodes_forget(struct weft_nodes *nodes);

/* Frees the map of the job. */
void weft_nodes_finalize(void);

/* The place of a rank among those of its node. */
static inline int weft_nodes_place(const struct weft_nodes *nodes, int rank)
{
    int place = 0;
    while (nodes->order[nodes->begin[nodes->node[rank]] + place] != rank)
        place++;
    return place;
}

static inline int weft_nodes_size(const struct weft_nodes *nodes, int node)
{
    return nodes->begin[node + 1] - nodes->begin[node];
}

#endif
