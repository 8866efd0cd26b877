// SPDX-License-Identifier: BSD-3-Clause
/*
 * Which algorithm a collective uses: a table of rules, first fit, and a setting for each family of
 * collectives that overrides it.
 *
 * Invariant: the answer follows from values that are the same at every rank, as long as the ranks
 * have the same settings.
 */
#ifndef WEFT_CHOOSE_H
#define WEFT_CHOOSE_H

#include "core/coll/coll.h"

#include <stdbool.h>
#include <stddef.h>

enum weft_algorithm {
    WEFT_ALGORITHM_AUTO,
    WEFT_ALGORITHM_DISSEMINATION, /* round k: 2^k ranks further */
    WEFT_ALGORITHM_LINEAR,        /* every pair of ranks that has something to say speaks once */
    WEFT_ALGORITHM_BINOMIAL,      /* a tree in which the data double at each level */
    WEFT_ALGORITHM_QUADNOMIAL,    /* the same with three children a level */
    WEFT_ALGORITHM_SCATTER_RING,  /* pieces down a tree, then around a ring */
    WEFT_ALGORITHM_DOUBLING,      /* partners exchange all they have; 2, 4, 8 … know the same */
    WEFT_ALGORITHM_HALVING,       /* partners exchange halves, each combines its own; and back */
    WEFT_ALGORITHM_RING,          /* to the next rank, size - 1 times */
    WEFT_ALGORITHM_BRUCK,         /* log2(size) messages, for any size; data are copied more */
    WEFT_ALGORITHM_PAIRWISE,      /* one pair after the other */
    WEFT_ALGORITHM_CHAIN,         /* from rank to rank */
    WEFT_ALGORITHM_NODES,         /* within nodes, among one leader a node, within nodes */
    WEFT_ALGORITHMS
};

/* What an algorithm asks for. */
enum weft_need {
    WEFT_NEED_COMMUTATIVE = 1,
    WEFT_NEED_POWER_OF_TWO = 2,   /* ranks */
    WEFT_NEED_EQUAL_BLOCKS = 4,   /* not the v- and w-forms */
    WEFT_NEED_NODES = 8,          /* several nodes, and one with several ranks; those of each node
                                   neighbours, unless the operation commutes */
    WEFT_NEED_OVERSUBSCRIBED = 16 /* more ranks than cores, all on one node without shared memory;
                                     an algorithm that a setting names runs without it */
};

/* A collective as the rules see it. */
struct weft_choice {
    enum weft_coll_kind kind;
    int size;
    size_t bytes;   /* of what: see weft_coll_families */
    unsigned gives; /* enum weft_need: what of it holds */
};

enum weft_algorithm weft_coll_choose(const struct weft_choice *choice);

/* "doubling". */
const char *weft_algorithm_name(enum weft_algorithm algorithm);

/* ---- For weft_info, the settings and tests */

struct weft_coll_option {
    enum weft_algorithm algorithm;
    unsigned needs; /* enum weft_need */
};

struct weft_coll_rule {
    enum weft_algorithm algorithm;
    size_t below; /* for fewer bytes than that; SIZE_MAX: any */
    int ranks;    /* for at most so many ranks; 0: any */
};

enum { WEFT_COLL_OPTIONS = 5, WEFT_COLL_RULES = 6 };

/* Collectives that are done alike. */
struct weft_coll_family {
    const char *name;    /* "allreduce": the setting is coll_allreduce; NULL ends the table */
    const char *members; /* "MPI_Scan, MPI_Exscan" */
    const char *bytes;   /* which bytes the rules count, in words */
    size_t setting;      /* offset of the field in struct weft_settings; 0: there is none, because
                            there is one algorithm only */
    struct weft_coll_option options[WEFT_COLL_OPTIONS]; /* as in the setting's choices, after auto;
                                                           AUTO ends the list */
    struct weft_coll_rule rules[WEFT_COLL_RULES];       /* AUTO ends the list, or its end */
};

extern const struct weft_coll_family weft_coll_families[];

/* The family of a kind. */
const struct weft_coll_family *weft_coll_family_of(enum weft_coll_kind kind);

#endif
