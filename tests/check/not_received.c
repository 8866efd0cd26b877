// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=message-not-received
 * A message has a tag that no receive has. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, number = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Send(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Send(&number, 1, MPI_INT, 1, 9, MPI_COMM_WORLD); // finding
    } else {
        MPI_Recv(&number, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#ifdef CORRECTED
        MPI_Recv(&number, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
    }
    MPI_Finalize();
    return 0;
}
