// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=deadlock */
#include <mpi.h>

static const int counts[2] = {1, 1}, displacements[2] = {0, 1};
static int value = 1, all[2];

static void gather(MPI_Comm comm)
{
    MPI_Gatherv(&value, 1, MPI_INT, all, counts, displacements, MPI_INT, 0, comm); // finding
}

static void scatter(MPI_Comm comm)
{
    MPI_Scatterv(all, counts, displacements, MPI_INT, &value, 1, MPI_INT, 0, comm);
}

/* The root of MPI_Gatherv waits for a rank that waits in MPI_Scatterv for its root. */
int main(int argc, char **argv)
{
    int rank, is_swapped;
    MPI_Comm other;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    is_swapped = rank == 1;
#ifdef CORRECTED
    is_swapped = 0;
#endif
    if (is_swapped)
        scatter(other);
    gather(MPI_COMM_WORLD);
    if (!is_swapped)
        scatter(other);
    MPI_Comm_free(&other);
    MPI_Finalize();
    return 0;
}
