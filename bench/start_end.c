// SPDX-License-Identifier: BSD-3-Clause
/*
 * weft_startup: how long MPI_Init and MPI_Finalize take. Prints one line: the mean over the ranks
 * and the longest of MPI_Init, in ms, and the MPI_Finalize of rank 0. Runs with every MPI library.
 */
#include "figures.h"

#include <mpi.h>
#include <stdio.h>

/* Without MPI_Wtime, which is for after MPI_Init. */
int main(int argc, char **argv)
{
    double begin = bench_seconds(), mine, sum = 0, longest = 0, end;
    int rank, size;
    MPI_Init(&argc, &argv);
    mine = 1e3 * (bench_seconds() - begin);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    end = bench_seconds();
    MPI_Finalize();
    if (rank == 0)
        printf("startup %.1f %.1f %.1f\n", sum / size, longest, 1e3 * (bench_seconds() - end));
    return 0;
}
