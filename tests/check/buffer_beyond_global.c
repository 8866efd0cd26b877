// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=buffer-range
 * The results of all ranks do not fit into a global array. */
#include <mpi.h>

enum { N = 10 };

#ifdef CORRECTED
static int all[2 * N];
#else
static int all[2 * N - 1];
#endif
static int own[N], more[2 * N];

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Allgather(own, N, MPI_INT, all, N, MPI_INT, MPI_COMM_WORLD); // finding
    MPI_Allgather(own, N, MPI_INT, more, N, MPI_INT, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
