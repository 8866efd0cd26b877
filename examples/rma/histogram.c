// SPDX-License-Identifier: BSD-3-Clause
/*
 * A histogram that no rank could hold alone: its bins are spread over all ranks, and each rank adds
 * to any of them by MPI_Accumulate.
 *
 *     weftrun -n 4 examples/rma/histogram [SAMPLES]
 *
 * Prints the number of samples in the fullest bin and in all; a lost update would show in the sum.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { BINS = 1000 }; /* on each rank */

int main(int argc, char **argv)
{
    int rank, size;
    int64_t *bins, one = 1, local[2] = {0, 0}, sum, most;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long samples = argc > 1 ? atol(argv[1]) : 100000;

    MPI_Win_allocate(BINS * sizeof *bins, sizeof *bins, MPI_INFO_NULL, MPI_COMM_WORLD, &bins, &win);
    for (int i = 0; i < BINS; i++)
        bins[i] = 0;
    MPI_Win_fence(0, win); /* the bins are zero before the first sample is added */

    uint32_t x = 1 + (uint32_t)rank;
    for (long i = 0; i < samples; i++) {
        x ^= x << 13, x ^= x >> 17, x ^= x << 5;
        uint32_t bin = x % (uint32_t)(BINS * size);
        MPI_Accumulate(&one, 1, MPI_INT64_T, (int)(bin / BINS), bin % BINS, 1, MPI_INT64_T, MPI_SUM,
                       win);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);

    for (int i = 0; i < BINS; i++) {
        local[0] += bins[i];
        local[1] = bins[i] > local[1] ? bins[i] : local[1];
    }
    MPI_Reduce(&local[0], &sum, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&local[1], &most, 1, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%lld samples in %d bins, %lld in the fullest\ncheck: %s\n", (long long)sum,
               BINS * size, (long long)most,
               sum == samples * size ? "no sample is lost" : "samples are LOST");
    MPI_Win_free(&win);
    MPI_Finalize();
    return rank == 0 && sum != samples * size;
}
