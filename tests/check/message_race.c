// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=3 rule=message-race kinds=all,races */
#include <mpi.h>

/* A receive with MPI_ANY_SOURCE may take the message that the next receive takes. */
int main(int argc, char **argv)
{
    const MPI_Comm comm = MPI_COMM_WORLD;
    int rank, value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifdef CORRECTED
    if (rank == 0)
        MPI_Recv(&value, 1, MPI_INT, 1, 3, comm, MPI_STATUS_IGNORE);
#else
    if (rank == 0)
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 3, comm, MPI_STATUS_IGNORE); // finding
#endif
    if (rank == 0)
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 3, comm, MPI_STATUS_IGNORE);
    else
        MPI_Send(&value, 1, MPI_INT, 0, 3, comm);
    MPI_Finalize();
    return 0;
}
