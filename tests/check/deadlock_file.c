// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=deadlock */
#include <mpi.h>

/* A collective write waits for a rank that waits for a message. */
int main(int argc, char **argv)
{
    int rank, value = 0;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_File_open(MPI_COMM_WORLD, "deadlock_file.data",
                  MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
#ifdef CORRECTED
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
#endif
    if (rank == 1)
        MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_File_write_at_all(file, rank * 4, &value, 1, MPI_INT, MPI_STATUS_IGNORE); // finding
#ifndef CORRECTED
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
#endif
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
