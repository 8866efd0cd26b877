// SPDX-License-Identifier: BSD-3-Clause
/*
 * Selects the algorithm of a collective: by the first rule of a table that fits, or by the setting
 * of the family of collectives.
 *
 * Invariant: the result depends on values that are the same at every rank, if all ranks have the
 * same settings.
 */
#ifndef WEFT_CHOOSE_H
#define WEFT_CHOOSE_H

#include "core/coll/coll.h"

#include <stdbool.h>
#include <stddef.h>

enum weft_algorithm {
    WEFT_ALGORITHM_AUTO,
    WEFT_ALGORITHM_DISSEMINATION, /* round k: to rank + 2^k */
    WEFT_ALGORITHM_LINEAR,        /* one message for each pair of ranks that share data */
    WEFT_ALGORITHM_BINOMIAL,      /* tree with one child per level */
    WEFT_ALGORITHM_QUADNOMIAL,    /* tree with three children per level */
    WEFT_ALGORITHM_SCATTER_RING,  /* scatter down a binomial tree, then allgather: around a ring,
                                     or of short blocks in log2(size) messages */
    WEFT_ALGORITHM_DOUBLING,      /* recursive doubling */
    WEFT_ALGORITHM_HALVING,       /* recursive halving, then the reverse */
    WEFT_ALGORITHM_RING,          /* to the next rank, size - 1 times */
    WEFT_ALGORITHM_BRUCK,         /* log2(size) messages for any size, with more copies */
    WEFT_ALGORITHM_PAIRWISE,      /* one pair of ranks after the other */
    WEFT_ALGORITHM_CHAIN,         /* from each rank to the next, pipelined */
    WEFT_ALGORITHM_NODES,         /* within nodes, among one leader of each node, within nodes */
    WEFT_ALGORITHM_SHARED,        /* no schedule: through shared memory (shared.c) */
    WEFT_ALGORITHMS
};

/* Requirements of an algorithm. */
enum weft_need {
    WEFT_NEED_COMMUTATIVE = 1,
    WEFT_NEED_POWER_OF_TWO = 2,    /* ranks: follows from weft_choice.size */
    WEFT_NEED_EQUAL_BLOCKS = 4,    /* not the v- and w-forms */
    WEFT_NEED_NODES = 8,           /* several nodes, one of them with several ranks; the ranks of
                                      each node are consecutive, or the operation is commutative.
                                      Scan: no condition; reduce_scatter: weft_nodes_scatter_sums;
                                      alltoall: weft_nodes_are_equal */
    WEFT_NEED_OVERSUBSCRIBED = 16, /* more ranks than cores, all on one node without shared memory;
                                      an algorithm that a setting names runs without it */
    WEFT_NEED_IN_ORDER = 32 /* besides WEFT_NEED_NODES: the ranks of each node are consecutive */
};

/* The properties of a collective that the rules test. */
struct weft_choice {
    enum weft_coll_kind kind;
    int size;
    size_t bytes;   /* of the data that weft_coll_family.bytes names */
    unsigned gives; /* enum weft_need: requirements that are met */
    bool by_rules;  /* the settings do not count, because those of other jobs may differ */
};

enum weft_algorithm weft_coll_choose(const struct weft_choice *choice);

/* True if a setting names the algorithm of a kind. */
bool weft_coll_is_set(enum weft_coll_kind kind);

/* "doubling". */
const char *weft_algorithm_name(enum weft_algorithm algorithm);

/* ---- For weft_info, the settings and tests */

struct weft_coll_option {
    enum weft_algorithm algorithm;
    unsigned needs; /* enum weft_need */
};

struct weft_coll_rule {
    enum weft_algorithm algorithm;
    size_t below;   /* for fewer bytes; SIZE_MAX: any number */
    int ranks;      /* for at most this number of ranks; 0: any */
    unsigned needs; /* besides those of the algorithm */
};

enum { WEFT_COLL_OPTIONS = 6, WEFT_COLL_RULES = 19 };

/* Collectives with the same algorithms. */
struct weft_coll_family {
    const char *name;    /* "allreduce": the setting is coll_allreduce; NULL ends the table */
    const char *members; /* "MPI_Scan, MPI_Exscan" */
    const char *bytes;   /* data whose bytes the rules compare: "one block" */
    size_t setting;      /* offset in struct weft_settings; 0: none */
    struct weft_coll_option options[WEFT_COLL_OPTIONS]; /* the setting's choices after auto */
    struct weft_coll_rule rules[WEFT_COLL_RULES];       /* WEFT_ALGORITHM_AUTO ends both lists */
};

extern const struct weft_coll_family weft_coll_families[];

/* The family of a kind. */
const struct weft_coll_family *weft_coll_family_of(enum weft_coll_kind kind);

#endif
