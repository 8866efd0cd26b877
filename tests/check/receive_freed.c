// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=message-signature
 * Receives that are cancelled and freed leave nothing behind. The wrong program then receives ints
 * as floats on another communicator. */
#include "../mpi/check.h"

enum { ROUNDS = 60000, MOST = 8 << 10 }; /* KiB */

static void cancel(MPI_Comm comm)
{
    int value;
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, &request);
    MPI_Cancel(&request);
    MPI_Request_free(&request);
}

int main(int argc, char **argv)
{
    int rank, value = 0;
    MPI_Comm other;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    cancel(other);
    const long before = check_status_kib("VmRSS");
    for (int i = 0; i < ROUNDS; i++)
        cancel(other);
    const int grows = check_status_kib("VmRSS") - before > MOST;
    if (rank == 0) {
        MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else {
#ifdef CORRECTED
        MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#else
        float real;
        MPI_Recv(&real, 1, MPI_FLOAT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // finding
#endif
    }
    MPI_Comm_free(&other);
    MPI_Finalize();
    return grows;
}
