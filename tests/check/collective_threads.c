// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=collective-operation */
#include <mpi.h>
#include <stdlib.h>

/* Only rank 0 asks for MPI_THREAD_MULTIPLE. */
int main(int argc, char **argv)
{
    int rank, provided, value = 1, result;
    MPI_Op op = MPI_SUM;
    const char *process = getenv("PMIX_RANK");
    const int wanted = process && atoi(process) == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, wanted, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifndef CORRECTED
    if (rank > 0)
        op = MPI_MAX;
#endif
    MPI_Allreduce(&value, &result, 1, MPI_INT, op, MPI_COMM_WORLD); // finding
    MPI_Finalize();
    return 0;
}
