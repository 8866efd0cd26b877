// SPDX-License-Identifier: BSD-3-Clause
/* Three ranks: one sends much to another by MPI_Alltoallv, and the third nothing. Then the third is
 * late in an allgatherv to which each rank gives data, and in one to which it gives none. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { RANKS = 3, MANY = 32 << 20, LATE_US = 200000 };

static void send_much(int rank)
{
    const int displs[RANKS] = {0};
    int sends[RANKS] = {0}, receives[RANKS] = {0};
    char *from = calloc(2, MANY), *to = from + MANY;
    if (!from)
        abort();
    sends[1] = rank == 0 ? MANY : 0;
    receives[0] = rank == 1 ? MANY : 0;
    MPI_Alltoallv(from, sends, displs, MPI_CHAR, to, receives, displs, MPI_CHAR, MPI_COMM_WORLD);
    free(from);
}

static void gather(int rank, const int *counts)
{
    const int displs[RANKS] = {0, 1, 2};
    char own = 1, all[RANKS];
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == RANKS - 1)
        usleep(LATE_US);
    MPI_Allgatherv(&own, counts[rank], MPI_CHAR, all, counts, displs, MPI_CHAR, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 10; i++)
        send_much(rank);
    gather(rank, argc > 1 ? (const int[]){1, 1, 0} : (const int[]){1, 1, 1});
    MPI_Finalize();
    return 0;
}
