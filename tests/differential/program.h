// SPDX-License-Identifier: BSD-3-Clause
/*
 * Random valid MPI programs whose results the standard determines: what the parts of program.c
 * share.
 *
 * A program is a list of operations; each is a whole of its own (all of its messages are received,
 * all of its requests completed), so that a program without some of them is valid too. What an
 * operation does follows from the seed and its index, alike on every rank.
 *
 * Invariants:
 *  - Nothing depends on what the standard leaves open: the order of completion, matching by any
 * source among several, the rounding of floating-point sums, reordered ranks.
 *  - Ranks without a communicator in a slot skip the operations on it; all ranks of a communicator
 * have it in the same slot.
 */
#ifndef WEFT_DIFFERENTIAL_H
#define WEFT_DIFFERENTIAL_H

#include <mpi.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMMS = 5, TYPES = 6, BYTES_MAX = 1 << 16, EXTENT_MAX = 1500, SIZE_MAX_BYTES = 700 };

extern int world_rank, world_size;

struct slot {
    MPI_Comm comm; /* MPI_COMM_NULL: none */
    bool inter;
};
extern struct slot comms[COMMS];

struct type {
    MPI_Datatype type;
    int size;
    MPI_Aint extent;
    bool ints;   /* all basic types are MPI_INT */
    bool mixed;  /* basic types of several kinds */
    bool marked; /* its bounds were set: resized, subarray, darray, or made of such */
};
extern struct type types[TYPES];
#define INT_TYPE                                                                                   \
    ((struct type){.type = MPI_INT, .size = sizeof(int), .extent = sizeof(int), .ints = true})

/* The next random number of the operation, from 0 to below - 1. */
int below(int n);
/* Adds a result to those that are compared. */
void note(int64_t value);
void note_bytes(const void *from, size_t bytes);
void note_status(const MPI_Status *status, MPI_Datatype type);

/* A slot, and its communicator. False: this rank has none, or one of the other kind. */
bool pick_comm(MPI_Comm *comm, bool inter);

/* The same without inter-communicators, with this process's rank there and the number of ranks. */
bool pick_ranks(MPI_Comm *comm, int *rank, int *ranks);
struct type *pick_type(void);

/* Memory for count elements of a type: what is sent is filled with a pattern, what is received with
 * -1. Freed after the operation. */
void *to_send(const struct type *type, int count, int pattern);
void *to_receive(const struct type *type, int count);
size_t bytes_of(const struct type *type, int count);

/* Operations */
void do_exchange(void);
void do_shift(void);
void do_persistent(void);
void do_partitioned(void);
void do_cancel(void);
void do_reduction(void);
void do_movement(void);
void do_vector(void);
void do_inter(void);
void do_comm(void);
void do_group(void);
void do_attribute(void);
void do_topology(void);
void do_type(void);
void do_pack(void);
void do_file(void);

/* Completes a collective in one of three ways: blocking, nonblocking, persistent. MPICH 4.0 ends
 * the process in MPI_Allgatherv_init, and Open MPI 4 has no persistent collectives: they block
 * there. */
#if MPI_VERSION >= 4 && !defined(MPICH_NUMVERSION)
#define START(way, request, name, ...)                                                             \
    do {                                                                                           \
        if ((way) == 0) {                                                                          \
            MPI_##name(__VA_ARGS__);                                                               \
        } else if ((way) == 1) {                                                                   \
            MPI_I##name##_(__VA_ARGS__, request);                                                  \
            MPI_Wait(request, MPI_STATUS_IGNORE);                                                  \
        } else {                                                                                   \
            MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, request);                                \
            MPI_Start(request);                                                                    \
            MPI_Wait(request, MPI_STATUS_IGNORE);                                                  \
            MPI_Request_free(request);                                                             \
        }                                                                                          \
    } while (0)
#else
#define START(way, request, name, ...)                                                             \
    do {                                                                                           \
        if ((way) != 1) {                                                                          \
            MPI_##name(__VA_ARGS__);                                                               \
        } else {                                                                                   \
            MPI_I##name##_(__VA_ARGS__, request);                                                  \
            MPI_Wait(request, MPI_STATUS_IGNORE);                                                  \
        }                                                                                          \
    } while (0)
#endif
/* The nonblocking forms by the names of the blocking ones. */
#define MPI_IBarrier_              MPI_Ibarrier
#define MPI_IBcast_                MPI_Ibcast
#define MPI_IReduce_               MPI_Ireduce
#define MPI_IAllreduce_            MPI_Iallreduce
#define MPI_IReduce_scatter_       MPI_Ireduce_scatter
#define MPI_IReduce_scatter_block_ MPI_Ireduce_scatter_block
#define MPI_IScan_                 MPI_Iscan
#define MPI_IExscan_               MPI_Iexscan
#define MPI_IGather_               MPI_Igather
#define MPI_IScatter_              MPI_Iscatter
#define MPI_IAllgather_            MPI_Iallgather
#define MPI_IAlltoall_             MPI_Ialltoall
#define MPI_IGatherv_              MPI_Igatherv
#define MPI_IScatterv_             MPI_Iscatterv
#define MPI_IAllgatherv_           MPI_Iallgatherv
#define MPI_IAlltoallv_            MPI_Ialltoallv
#define MPI_IAlltoallw_            MPI_Ialltoallw
#define MPI_INeighbor_allgather_   MPI_Ineighbor_allgather
#define MPI_INeighbor_alltoall_    MPI_Ineighbor_alltoall
#define MPI_INeighbor_allgatherv_  MPI_Ineighbor_allgatherv
#define MPI_INeighbor_alltoallv_   MPI_Ineighbor_alltoallv

#endif
