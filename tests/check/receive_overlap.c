// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=receive-overlap
 * Two receives in flight have an element in common. The columns of a matrix, which lie between each
 * other, have none. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, in[8], matrix[4][4], out[4] = {0};
    MPI_Request requests[4];
    MPI_Datatype column;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_vector(4, 1, 4, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Irecv(&matrix[0][0], 1, column, 1 - rank, 2, MPI_COMM_WORLD, &requests[2]);
    MPI_Irecv(&matrix[0][1], 1, column, 1 - rank, 3, MPI_COMM_WORLD, &requests[3]);
    MPI_Irecv(in, 4, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
#ifdef CORRECTED
    MPI_Irecv(in + 4, 4, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &requests[1]);
#else
    MPI_Irecv(in + 3, 4, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &requests[1]); // finding
#endif
    for (int i = 0; i < 4; i++)
        MPI_Send(out, 4, MPI_INT, 1 - rank, i, MPI_COMM_WORLD);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    MPI_Type_free(&column);
    MPI_Finalize();
    return 0;
}
