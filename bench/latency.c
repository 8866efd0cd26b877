// SPDX-License-Identifier: BSD-3-Clause
/*
 * weft_latency: half the time of a ping-pong of blocking sends and receives between two ranks.
 */
#include "mpi_bench.h"

#include <mpi.h>

enum { TAG = 1 };

static const struct bench_program program = {
    .name = "weft_latency",
    .title = "Weft MPI Latency Test",
    .kind = BENCH_LATENCY,
};

#ifdef WEFT_BENCH_FORTRAN
/* In bench/latency_f08.f90: the same calls through mpi_f08. */
void f08_send(const void *buffer, int count, int peer, int tag);
void f08_recv(void *buffer, int count, int peer, int tag);
#define MPI_Send(buffer, count, type, peer, tag, comm)         f08_send(buffer, count, peer, tag)
#define MPI_Recv(buffer, count, type, peer, tag, comm, status) f08_recv(buffer, count, peer, tag)
#endif

/* Returns the seconds of the timed round trips. */
static double ping_pong(struct mpi_bench *b, const struct bench_batch *batch)
{
    int count = (int)batch->size;
    double start = 0;

    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < batch->warmup + batch->timed; i++) {
        if (b->rank == 0) {
            if (i == batch->warmup)
                start = MPI_Wtime();
            MPI_Send(b->send, count, MPI_CHAR, 1, TAG, MPI_COMM_WORLD);
            MPI_Recv(b->recv, count, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(b->recv, count, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(b->send, count, MPI_CHAR, 0, TAG, MPI_COMM_WORLD);
        }
    }
    return MPI_Wtime() - start;
}

int main(int argc, char **argv)
{
    struct mpi_bench b;
    struct bench_batch batch;
    int code;
    if (!mpi_bench_start(&b, &program, 2, true, &argc, &argv, &code))
        return code;
    mpi_bench_header(&b, NULL, "Latency (us)", NULL);
    while (mpi_bench_next(&b, &batch)) {
        double seconds = ping_pong(&b, &batch);
        mpi_bench_report(&b, &batch, seconds, seconds * 1e6 / (2.0 * batch.timed), -1, true);
    }
    return mpi_bench_end(&b);
}
