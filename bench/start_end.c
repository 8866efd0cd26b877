// SPDX-License-Identifier: BSD-3-Clause
/*
 * weft_startup: how long MPI_Init and MPI_Finalize take. Prints one line: the mean over the ranks
 * and the longest of MPI_Init, in ms, and the MPI_Finalize of rank 0. Runs with every MPI library.
 */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

/* MPI_Wtime is for after MPI_Init. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

int main(int argc, char **argv)
{
    double begin = now(), mine, sum = 0, longest = 0, end;
    int rank, size;
    MPI_Init(&argc, &argv);
    mine = now() - begin;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    end = now();
    MPI_Finalize();
    if (rank == 0)
        printf("startup %.1f %.1f %.1f\n", sum / size, longest, now() - end);
    return 0;
}
