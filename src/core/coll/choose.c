// SPDX-License-Identifier: BSD-3-Clause
/*
 * The decision table: see choose.h.
 *
 * The limits follow from what the algorithms send. Those of bcast, reduce, allreduce and allgather
 * were corrected by short measurements: 4 ranks over tcp;ofi_rxm on loopback, on a virtual machine
 * with 2 cores. bench/coll_tune measures them on another machine; then set WEFT_COLL_*.
 *
 * Invariant: the last rule of a family has no limit and an algorithm that needs nothing, or the
 * family's first option needs nothing: that is what runs when no rule fits.
 */
#include "core/coll/choose.h"

#include "core/object/settings.h"

#include <stdint.h>

#define SETTING(member) offsetof(struct weft_settings, member)

enum { KiB = 1024 };

const struct weft_coll_family weft_coll_families[] = {
    {"barrier",
     "MPI_Barrier",
     "none",
     SETTING(coll_barrier),
     {{WEFT_ALGORITHM_DISSEMINATION, 0},
      {WEFT_ALGORITHM_DOUBLING, WEFT_NEED_POWER_OF_TWO},
      {WEFT_ALGORITHM_NODES, WEFT_NEED_NODES},
      {WEFT_ALGORITHM_QUADNOMIAL, WEFT_NEED_OVERSUBSCRIBED}},
     /* In pairs there are size * log2(size) messages at once, up and down a tree 2 * (size - 1), one
      * level after the other. Where ranks wait for cores and not for messages, each message less is
      * time: 4 ranks on 2 cores took 0.65 to 0.85 x as long. */
     {{WEFT_ALGORITHM_NODES, SIZE_MAX, 0},
      {WEFT_ALGORITHM_DOUBLING, SIZE_MAX, 2},
      {WEFT_ALGORITHM_QUADNOMIAL, SIZE_MAX, 0},
      {WEFT_ALGORITHM_DOUBLING, SIZE_MAX, 0},
      {WEFT_ALGORITHM_DISSEMINATION, SIZE_MAX, 0}}},
    {"bcast",
     "MPI_Bcast",
     "all data",
     SETTING(coll_bcast),
     {{WEFT_ALGORITHM_BINOMIAL, 0},
      {WEFT_ALGORITHM_QUADNOMIAL, 0},
      {WEFT_ALGORITHM_SCATTER_RING, 0},
      {WEFT_ALGORITHM_CHAIN, 0},
      {WEFT_ALGORITHM_NODES, WEFT_NEED_NODES}},
     /* The tree sends all data log2(size) times one after the other, scatter and ring send it twice,
      * the chain once, but each rank later than the one before: it is for few ranks. 4 ranks on 2
      * cores, one bcast after the other: 0.5 x the tree's time at 128 and 256 KiB, between 0.7 and
      * 1.1 up to 1 MiB; scatter and ring took 1.3 x the tree's at 1 MiB. */
     {{WEFT_ALGORITHM_NODES, SIZE_MAX, 0},
      {WEFT_ALGORITHM_BINOMIAL, SIZE_MAX, 2},
      {WEFT_ALGORITHM_BINOMIAL, 128 * KiB, 0},
      {WEFT_ALGORITHM_CHAIN, SIZE_MAX, 8},
      {WEFT_ALGORITHM_SCATTER_RING, SIZE_MAX, 0}}},
    {"reduce",
     "MPI_Reduce",
     "one operand",
     SETTING(coll_reduce),
     {{WEFT_ALGORITHM_BINOMIAL, 0},
      {WEFT_ALGORITHM_QUADNOMIAL, 0},
      {WEFT_ALGORITHM_HALVING, 0},
      {WEFT_ALGORITHM_NODES, WEFT_NEED_NODES}},
     /* The tree sends and combines all data log2(size) times, halving twice in all, in as many
      * rounds more, each of which waits for its partner: 4 ranks on 2 cores took 0.56 x as long by
      * the tree at 128 KiB, 0.44 x at 1 MiB. */
     {{WEFT_ALGORITHM_NODES, SIZE_MAX, 0},
      {WEFT_ALGORITHM_BINOMIAL, SIZE_MAX, 4},
      {WEFT_ALGORITHM_BINOMIAL, 128 * KiB, 0},
      {WEFT_ALGORITHM_HALVING, SIZE_MAX, 0}}},
    {"allreduce",
     "MPI_Allreduce",
     "one operand",
     SETTING(coll_allreduce),
     {{WEFT_ALGORITHM_DOUBLING, 0},
      {WEFT_ALGORITHM_HALVING, 0},
      {WEFT_ALGORITHM_RING, WEFT_NEED_COMMUTATIVE},
      {WEFT_ALGORITHM_NODES, WEFT_NEED_NODES}},
     /* Doubling sends the whole operand log2(size) times, halving twice in all but with twice as
      * many messages. Measured: 1.5 x as long with halving at 64 KiB, the same at 1 MiB. */
     {{WEFT_ALGORITHM_NODES, SIZE_MAX, 0},
      {WEFT_ALGORITHM_DOUBLING, 128 * KiB, 0},
      {WEFT_ALGORITHM_HALVING, SIZE_MAX, 0}}},
    {"gather",
     "MPI_Gather (MPI_Gatherv: linear)",
     "one block",
     SETTING(coll_gather),
     {{WEFT_ALGORITHM_LINEAR, 0}, {WEFT_ALGORITHM_BINOMIAL, WEFT_NEED_EQUAL_BLOCKS}},
     /* The tree saves the root size messages, but copies each block once a level. */
     {{WEFT_ALGORITHM_LINEAR, SIZE_MAX, 2},
      {WEFT_ALGORITHM_BINOMIAL, 4 * KiB, 0},
      {WEFT_ALGORITHM_LINEAR, SIZE_MAX, 0}}},
    {"scatter",
     "MPI_Scatter (MPI_Scatterv: linear)",
     "one block",
     SETTING(coll_scatter),
     {{WEFT_ALGORITHM_LINEAR, 0}, {WEFT_ALGORITHM_BINOMIAL, WEFT_NEED_EQUAL_BLOCKS}},
     {{WEFT_ALGORITHM_LINEAR, SIZE_MAX, 2},
      {WEFT_ALGORITHM_BINOMIAL, 4 * KiB, 0},
      {WEFT_ALGORITHM_LINEAR, SIZE_MAX, 0}}},
    {"allgather",
     "MPI_Allgather, MPI_Allgatherv",
     "all blocks together",
     SETTING(coll_allgather),
     {{WEFT_ALGORITHM_RING, 0},
      {WEFT_ALGORITHM_BRUCK, 0},
      {WEFT_ALGORITHM_DOUBLING, WEFT_NEED_POWER_OF_TWO | WEFT_NEED_EQUAL_BLOCKS},
      {WEFT_ALGORITHM_NODES, WEFT_NEED_NODES},
      {WEFT_ALGORITHM_QUADNOMIAL, WEFT_NEED_EQUAL_BLOCKS | WEFT_NEED_OVERSUBSCRIBED}},
     /* Doubling and Bruck send log2(size) messages, the ring size - 1; Bruck copies all data twice
      * more. 4 blocks of 16 KiB took doubling 0.77 x the ring's time, from 64 KiB on there is no
      * winner. To one rank and down a tree: as for the barrier. */
     {{WEFT_ALGORITHM_NODES, SIZE_MAX, 0},
      {WEFT_ALGORITHM_RING, SIZE_MAX, 2},
      {WEFT_ALGORITHM_QUADNOMIAL, 32 * KiB, 0},
      {WEFT_ALGORITHM_DOUBLING, 128 * KiB, 0},
      {WEFT_ALGORITHM_BRUCK, 128 * KiB, 0},
      {WEFT_ALGORITHM_RING, SIZE_MAX, 0}}},
    {"alltoall",
     "MPI_Alltoall, MPI_Alltoallv, MPI_Alltoallw",
     "one block",
     SETTING(coll_alltoall),
     {{WEFT_ALGORITHM_LINEAR, 0},
      {WEFT_ALGORITHM_PAIRWISE, 0},
      {WEFT_ALGORITHM_BRUCK, WEFT_NEED_EQUAL_BLOCKS}},
     {{WEFT_ALGORITHM_LINEAR, SIZE_MAX, 8},
      {WEFT_ALGORITHM_BRUCK, 256, 0},
      {WEFT_ALGORITHM_LINEAR, 32 * KiB, 0},
      {WEFT_ALGORITHM_PAIRWISE, SIZE_MAX, 0}}},
    {"reduce_scatter",
     "MPI_Reduce_scatter, MPI_Reduce_scatter_block",
     "one operand",
     SETTING(coll_reduce_scatter),
     {{WEFT_ALGORITHM_HALVING, 0}, {WEFT_ALGORITHM_PAIRWISE, WEFT_NEED_COMMUTATIVE}},
     {{WEFT_ALGORITHM_HALVING, 512 * KiB, 0},
      {WEFT_ALGORITHM_PAIRWISE, SIZE_MAX, 0},
      {WEFT_ALGORITHM_HALVING, SIZE_MAX, 0}}},
    {"scan",
     "MPI_Scan, MPI_Exscan",
     "one operand",
     SETTING(coll_scan),
     {{WEFT_ALGORITHM_DOUBLING, 0}, {WEFT_ALGORITHM_CHAIN, 0}},
     {{WEFT_ALGORITHM_DOUBLING, SIZE_MAX, 0}}},
    {"neighbor",
     "MPI_Neighbor_*",
     "none",
     0,
     {{WEFT_ALGORITHM_LINEAR, 0}},
     {{WEFT_ALGORITHM_LINEAR, SIZE_MAX, 0}}},
    {NULL, NULL, NULL, 0, {{WEFT_ALGORITHM_AUTO, 0}}, {{WEFT_ALGORITHM_AUTO, 0, 0}}},
};

enum {
    BARRIER,
    BCAST,
    REDUCE,
    ALLREDUCE,
    GATHER,
    SCATTER,
    ALLGATHER,
    ALLTOALL,
    REDUCE_SCATTER,
    SCAN,
    NEIGHBOR
};

static const uint8_t family_of[WEFT_COLL_KINDS] = {
    [WEFT_COLL_BARRIER] = BARRIER,
    [WEFT_COLL_BCAST] = BCAST,
    [WEFT_COLL_REDUCE] = REDUCE,
    [WEFT_COLL_ALLREDUCE] = ALLREDUCE,
    [WEFT_COLL_GATHER] = GATHER,
    [WEFT_COLL_GATHERV] = GATHER,
    [WEFT_COLL_SCATTER] = SCATTER,
    [WEFT_COLL_SCATTERV] = SCATTER,
    [WEFT_COLL_ALLGATHER] = ALLGATHER,
    [WEFT_COLL_ALLGATHERV] = ALLGATHER,
    [WEFT_COLL_ALLTOALL] = ALLTOALL,
    [WEFT_COLL_ALLTOALLV] = ALLTOALL,
    [WEFT_COLL_ALLTOALLW] = ALLTOALL,
    [WEFT_COLL_REDUCE_SCATTER] = REDUCE_SCATTER,
    [WEFT_COLL_REDUCE_SCATTER_BLOCK] = REDUCE_SCATTER,
    [WEFT_COLL_SCAN] = SCAN,
    [WEFT_COLL_EXSCAN] = SCAN,
    [WEFT_COLL_NEIGHBOR_ALLGATHER] = NEIGHBOR,
    [WEFT_COLL_NEIGHBOR_ALLGATHERV] = NEIGHBOR,
    [WEFT_COLL_NEIGHBOR_ALLTOALL] = NEIGHBOR,
    [WEFT_COLL_NEIGHBOR_ALLTOALLV] = NEIGHBOR,
    [WEFT_COLL_NEIGHBOR_ALLTOALLW] = NEIGHBOR,
};

const struct weft_coll_family *weft_coll_family_of(enum weft_coll_kind kind)
{
    return &weft_coll_families[family_of[kind]];
}

const char *weft_algorithm_name(enum weft_algorithm algorithm)
{
    static const char *const names[WEFT_ALGORITHMS] = {
        [WEFT_ALGORITHM_AUTO] = "auto",
        [WEFT_ALGORITHM_DISSEMINATION] = "dissemination",
        [WEFT_ALGORITHM_LINEAR] = "linear",
        [WEFT_ALGORITHM_BINOMIAL] = "binomial",
        [WEFT_ALGORITHM_QUADNOMIAL] = "quadnomial",
        [WEFT_ALGORITHM_SCATTER_RING] = "scatter_ring",
        [WEFT_ALGORITHM_DOUBLING] = "doubling",
        [WEFT_ALGORITHM_HALVING] = "halving",
        [WEFT_ALGORITHM_RING] = "ring",
        [WEFT_ALGORITHM_BRUCK] = "bruck",
        [WEFT_ALGORITHM_PAIRWISE] = "pairwise",
        [WEFT_ALGORITHM_CHAIN] = "chain",
        [WEFT_ALGORITHM_NODES] = "nodes",
    };
    return names[algorithm];
}

static bool fits(const struct weft_coll_family *family, enum weft_algorithm algorithm,
                 const struct weft_choice *choice)
{
    for (int i = 0; i < WEFT_COLL_OPTIONS; i++)
        if (family->options[i].algorithm == algorithm)
            return !(family->options[i].needs & ~choice->gives);
    return false;
}

/* What the user's setting says, or AUTO. */
static enum weft_algorithm chosen(const struct weft_coll_family *family)
{
    int setting =
        family->setting ? *(const int *)((const char *)&weft_settings + family->setting) : 0;
    return setting ? family->options[setting - 1].algorithm : WEFT_ALGORITHM_AUTO;
}

enum weft_algorithm weft_coll_choose(const struct weft_choice *choice)
{
    const struct weft_coll_family *family = weft_coll_family_of(choice->kind);
    enum weft_algorithm users = chosen(family);
    struct weft_choice anywhere = *choice;
    anywhere.gives |= WEFT_NEED_OVERSUBSCRIBED;
    if (users != WEFT_ALGORITHM_AUTO && fits(family, users, &anywhere))
        return users;
    for (const struct weft_coll_rule *rule = family->rules;
         rule < family->rules + WEFT_COLL_RULES && rule->algorithm != WEFT_ALGORITHM_AUTO; rule++)
        if (choice->bytes < rule->below && (!rule->ranks || choice->size <= rule->ranks) &&
            fits(family, rule->algorithm, choice))
            return rule->algorithm;
    return family->options[0].algorithm;
}
