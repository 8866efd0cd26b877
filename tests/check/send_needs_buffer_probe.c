// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=3 rule=send-needs-buffer */
#include <mpi.h>
#include <unistd.h>

/* Rank 0 receives the message of rank 1 first. Only by name is this order needed: without buffers,
 * MPI_Probe would find the message of rank 2 first. */
int main(int argc, char **argv)
{
    int rank, data = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int i = 1; i < 3; i++) {
            int source = i;
#ifdef CORRECTED
            MPI_Status status;
            MPI_Probe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status);
            source = status.MPI_SOURCE;
#endif
            MPI_Recv(&data, 1, MPI_INT, source, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    } else if (rank == 1) {
        MPI_Send(&data, 1, MPI_INT, 2, 3, MPI_COMM_WORLD); // finding
        MPI_Send(&data, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    } else {
        usleep(200000);
        MPI_Send(&data, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
        MPI_Recv(&data, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
