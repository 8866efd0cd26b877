// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=3 rule=message-signature
 * A message that MPI_Mprobe matched, from any source, is received with another type. A receive that
 * is posted later takes the next message. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, number = 1;
    float real = 0, other;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank > 0) {
        MPI_Send(&number, 1, MPI_INT, 0, rank, MPI_COMM_WORLD);
        MPI_Sendrecv(&real, 1, MPI_FLOAT, 3 - rank, 5, &other, 1, MPI_FLOAT, 3 - rank, 5,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 2 && rank == 0; i++) {
        MPI_Message message;
        MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
#ifdef CORRECTED
        MPI_Mrecv(&number, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
#else
        MPI_Mrecv(&real, 1, MPI_FLOAT, &message, MPI_STATUS_IGNORE); // finding
#endif
    }
    MPI_Finalize();
    return 0;
}
