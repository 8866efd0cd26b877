// SPDX-License-Identifier: BSD-3-Clause
/*
 * The collectives that the core itself calls, and what reports say of collectives.
 */
#include "core/coll/coll.h"

#include "core/coll/schedule.h"

#include <stdio.h>

static struct weft_blocks one(struct weft_elements elements)
{
    return (struct weft_blocks){.at = elements.at, .count = elements.count, .type = elements.type};
}

int weft_coll_barrier(struct weft_comm *comm)
{
    struct weft_blocks nothing = one(weft_elements_of_bytes(NULL, 0));
    struct weft_coll_args args = {
        .kind = WEFT_COLL_BARRIER, .comm = comm, .in = nothing, .out = nothing};
    return weft_coll_run(&args);
}

int weft_coll_bcast(struct weft_comm *comm, struct weft_elements data, int root)
{
    struct weft_coll_args args = {
        .kind = WEFT_COLL_BCAST, .comm = comm, .in = one(data), .out = one(data), .root = root};
    return weft_coll_run(&args);
}

int weft_coll_allreduce(struct weft_comm *comm, struct weft_elements in, void *out,
                        const struct weft_op *op)
{
    struct weft_elements result = {out, in.count, in.type};
    struct weft_coll_args args = {
        .kind = WEFT_COLL_ALLREDUCE, .comm = comm, .in = one(in), .out = one(result), .op = op};
    return weft_coll_run(&args);
}

int weft_coll_gather(struct weft_comm *comm, struct weft_elements in, struct weft_elements out,
                     int root)
{
    struct weft_coll_args args = {
        .kind = WEFT_COLL_GATHER, .comm = comm, .in = one(in), .out = one(out), .root = root};
    return weft_coll_run(&args);
}

int weft_coll_allgather(struct weft_comm *comm, struct weft_elements in, struct weft_elements out)
{
    struct weft_coll_args args = {
        .kind = WEFT_COLL_ALLGATHER, .comm = comm, .in = one(in), .out = one(out)};
    return weft_coll_run(&args);
}

const char *weft_coll_name(enum weft_coll_kind kind)
{
    static const char *const names[WEFT_COLL_KINDS] = {
        [WEFT_COLL_BARRIER] = "MPI_Barrier",
        [WEFT_COLL_BCAST] = "MPI_Bcast",
        [WEFT_COLL_REDUCE] = "MPI_Reduce",
        [WEFT_COLL_ALLREDUCE] = "MPI_Allreduce",
        [WEFT_COLL_GATHER] = "MPI_Gather",
        [WEFT_COLL_GATHERV] = "MPI_Gatherv",
        [WEFT_COLL_SCATTER] = "MPI_Scatter",
        [WEFT_COLL_SCATTERV] = "MPI_Scatterv",
        [WEFT_COLL_ALLGATHER] = "MPI_Allgather",
        [WEFT_COLL_ALLGATHERV] = "MPI_Allgatherv",
        [WEFT_COLL_ALLTOALL] = "MPI_Alltoall",
        [WEFT_COLL_ALLTOALLV] = "MPI_Alltoallv",
        [WEFT_COLL_ALLTOALLW] = "MPI_Alltoallw",
        [WEFT_COLL_REDUCE_SCATTER] = "MPI_Reduce_scatter",
        [WEFT_COLL_REDUCE_SCATTER_BLOCK] = "MPI_Reduce_scatter_block",
        [WEFT_COLL_SCAN] = "MPI_Scan",
        [WEFT_COLL_EXSCAN] = "MPI_Exscan",
        [WEFT_COLL_NEIGHBOR_ALLGATHER] = "MPI_Neighbor_allgather",
        [WEFT_COLL_NEIGHBOR_ALLGATHERV] = "MPI_Neighbor_allgatherv",
        [WEFT_COLL_NEIGHBOR_ALLTOALL] = "MPI_Neighbor_alltoall",
        [WEFT_COLL_NEIGHBOR_ALLTOALLV] = "MPI_Neighbor_alltoallv",
        [WEFT_COLL_NEIGHBOR_ALLTOALLW] = "MPI_Neighbor_alltoallw",
    };
    return names[kind];
}

struct viewer {
    void (*see)(void *arg, const char *text);
    void *arg;
};

static void describe(void *arg, const struct weft_schedule *s)
{
    static const char *const deeds[] = {[WEFT_STEP_SEND] = "send to",
                                        [WEFT_STEP_RECEIVE] = "receive from",
                                        [WEFT_STEP_COPY] = "copy at",
                                        [WEFT_STEP_COMBINE] = "reduction at"};
    const struct viewer *viewer = arg;
    char text[400];
    if (!s->count)
        return;
    const struct weft_step *step = &s->steps[s->done < s->count ? s->done : 0];
    const char *name =
        s->comm->name && *s->comm->name ? s->comm->name : "a communicator without a name";
    snprintf(text, sizeof text, "%s%s on %.100s (%s): waits in step %u of %u, %s rank %d",
             s->request ? s->persistent ? "persistent " : "nonblocking " : "",
             weft_coll_name(s->kind), name, weft_algorithm_name(s->algorithm), s->done + 1,
             s->count, deeds[step->kind], step->peer);
    viewer->see(viewer->arg, text);
}

void weft_coll_each_active(void (*see)(void *arg, const char *text), void *arg)
{
    struct viewer viewer = {see, arg};
    weft_schedule_each_active(describe, &viewer);
}
