// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=collective-may-wait */
#include <mpi.h>

/* The first rank of MPI_Exscan needs no data of others, but may wait for them. */
int main(int argc, char **argv)
{
    int rank, value = 1, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifdef CORRECTED
    MPI_Exscan(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Ssend(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
    else
        MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#else
    if (rank == 1)
        MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Exscan(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); // finding
    if (rank == 0)
        MPI_Ssend(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
#endif
    MPI_Finalize();
    return 0;
}
