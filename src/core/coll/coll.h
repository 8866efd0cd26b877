// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collective operations: the interface of this folder. A builder translates the arguments into a
 * schedule (schedule.h); the engine executes it with point-to-point messages on the collective
 * channel of the communicator, blocking, nonblocking or persistent. Ranks of one node share memory
 * instead (shared.h).
 *
 * Invariants:
 *  - The algorithm depends only on values that are the same at every rank of a correct program: the
 *    size of the communicator, the bytes of data (count times type size), and the operation; not on
 *    type maps, addresses or timing.
 *  - A reduction with the same size, root, count, type and operation combines the same operands in
 *    the same order, and in the order of ranks unless the operation is commutative.
 *  - After a failed message the rank continues to send and receive, so that no other rank waits
 *    forever. The first error of this rank is the result, or else the first error of another rank;
 *    its sentence is recorded again at the end, because MPI_Error_string returns the last one.
 *  - Each collective call on a communicator takes the next sequence number, including one that
 *    fails before it sends. So all ranks use the same numbers, and a message that was not received
 *    is not matched by a later call. Such messages are dropped, when this rank refuses a call and
 *    before their numbers come back.
 *  - A rank whose arguments are wrong, or which has no memory for its schedule, sends nothing of
 *    the call, but a refusal to all others (refusal.h).
 *
 * Functions return MPI_SUCCESS or an MPI error class that was recorded.
 */
#ifndef WEFT_COLL_H
#define WEFT_COLL_H

#include "core/comm/comm.h"
#include "core/coll/op.h"
#include "core/datatype/elements.h"
#include "core/message/request.h"

#include <stdbool.h>

/* The tag contains the kind. If ranks call different collectives, their messages do not match,
 * and the hang report names both, instead of a delivery of wrong data. */
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
    WEFT_COLL_KINDS /* number of kinds, at most 30: tag.c */
};

/*
 * The arguments of a collective, checked and resolved: `in` is the send buffer, `out` the receive
 * buffer, neither is MPI_IN_PLACE.
 *
 *  - Single buffers: `in` of a broadcast (at all ranks), reduction, scan and gather, `out` of a
 *    scatter. The result of a reduction is at out.at.
 *  - Blocks: `in` of a scatter, `out` of a gather, both of alltoall. For reduce_scatter in.count is
 *    the sum of all blocks, out.arrays->counts[rank] or out.count are the elements of the result.
 *  - In place: in.at == out.at for reductions and scans; `in` is the rank's block of `out` for
 *    gathers, and the reverse for scatters, so that the copy of it is omitted. alltoall sets
 *    `in_place` and ignores `in`.
 */
struct weft_coll_args {
    enum weft_coll_kind kind;
    struct weft_comm *comm;
    struct weft_blocks in, out;
    const struct weft_op *op;
    int root; /* inter-communicator: also MPI_ROOT, MPI_PROC_NULL */
    bool in_place;
    bool device; /* buffers may be in device memory, with types of host memory: stage.h */
};

struct weft_schedule;

/* Executes a collective. */
int weft_coll_run(const struct weft_coll_args *args);

/* Starts a collective; *request completes with it. */
int weft_coll_start(const struct weft_coll_args *args, struct weft_request **request);

/* Makes an inactive persistent request for a collective, for its row to start. */
int weft_coll_init(const struct weft_coll_args *args, struct weft_request **request);

/* True if any collective of this process has failed. */
bool weft_coll_any_failed(void);

/* A call with invalid arguments: takes its sequence number, and sends the error class and its
 * sentence to the other ranks, whose calls end with it. */
void weft_coll_refuse(struct weft_comm *comm, bool persistent, int code);

/* Frees what a communicator keeps for its collectives: memory that its ranks share, and calls that
 * other ranks refused. */
void weft_coll_forget(struct weft_comm *comm);

/* ---- Blocking collectives for the library's own use */

int weft_coll_barrier(struct weft_comm *comm);

/* The last call on a communicator: if members have died, it waits for the living ones. */
int weft_coll_last_barrier(struct weft_comm *comm);

int weft_coll_bcast(struct weft_comm *comm, struct weft_elements data, int root);

/* The result is bitwise equal on all ranks. in.at == out is in place. */
int weft_coll_allreduce(struct weft_comm *comm, struct weft_elements in, void *out,
                        const struct weft_op *op);

/* out.count is the count of one block. */
int weft_coll_allgather(struct weft_comm *comm, struct weft_elements in, struct weft_elements out);

/* The same in each of several groups into which all ranks divide: this one is ranks[mine] of n,
 * valid during the call. Every rank calls it; the groups wait for no rank of another group. */
int weft_coll_allgather_among(struct weft_comm *comm, const int *ranks, int n, int mine,
                              struct weft_elements in, struct weft_elements out);

/* The row of weft_comm_collectives. */
extern const struct weft_comm_collectives weft_coll_for_comm;

/* ---- For progress, requests and finalization */

/* Advances the active schedules of a VCI; called by progress while coll.active is not NULL. Returns
 * the number of schedules that advanced. */
int weft_coll_progress(struct weft_vci *vci);

/* Requests of collectives, which complete with their schedules. */
extern const struct weft_request_ops weft_coll_request_ops;

/* Frees all schedules that are kept for reuse. */
void weft_coll_finalize(void);

/* ---- For reports */

/* "MPI_Allreduce". */
const char *weft_coll_name(enum weft_coll_kind kind);

/* The collective of a tag on a collective channel: "MPI_Allreduce", or "a collective". */
const char *weft_coll_name_of_tag(int tag);

/* Calls see(arg, text) with a line for each active collective: "MPI_Allreduce on MPI_COMM_WORLD
 * (doubling): waits in step 3 of 7, receive from rank 2". */
void weft_coll_each_active(void (*see)(void *arg, const char *text), void *arg);

#endif
