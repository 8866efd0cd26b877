// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collective operations over point-to-point messages on the communicator's collective channel.
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
 *  - No function returns, and no scratch memory is freed, while a request of its own is active.
 *
 * All functions return an MPI error class after saying its sentence. MPI_ERR_NO_MEM is returned
 * before anything was sent.
 */
#ifndef WEFT_COLL_H
#define WEFT_COLL_H

#include "core/comm.h"
#include "core/datatype.h"
#include "core/op.h"
#include "core/request.h"

/* count elements of a type at an address. */
struct weft_elements {
    void *at;
    size_t count;
    const struct weft_datatype *type;
};

/* ---- What MPI asks for. Arguments are checked and resolved; nothing is MPI_IN_PLACE. ---- */

int weft_coll_barrier(struct weft_comm *comm);

/* The data of root becomes everybody's. */
int weft_coll_bcast(struct weft_comm *comm, struct weft_elements data, int root);

/* Combines the elements `in` of all ranks at `out` of root; out is not looked at elsewhere. in.at
 * == out is in place. */
int weft_coll_reduce(struct weft_comm *comm, struct weft_elements in, void *out,
                     const struct weft_op *op, int root);

/* The same with the result, bit by bit, on every rank. */
int weft_coll_allreduce(struct weft_comm *comm, struct weft_elements in, void *out,
                        const struct weft_op *op);

/* Puts the elements `in` of rank r behind r blocks of `out` at root; out.count is that of one
 * block, and out is not looked at elsewhere. In place: `in` is the own block. */
int weft_coll_gather(struct weft_comm *comm, struct weft_elements in, struct weft_elements out,
                     int root);

/* The same with the result on every rank. */
int weft_coll_allgather(struct weft_comm *comm, struct weft_elements in, struct weft_elements out);

/* ---- What they are made of ---- */

/* One tag per kind of collective: where ranks call different ones, their messages do not match, so
 * the report of a hang names them instead of wrong data going unnoticed. */
enum weft_coll_tag {
    WEFT_COLL_BARRIER,
    WEFT_COLL_BCAST,
    WEFT_COLL_REDUCE,
    WEFT_COLL_ALLREDUCE,
    WEFT_COLL_GATHER,
    WEFT_COLL_ALLGATHER
};

/* The collective that is running. */
struct weft_coll {
    struct weft_comm *comm;
    int tag; /* enum weft_coll_tag */
};

/* Elements [first, first + count). */
static inline struct weft_elements weft_elements_slice(struct weft_elements of, size_t first,
                                                       size_t count)
{
    /* On integers: a null pointer with no elements is allowed, arithmetic on it is not. */
    uintptr_t at = (uintptr_t)of.at + first * (uintptr_t)of.type->extent;
    return (struct weft_elements){(void *)at, count, of.type};
}

/* Bytes of data, without holes. */
static inline size_t weft_elements_bytes(struct weft_elements of)
{
    return of.count * of.type->size;
}

/* So many bytes as elements of MPI_BYTE. */
struct weft_elements weft_elements_of_bytes(void *at, size_t bytes);

/* Copies data between buffers of as many bytes; holes stay as they are. Nothing happens when both
 * begin at the same address. */
void weft_elements_copy(struct weft_elements from, struct weft_elements to);

/* The elements' data without holes, to or from a row of bytes. */
static inline void weft_elements_pack(struct weft_elements from, void *to)
{
    weft_datatype_pack(from.type, from.at, 0, to, weft_elements_bytes(from));
}

static inline void weft_elements_unpack(const void *from, struct weft_elements to)
{
    weft_datatype_unpack(to.type, to.at, 0, from, weft_elements_bytes(to));
}

/* Memory for a collective's own elements. */
struct weft_scratch {
    void *memory;
    void *at; /* the address to use as buffer: memory, moved so that the type map lies in it */
};

/* Room for count elements. Returns MPI_SUCCESS or MPI_ERR_NO_MEM; memory is NULL then. */
int weft_scratch_get(struct weft_scratch *scratch, const struct weft_datatype *type, size_t count);
void weft_scratch_put(struct weft_scratch *scratch);

/* Blocking messages. A receive is an error as well when the message is not exactly as long as the
 * elements (MPI_ERR_COUNT when it is shorter): the ranks do not agree on the count. */
int weft_coll_send(struct weft_coll coll, int dest, struct weft_elements out);
int weft_coll_receive(struct weft_coll coll, int source, struct weft_elements in);
int weft_coll_exchange(struct weft_coll coll, int dest, struct weft_elements out, int source,
                       struct weft_elements in);

/* Starts a receive for weft_coll_finish; *request is NULL when that fails. */
int weft_coll_start(struct weft_coll coll, int source, struct weft_elements in,
                    struct weft_request **request);

/* Waits for a receive and gives its request back. */
int weft_coll_finish(struct weft_request *request);

/* Every rank r owns block (r - first) mod size of `all`, whose blocks are `block` elements long but
 * for the last ones, which may be cut short. Brings every block to every rank, around a ring. */
int weft_coll_ring(struct weft_coll coll, struct weft_elements all, size_t block, int first);

/* inout[i] = in[i] op inout[i]: the one place that calls an operation. Nothing overlaps. */
void weft_coll_combine(const struct weft_op *op, struct weft_elements in, void *inout);

/* ---- Reductions among a power of two of ranks (reduction.c) ---- */

/*
 * Beyond the greatest power of two there are `extra` ranks. The first 2 * extra ranks are folded:
 * each even one gives its data to its odd neighbour and takes part no more. Those who take part
 * have places 0, 1, …, in the order of ranks.
 */
struct weft_reduction {
    struct weft_coll coll;
    const struct weft_op *op;
    struct weft_elements mine; /* begins as the rank's own data, becomes the result */
    void *other;               /* room for as many elements */
    int levels;                /* 1 << levels ranks take part */
    int extra;
    int place; /* -1: folded away */
};

/* Fills levels, extra and place, and folds. */
int weft_reduction_fold(struct weft_reduction *r);

/* Gives folded ranks the result. */
int weft_reduction_unfold(struct weft_reduction *r);

/* Recursive doubling: at every level whole vectors are exchanged, and everybody who takes part ends
 * with the result; mine and other may have changed places. */
int weft_reduction_double(struct weft_reduction *r);

/* Recursive halving: ends with the part of the result in `mine` that weft_reduction_part names. */
int weft_reduction_halve(struct weft_reduction *r);

/* The part of `mine` that belongs to a place after so many levels of halving. */
struct weft_elements weft_reduction_part(const struct weft_reduction *r, int place, int levels);

/* Halving backwards: everybody who takes part gets all parts. */
int weft_reduction_collect(struct weft_reduction *r);

/* The rank of a place. */
static inline int weft_reduction_rank(const struct weft_reduction *r, int place)
{
    return place < r->extra ? 2 * place + 1 : place + r->extra;
}

#endif
