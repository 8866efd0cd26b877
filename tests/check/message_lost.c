// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=message-lost
 * A message is matched by a probe and never received. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, value = 1;
    MPI_Message message;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else {
        MPI_Mprobe(0, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE); // finding
#ifdef CORRECTED
        MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
#endif
    }
    MPI_Finalize();
    return 0;
}
