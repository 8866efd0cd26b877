// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=buffer-range
 * A count beyond the block that calloc has returned, from inside of it; other blocks lie behind. */
#include <mpi.h>
#include <stdlib.h>

enum { N = 1000 };

int main(int argc, char **argv)
{
    int rank;
    double *blocks[20];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 20; i++)
        blocks[i] = calloc(N, sizeof **blocks);
    free(blocks[9]);
    blocks[9] = realloc(blocks[10], 10 * N * sizeof **blocks);
    blocks[10] = aligned_alloc(64, N * sizeof **blocks);
    for (int i = 0; i < 20; i++)
        MPI_Sendrecv(blocks[i], N, MPI_DOUBLE, 1 - rank, 1, blocks[(i + 1) % 20], N, MPI_DOUBLE,
                     1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#ifdef CORRECTED
    const int n = N / 2;
#else
    const int n = N / 2 + 1;
#endif
    if (rank == 0)
        MPI_Send(blocks[5] + N / 2, n, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD); // finding
    else
        MPI_Recv(blocks[9], N, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 20; i++)
        free(blocks[i]);
    MPI_Finalize();
    return 0;
}
