// SPDX-License-Identifier: BSD-3-Clause
/*
 * Windows of messages; see window.h.
 */
#include "window.h"

#include <stdio.h>
#include <stdlib.h>

void bench_window_send(struct mpi_bench *b, int window, int count, int peer, MPI_Request *requests)
{
    for (int i = 0; i < window; i++)
        MPI_Isend(b->send, count, MPI_CHAR, peer, BENCH_TAG_DATA, MPI_COMM_WORLD, &requests[i]);
}

void bench_window_recv(struct mpi_bench *b, int window, int count, int peer, MPI_Request *requests)
{
    for (int i = 0; i < window; i++)
        MPI_Irecv(b->recv, count, MPI_CHAR, peer, BENCH_TAG_DATA, MPI_COMM_WORLD, &requests[i]);
}

static void run(struct mpi_bench *b, int windows, int window, int count, int peer, bool sender,
                MPI_Request *requests)
{
    char ack[4] = {0};
    if (peer < 0)
        return;
    for (int i = 0; i < windows; i++) {
        if (sender) {
            bench_window_send(b, window, count, peer, requests);
            MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
            MPI_Recv(ack, 4, MPI_CHAR, peer, BENCH_TAG_ACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            bench_window_recv(b, window, count, peer, requests);
            MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
            MPI_Send(ack, 4, MPI_CHAR, peer, BENCH_TAG_ACK, MPI_COMM_WORLD);
        }
    }
}

double bench_window_one_way(struct mpi_bench *b, const struct bench_batch *batch, int peer,
                            bool sender, MPI_Request *requests)
{
    int count = (int)batch->size;
    run(b, batch->warmup, batch->warmup_window, count, peer, sender, requests);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    run(b, batch->timed, b->options.window, count, peer, sender, requests);
    return MPI_Wtime() - start;
}

MPI_Request *bench_window_requests(struct mpi_bench *b, int n)
{
    MPI_Request *requests = calloc((size_t)n, sizeof *requests);
    if (!requests) {
        fprintf(stderr, "%s: rank %d has no memory for %d requests; lower -W\n", b->program->name,
                b->rank, n);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return requests;
}
