// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=buffer-on-stack
 * A function returns while a local variable of it is the buffer of a receive. */
#include <mpi.h>

static MPI_Request request;

static void post(int peer)
{
#ifdef CORRECTED
    static int in[256];
#else
    int in[256];
#endif
    MPI_Irecv(in, 16, MPI_INT, peer, 0, MPI_COMM_WORLD, &request); // finding
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    post(1 - rank);
    MPI_Send(NULL, 0, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
