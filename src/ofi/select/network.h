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
 * Invariant: the result of a search depends only on the lists that it began with and that were
 * added, so every rank that adds those of all nodes, one by one or by summaries, gets the same.
 * Calls neither libfabric nor the system, except for weft_network_machine.
 */
#ifndef WEFT_NETWORK_H
#define WEFT_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WEFT_NETWORKS = 24, WEFT_NETWORK_TEXT = 192 };

struct weft_network {
    uint64_t id;      /* a hash of the provider and the name of the network; above 2 */
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

/* The result of a search so far, for the networks of rank 0's node. */
struct weft_network_summary {
    uint32_t count;    /* of these networks */
    int32_t best_rank; /* of the best provider that a node has opened, 0 without a node */
    int32_t best_node; /* the first such node */
    struct {
        uint32_t sum;                 /* of its positions in the lists */
        int32_t lacking;              /* the first node that has it not or poorly, or 0 */
        uint8_t missing, poor, moves; /* 1 if a node has it not, poorly, has opened another */
        uint8_t pad;
    } of[WEFT_NETWORKS];
};

/* The search: starts with the list of rank 0's node, against which those of all nodes are compared,
 * that one, too. Nodes are added in ascending order. */
struct weft_network_search {
    struct weft_network_list first;
    struct weft_network_summary all;
};

void weft_network_begin(struct weft_network_search *search, const struct weft_network_list *list);
void weft_network_add(struct weft_network_search *search, int node,
                      const struct weft_network_list *list);

/* Adds all nodes of another search, which began with the same list: the result is that of adding
 * their lists. */
void weft_network_merge(struct weft_network_search *search,
                        const struct weft_network_summary *summary);

/* The bytes of a summary of so many networks. */
size_t weft_network_summary_bytes(uint32_t count);

/* The index of a rank among the lowest ranks of the nodes, ascending, or -1. */
int weft_network_node(const int32_t *nodes, int count, int rank);

/* True if a summary of so many bytes is one of a search that began as this one, of such nodes. */
bool weft_network_summary_valid(const struct weft_network_search *search,
                                const struct weft_network_summary *summary, size_t bytes,
                                const int32_t *nodes, int count);

/* A node that lacks what best_node has opened: that of rank 0, unless it is best_node itself. */
int weft_network_lacking(const struct weft_network_search *search);

/* The network that all nodes share: the best by suitability, the provider's rank, then the
 * positions in the lists of all nodes; NULL if there is none. *moves: some node has opened another.
 */
const struct weft_network *weft_network_shared(const struct weft_network_search *search,
                                               bool *moves);

#endif
