// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=receive-changed */
#include <mpi.h>

enum { N = 2000 };

/* The last element of a buffer of 8,000 bytes is changed while the receive is in flight; the
 * corrected program receives again in the same place, which is no change. */
int main(int argc, char **argv)
{
    static int in[N], out[N];
    int rank;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 3; i++) {
        MPI_Irecv(in, N, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &request); // finding
        out[N - 1] = i;
        MPI_Send(out, N, MPI_INT, 1 - rank, i, MPI_COMM_WORLD);
#ifndef CORRECTED
        in[N - 1] = 77;
#endif
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
