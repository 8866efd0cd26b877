// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=3 rule=collective-signature
 * Ranks that are not the root of MPI_Igatherv pass addresses that are not valid for what the root
 * alone reads. One of them sends other types than the root states; in the corrected program it does
 * not. */
#include <mpi.h>
#include <stdint.h>

int main(int argc, char **argv)
{
    int rank, own = 1, all[3];
    float other = 1;
    const int at_root[3] = {1, 1, 1}, displs[3] = {0, 1, 2};
    int *none = (int *)(uintptr_t)16;
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(comm, &rank);
    if (rank == 0)
        MPI_Igatherv(&own, 1, MPI_INT, all, at_root, displs, MPI_INT, 0, comm, &request);
#ifndef CORRECTED
    else if (rank == 2)
        MPI_Igatherv(&other, 1, MPI_FLOAT, all, none, none, MPI_INT, 0, comm, &request); // finding
#endif
    else
        MPI_Igatherv(&own, 1, MPI_INT, none, none, none, MPI_INT, 0, comm, &request);
    (void)other;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
