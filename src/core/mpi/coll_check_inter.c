// SPDX-License-Identifier: BSD-3-Clause
/*
 * Checking the arguments of collectives on inter-communicators: nothing is in place there, blocks
 * are those of the other group, and a root passes MPI_ROOT, the others of its group MPI_PROC_NULL.
 *
 * Invariant: of a rank that passes MPI_PROC_NULL nothing else is looked at.
 */
#include "core/mpi/coll_check.h"
#include "core/object/error.h"

static int check_root(const struct weft_check *c, struct weft_coll_args *args)
{
    int root = args->root = c->call->root;
    if (root == MPI_ROOT || root == MPI_PROC_NULL || (root >= 0 && root < c->comm->size))
        return MPI_SUCCESS;
    return weft_error_set(MPI_ERR_ROOT,
                          "root %d is neither MPI_ROOT nor MPI_PROC_NULL nor in the "
                          "other group, which has ranks 0 to %d",
                          root, c->comm->size - 1);
}

static int check_bcast(const struct weft_check *c, struct weft_coll_args *args)
{
    const struct weft_coll_side *data = &c->call->send;
    int code = weft_check_elements(data->count, data->type, 1, &args->in);
    if (code == MPI_SUCCESS)
        code = weft_check_buffer(c, data, 1, &args->in, "data");
    args->out = args->in;
    return code;
}

/* gives, gets: whether the rank has an operand, and a result. */
static int check_reduction(const struct weft_check *c, struct weft_coll_args *args, bool gives,
                           bool gets)
{
    const struct weft_coll_call *call = c->call;
    int code = weft_check_elements(call->send.count, call->send.type, 1, &args->in);
    if (code == MPI_SUCCESS)
        code = weft_check_op(c, args);
    args->out = args->in;
    if (code == MPI_SUCCESS && gets)
        code = weft_check_buffer(c, &call->receive, 1, &args->out, "receive");
    if (code == MPI_SUCCESS && gives)
        code = weft_check_buffer(c, &call->send, 1, &args->in, "send");
    if (code == MPI_SUCCESS && gives && gets && args->in.at == args->out.at &&
        weft_elements_bytes(weft_check_one(&args->in)))
        code = weft_check_same_memory(c);
    return code;
}

/* The parts are those of the own group. */
static int check_reduce_scatter(const struct weft_check *c, struct weft_coll_args *args)
{
    const struct weft_coll_call *call = c->call;
    bool block = call->kind == WEFT_COLL_REDUCE_SCATTER_BLOCK;
    size_t size = (size_t)c->comm->local->size;
    int code = block ? weft_check_elements(call->receive.count, call->send.type, size, &args->in)
                     : weft_check_parts(c, (int)size, args);
    if (code == MPI_SUCCESS)
        code = weft_check_op(c, args);
    if (code != MPI_SUCCESS)
        return code;
    args->out = args->in;
    if (block)
        args->in.count *= size;
    else
        args->out.count = (size_t)weft_int_of(call->receive.counts, c->comm->rank);
    code = weft_check_buffer(c, &call->receive, 1, &args->out, "receive");
    if (code == MPI_SUCCESS)
        code = weft_check_buffer(c, &call->send, 1, &args->in, "send");
    if (!block)
        args->out.counts = call->receive.counts;
    return code;
}

/* What a rank gives: blocks for all of the other group, or one thing. */
static int check_send(const struct weft_check *c, struct weft_coll_args *args, bool blocks,
                      bool vector)
{
    const struct weft_coll_side *side = &c->call->send;
    int n = blocks ? c->comm->size : 1;
    int code = blocks ? weft_check_blocks(side, vector, n, &args->in)
                      : weft_check_elements(side->count, side->type, 1, &args->in);
    return code ? code : weft_check_buffer(c, side, n, &args->in, "send");
}

static int check_receive(const struct weft_check *c, struct weft_coll_args *args, bool blocks,
                         bool vector)
{
    const struct weft_coll_side *side = &c->call->receive;
    int n = blocks ? c->comm->size : 1;
    int code = blocks ? weft_check_blocks(side, vector, n, &args->out)
                      : weft_check_elements(side->count, side->type, 1, &args->out);
    return code ? code : weft_check_buffer(c, side, n, &args->out, "receive");
}

/* Collectives with a root. */
static int check_rooted(const struct weft_check *c, struct weft_coll_args *args)
{
    int code = check_root(c, args);
    if (code != MPI_SUCCESS || args->root == MPI_PROC_NULL)
        return code;
    bool is_root = args->root == MPI_ROOT;
    switch (c->call->kind) {
    case WEFT_COLL_BCAST:
        return check_bcast(c, args);
    case WEFT_COLL_REDUCE:
        return check_reduction(c, args, !is_root, is_root);
    case WEFT_COLL_GATHER:
    case WEFT_COLL_GATHERV:
        return is_root ? check_receive(c, args, true, c->call->kind == WEFT_COLL_GATHERV)
                       : check_send(c, args, false, false);
    default:
        return is_root ? check_send(c, args, true, c->call->kind == WEFT_COLL_SCATTERV)
                       : check_receive(c, args, false, false);
    }
}

static int check_exchange(const struct weft_check *c, struct weft_coll_args *args)
{
    enum weft_coll_kind kind = c->call->kind;
    bool gather = kind == WEFT_COLL_ALLGATHER || kind == WEFT_COLL_ALLGATHERV;
    bool vector = kind != WEFT_COLL_ALLGATHER && kind != WEFT_COLL_ALLTOALL;
    int code = check_send(c, args, !gather, vector);
    return code ? code : check_receive(c, args, true, vector);
}

int weft_check_inter(const struct weft_check *c, struct weft_coll_args *args)
{
    switch (c->call->kind) {
    case WEFT_COLL_BARRIER:
        return MPI_SUCCESS;
    case WEFT_COLL_BCAST:
    case WEFT_COLL_REDUCE:
    case WEFT_COLL_GATHER:
    case WEFT_COLL_GATHERV:
    case WEFT_COLL_SCATTER:
    case WEFT_COLL_SCATTERV:
        return check_rooted(c, args);
    case WEFT_COLL_ALLREDUCE:
        return check_reduction(c, args, true, true);
    case WEFT_COLL_REDUCE_SCATTER:
    case WEFT_COLL_REDUCE_SCATTER_BLOCK:
        return check_reduce_scatter(c, args);
    case WEFT_COLL_ALLGATHER:
    case WEFT_COLL_ALLGATHERV:
    case WEFT_COLL_ALLTOALL:
    case WEFT_COLL_ALLTOALLV:
    case WEFT_COLL_ALLTOALLW:
        return check_exchange(c, args);
    default:
        return weft_error_set(MPI_ERR_COMM, "it is not defined on inter-communicators");
    }
}
