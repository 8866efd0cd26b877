// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=message-signature
 * Receives that are cancelled: the first before any message of their kind, the second behind a
 * longer one. The checker does not wait for their messages, and compares those behind them, of
 * which the last is received as other types; in the corrected program it has the same ones. */
#include <mpi.h>

static const double limit = 0.3; /* seconds: less than the checker waits for a record */

/* False: it has lasted long. */
static int cancel(void)
{
    int value;
    MPI_Request request;
    const double begin = MPI_Wtime();
    MPI_Irecv(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return MPI_Wtime() - begin < limit;
}

int main(int argc, char **argv)
{
    int rank, is_short = 1, values[100] = {0};
    float other = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1)
        is_short = cancel();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Send(values, 100, MPI_INT, 1, 5, MPI_COMM_WORLD);
    else
        MPI_Recv(values, 100, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1)
        is_short &= cancel();
    MPI_Barrier(MPI_COMM_WORLD);
#ifdef CORRECTED
    if (rank == 0)
        MPI_Send(values, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
#else
    if (rank == 0)
        MPI_Send(&other, 1, MPI_FLOAT, 1, 5, MPI_COMM_WORLD);
#endif
    else
        MPI_Recv(values, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // finding
    MPI_Finalize();
    return is_short ? 0 : 1;
}
