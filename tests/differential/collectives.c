// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collective operations of random programs: blocking, nonblocking and persistent, in place too.
 */
#include "program.h"

enum { RANKS = 16, PRIME = 10007 };

/* Composes functions x -> ax + b modulo a prime: associative, not commutative. */
static void compose(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int(*f)[2] = in, (*g)[2] = inout;
    (void)type;
    for (int i = 0; i < *count; i++) {
        g[i][1] = (int)(((int64_t)f[i][0] * g[i][1] + f[i][1]) % PRIME);
        g[i][0] = (int)((int64_t)f[i][0] * g[i][0] % PRIME);
    }
}

static void note_ints(const int *values, int n)
{
    for (int i = 0; i < n; i++)
        note(values[i]);
}

enum { REDUCE, ALLREDUCE, SCAN, EXSCAN, SCATTER_BLOCK, SCATTER, REDUCTIONS };

static void reduce(MPI_Comm comm, int kind, int *in, int *out, int count, MPI_Datatype type,
                   MPI_Op op, int root, int way, int rank, int ranks, bool in_place)
{
    MPI_Request request;
    int counts[RANKS], ints = type == MPI_INT ? 1 : 2;
    if (in_place)
        memcpy(out, in, sizeof(int) * (size_t)(ints * count * ranks));
    const void *from = in_place ? MPI_IN_PLACE : in;
    for (int i = 0; i < ranks; i++)
        counts[i] = (count + i) % 3;
    int own = counts[rank];
    switch (kind) {
    case REDUCE: /* in place at rank 0 only: MPICH 4.0 crashes at others */
        START(way, &request, Reduce, in_place && !root && !rank ? from : in, out, count, type, op,
              root, comm);
        if (rank == root)
            note_ints(out, ints * count);
        break;
    case ALLREDUCE:
        START(way, &request, Allreduce, from, out, count, type, op, comm);
        note_ints(out, ints * count);
        break;
    case SCAN:
        START(way, &request, Scan, from, out, count, type, op, comm);
        note_ints(out, ints * count);
        break;
    case EXSCAN:
        START(way, &request, Exscan, from, out, count, type, op, comm);
        if (rank)
            note_ints(out, ints * count);
        break;
    case SCATTER_BLOCK:
        START(way, &request, Reduce_scatter_block, from, out, count, type, op, comm);
        note_ints(out, ints * count);
        break;
    default:
        START(way, &request, Reduce_scatter, from, out, counts, type, op, comm);
        note_ints(out, ints * own);
    }
}

void do_reduction(void)
{
    const MPI_Op ops[] = {MPI_SUM,  MPI_MAX,  MPI_MIN, MPI_BAND,
                          MPI_BXOR, MPI_LAND, MPI_LOR, MPI_BOR};
    MPI_Comm comm;
    MPI_Op op;
    int rank, ranks;
    if (!pick_ranks(&comm, &rank, &ranks))
        return;
    int kind = below(REDUCTIONS), which = below(11), way = below(3), root = below(ranks);
    note(10 * kind + way);
    int count = below(4) ? below(8) : below(3000), n = 2 * (count + 2) * ranks;
    bool in_place = below(4) == 0;
    note(100 * which + in_place);
    note(count);
    MPI_Datatype type = which < 8 ? MPI_INT : MPI_2INT;
    const struct type ints = INT_TYPE;
    int *in = to_send(&ints, n, rank), *out = to_receive(&ints, n);
    for (int i = 0; i < n; i++)
        in[i] = which < 8 ? in[i] >> 8 : (int)((unsigned)in[i] % PRIME);
    if (which >= 9)
        MPI_Op_create(compose, 0, &op);
    else
        op = which == 8 ? (below(2) ? MPI_MAXLOC : MPI_MINLOC) : ops[which];
    reduce(comm, kind, in, out, count, type, op, root, way, rank, ranks, in_place);
    if (which >= 9)
        MPI_Op_free(&op);
}

enum { BARRIER, BCAST, GATHER, SCATTERS, ALLGATHER, ALLTOALL, MOVEMENTS };

void do_movement(void)
{
    MPI_Comm comm;
    MPI_Request request;
    int rank, ranks;
    if (!pick_ranks(&comm, &rank, &ranks))
        return;
    int kind = below(MOVEMENTS), way = below(3), root = below(ranks);
    note(10 * kind + way);
    struct type *type = pick_type();
    int count = below(4) ? below(6) : below(300);
    bool in_place = below(4) == 0;
    note(100 * in_place + count);
    int all = count * ranks;
    char *in = to_send(type, all, rank), *out = to_receive(type, all);
    char *own = out + type->extent * count * rank;
    MPI_Datatype t = type->type;
    switch (kind) {
    case BARRIER:
        START(way, &request, Barrier, comm);
        return;
    case BCAST:
        START(way, &request, Bcast, rank == root ? in : out, count, t, root, comm);
        break;
    case GATHER:
        if (in_place && rank == root)
            START(way, &request, Gather, MPI_IN_PLACE, 0, t, out, count, t, root, comm);
        else
            START(way, &request, Gather, in, count, t, out, count, t, root, comm);
        break;
    case SCATTERS:
        if (in_place && rank == root)
            START(way, &request, Scatter, in, count, t, MPI_IN_PLACE, 0, t, root, comm);
        else
            START(way, &request, Scatter, in, count, t, out, count, t, root, comm);
        break;
    case ALLGATHER:
        if (in_place)
            memcpy(own, in, (size_t)(type->extent * count));
        START(way, &request, Allgather, in_place ? MPI_IN_PLACE : in, count, t, out, count, t,
              comm);
        break;
    default:
        if (in_place)
            memcpy(out, in, (size_t)(type->extent * all));
        START(way, &request, Alltoall, in_place ? MPI_IN_PLACE : in, count, t, out, count, t, comm);
    }
    note_bytes(out, bytes_of(type, all));
}

/* With counts for each pair of ranks, and gaps. */
void do_vector(void)
{
    MPI_Comm comm;
    MPI_Request request;
    MPI_Datatype of[RANKS];
    int rank, ranks, counts[RANKS][RANKS], sent[RANKS], received[RANKS], from[RANKS], to[RANKS];
    if (!pick_ranks(&comm, &rank, &ranks))
        return;
    int kind = below(5), way = below(3), root = below(ranks), gap = below(3), out_all = 0,
        in_all = 0;
    note(10 * kind + way);
    struct type *type = pick_type();
    MPI_Datatype t = type->type;
    for (int i = 0; i < ranks; i++)
        for (int j = 0; j < ranks; j++)
            counts[i][j] = below(5);
    for (int i = 0; i < ranks; i++) {
        bool pairs = kind >= 3;
        sent[i] = pairs ? counts[rank][i] : counts[0][i];
        received[i] = pairs ? counts[i][rank] : counts[0][i];
        from[i] = out_all;
        to[i] = in_all;
        out_all += sent[i] + gap;
        in_all += received[i] + gap;
        of[i] = t;
    }
    char *out = to_send(type, out_all, rank), *in = to_receive(type, in_all);
#ifdef OPEN_MPI /* Open MPI 4 crashes in MPI_Ialltoallw */
    if (kind == 4)
        way = 0;
#endif
    switch (kind) {
    case 0:
        START(way, &request, Gatherv, out, sent[rank], t, in, received, to, t, root, comm);
        break;
    case 1:
        START(way, &request, Scatterv, out, sent, from, t, in, received[rank], t, root, comm);
        break;
    case 2:
        START(way, &request, Allgatherv, out, sent[rank], t, in, received, to, t, comm);
        break;
    case 3:
        START(way, &request, Alltoallv, out, sent, from, t, in, received, to, t, comm);
        break;
    default:
        for (int i = 0; i < ranks; i++) {
            from[i] *= (int)type->extent;
            to[i] *= (int)type->extent;
        }
        START(way, &request, Alltoallw, out, sent, from, of, in, received, to, of, comm);
    }
    note_bytes(in, bytes_of(type, in_all));
}

/* Between the two groups of an inter-communicator. */
void do_inter(void)
{
    MPI_Comm comm;
    MPI_Request request;
    int rank, ranks, others, side;
    if (!pick_comm(&comm, true))
        return;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    MPI_Comm_remote_size(comm, &others);
    int way = below(2), kind = below(5), count = below(6), all = count * (ranks + others);
    note(10 * kind + way);
    struct type *type = pick_type();
    char *in = to_send(type, all, world_rank), *out = to_receive(type, all);
    MPI_Datatype t = type->type;
    int sum = world_rank + 1, result = -1;
    side = world_rank % 2; /* make_inter in objects.c */
    int root = side ? (rank ? MPI_PROC_NULL : MPI_ROOT) : 0;
    switch (kind) {
    case 0:
        START(way, &request, Allreduce, &sum, &result, 1, MPI_INT, MPI_SUM, comm);
        note(result);
        break;
    case 1:
        START(way, &request, Allgather, in, count, t, out, count, t, comm);
        break;
    case 2:
        START(way, &request, Alltoall, in, count, t, out, count, t, comm);
        break;
    case 3:
        START(way, &request, Bcast, root == MPI_ROOT ? in : out, count, t, root, comm);
        break;
    default:
        MPI_Sendrecv(in, count, t, rank < others ? rank : MPI_PROC_NULL, 1, out, count, t,
                     rank < others ? rank : MPI_PROC_NULL, 1, comm, MPI_STATUS_IGNORE);
    }
    note_bytes(out, bytes_of(type, all));
}
