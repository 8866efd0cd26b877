// SPDX-License-Identifier: BSD-3-Clause
/* All ranks exchange messages, wait for a second, exchange ten more, and then wait for ever: rank 0
 * for a message that rank 1 does not send, the others in a barrier. */
#include <mpi.h>
#include <unistd.h>

static void exchange(int rank, int size)
{
    int value = 0;
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &value, 1, MPI_INT,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, size, value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 100; i++)
        exchange(rank, size);
    sleep(1);
    for (int i = 0; i < 10; i++)
        exchange(rank, size);
    if (rank == 0)
        MPI_Recv(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
