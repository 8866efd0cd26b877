// SPDX-License-Identifier: BSD-3-Clause
/* Rank 0 waits 0.3 s for a message of rank 1, with MPI_ANY_SOURCE on a communicator that both have
 * freed meanwhile; another one has been made since. */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, size, data = 0;
    MPI_Comm comm, other;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    /* In the reverse order, so that its ranks are not those of MPI_COMM_WORLD. */
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
    MPI_Barrier(comm);
    if (rank == 0)
        MPI_Irecv(&data, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, &request);
    MPI_Barrier(comm);
    if (rank == 0)
        MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &other);
    MPI_Barrier(other);
    if (rank == 1) {
        usleep(300000);
        MPI_Send(&data, 1, MPI_INT, size - 1, 0, comm);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE); // sender
    if (rank > 0)
        MPI_Comm_free(&comm);
    MPI_Comm_free(&other);
    MPI_Finalize();
    return 0;
}
