// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table of rules: see choose.h.
 *
 * The limits follow from the messages of the algorithms; those of bcast, reduce, allreduce and
 * allgather from measurements (4 ranks over tcp;ofi_rxm on loopback, 2 cores). bench/coll_tune
 * measures another machine, for WEFT_COLL_*.
 *
 * Invariant: the first option of a family has no requirements; it is used if no rule fits.
 */
#include "core/coll/choose.h"

#include "core/base/settings.h"

#include <stdint.h>

#define FAMILY(family, members, bytes)                                                             \
#family, members, bytes, offsetof(struct weft_settings, coll_##family)

enum { KiB = 1024 };

const struct weft_coll_family weft_coll_families[] = {
    {FAMILY(barrier, "MPI_Barrier", "none"),
     {{WEFT_ALGORITHM_DISSEMINATION, 0},
      {WEFT_ALGORITHM_DOUBLING, WEFT_NEED_POWER_OF_TWO},
      {WEFT_ALGORITHM_NODES, WEFT_NEED_NODES},
      {WEFT_ALGORITHM_QUADNOMIAL, WEFT_NEED_OVERSUBSCRIBED}},
     /* Doubling sends size * log2(size) messages, a tree 2 * (size - 1) on more levels. If ranks
      * outnumber cores, fewer messages are faster: 4 ranks on 2 cores take 0.65 to 0.85 x as long.
      */
     {{WEFT_ALGORITHM_NODES, SIZE_MAX, 0, 0},
      {WEFT_ALGORITHM_DOUBLING, SIZE_MAX, 2, 0},
      {WEFT_ALGORITHM_QUADNOMIAL, SIZE_MAX, 0, 0},
      {WEFT_ALGORITHM_DOUBLING, SIZE_MAX, 0, 0},
      {WEFT_ALGORITHM_DISSEMINATION, SIZE_MAX, 0, 0}}},
    {FAMILY(bcast, "MPI_Bcast", "all data"),
     {{WEFT_ALGORITHM_BINOMIAL, 0},
      {WEFT_ALGORITHM_SCATTER_RING, 0},
      {WEFT_ALGORITHM_CHAIN, 0},
      {WEFT_ALGORITHM_NODES, WEFT_NEED_NODES},
      {WEFT_ALGORITHM_QUADNOMIAL, 0}},
     /* A tree with three children per level has half as many levels, and sends 1.5 x as much in
      * sequence: 16 KiB take 1.3 us at 100 Gbit/s, a level 2 us.
      * The binomial tree sends all data log2(size) times in sequence, scatter_ring twice, the
      * chain once, but each rank starts later than the previous one, so the chain is for few
      * ranks. 4 ranks on 2 cores, chain against tree: 0.5 x the time at 128 and 256 KiB, 0.7
      * to 1.1 x up to 1 MiB; scatter_ring: 1.3 x at 1 MiB. With scatter_ring a rank has size - 1
      * messages, or 2 * log2(size) if the blocks are short: bcast.c. */
     {{WEFT_ALGORITHM_NODES, SIZE_MAX, 0, 0},
      {WEFT_ALGORITHM_BINOMIAL, SIZE_MAX, 2, 0},
      {WEFT_ALGORITHM_QUADNOMIAL, 16 * KiB, 0, 0},
      {WEFT_ALGORITHM_BINOMIAL, 128 * KiB, 0, 0},
      {WEFT_ALGORITHM_CHAIN, SIZE_MAX, 8, 0},
      {WEFT_ALGORITHM_SCATTER_RING, 2048 * KiB, 0, 0},
      {WEFT_ALGORITHM_CHAIN, SIZE_MAX, 16, 0},
      {WEFT_ALGORITHM_SCATTER_RING, SIZE_MAX, 0, 0}}},
    {FAMILY(reduce, "MPI_Reduce", "one operand"),
     {{WEFT_ALGORITHM_BINOMIAL, 0},
      {WEFT_ALGORITHM_HALVING, 0},
      {WEFT_ALGORITHM_NODES, WEFT_NEED_NODES},
      {WEFT_ALGORITHM_QUADNOMIAL, 0}},
     /* Short operands as in a broadcast. The tree sends and combines all data log2(size) times,
      * halving twice, in twice as many rounds that wait for a partner. 4 ranks on 2 cores, tree
      * against halving: 0.56 x the time at 128 KiB, 0.44 x at 1 MiB. */
     {{WEFT_ALGORITHM_NODES, SIZE_MAX, 0, 0},
      {WEFT_ALGORITHM_QUADNOMIAL, 16 * KiB, 0, 0},
      {WEFT_ALGORITHM_BINOMIAL, SIZE_MAX, 4, 0},
      {WEFT_ALGORITHM_BINOMIAL, 128 * KiB, 0, 0},
      {WEFT_ALGORITHM_HALVING, SIZE_MAX, 0, 0}}},
    {FAMILY(allreduce, "MPI_Allreduce", "one operand"),
     {{WEFT_ALGORITHM_DOUBLING, 0},
      {WEFT_ALGORITHM_HALVING, 0},
      {WEFT_ALGORITHM_NODES, WEFT_NEED_NODES}},
     /* Doubling sends the operand log2(size) times, halving twice, with twice as many messages: of
      * 32 ranks 2.5 x the bytes in half of the rounds, which at 100 Gbit/s and 2 us a round take as
      * long at 40 KiB. Measured:
      * 1.5 x the time at 64 KiB, the same at 1 MiB, with 4 ranks. With 16 and more doubling takes
      * 1.5 to 1.7 x the time of halving at 64 KiB (bench/coll_cost). */
     {{WEFT_ALGORITHM_NODES, SIZE_MAX, 0, 0},
      {WEFT_ALGORITHM_DOUBLING, 128 * KiB, 8, 0},
      {WEFT_ALGORITHM_DOUBLING, 64 * KiB, 0, 0},
      {WEFT_ALGORITHM_HALVING, SIZE_MAX, 0, 0}}},
    {FAMILY(gather, "MPI_Gather (MPI_Gatherv: linear)", "one block"),
     {{WEFT_ALGORITHM_LINEAR, 0},
      {WEFT_ALGORITHM_BINOMIAL, WEFT_NEED_EQUAL_BLOCKS},
      {WEFT_ALGORITHM_NODES, WEFT_NEED_NODES | WEFT_NEED_EQUAL_BLOCKS}},
     /* With the tree the root has fewer messages, in log2(size) rounds instead of one, and each
      * block is copied once per level. 31 messages take 9 us at 0.3 us each, five rounds of 2 us
      * 10 us. Of longer blocks a message takes longer than its start, so that copies at the leader
      * of a node gain nothing. */
     {{WEFT_ALGORITHM_NODES, 4 * KiB, 0, 0},
      {WEFT_ALGORITHM_LINEAR, SIZE_MAX, 32, 0},
      {WEFT_ALGORITHM_BINOMIAL, 4 * KiB, 0, 0},
      {WEFT_ALGORITHM_LINEAR, SIZE_MAX, 0, 0}}},
    {FAMILY(scatter, "MPI_Scatter (MPI_Scatterv: linear)", "one block"),
     {{WEFT_ALGORITHM_LINEAR, 0},
      {WEFT_ALGORITHM_BINOMIAL, WEFT_NEED_EQUAL_BLOCKS},
      {WEFT_ALGORITHM_NODES, WEFT_NEED_NODES | WEFT_NEED_EQUAL_BLOCKS}},
     {{WEFT_ALGORITHM_NODES, 4 * KiB, 0, 0},
      {WEFT_ALGORITHM_LINEAR, SIZE_MAX, 32, 0},
      {WEFT_ALGORITHM_BINOMIAL, 4 * KiB, 0, 0},
      {WEFT_ALGORITHM_LINEAR, SIZE_MAX, 0, 0}}},
    {FAMILY(allgather, "MPI_Allgather, MPI_Allgatherv", "all blocks together"),
     {{WEFT_ALGORITHM_RING, 0},
      {WEFT_ALGORITHM_BRUCK, 0},
      {WEFT_ALGORITHM_DOUBLING, WEFT_NEED_POWER_OF_TWO | WEFT_NEED_EQUAL_BLOCKS},
      {WEFT_ALGORITHM_NODES, WEFT_NEED_NODES},
      {WEFT_ALGORITHM_QUADNOMIAL, WEFT_NEED_EQUAL_BLOCKS | WEFT_NEED_OVERSUBSCRIBED},
      {WEFT_ALGORITHM_LINEAR, 0}},
     /* Doubling and Bruck send log2(size) messages, the ring size - 1; Bruck copies all data twice
      * more. 4 blocks of 16 KiB, doubling against ring: 0.77 x the time; equal from 64 KiB.
      * Quadnomial: as for the barrier. A message of the ring takes as long as two copies of 25 KiB
      * (10 us, 5 GB/s), so with more ranks longer data go in log2(size) messages. Their last one
      * has half of the data: above the eager limit, 64 KiB, it waits for two messages more, and few
      * ranks send their blocks at once (linear) in the time of one message. */
     {{WEFT_ALGORITHM_NODES, SIZE_MAX, 0, 0},
      {WEFT_ALGORITHM_RING, SIZE_MAX, 2, 0},
      {WEFT_ALGORITHM_QUADNOMIAL, 32 * KiB, 0, 0},
      {WEFT_ALGORITHM_DOUBLING, 128 * KiB + 1, 0, 0},
      {WEFT_ALGORITHM_LINEAR, SIZE_MAX, 9, 0},
      {WEFT_ALGORITHM_BRUCK, 128 * KiB + 1, 0, 0},
      {WEFT_ALGORITHM_LINEAR, 1024 * KiB, 32, 0},
      {WEFT_ALGORITHM_DOUBLING, SIZE_MAX, 0, 0},
      {WEFT_ALGORITHM_BRUCK, 256 * KiB, 0, 0},
      {WEFT_ALGORITHM_RING, SIZE_MAX, 16, 0},
      {WEFT_ALGORITHM_BRUCK, 512 * KiB, 0, 0},
      {WEFT_ALGORITHM_RING, SIZE_MAX, 64, 0},
      {WEFT_ALGORITHM_BRUCK, 2048 * KiB, 0, 0},
      {WEFT_ALGORITHM_RING, SIZE_MAX, 256, 0},
      {WEFT_ALGORITHM_BRUCK, 8192 * KiB, 0, 0},
      {WEFT_ALGORITHM_RING, SIZE_MAX, 1024, 0},
      {WEFT_ALGORITHM_BRUCK, 32768 * KiB, 0, 0},
      {WEFT_ALGORITHM_RING, SIZE_MAX, 0, 0}}},
    {FAMILY(alltoall, "MPI_Alltoall, MPI_Alltoallv, MPI_Alltoallw", "one block"),
     {{WEFT_ALGORITHM_LINEAR, 0},
      {WEFT_ALGORITHM_PAIRWISE, 0},
      {WEFT_ALGORITHM_BRUCK, WEFT_NEED_EQUAL_BLOCKS},
      {WEFT_ALGORITHM_NODES, WEFT_NEED_NODES | WEFT_NEED_EQUAL_BLOCKS}},
     /* Through nodes a rank sends one message to each other node, but copies each block three
      * times and sends it twice: of longer blocks that takes longer than the start of a message. */
     {{WEFT_ALGORITHM_LINEAR, SIZE_MAX, 8, 0},
      {WEFT_ALGORITHM_NODES, 256, 0, 0},
      {WEFT_ALGORITHM_LINEAR, 32 * KiB, 32, 0},
      {WEFT_ALGORITHM_BRUCK, 256, 0, 0},
      {WEFT_ALGORITHM_LINEAR, 32 * KiB, 0, 0},
      {WEFT_ALGORITHM_PAIRWISE, SIZE_MAX, 0, 0}}},
    {FAMILY(reduce_scatter, "MPI_Reduce_scatter, MPI_Reduce_scatter_block", "one operand"),
     {{WEFT_ALGORITHM_HALVING, 0},
      {WEFT_ALGORITHM_PAIRWISE, WEFT_NEED_COMMUTATIVE},
      {WEFT_ALGORITHM_NODES, WEFT_NEED_NODES},
      {WEFT_ALGORITHM_LINEAR, 0}},
     /* Both send size - 1 blocks; halving in log2(size) messages, few of them between nodes with
      * several ranks, but it needs twice the operand in memory, and copies. Pairwise against
      * halving: 3 ranks 0.5 to 1.0 x the time; 4 ranks 1.2 to 1.6 x up to 1 MiB, 0.76 x at 4 MiB;
      * 8 ranks 1.5 x up to 2 MiB, 0.7 x at 8 MiB. If the number of ranks is no power of two,
      * halving sends all of the operand once more, which takes longer than messages of 2 KiB to all
      * ranks (bench/coll_cost): up to 9 ranks send short blocks at once, too (linear). Longer ones
      * as in an allgather. */
     {{WEFT_ALGORITHM_NODES, SIZE_MAX, 0, 0},
      {WEFT_ALGORITHM_PAIRWISE, SIZE_MAX, 3, 0},
      {WEFT_ALGORITHM_HALVING, 4096 * KiB, 8, WEFT_NEED_POWER_OF_TWO},
      {WEFT_ALGORITHM_HALVING, 128 * KiB + 1, 0, WEFT_NEED_POWER_OF_TWO},
      {WEFT_ALGORITHM_LINEAR, 1024 * KiB, 32, WEFT_NEED_POWER_OF_TWO},
      {WEFT_ALGORITHM_HALVING, 4096 * KiB, 0, WEFT_NEED_POWER_OF_TWO},
      {WEFT_ALGORITHM_PAIRWISE, SIZE_MAX, 8, WEFT_NEED_POWER_OF_TWO},
      {WEFT_ALGORITHM_HALVING, SIZE_MAX, 0, WEFT_NEED_POWER_OF_TWO},
      {WEFT_ALGORITHM_LINEAR, 1024 * KiB, 9, 0},
      {WEFT_ALGORITHM_HALVING, 8 * KiB, 0, 0},
      {WEFT_ALGORITHM_PAIRWISE, SIZE_MAX, 8, 0},
      {WEFT_ALGORITHM_LINEAR, 1024 * KiB, 16, 0},
      {WEFT_ALGORITHM_HALVING, 32 * KiB, 0, 0},
      {WEFT_ALGORITHM_LINEAR, 1024 * KiB, 32, 0},
      {WEFT_ALGORITHM_HALVING, 128 * KiB, 0, 0},
      {WEFT_ALGORITHM_PAIRWISE, SIZE_MAX, 64, 0},
      {WEFT_ALGORITHM_HALVING, 512 * KiB, 0, 0},
      {WEFT_ALGORITHM_PAIRWISE, SIZE_MAX, 256, 0},
      {WEFT_ALGORITHM_HALVING, SIZE_MAX, 0, 0}}},
    {FAMILY(scan, "MPI_Scan, MPI_Exscan", "one operand"),
     {{WEFT_ALGORITHM_DOUBLING, 0}, {WEFT_ALGORITHM_NODES, WEFT_NEED_NODES}},
     /* Doubling sends up to log2(size) times what a chain of all ranks sends, in log2(size) rounds
      * instead of size - 1. If the ranks of a node are not consecutive, nodes gathers all operands
      * everywhere: of 16 ranks in as many bytes as doubling sends. */
     {{WEFT_ALGORITHM_NODES, SIZE_MAX, 0, WEFT_NEED_IN_ORDER},
      {WEFT_ALGORITHM_NODES, 16 * KiB, 16, 0},
      {WEFT_ALGORITHM_NODES, 256, 128, 0},
      {WEFT_ALGORITHM_DOUBLING, SIZE_MAX, 0, 0}}},
    {"neighbor",
     "MPI_Neighbor_*",
     "none",
     0,
     {{WEFT_ALGORITHM_LINEAR, 0}},
     {{WEFT_ALGORITHM_LINEAR, SIZE_MAX, 0, 0}}},
    {NULL, NULL, NULL, 0, {{0}}, {{0}}}};

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

static const struct {
    const char *name;
    int family; /* index in weft_coll_families */
} kinds[WEFT_COLL_KINDS] = {
    [WEFT_COLL_BARRIER] = {"MPI_Barrier", BARRIER},
    [WEFT_COLL_BCAST] = {"MPI_Bcast", BCAST},
    [WEFT_COLL_REDUCE] = {"MPI_Reduce", REDUCE},
    [WEFT_COLL_ALLREDUCE] = {"MPI_Allreduce", ALLREDUCE},
    [WEFT_COLL_GATHER] = {"MPI_Gather", GATHER},
    [WEFT_COLL_GATHERV] = {"MPI_Gatherv", GATHER},
    [WEFT_COLL_SCATTER] = {"MPI_Scatter", SCATTER},
    [WEFT_COLL_SCATTERV] = {"MPI_Scatterv", SCATTER},
    [WEFT_COLL_ALLGATHER] = {"MPI_Allgather", ALLGATHER},
    [WEFT_COLL_ALLGATHERV] = {"MPI_Allgatherv", ALLGATHER},
    [WEFT_COLL_ALLTOALL] = {"MPI_Alltoall", ALLTOALL},
    [WEFT_COLL_ALLTOALLV] = {"MPI_Alltoallv", ALLTOALL},
    [WEFT_COLL_ALLTOALLW] = {"MPI_Alltoallw", ALLTOALL},
    [WEFT_COLL_REDUCE_SCATTER] = {"MPI_Reduce_scatter", REDUCE_SCATTER},
    [WEFT_COLL_REDUCE_SCATTER_BLOCK] = {"MPI_Reduce_scatter_block", REDUCE_SCATTER},
    [WEFT_COLL_SCAN] = {"MPI_Scan", SCAN},
    [WEFT_COLL_EXSCAN] = {"MPI_Exscan", SCAN},
    [WEFT_COLL_NEIGHBOR_ALLGATHER] = {"MPI_Neighbor_allgather", NEIGHBOR},
    [WEFT_COLL_NEIGHBOR_ALLGATHERV] = {"MPI_Neighbor_allgatherv", NEIGHBOR},
    [WEFT_COLL_NEIGHBOR_ALLTOALL] = {"MPI_Neighbor_alltoall", NEIGHBOR},
    [WEFT_COLL_NEIGHBOR_ALLTOALLV] = {"MPI_Neighbor_alltoallv", NEIGHBOR},
    [WEFT_COLL_NEIGHBOR_ALLTOALLW] = {"MPI_Neighbor_alltoallw", NEIGHBOR},
};

const char *weft_coll_name(enum weft_coll_kind kind)
{
    return kinds[kind].name;
}

const struct weft_coll_family *weft_coll_family_of(enum weft_coll_kind kind)
{
    return &weft_coll_families[kinds[kind].family];
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
        [WEFT_ALGORITHM_SHARED] = "shared",
    };
    return names[algorithm];
}

static bool fits(const struct weft_coll_family *family, enum weft_algorithm algorithm,
                 unsigned gives)
{
    for (int i = 0; i < WEFT_COLL_OPTIONS; i++)
        if (family->options[i].algorithm == algorithm)
            return !(family->options[i].needs & ~gives);
    return false;
}

/* The algorithm of the setting, or WEFT_ALGORITHM_AUTO. */
static enum weft_algorithm by_setting(const struct weft_coll_family *family)
{
    int setting =
        family->setting ? *(const int *)((const char *)&weft_settings + family->setting) : 0;
    weft_assert(setting >= 0 && setting <= WEFT_COLL_OPTIONS);
    return setting ? family->options[setting - 1].algorithm : WEFT_ALGORITHM_AUTO;
}

bool weft_coll_is_set(enum weft_coll_kind kind)
{
    return by_setting(weft_coll_family_of(kind)) != WEFT_ALGORITHM_AUTO;
}

enum weft_algorithm weft_coll_choose(const struct weft_choice *choice)
{
    const struct weft_coll_family *family = weft_coll_family_of(choice->kind);
    enum weft_algorithm set = by_setting(family);
    unsigned gives = choice->gives;
    if (!(choice->size & (choice->size - 1)))
        gives |= WEFT_NEED_POWER_OF_TWO;
    if (set != WEFT_ALGORITHM_AUTO && !choice->by_rules &&
        fits(family, set, gives | WEFT_NEED_OVERSUBSCRIBED))
        return set;
    for (const struct weft_coll_rule *rule = family->rules;
         rule < family->rules + WEFT_COLL_RULES && rule->algorithm != WEFT_ALGORITHM_AUTO; rule++)
        if (choice->bytes < rule->below && (!rule->ranks || choice->size <= rule->ranks) &&
            !(rule->needs & ~gives) && fits(family, rule->algorithm, gives))
            return rule->algorithm;
    return family->options[0].algorithm;
}
