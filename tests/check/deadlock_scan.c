// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=deadlock */
#include <mpi.h>

/* The first rank of MPI_Scan needs no other, and waits in its next call. */
int main(int argc, char **argv)
{
    int rank, value = 1, sum = 0, all[2] = {0, 0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifdef CORRECTED
    MPI_Scan(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allgather(&value, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
#else
    if (rank == 0)
        MPI_Scan(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allgather(&value, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD); // finding
    if (rank == 1)
        MPI_Scan(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
#endif
    MPI_Finalize();
    return 0;
}
