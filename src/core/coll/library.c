// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collectives for the library's own use: see coll.h.
 */
#include "core/coll/coll.h"
#include "core/coll/schedule.h"
#include "core/coll/shared.h"
#include "core/progress/progress.h"

static struct weft_blocks one(struct weft_elements elements)
{
    return (struct weft_blocks){.at = elements.at, .count = elements.count, .type = elements.type};
}

/* A call of MPI may have several collectives, of which a rank that fails omits the last ones. So
 * after a death the ranks may be at different ones, and none of these begins. */
static int run(struct weft_comm *comm, enum weft_coll_kind kind, struct weft_elements in,
               struct weft_elements out, int root, const struct weft_op *op)
{
    if (weft_unlikely(weft_comm_is_broken(comm)))
        return weft_comm_report_broken(comm);
    struct weft_coll_args args = {
        .kind = kind, .comm = comm, .in = one(in), .out = one(out), .op = op, .root = root};
    return weft_coll_run(&args);
}

int weft_coll_barrier(struct weft_comm *comm)
{
    struct weft_elements nothing = weft_elements_of_bytes(NULL, 0);
    return run(comm, WEFT_COLL_BARRIER, nothing, nothing, 0, NULL);
}

int weft_coll_last_barrier(struct weft_comm *comm)
{
    struct weft_blocks nothing = one(weft_elements_of_bytes(NULL, 0));
    struct weft_coll_args args = {
        .kind = WEFT_COLL_BARRIER, .comm = comm, .in = nothing, .out = nothing};
    enum weft_fault fault;
    comm->outlasts_deaths = true;
    return weft_coll_run_schedule(&args, -1, &fault);
}

int weft_coll_bcast(struct weft_comm *comm, struct weft_elements data, int root)
{
    return run(comm, WEFT_COLL_BCAST, data, data, root, NULL);
}

int weft_coll_allreduce(struct weft_comm *comm, struct weft_elements in, void *out,
                        const struct weft_op *op)
{
    return run(comm, WEFT_COLL_ALLREDUCE, in, (struct weft_elements){out, in.count, in.type}, 0,
               op);
}

int weft_coll_allgather(struct weft_comm *comm, struct weft_elements in, struct weft_elements out)
{
    return run(comm, WEFT_COLL_ALLGATHER, in, out, 0, NULL);
}

/* The arguments of weft_coll_allgather_among. */
struct among {
    const int *ranks;
    int n, mine;
    struct weft_elements in;
    struct weft_blocks out;
};

static void build_among(struct weft_schedule *s, void *arg)
{
    const struct among *a = arg;
    weft_schedule_among(s, a->ranks, a->n, a->mine);
    s->algorithm =
        weft_schedule_choose(s, WEFT_COLL_ALLGATHER, (size_t)a->n * weft_elements_bytes(a->in));
    weft_build_allgather(s, a->in, &a->out, s->algorithm);
}

int weft_coll_allgather_among(struct weft_comm *comm, const int *ranks, int n, int mine,
                              struct weft_elements in, struct weft_elements out)
{
    struct among among = {ranks, n, mine, in, one(out)};
    struct weft_request *request;
    size_t bytes;
    weft_assert(ranks[mine] == comm->rank && in.count == out.count);
    if (n == comm->size)
        return weft_coll_allgather(comm, in, out);
    if (weft_unlikely(weft_comm_is_broken(comm)))
        return weft_comm_report_broken(comm);
    struct weft_coll_args args = {
        .kind = WEFT_COLL_ALLGATHER, .comm = comm, .in = one(in), .out = one(out)};
    int code = weft_coll_start_steps(&args, build_among, &among, &request);
    return code == MPI_SUCCESS ? weft_request_end(request, &bytes) : code;
}

const struct weft_comm_collectives weft_coll_for_comm = {.bcast = weft_coll_bcast,
                                                         .allreduce = weft_coll_allreduce,
                                                         .allgather = weft_coll_allgather,
                                                         .refuse = weft_coll_refuse,
                                                         .forget = weft_coll_forget,
                                                         .words = weft_shared_agree_words,
                                                         .wake = weft_shared_agree_wake};
