// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=message-truncated
 * A message is longer than the buffer that receives it. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, numbers[4] = {1, 2, 3, 4};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Send(numbers, 4, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else {
#ifdef CORRECTED
        MPI_Recv(numbers, 4, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#else
        MPI_Recv(numbers, 2, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // finding
#endif
    }
    MPI_Finalize();
    return 0;
}
