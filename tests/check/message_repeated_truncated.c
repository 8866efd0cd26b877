// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=message-truncated */
#include <mpi.h>

/* The last one of many equal messages is truncated, while its sender computes and calls nothing. */
int main(int argc, char **argv)
{
    enum { MANY = 50, ALL = 4 };
    int rank, value[ALL] = {0}, last = ALL - 1;
#ifdef CORRECTED
    last = ALL;
#endif
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < MANY; i++) {
        int n = i == MANY - 1 ? last : ALL;
        if (rank == 0)
            MPI_Send(value, ALL, MPI_INT, 1, 3, MPI_COMM_WORLD);
        else
            MPI_Recv(value, n, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // finding
    }
    for (double end = MPI_Wtime() + 2; rank == 0 && MPI_Wtime() < end;)
        ;
    MPI_Finalize();
    return 0;
}
