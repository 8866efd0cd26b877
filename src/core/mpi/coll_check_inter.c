// SPDX-License-Identifier: BSD-3-Clause
/*
 * Checking the arguments of collectives on inter-communicators: nothing is in place there, blocks
 * are those of the other group, and a root passes MPI_ROOT, the others of its group MPI_PROC_NULL.
 *
 * Invariant: of a rank that passes MPI_PROC_NULL nothing else is looked at.
 */
#include "core/mpi/coll_check.h"
#include "core/base/error.h"

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

/* What a rank sends: blocks for all of the other group, or one thing. */
static int check_send(const struct weft_check *c, struct weft_coll_args *args, bool blocks,
                      bool vector)
{
    return weft_check_side(c, &c->call->send, vector, blocks ? c->comm->size : 1, &args->in,
                           "send");
}

static int check_receive(const struct weft_check *c, struct weft_coll_args *args, bool blocks,
                         bool vector)
{
    return weft_check_side(c, &c->call->receive, vector, blocks ? c->comm->size : 1, &args->out,
                           "receive");
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
        code = weft_check_side(c, &c->call->send, false, 1, &args->in, "data");
        args->out = args->in;
        return code;
    case WEFT_COLL_REDUCE:
        return weft_check_reduction(c, args);
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
    int code = check_send(c, args, !gather, vector && !gather);
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
        return weft_check_reduction(c, args);
    case WEFT_COLL_REDUCE_SCATTER:
    case WEFT_COLL_REDUCE_SCATTER_BLOCK:
        return weft_check_reduce_scatter(c, args);
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
