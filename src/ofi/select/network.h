// SPDX-License-Identifier: BSD-3-Clause
/*
 * The networks of a node, and the one that all nodes of a job share.
 *
 * A network is a provider and either the prefix of an IP interface, or the name that libfabric
 * gives the fabric of an adapter. Interfaces that a route through a gateway leaves from count as
 * one more network of their IP version ("routed"), which is used if no prefix is shared. Loopback
 * is a network of its machine alone. Networks whose NICs the ranks of a node share because
 * WEFT_NICS lists these count as one more, which the nodes share if their sets are equal.
 *
 * Invariant: weft_network_shared depends only on the set of lists, so every rank that adds the same
 * lists, rank 0's first, gets the same result. Calls neither libfabric nor the system, except for
 * weft_network_machine.
 */
#ifndef WEFT_NETWORK_H
#define WEFT_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WEFT_NETWORKS = 24, WEFT_NETWORK_TEXT = 192 };

struct weft_network {
    uint64_t id;      /* a hash of the provider and the name of the network; never 0 or 1 */
    uint32_t address; /* a hash of the node's IP address there, or 0 */
    uint8_t rank;     /* of the provider */
    uint8_t poor;     /* the interface seldom reaches other nodes, see enum weft_fitness */
    uint8_t routed;   /* all interfaces with a gateway */
    uint8_t chosen;   /* the node's first rank has opened its endpoint there */
};

/* The networks of a node, in its order of preference. A node publishes it up to the last network.
 */
struct weft_network_list {
    uint64_t machine; /* differs between network namespaces and between hosts */
    uint32_t count, pad;
    char text[WEFT_NETWORK_TEXT]; /* for messages: "tcp;ofi_rxm on 10.1.0.0/16 (eth0)" */
    struct weft_network networks[WEFT_NETWORKS];
};

/* This machine, for weft_network_list. */
uint64_t weft_network_machine(void);

/* The id of a score's network on such a machine. */
struct weft_score;
uint64_t weft_network_id(const struct weft_score *score, uint64_t machine);

/* True if two scores are on one network. */
bool weft_network_same(const struct weft_score *a, const struct weft_score *b);

/* Lists the networks of the usable scores, of which scores[chosen] has been opened. If the
 * ranks of the node share NICs of several networks (WEFT_NICS), the first is the set of these. */
void weft_network_describe(const struct weft_score *scores, size_t count, size_t chosen,
                           uint64_t machine, struct weft_network_list *list);

/* True if a usable score is on that network. */
bool weft_network_has(const struct weft_score *score, uint64_t machine, uint64_t id);

/* True if the list has so many bytes and is well formed. */
bool weft_network_list_valid(const struct weft_network_list *list, size_t bytes);

/* The search: starts with the list of rank 0's node; the lists of other nodes are added. */
struct weft_network_search {
    struct weft_network_list first;
    int best_rank, best_node; /* the best provider that a node has opened */
    struct {
        uint32_t sum;              /* of its positions in the lists */
        int lacking;               /* the first node that has it not or poorly, or 0 */
        bool missing, poor, moves; /* of a node: has not, has poorly, has opened another */
    } of[WEFT_NETWORKS];
};

void weft_network_begin(struct weft_network_search *search, const struct weft_network_list *list);
void weft_network_add(struct weft_network_search *search, int node,
                      const struct weft_network_list *list);

/* A node that lacks what best_node has opened: that of rank 0, unless it is best_node itself. */
int weft_network_lacking(const struct weft_network_search *search);

/* The network that all nodes share: the best by suitability, the provider's rank, then the
 * positions in the lists of all nodes; NULL if there is none. *moves: some node has opened another.
 */
const struct weft_network *weft_network_shared(const struct weft_network_search *search,
                                               bool *moves);

#endif
