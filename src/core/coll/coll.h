// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collective operations: what is asked for, and how it is run. A collective is a schedule
 * (core/coll/schedule.h) that a builder writes from the arguments and the engine carries out over
 * point-to-point messages on the communicator's collective channel: now (blocking), in the
 * background (nonblocking), or as often as the user likes (persistent).
 *
 * Invariants:
 *  - Which algorithm runs follows from what every rank of a correct program passes alike: the size
 *    of the communicator, the bytes of data (count times the size of the type), the operation.
 *    Never from the type map, the address or the timing, which may differ between ranks.
 *  - A reduction combines the same operands in the same order whenever size, root, count, type and
 *    operation are the same, and in the order of ranks unless the operation is commutative.
 *  - A failed message does not end the pattern: the rank goes on sending and receiving, or the
 *    others would wait for it for ever. The last error is the result, because its sentence is the
 *    one that MPI_Error_string tells.
 *  - Every collective call on a communicator takes the next sequence number, also one that fails
 *    before anything is sent: so ranks stay in step, and what one of them did not receive is never
 *    taken for a message of a later call.
 *
 * Functions return an MPI error class after saying its sentence. MPI_ERR_NO_MEM is returned before
 * anything was sent.
 */
#ifndef WEFT_COLL_H
#define WEFT_COLL_H

#include "core/coll/elements.h"
#include "core/comm/comm.h"
#include "core/coll/op.h"
#include "core/pt2pt/request.h"

#include <stdbool.h>

/* The kind is part of the tag: where ranks call different ones, their messages do not match, so the
 * report of a hang names them instead of wrong data going unnoticed. */
enum weft_coll_kind {
    WEFT_COLL_BARRIER,
    WEFT_COLL_BCAST,
    WEFT_COLL_REDUCE,
    WEFT_COLL_ALLREDUCE,
    WEFT_COLL_GATHER,
    WEFT_COLL_GATHERV,
    WEFT_COLL_SCATTER,
    WEFT_COLL_SCATTERV,
    WEFT_COLL_ALLGATHER,
    WEFT_COLL_ALLGATHERV,
    WEFT_COLL_ALLTOALL,
    WEFT_COLL_ALLTOALLV,
    WEFT_COLL_ALLTOALLW,
    WEFT_COLL_REDUCE_SCATTER,
    WEFT_COLL_REDUCE_SCATTER_BLOCK,
    WEFT_COLL_SCAN,
    WEFT_COLL_EXSCAN,
    WEFT_COLL_NEIGHBOR_ALLGATHER,
    WEFT_COLL_NEIGHBOR_ALLGATHERV,
    WEFT_COLL_NEIGHBOR_ALLTOALL,
    WEFT_COLL_NEIGHBOR_ALLTOALLV,
    WEFT_COLL_NEIGHBOR_ALLTOALLW,
    WEFT_COLL_KINDS /* how many there are; at most 32 fit into a tag */
};

/*
 * The arguments of a collective, checked and resolved. `in` is what the rank gives, `out` what it
 * gets; nothing is MPI_IN_PLACE.
 *
 *  - One buffer where there is one: in.at, in.count, in.type are the data of a broadcast (at every
 *    rank), a reduction's or scan's operand, what a rank gives to a gather; out is what it gets from
 *    a scatter. A reduction's result goes to out.at.
 *  - Blocks where there are some: a scatter's in, a gather's out, both of alltoall. A reduce_scatter
 *    has in.count elements in all; its out has as many elements as the rank's own of out.counts, or
 *    out.count where there are none.
 *  - In place: in.at == out.at for reductions and scans, `in` is the own block of `out` for gathers
 *    and the reverse for scatters; then the copy of the own data is none. alltoall has `in_place`,
 *    and `in` does not count.
 */
struct weft_coll_args {
    enum weft_coll_kind kind;
    struct weft_comm *comm;
    struct weft_blocks in, out;
    const struct weft_op *op;
    int root; /* of an inter-communicator: also MPI_ROOT, MPI_PROC_NULL */
    bool in_place;
};

struct weft_schedule;

/* Runs a collective to its end. */
int weft_coll_run(const struct weft_coll_args *args);

/* Starts a collective; *request completes with it. */
int weft_coll_start(const struct weft_coll_args *args, struct weft_request **request);

/* Makes an inactive persistent request for a collective, for weft_coll_restart to start. */
int weft_coll_init(const struct weft_coll_args *args, struct weft_request **request);
void weft_coll_restart(struct weft_request *request);

/* Whether any collective of this process went wrong. */
bool weft_coll_any_failed(void);

/* Takes the sequence number of a call whose arguments turned out to be wrong. */
void weft_coll_skip(struct weft_comm *comm, bool persistent);

/* ---- The usual ones, blocking, for the core's own use */

int weft_coll_barrier(struct weft_comm *comm);

/* The data of root becomes everybody's. */
int weft_coll_bcast(struct weft_comm *comm, struct weft_elements data, int root);

/* Combines the elements `in` of all ranks; the result, bit by bit the same, is at `out` of all
 * ranks. in.at == out is in place. */
int weft_coll_allreduce(struct weft_comm *comm, struct weft_elements in, void *out,
                        const struct weft_op *op);

/* Puts the elements `in` of rank r behind r blocks of `out` at root; out.count is that of one
 * block, and out is not looked at elsewhere. In place: `in` is the own block. */
int weft_coll_gather(struct weft_comm *comm, struct weft_elements in, struct weft_elements out,
                     int root);

/* The same with the result on every rank. */
int weft_coll_allgather(struct weft_comm *comm, struct weft_elements in, struct weft_elements out);

/* ---- For weft.c and request.c */

/* Moves every active schedule along; called by weft_progress while weft_coll_active is not NULL.
 * Returns the number of schedules that moved. */
extern WEFT_HIDDEN struct weft_schedule *weft_coll_active;
int weft_coll_progress(void);

/* Gives back what a persistent collective's request holds. */
void weft_coll_release(struct weft_request *request);

/* Frees what the engine keeps for reuse. */
void weft_coll_finalize(void);

/* ---- For reports */

/* "MPI_Allreduce". */
const char *weft_coll_name(enum weft_coll_kind kind);

/* What a tag on a collective channel belongs to: "MPI_Allreduce", or "a collective". */
const char *weft_coll_name_of_tag(int tag);

/* Calls see(arg, text) with a line for each collective under way: "MPI_Allreduce (doubling) on
 * MPI_COMM_WORLD: step 3 of 7, receive from rank 2". */
void weft_coll_each_active(void (*see)(void *arg, const char *text), void *arg);

#endif
