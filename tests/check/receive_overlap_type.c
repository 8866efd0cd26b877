// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=receive-overlap */
#include <mpi.h>

/* The stride of a vector is in bytes, and shorter than its elements. To send it is right. */
int main(int argc, char **argv)
{
    float matrix[16][16] = {{0}};
    int rank;
    MPI_Datatype column, wide;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_create_hvector(16, 1, 3, MPI_FLOAT, &column);
    MPI_Type_create_hvector(16, 1, sizeof matrix[0], MPI_FLOAT, &wide);
    MPI_Type_commit(&column);
    MPI_Type_commit(&wide);
#ifndef CORRECTED
    MPI_Datatype received = column;
#else
    MPI_Datatype received = wide;
#endif
    if (rank == 0)
        MPI_Send(matrix, 1, column, 1, 3, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Recv(matrix, 1, received, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // finding
    MPI_Type_free(&column);
    MPI_Type_free(&wide);
    MPI_Finalize();
    return 0;
}
