// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=3 rule=deadlock
 * Each rank of a ring receives before it sends. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size, left, out = 1, in;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
#ifdef CORRECTED
    if (rank == 0)
        MPI_Send(&out, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
#endif
    MPI_Recv(&in, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // finding
#ifdef CORRECTED
    if (rank != 0)
#endif
        MPI_Send(&out, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
