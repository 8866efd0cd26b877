// SPDX-License-Identifier: BSD-3-Clause
/* Rank 0 sends the elements of rows one by one to rank 1. */
#include <mpi.h>

enum { ROWS = 1000, COLUMNS = 300 };

int main(int argc, char **argv)
{
    int rank;
    double row[COLUMNS] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < COLUMNS; k++)
            if (rank == 0)
                MPI_Send(&row[k], 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
            else if (rank == 1)
                MPI_Recv(&row[k], 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
