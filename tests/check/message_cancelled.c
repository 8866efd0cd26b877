// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=message-signature
 * Sends that are cancelled, and one that is not because a receive is posted. A message behind them
 * is received as other types; in the corrected program it has the same ones. */
#include <mpi.h>

/* Sends a message that is received by none, of the tag of others. */
static void cancel(const void *buffer, int count, MPI_Datatype type)
{
    MPI_Request request;
    MPI_Issend(buffer, count, type, 1, 5, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    double many[100] = {0};
    float other = 1;
    int rank, one = 1, is_cancelled = 1;
    MPI_Comm comm;
    MPI_Request request;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        cancel(many, 100, MPI_DOUBLE);
        cancel(&other, 1, MPI_FLOAT);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Send(&one, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    else
        MPI_Recv(&one, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (rank == 1)
        MPI_Irecv(many, 100, MPI_DOUBLE, 0, 5, comm, &request);
    MPI_Barrier(comm);
    while (rank == 0 && is_cancelled) {
        MPI_Issend(many, 100, MPI_DOUBLE, 1, 5, comm, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &is_cancelled);
    }
    if (rank == 1)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);

#ifdef CORRECTED
    if (rank == 0)
        MPI_Send(&one, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
#else
    if (rank == 0)
        MPI_Send(&other, 1, MPI_FLOAT, 1, 5, MPI_COMM_WORLD);
#endif
    else
        MPI_Recv(&one, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // finding
    MPI_Finalize();
    return 0;
}
