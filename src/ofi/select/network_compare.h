// SPDX-License-Identifier: BSD-3-Clause
/*
 * The comparison of the nodes' lists, to find the network that all nodes share (network.h).
 *
 * Each node reads the lists of all, or, in large jobs, the comparison has two levels: nodes are in
 * groups of about the square root of their number, in order. The first node of a group reads the
 * lists of the group and publishes a summary, and each node reads the summaries of all groups.
 *
 * Invariant: every node gets the same result, which is that of reading the lists of all.
 */
#ifndef WEFT_NETWORK_COMPARE_H
#define WEFT_NETWORK_COMPARE_H

#include "ofi/select/network.h"

/* The nodes of a comparison, by their lowest ranks, and how their data are read. The functions end
 * the job if that fails. */
struct weft_network_nodes {
    const int32_t *rank; /* ascending; rank[0] is 0 */
    int count;
    int group; /* nodes of a group; 0: one level */
    void *arg;
    void (*read_list)(void *arg, int rank, struct weft_network_list *list);
    void (*read_summary)(void *arg, int rank, const struct weft_network_search *search,
                         struct weft_network_summary *summary);
};

/* The value of `group` for so many nodes, of which at most so many are compared on one level. */
int weft_network_group(int nodes, int one_level);

/* True if the node at an index publishes the summary of its group. */
bool weft_network_leads(const struct weft_network_nodes *nodes, int index);

/* The nodes of the group that begins at an index. */
void weft_network_search_group(const struct weft_network_nodes *nodes, int index,
                               struct weft_network_search *search);

/* All nodes. On two levels: after the summaries have been published. */
void weft_network_search_all(const struct weft_network_nodes *nodes,
                             struct weft_network_search *search);

#endif
