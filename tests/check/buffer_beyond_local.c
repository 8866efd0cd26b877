// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=buffer-range
 * A count beyond a local array of the caller. */
#include <mpi.h>

enum { N = 10 };

static void share(int *values, int n)
{
    MPI_Bcast(values, n, MPI_INT, 0, MPI_COMM_WORLD); // finding
}

int main(int argc, char **argv)
{
    int before[N] = {0}, values[N] = {0}, behind[N] = {0};
    MPI_Init(&argc, &argv);
#ifdef CORRECTED
    share(values + 2, N - 2);
#else
    share(values + 2, N);
#endif
    share(before, N);
    share(behind, N);
    MPI_Finalize();
    return 0;
}
