// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=3 rule=send-needs-buffer */
#include <mpi.h>

/* Each rank sends to the next one before it receives: buffering lets short messages pass. */
int main(int argc, char **argv)
{
    int rank, size, sent = 1, received;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
#ifdef CORRECTED
    MPI_Sendrecv(&sent, 1, MPI_INT, next, 3, &received, 1, MPI_INT, last, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
#else
    MPI_Send(&sent, 1, MPI_INT, next, 3, MPI_COMM_WORLD); // finding
    MPI_Recv(&received, 1, MPI_INT, last, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
    MPI_Finalize();
    return 0;
}
