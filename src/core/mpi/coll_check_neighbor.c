// SPDX-License-Identifier: BSD-3-Clause
/*
 * Checking the arguments of neighbourhood collectives (MPI 5.0 section 8.6): blocks are those of
 * the neighbours, nothing is in place.
 *
 * Invariant: the blocks of neighbours that are MPI_PROC_NULL are checked like the others; they are
 * only not sent.
 */
#include "core/mpi/coll_check.h"
#include "core/object/error.h"
#include "core/comm/topology.h"

int weft_check_neighbor(const struct weft_check *c, struct weft_coll_args *args)
{
    const struct weft_coll_call *call = c->call;
    enum weft_coll_kind kind = call->kind;
    bool gather = kind == WEFT_COLL_NEIGHBOR_ALLGATHER || kind == WEFT_COLL_NEIGHBOR_ALLGATHERV;
    bool vector = kind != WEFT_COLL_NEIGHBOR_ALLGATHER && kind != WEFT_COLL_NEIGHBOR_ALLTOALL;
    int in, out, code;
    if (!c->comm->topology)
        return weft_error_set(MPI_ERR_TOPOLOGY,
                              "the communicator has no topology; MPI_Cart_create, "
                              "MPI_Dist_graph_create and their like make one that "
                              "has");
    weft_topology_degrees(c->comm, &in, &out);
    if (gather)
        code = weft_check_elements(call->send.count, call->send.type, 1, &args->in);
    else
        code = weft_check_blocks(&call->send, vector, out, &args->in);
    if (code == MPI_SUCCESS)
        code = weft_check_blocks(&call->receive, vector, in, &args->out);
    if (code == MPI_SUCCESS)
        code = weft_check_buffer(c, &call->send, gather ? 1 : out, &args->in, "send");
    if (code == MPI_SUCCESS)
        code = weft_check_buffer(c, &call->receive, in, &args->out, "receive");
    return code;
}
